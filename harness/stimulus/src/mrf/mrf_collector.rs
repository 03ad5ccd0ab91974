//! `mrf_collector`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MrfCollector, MrfCollectorIn, MrfCollectorOut, MrfCollectorProbe, MrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin, alias, lane_mask};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<MrfCollector, CollectorDriver, CollectorCover>();

pub(crate) struct CollectorDriver {
    shape: MrfShape,
    reset: Reset,
    /// Follows the inputs, to know which inputs the collector accepts.
    twin: Twin<MrfCollector>,
}

knobs! {
    pub(crate) struct CollectorKnobs {
        allocate: "a free collector is given an instruction" = [200, 900],
        grant: "a request is granted" = [100, 500, 1000],
        free: "a complete instruction leaves" = [100, 900],
        source: "a source is a register" = [0, 500, 900, 1000],
        same: "a source is the register of another one, or nearly" = [0, 500],
        partial: "lanes are inactive" = [0, 900],
        reset,
    }
}

impl Driver for CollectorDriver {
    type In = MrfCollectorIn;
    type Knobs = CollectorKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape) }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &CollectorKnobs, inputs: &mut MrfCollectorIn) {
        self.twin.early();
        let free = self.twin.out.busy_o == 0;
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.alloc_valid_i = (free && rng.chance(knobs.allocate)).into();
        inputs.alloc_warp_i = rng.below(64) as u8;
        inputs.alloc_mask_i = lane_mask(rng, knobs.partial);
        inputs.alloc_tag_i = rng.next_u64() & (u64::MAX >> (64 - self.shape.tag_w));
        inputs.alloc_src_valid_i = rng.mask(OPERANDS as u32, knobs.source) as u8;
        for source in 0..OPERANDS {
            inputs.alloc_bank_i[source] = rng.below(self.shape.banks as u64) as u8;
            inputs.alloc_entry_i[source] = rng.below(self.shape.depth as u64) as u16;
            if source > 0 && rng.chance(knobs.same) {
                let other = rng.below(source as u64) as usize;
                inputs.alloc_bank_i[source] = inputs.alloc_bank_i[other];
                inputs.alloc_entry_i[source] = inputs.alloc_entry_i[other];
                // Or nearly the same register: one bit of its bank or of its entry differs.
                match rng.below(4) {
                    0 => {
                        let bank = alias(rng, inputs.alloc_bank_i[source].into(), self.shape.banks as u64);
                        inputs.alloc_bank_i[source] = bank as u8;
                    }
                    1 => {
                        let entry = alias(rng, inputs.alloc_entry_i[source].into(), self.shape.depth as u64);
                        inputs.alloc_entry_i[source] = entry as u16;
                    }
                    _ => {}
                }
            }
        }
        inputs.grant_i = self.twin.out.req_valid_o & rng.mask(OPERANDS as u32, knobs.grant) as u8;
        inputs.free_i = (self.twin.out.complete_o == 1 && rng.chance(knobs.free)).into();
        self.twin.late(inputs);
        self.twin.clock(inputs);
    }
}

pub(crate) struct CollectorCover;

#[cover]
impl CollectorCover {
    fn new(_: &MrfShape, _: &Config) -> Self {
        Self
    }

    fn observe(&mut self, i: &MrfCollectorIn, o: &MrfCollectorOut, _: &MrfCollectorProbe, points: &mut Points) {
        let at = |s: usize| (i.alloc_bank_i[s], i.alloc_entry_i[s]);
        let source = |s: usize| i.alloc_src_valid_i >> s & 1 == 1;
        let same = |a: usize, b: usize| source(a) && source(b) && at(a) == at(b);
        let equal = u8::from(same(0, 1)) + u8::from(same(0, 2)) + u8::from(same(1, 2));
        let taken = i.alloc_valid_i == 1;
        point!("instruction without register sources", taken && i.alloc_src_valid_i == 0);
        point!("three different registers", taken && i.alloc_src_valid_i == 7 && equal == 0);
        point!("one register in two sources", taken && equal == 1);
        point!("one register in all sources", taken && equal == 3);
        point!("two grants at once", i.grant_i.count_ones() >= 2);
        point!("one read fills two slots", i.grant_i.count_ones() == 1 && o.fill_o.count_ones() >= 2);
        point!("complete and kept", o.complete_o == 1 && i.free_i == 0);
        point!("freed", i.free_i == 1);
        point!("reset while busy", o.busy_o == 1 && i.rst_ni == 0);
        point!("no lane active", o.busy_o == 1 && o.mask_o == 0);
    }
}
