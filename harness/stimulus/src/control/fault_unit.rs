//! `fault_unit`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::control::{FaultUnitIn, FaultUnitOut, MAX_FAULT_SOURCES};
use gpurf_blocks::shape::{MAX_WARPS, SmShape};
use gpurf_lockstep::Rng;

use crate::driver::Reset;
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct FaultUnitDriver {
    sources: usize,
    reset: Reset,
}

const FAULT: usize = 0;
const MORE: usize = 1;
const RESET: usize = 2;

/// Causes that there are.
const CAUSES: u64 = 13;

impl Driver for FaultUnitDriver {
    type In = FaultUnitIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "fault", doc: "something goes wrong", values: &[20, 100, 500] },
        Knob { name: "more", doc: "another source is at fault at the same time", values: &[0, 100, 500] },
        // Only the first fault behind a reset counts.
        Knob { name: "reset", doc: "reset is asserted, under load", values: &[10, 50, 200] },
    ];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { sources: shape.fault_sources(), reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut FaultUnitIn) {
        inputs.rst_ni = self.reset.next(rng, knobs.get(RESET));
        inputs.valid_i = 0;
        if rng.chance(knobs.get(FAULT)) {
            inputs.valid_i = 1 << rng.below(self.sources as u64) | rng.mask(self.sources as u32, knobs.get(MORE)) as u8;
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

const FIRST: [&str; MAX_FAULT_SOURCES] = [
    "first: source 0",
    "first: source 1",
    "first: source 2",
    "first: source 3",
    "first: source 4",
    "first: source 5",
    "first: source 6",
    "first: source 7",
];

impl Cover for FaultUnitCover {
    type In = FaultUnitIn;
    type Out = FaultUnitOut;
    type Probe = NoProbe<SmShape>;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        let others = [
            "several at once",
            "a later fault of a lower source",
            "a later fault of a higher source",
            "a fault in reset",
            "reset with a fault kept",
            "no fault since reset",
        ];
        FIRST[..shape.fault_sources()].iter().chain(&others).copied().collect()
    }

    fn new(shape: &SmShape) -> Self {
        Self { sources: shape.fault_sources() }
    }

    fn observe(&mut self, i: &FaultUnitIn, o: &FaultUnitOut, _: &NoProbe<SmShape>, hit: &mut dyn FnMut(&'static str)) {
        let (kept, running, told) = (o.fault_o == 1, i.rst_ni == 1, i.valid_i != 0);
        if told && running && !kept {
            hit(FIRST[i.valid_i.trailing_zeros() as usize]);
        }
        let below = |half: u8| i.valid_i & half != 0;
        let lower = ((1u16 << (self.sources / 2)) - 1) as u8;
        let points = [
            ("several at once", running && !kept && i.valid_i.count_ones() > 1),
            ("a later fault of a lower source", running && kept && below(lower)),
            ("a later fault of a higher source", running && kept && below(!lower)),
            ("a fault in reset", !running && told),
            ("reset with a fault kept", !running && kept),
            ("no fault since reset", running && !kept && !told),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
