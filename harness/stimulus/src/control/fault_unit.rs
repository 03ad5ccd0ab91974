//! `fault_unit`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::control::{FaultUnit, FaultUnitIn, FaultUnitOut};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::Rng;

use crate::driver::Reset;
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<FaultUnit, FaultUnitDriver, FaultUnitCover>();

pub(crate) struct FaultUnitDriver {
    sources: usize,
    reset: Reset,
}

knobs! {
    pub(crate) struct FaultUnitKnobs {
        fault: "something goes wrong" = [20, 100, 500],
        more: "another source is at fault at the same time" = [0, 100, 500],
        // Only the first fault after a reset counts.
        reset = [10, 50, 200],
    }
}

/// Number of causes.
const CAUSES: u64 = 13;

impl Driver for FaultUnitDriver {
    type In = FaultUnitIn;
    type Knobs = FaultUnitKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { sources: shape.fault_sources(), reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &FaultUnitKnobs, inputs: &mut FaultUnitIn) {
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.valid_i = 0;
        if rng.chance(knobs.fault) {
            inputs.valid_i = 1 << rng.below(self.sources as u64) | rng.mask(self.sources as u32, knobs.more) as u16;
        }
        for source in 0..self.sources {
            inputs.warp_i[source] = rng.below(MAX_WARPS as u64) as u8;
            inputs.cause_i[source] = 1 + rng.below(CAUSES) as u8;
            inputs.value_i[source] = rng.next_u64() as u32;
        }
    }
}

pub(crate) struct FaultUnitCover {
    sources: usize,
}

#[cover]
impl FaultUnitCover {
    /// The sources that every shape has.
    const SOURCES: [&str; 7] = ["0", "1", "2", "3", "4", "5", "6"];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { sources: shape.fault_sources() }
    }

    fn observe(&mut self, i: &FaultUnitIn, o: &FaultUnitOut, _: &NoProbe<SmShape>, points: &mut Points) {
        let (kept, running, told) = (o.fault_o == 1, i.rst_ni == 1, i.valid_i != 0);
        let first = i.valid_i.trailing_zeros() as usize;
        let starts = told && running && !kept;
        point!("first: source {SOURCES[first]}", starts && first < 7);
        point!("first: source 7", starts && first == 7, given = self.sources > 7);
        point!("first: source 8", starts && first == 8, given = self.sources > 8);
        let below = |half: u16| i.valid_i & half != 0;
        let lower = (1u16 << (self.sources / 2)) - 1;
        point!("several at once", running && !kept && i.valid_i.count_ones() > 1);
        point!("a later fault of a lower source", running && kept && below(lower));
        point!("a later fault of a higher source", running && kept && below(!lower));
        point!("a fault in reset", !running && told);
        point!("reset with a fault kept", !running && kept);
        point!("no fault since reset", running && !kept && !told);
    }
}
