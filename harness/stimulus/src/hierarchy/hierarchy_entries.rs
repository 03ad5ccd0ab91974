//! `hierarchy_entries`.

use gpurf_blocks::LANES;
use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{
    HierarchyEntries, HierarchyEntriesIn, HierarchyEntriesProbe, HierarchyShape, MAX_LRF_BANKS, MAX_ORF_ENTRIES, PLACES,
};
use gpurf_blocks::instruction::NO_REG;
use gpurf_lockstep::Rng;

use super::{absent, element, is_there, one_of, places};
use crate::driver::{Names, Reset, Twin, lane_mask, ports};
use crate::{Driver, Unaliased, Unreached};

mod cover;

pub(crate) use cover::EntriesCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HierarchyEntries, EntriesDriver, EntriesCover>();

/// Driver of `hierarchy_entries`. It examines a twin, to read places that have been written, to fill places that do not wait, and to write places
/// that do.
pub(crate) struct EntriesDriver {
    shape: HierarchyShape,
    reset: Reset,
    twin: Twin<HierarchyEntries>,
    flush: u64,
    registers: Names,
}

knobs! {
    pub(crate) struct EntriesKnobs {
        take: "an instruction is taken" = [200, 600, 1000],
        read: "it reads a place that has its lanes" = [100, 500, 900],
        copy: "it copies to a place that does not wait" = [0, 100, 400],
        result: "its result goes to a place" = [300, 700, 1000],
        both: "and to the MRF" = [100, 500],
        end: "a strand ends" = [10, 50, 300],
        near: "the slot is one of the port's first two" = [0, 500, 950],
        write: "a place that waits is written" = [100, 500, 1000],
        whole: "all that is to come is written" = [200, 1000],
        look: "a result comes" = [300, 900],
        r#match: "it is one that a place waits for" = [200, 800],
        flush: "a slot begins to be emptied" = [0, 10, 60],
        partial: "lanes are inactive" = [0, 300, 900],
        stray: "what is written is not there" = [0, 200],
        single: "one lane fills a slot that has none" = [50, 900],
        reset,
    }
}

/// Registers of results: few, so that different slots, and a copy and a result, have the same.
const REGISTERS: usize = 6;

impl Driver for EntriesDriver {
    type In = HierarchyEntriesIn;
    type Knobs = EntriesKnobs;

    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        let registers = Names::new(REGISTERS, NO_REG.into());
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape), flush: 0, registers }
    }

    fn unreached(shape: &HierarchyShape, _: &Config) -> Vec<Unreached> {
        let entries = MAX_ORF_ENTRIES as u32;
        let banks = entries..=entries + MAX_LRF_BANKS as u32 - 1;
        let mut all = vec![Unreached::bits("take_copy_i", banks, "copies go to the ORF")];
        all.extend(absent(shape, &["take_copy_i"], 0..MAX_ORF_ENTRIES));
        all.extend(absent(shape, &["take_result_i"], 0..PLACES));
        all.extend(Unreached::parity(&["take_slot_i"], shape.ports()));
        all
    }

    fn unaliased(shape: &HierarchyShape, _: &Config) -> Vec<Unaliased> {
        Unaliased::parity(&["take_slot_i[Port] == SlotW'(s)"], shape.ports())
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &EntriesKnobs, i: &mut HierarchyEntriesIn) {
        let count = self.shape.ports();
        self.twin.early();
        self.registers.renew(rng);
        let probe = self.twin.probe(i);
        i.rst_ni = self.reset.next(rng, knobs.reset);
        for s in 0..self.shape.active {
            self.flush |= u64::from(rng.chance(knobs.flush)) << s;
        }
        i.flush_i = self.flush;
        i.take_both_i = ports(rng, count, knobs.both);
        (i.take_valid_i, i.end_i) = (0, 0);
        (i.look_valid_i, i.orf_valid_i, i.lrf_valid_i) = (0, 0, 0);
        for p in 0..count {
            self.instruction(rng, knobs, i, p, &probe);
            self.result(rng, knobs, i, p, &probe);
            self.write(rng, knobs, i, p, &probe);
        }
        self.twin.late(i);
        self.flush &= !self.twin.out.flush_done_o;
        self.twin.clock(i);
        if i.rst_ni == 0 {
            self.flush = 0;
        }
    }
}

impl EntriesDriver {
    /// A slot of a port, by its number among the port's.
    fn local(&self, rng: &mut Rng, knobs: &EntriesKnobs) -> usize {
        let slots = self.shape.port_slots();
        let some = if rng.chance(knobs.near) { slots.min(2) } else { slots };
        rng.below(some as u64) as usize
    }

    fn instruction(
        &self,
        rng: &mut Rng,
        knobs: &EntriesKnobs,
        i: &mut HierarchyEntriesIn,
        p: usize,
        probe: &HierarchyEntriesProbe,
    ) {
        let slot = self.local(rng, knobs) * self.shape.ports() + p;
        i.take_slot_i[p] = slot as u8;
        if self.flush >> slot & 1 == 1 {
            return;
        }
        i.end_i |= u8::from(rng.chance(knobs.end)) << p;
        if !rng.chance(knobs.take) {
            return;
        }
        i.take_valid_i |= 1 << p;
        let at = |place: usize| element(&self.shape, slot, place);
        let free: Vec<usize> = places(&self.shape).filter(|&place| probe.wait_q[at(place)] == 0).collect();
        let there = |place: usize| probe.valid_q[at(place)] & !probe.wait_q[at(place)];
        // The lanes of a place, or some of them.
        let some: Vec<usize> = places(&self.shape).filter(|&place| there(place) != 0).collect();
        let mut mask = lane_mask(rng, knobs.partial);
        if let Some(place) = one_of(rng, &some).filter(|_| rng.chance(500)) {
            mask = there(place) & if rng.chance(700) { u32::MAX } else { rng.next_u64() as u32 };
        }
        // Each lane of each place alone keeps a slot from being void.
        let void = self.twin.out.void_o >> slot & 1 == 1;
        if void && rng.chance(knobs.single) {
            mask = 1 << rng.below(LANES as u64);
        }
        i.take_mask_i[p] = mask;
        (i.take_read_i[p], i.take_copy_i[p], i.take_result_i[p]) = (0, 0, 0);
        for place in places(&self.shape) {
            let reads = mask & !there(place) == 0 && rng.chance(knobs.read);
            i.take_read_i[p] |= u16::from(reads) << place;
        }
        // A place that the machine does not have holds nothing to read.
        let nothing = rng.below(11) as usize;
        i.take_read_i[p] |= u16::from(!is_there(&self.shape, nothing) && rng.chance(knobs.stray)) << nothing;
        for &place in free.iter().filter(|&&place| place < MAX_ORF_ENTRIES) {
            i.take_copy_i[p] |= u16::from(rng.chance(knobs.copy)) << place;
        }
        let register = self.registers.draw(rng) as u8;
        i.take_reg_i[p] = register;
        let waits = places(&self.shape).any(|place| self.waits_for(probe, slot, place, register));
        let result = one_of(rng, &free)
            .filter(|&place| i.take_copy_i[p] >> place & 1 == 0 && !waits && rng.chance(knobs.result));
        i.take_result_i[p] = result.map_or(0, |place| 1 << place);
    }

    /// Whether a place waits for the result of this register.
    fn waits_for(&self, probe: &HierarchyEntriesProbe, slot: usize, place: usize, register: u8) -> bool {
        let at = element(&self.shape, slot, place);
        let result = probe.result_q[slot] >> (at - element(&self.shape, slot, 0)) & 1 == 1;
        probe.wait_q[at] != 0 && result && probe.reg_q[at] == register
    }

    fn result(
        &self,
        rng: &mut Rng,
        knobs: &EntriesKnobs,
        i: &mut HierarchyEntriesIn,
        b: usize,
        probe: &HierarchyEntriesProbe,
    ) {
        if !rng.chance(knobs.look) {
            return;
        }
        i.look_valid_i |= 1 << b;
        let bus = rng.below(self.shape.ports() as u64) as usize;
        let slot = self.local(rng, knobs) * self.shape.ports() + bus;
        i.look_slot_i[b] = slot as u8;
        let waiting: Vec<u8> = places(&self.shape)
            .map(|place| element(&self.shape, slot, place))
            .filter(|&at| probe.wait_q[at] != 0)
            .map(|at| probe.reg_q[at])
            .collect();
        let known = one_of(rng, &waiting).filter(|_| rng.chance(knobs.r#match));
        i.look_reg_i[b] = known.unwrap_or_else(|| self.registers.draw(rng) as u8);
    }

    fn write(
        &self,
        rng: &mut Rng,
        knobs: &EntriesKnobs,
        i: &mut HierarchyEntriesIn,
        c: usize,
        probe: &HierarchyEntriesProbe,
    ) {
        let whole = rng.chance(knobs.whole);
        for lrf in [false, true] {
            if !rng.chance(knobs.write) {
                continue;
            }
            let (entries, banks) = (self.shape.entries, self.shape.lrf_banks);
            let (first, own, most) =
                if lrf { (MAX_ORF_ENTRIES, banks, MAX_LRF_BANKS) } else { (0, entries, MAX_ORF_ENTRIES) };
            let slots = self.shape.port_slots();
            let waiting: Vec<(usize, usize, u32)> = (0..slots * own)
                .map(|n| (n / own, n % own))
                .map(|(local, n)| {
                    let slot = local * self.shape.ports() + c;
                    (local, n, probe.wait_q[element(&self.shape, slot, first + n)])
                })
                .filter(|&(_, _, wait)| wait != 0)
                .collect();
            let some = if whole { u32::MAX } else { rng.next_u64() as u32 };
            let chosen = one_of(rng, &waiting).map(|(local, n, wait)| (local, n, wait & some));
            let stray = (own < most && rng.chance(knobs.stray))
                .then(|| (self.local(rng, knobs), own + rng.below((most - own) as u64) as usize, lane_mask(rng, 500)));
            let Some((local, n, mask)) = stray.or(chosen) else { continue };
            if lrf {
                i.lrf_valid_i |= 1 << c;
                (i.lrf_slot_i[c], i.lrf_bank_i[c], i.lrf_mask_i[c]) = (local as u8, n as u8, mask);
            } else {
                i.orf_valid_i |= 1 << c;
                (i.orf_slot_i[c], i.orf_entry_i[c], i.orf_mask_i[c]) = (local as u8, n as u8, mask);
            }
        }
    }
}
