//! `rfc_data`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{RfcData, RfcDataIn, RfcDataOut, RfcDataProbe};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, lane_mask};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<RfcData, DataDriver, DataCover>();

pub(crate) struct DataDriver {
    shape: RfcShape,
    reset: Reset,
    /// Entries that were named last.
    near: [u16; 4],
}

knobs! {
    pub(crate) struct DataKnobs {
        r#move: "an instruction leaves T" = [100, 500, 950],
        read: "a read port reads" = [100, 500, 900],
        fill: "a source has lanes in the cache" = [100, 600, 1000],
        evict: "an eviction reads on a port that is left" = [100, 500, 1000],
        write: "a result is written" = [100, 500, 950],
        near: "an entry is one of those named last" = [100, 600, 1000],
        partial: "lanes are not written" = [0, 900],
        spill: "data of the write in D come now" = [0, 300, 900],
        reset,
    }
}

impl Driver for DataDriver {
    type In = RfcDataIn;
    type Knobs = DataKnobs;

    fn new(shape: &RfcShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), near: [0; 4] }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &DataKnobs, i: &mut RfcDataIn) {
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.move_valid_i = rng.chance(knobs.r#move).into();
        i.move_tag_i = rng.below(1 << self.shape.tag_w()) as u8;
        i.move_fill_i = rng.mask(OPERANDS as u32, knobs.fill) as u8;
        i.read_i = rng.mask(OPERANDS as u32, knobs.read) as u8;
        for k in 0..OPERANDS {
            // The tags determine which port serves a source, and what each port reads: here it may be any.
            i.move_port_i[k] = rng.below(OPERANDS as u64) as u8;
            i.read_index_i[k] = self.entry(rng, knobs);
        }
        let used = if i.move_valid_i == 1 { i.read_i } else { 0 };
        let left: Vec<u8> = (0..OPERANDS as u8).filter(|k| used >> k & 1 == 0).collect();
        i.evict_valid_i = (!left.is_empty() && rng.chance(knobs.evict)).into();
        if i.evict_valid_i == 1 {
            i.evict_port_i = left[rng.below(left.len() as u64) as usize];
            i.evict_index_i = self.entry(rng, knobs);
        }
        i.write_valid_i = rng.chance(knobs.write).into();
        if i.write_valid_i == 1 {
            i.write_index_i = self.entry(rng, knobs);
            i.write_mask_i = lane_mask(rng, knobs.partial);
            rng.fill(&mut i.write_data_i.0);
        }
        i.spill_i = rng.chance(knobs.spill).into();
        if i.spill_i == 1 {
            rng.fill(&mut i.spill_data_i.0);
        }
    }
}

impl DataDriver {
    fn entry(&mut self, rng: &mut Rng, knobs: &DataKnobs) -> u16 {
        let place = rng.below(self.near.len() as u64) as usize;
        if !rng.chance(knobs.near) {
            self.near[place] = rng.below(self.shape.words() as u64) as u16;
        }
        self.near[place]
    }
}

pub(crate) struct DataCover {
    /// Entry of the write that the last clock edge performed.
    written: Option<u16>,
    shape: RfcShape,
}

#[cover]
impl DataCover {
    fn new(shape: &RfcShape, _: &Config) -> Self {
        Self { written: None, shape: *shape }
    }

    fn observe(&mut self, i: &RfcDataIn, o: &RfcDataOut, p: &RfcDataProbe, points: &mut Points) {
        let moves = i.move_valid_i == 1;
        let reads = |k: usize| p.d_move_q == 1 && p.d_read_q >> k & 1 == 1;
        let index: Vec<u16> = (0..OPERANDS).filter(|&k| reads(k)).map(|k| p.d_index_q[k]).collect();
        let serves = |a: usize, b: usize| {
            i.move_fill_i >> a & i.move_fill_i >> b & 1 == 1 && i.move_port_i[a] == i.move_port_i[b]
        };
        let (write, evict) = (p.d_write_q == 1, p.d_evict_q == 1);
        let read_written = write && index.contains(&p.d_write_index_q);
        let evict_on = |k: u8| i.evict_valid_i == 1 && i.evict_port_i == k;
        let beside = i.evict_valid_i == 1 && moves && i.read_i.count_ones() == 2;
        let idle = (0..OPERANDS).any(|k| i.move_fill_i >> k & 1 == 1 && i.read_i >> i.move_port_i[k] & 1 == 0);
        point!("an instruction without hits", moves && i.move_fill_i == 0);
        point!("all three ports read", moves && i.read_i == 7);
        point!("one port serves two sources", moves && (serves(0, 1) || serves(1, 2) || serves(0, 2)));
        point!("one port serves all sources", moves && serves(0, 1) && serves(1, 2));
        point!("a port serves that does not read now", moves && idle);
        point!("an eviction on port 0", evict_on(0));
        point!("an eviction on port 1", evict_on(1));
        point!("an eviction on port 2", evict_on(2));
        point!("an eviction beside two reads", beside);
        point!("an eviction without an instruction", i.evict_valid_i == 1 && !moves);
        point!("a read of what is written at the same edge", read_written);
        point!(
            "an eviction of what is written at the same edge",
            write && evict && p.d_evict_index_q == p.d_write_index_q
        );
        point!(
            "a part of what is read is written at the same edge",
            read_written && ![0, u32::MAX].contains(&p.d_write_mask_q)
        );
        point!(
            "a read of what was written at the edge before",
            self.written.is_some_and(|entry| index.contains(&entry))
        );
        point!("two ports read one entry", (1..index.len()).any(|k| index[..k].contains(&index[k])));
        point!("three entries are read", index.len() == 3 && index[0] != index[1], given = self.shape.words() > 1);
        point!("a write with two reads and an eviction", write && evict && index.len() == 2);
        point!("the last entry is written", write && usize::from(p.d_write_index_q) + 1 == self.shape.words());
        point!("no lane is written", write && p.d_write_mask_q == 0);
        point!("a spill is written", write && i.spill_i == 1);
        point!(
            "some lanes of a spill are written",
            write && i.spill_i == 1 && ![0, u32::MAX].contains(&p.d_write_mask_q)
        );
        point!("a spill after another write", write && i.spill_i == 1 && self.written.is_some());
        point!("data of a spill without a write", !write && i.spill_i == 1);
        point!("a spill in reset", write && i.spill_i == 1 && i.rst_ni == 0);
        point!("a read of what a spill is written to", read_written && i.spill_i == 1);
        point!("instructions in D and O", p.d_move_q == 1 && o.land_valid_o == 1);
        point!("operands and an eviction land at once", o.land_valid_o == 1 && o.evict_data_valid_o == 1);
        point!(
            "operands land on the port that an eviction used before",
            o.land_valid_o == 1 && p.d_evict_q == 1 && p.o_port_q[0] == p.d_evict_port_q
        );
        point!("loads in reset", i.rst_ni == 0 && moves && i.write_valid_i == 1);
        point!("reset under load", i.rst_ni == 0 && p.d_move_q == 1 && write && o.land_valid_o == 1);

        self.written = write.then_some(p.d_write_index_q);
    }
}
