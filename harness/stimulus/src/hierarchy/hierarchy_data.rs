//! `hierarchy_data`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{
    HierarchyData, HierarchyDataIn, HierarchyDataOut, HierarchyDataProbe, HierarchyShape, MAX_LRF_BANKS,
    MAX_ORF_ENTRIES,
};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, lane_mask};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HierarchyData, DataDriver, DataCover>();

/// The places that the instruction in D reads: they are not written at the same clock edge.
#[derive(Default)]
struct Reads {
    words: Vec<(u8, u8)>,
    banks: Vec<(u8, u8)>,
}

pub(crate) struct DataDriver {
    shape: HierarchyShape,
    reset: Reset,
    reads: Reads,
}

knobs! {
    pub(crate) struct DataKnobs {
        r#move: "an instruction is taken" = [100, 500, 950],
        orf: "a source comes from the ORF" = [0, 400, 1000],
        lrf: "a source comes from the LRF" = [0, 400, 1000],
        read: "a port, or a bank, reads" = [100, 500, 1000],
        write: "an array is written" = [100, 500, 950],
        near: "the slot is the first one" = [0, 500, 950],
        partial: "lanes are not written" = [0, 900],
        reset,
    }
}

impl Driver for DataDriver {
    type In = HierarchyDataIn;
    type Knobs = DataKnobs;

    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), reads: Reads::default() }
    }

    fn unreached(shape: &HierarchyShape, _: &Config) -> Vec<Unreached> {
        // Upper bits of a number that are not needed for `count` values, out of `most` possible ones.
        let fewer = |signal, count: usize, most: usize| {
            let bits = count.next_power_of_two().ilog2()..most.next_power_of_two().ilog2();
            let rest = Unreached::bits(signal, bits.start..=bits.end.max(1) - 1, "there are fewer");
            (!bits.is_empty()).then_some(rest)
        };
        let entries = ["move_entry_i", "orf_entry_i"];
        let mut all: Vec<Unreached> =
            entries.into_iter().filter_map(|signal| fewer(signal, shape.entries, MAX_ORF_ENTRIES)).collect();
        if shape.lrf_banks == 0 {
            let signals = ["move_lrf_i", "lrf_valid_i", "lrf_slot_i", "lrf_bank_i", "lrf_mask_i", "lrf_data_i"];
            all.extend(signals.map(|signal| Unreached::all(signal, "there is no LRF")));
        } else {
            all.extend(fewer("lrf_bank_i", shape.lrf_banks, MAX_LRF_BANKS));
        }
        all
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &DataKnobs, i: &mut HierarchyDataIn) {
        i.rst_ni = self.reset.next(rng, knobs.reset);
        let banks = self.shape.lrf_banks;
        i.orf_valid_i = rng.chance(knobs.write).into();
        (i.orf_slot_i, i.orf_entry_i) = (self.slot(rng, knobs), rng.below(self.shape.entries as u64) as u8);
        i.orf_valid_i &= u8::from(!self.reads.words.contains(&(i.orf_slot_i, i.orf_entry_i)));
        i.lrf_valid_i = u8::from(banks > 0 && rng.chance(knobs.write));
        (i.lrf_slot_i, i.lrf_bank_i) = (self.slot(rng, knobs), rng.below(banks.max(1) as u64) as u8);
        i.lrf_valid_i &= u8::from(!self.reads.banks.contains(&(i.lrf_slot_i, i.lrf_bank_i)));
        (i.orf_mask_i, i.lrf_mask_i) = (lane_mask(rng, knobs.partial), lane_mask(rng, knobs.partial));
        rng.fill(&mut i.orf_data_i.0);
        rng.fill(&mut i.lrf_data_i.0);
        self.take(rng, knobs, i);
        self.reads = Reads::default();
        if i.move_valid_i == 1 && i.rst_ni == 1 {
            let slot = i.move_slot_i;
            let set = |set: u8| (0..OPERANDS).filter(move |k| set >> k & 1 == 1);
            self.reads.words = set(i.move_orf_read_i).map(|k| (slot, i.move_entry_i[k])).collect();
            self.reads.banks = set(i.move_lrf_read_i).map(|b| (slot, b as u8)).collect();
        }
    }
}

impl DataDriver {
    fn slot(&self, rng: &mut Rng, knobs: &DataKnobs) -> u8 {
        let slots = self.shape.port_slots() as u64;
        if rng.chance(knobs.near) { 0 } else { rng.below(slots) as u8 }
    }

    fn take(&self, rng: &mut Rng, knobs: &DataKnobs, i: &mut HierarchyDataIn) {
        i.move_valid_i = rng.chance(knobs.r#move).into();
        i.move_tag_i = rng.below(1 << self.shape.tag_w()) as u8;
        i.move_slot_i = self.slot(rng, knobs);
        i.move_orf_i = rng.mask(OPERANDS as u32, knobs.orf) as u8;
        let lrf = rng.mask(OPERANDS as u32, knobs.lrf) as u8;
        i.move_lrf_i = if self.shape.lrf_banks == 0 { 0 } else { lrf & !i.move_orf_i };
        for k in 0..OPERANDS {
            // The levels determine which port serves a source, and what each port reads: here it may be any.
            i.move_port_i[k] = rng.below(OPERANDS as u64) as u8;
            i.move_entry_i[k] = rng.below(self.shape.entries as u64) as u8;
            // An entry is named where its port reads.
            i.move_orf_read_i &= !(1 << k);
            i.move_orf_read_i |= u8::from(i.move_orf_i >> k & 1 == 1 && rng.chance(knobs.read)) << k;
        }
        i.move_lrf_read_i = rng.mask(MAX_LRF_BANKS as u32, knobs.read) as u8;
    }
}

pub(crate) struct DataCover {
    shape: HierarchyShape,
    /// Slot and entry, then slot and bank, that the last clock edge wrote.
    orf: Option<(u8, u8)>,
    lrf: Option<(u8, u8)>,
}

#[cover]
impl DataCover {
    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        Self { shape: *shape, orf: None, lrf: None }
    }

    fn observe(&mut self, i: &HierarchyDataIn, o: &HierarchyDataOut, p: &HierarchyDataProbe, points: &mut Points) {
        let (moves, reset) = (i.move_valid_i == 1, i.rst_ni == 0);
        let entries = self.shape.entries as u16;
        let index: Vec<u16> = (0..OPERANDS)
            .filter(|&k| p.d_move_q == 1 && p.d_orf_read_q >> k & 1 == 1)
            .map(|k| p.d_index_q[k])
            .collect();
        let word = |(slot, entry): (u8, u8)| entries * u16::from(slot) + u16::from(entry);
        let serves =
            |a: usize, b: usize| i.move_orf_i >> a & i.move_orf_i >> b & 1 == 1 && i.move_port_i[a] == i.move_port_i[b];
        let idle = (0..OPERANDS).any(|k| i.move_orf_i >> k & 1 == 1 && i.move_orf_read_i >> i.move_port_i[k] & 1 == 0);
        let banks = p.d_lrf_read_q & ((1 << self.shape.lrf_banks) - 1);
        let reads_bank = p.d_move_q == 1 && banks != 0;
        let own = |k: usize| if self.shape.lrf_banks == 1 { 0 } else { k };
        let idle_bank = |k: usize| i.move_lrf_i >> k & 1 == 1 && i.move_lrf_read_i >> own(k) & 1 == 0;
        let (orf, lrf) = (i.orf_valid_i == 1, i.lrf_valid_i == 1);
        let beside = orf && !index.is_empty();
        let same = orf && index.iter().any(|&word| word / entries == u16::from(i.orf_slot_i));
        let bank_of = |written: (u8, u8)| reads_bank && banks >> written.1 & 1 == 1 && p.d_slot_q == written.0;
        let slots = self.shape.port_slots();
        let last = usize::from(i.orf_slot_i) + 1 == slots && usize::from(i.orf_entry_i) + 1 == self.shape.entries;
        point!("an instruction without sources above the MRF", moves && i.move_orf_i | i.move_lrf_i == 0);
        point!("three ports of the ORF read", moves && i.move_orf_read_i == 7);
        point!("one port serves two sources", moves && (serves(0, 1) || serves(1, 2) || serves(0, 2)));
        point!("one port serves all sources", moves && serves(0, 1) && serves(1, 2));
        point!("a port serves that does not read now", moves && idle);
        point!("an entry is read that the edge before has written", self.orf.is_some_and(|w| index.contains(&word(w))));
        point!("an entry of another slot is written beside a read", beside && !same);
        point!("another entry of the slot is written beside a read", same, given = self.shape.entries > 1);
        point!("two ports read one entry", (1..index.len()).any(|k| index[..k].contains(&index[k])));
        point!("the last entry of the last slot is written", orf && last);
        point!("no lane of an entry is written", orf && i.orf_mask_i == 0);
        point!("some lanes of an entry are written", orf && ![0, u32::MAX].contains(&i.orf_mask_i));
        point!("instructions in D and O", p.d_move_q == 1 && o.land_valid_o == 1);
        point!(
            "an instruction follows one that has read nothing",
            p.d_move_q == 1 && p.d_orf_q | p.d_lrf_q == 0 && moves
        );
        point!("loads in reset", reset && moves && orf);
        point!("reset under load", reset && p.d_move_q == 1 && o.land_valid_o == 1);
        point!(
            "another bank of the slot is written beside a read",
            lrf && reads_bank && p.d_slot_q == i.lrf_slot_i,
            given = self.shape.lrf_banks == 3
        );
        point!("three banks are read", reads_bank && banks == 7, given = self.shape.lrf_banks == 3);
        point!("three sources from the unified LRF", moves && i.move_lrf_i == 7, given = self.shape.lrf_banks == 1);
        point!(
            "a bank that is not there is read",
            moves && i.move_lrf_read_i >> 1 != 0,
            given = self.shape.lrf_banks == 1
        );
        #[given(self.shape.lrf_banks > 0)]
        {
            point!("a source from the LRF", o.land_valid_o == 1 && p.o_lrf_q != 0);
            point!("sources from ORF and LRF", o.land_valid_o == 1 && p.o_lrf_q != 0 && p.o_orf_q != 0);
            point!("a bank is read that the edge before has written", self.lrf.is_some_and(bank_of));
            point!("a bank serves that does not read now", moves && (0..OPERANDS).any(idle_bank));
            point!(
                "a bank is read of one slot and written of another",
                lrf && reads_bank && p.d_slot_q != i.lrf_slot_i
            );
            point!("ORF and LRF are written", orf && lrf);
            point!("some lanes of a bank are written", lrf && ![0, u32::MAX].contains(&i.lrf_mask_i));
        }

        self.orf = orf.then_some((i.orf_slot_i, i.orf_entry_i));
        self.lrf = lrf.then_some((i.lrf_slot_i, i.lrf_bank_i));
    }
}
