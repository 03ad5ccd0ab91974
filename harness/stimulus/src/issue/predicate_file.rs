//! `predicate_file`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_PRED;
use gpurf_blocks::issue::{PredicateFileIn, PredicateFileOut};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, alias, lane_mask, ports};
use crate::{Cover, Driver, Knob, Knobs, Unreached};

pub(crate) struct PredicateFileDriver {
    shape: SmShape,
    reset: Reset,
}

const WRITE: usize = 0;
const NEAR: usize = 1;
const TRUE: usize = 2;
const PARTIAL: usize = 3;

/// Inverts what is read.
const INVERTED: u8 = 8;

impl Driver for PredicateFileDriver {
    type In = PredicateFileIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "write", doc: "a predicate is written", values: &[100, 500, 950] },
        Knob {
            name: "near",
            doc: "warp and number are among the first or last few, so that accesses meet",
            values: &[0, 500, 1000],
        },
        Knob { name: "true", doc: "the predicate is number 7", values: &[50, 300] },
        Knob { name: "partial", doc: "lanes are not written", values: &[0, 300, 900] },
        RESET,
    ];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default() }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["read_warp_i", "write_warp_i"], shape.warps)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut PredicateFileIn) {
        inputs.rst_ni = self.reset.next(rng, knobs.get(4));
        let ports_count = self.shape.ports();
        inputs.write_valid_i = ports(rng, ports_count, knobs.get(WRITE));
        for port in 0..ports_count {
            inputs.read_warp_i[port] = self.warp(rng, knobs);
            for name in [&mut inputs.read_guard_i[port], &mut inputs.read_s_i[port], &mut inputs.read_t_i[port]] {
                *name = number(rng, knobs) | if rng.chance(300) { INVERTED } else { 0 };
            }
            inputs.write_warp_i[port] = self.warp(rng, knobs);
            inputs.write_pred_i[port] = number(rng, knobs);
            inputs.write_mask_i[port] = lane_mask(rng, knobs.get(PARTIAL));
            inputs.write_data_i[port] = rng.next_u64() as u32;
        }
        if ports_count == 2 && rng.chance(200) {
            // Two places whose numbers differ in one bit.
            let place = u64::from(inputs.write_warp_i[0]) << 3 | u64::from(inputs.write_pred_i[0]);
            let other = alias(rng, place, self.shape.warps as u64 * 8);
            (inputs.write_warp_i[1], inputs.write_pred_i[1]) = ((other >> 3) as u8, (other & 7) as u8);
        }
        let target = |port: usize| (inputs.write_warp_i[port], inputs.write_pred_i[port]);
        // The scoreboard does not let two results for one predicate come together.
        if inputs.write_valid_i == 0b11 && target(0) == target(1) {
            inputs.write_valid_i = 0b10;
        }
    }
}

impl PredicateFileDriver {
    fn warp(&self, rng: &mut Rng, knobs: &Knobs) -> u8 {
        let warps = self.shape.warps as u64;
        if rng.chance(knobs.get(NEAR)) {
            [0, 1, warps - 1][rng.below(3) as usize] as u8
        } else {
            rng.below(warps) as u8
        }
    }
}

fn number(rng: &mut Rng, knobs: &Knobs) -> u8 {
    if rng.chance(knobs.get(TRUE)) {
        NO_PRED
    } else if rng.chance(knobs.get(NEAR)) {
        [0, 6][rng.below(2) as usize]
    } else {
        rng.below(7) as u8
    }
}

pub(crate) struct PredicateFileCover {
    shape: SmShape,
    /// What was written in the cycle before: warp and number, each port.
    last: Vec<(u8, u8)>,
}

impl Cover for PredicateFileCover {
    type In = PredicateFileIn;
    type Out = PredicateFileOut;
    type Probe = NoProbe<SmShape>;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        let mut points = vec![
            "true is read",
            "true is read inverted",
            "a predicate is read inverted",
            "read while it is written",
            "read in the cycle after it was written",
            "the last warp is read",
            "the last warp is written",
            "a write of number 7",
            "lanes are not written",
            "written in reset",
        ];
        if shape.ports() == 2 {
            points.extend([
                "two predicates of one warp are written",
                "one predicate of two warps is written",
                "port 1 writes alone",
                "both ports read one predicate",
            ]);
        }
        points
    }

    fn new(shape: &SmShape) -> Self {
        Self { shape: *shape, last: Vec::new() }
    }

    fn observe(
        &mut self,
        i: &PredicateFileIn,
        _: &PredicateFileOut,
        _: &NoProbe<SmShape>,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let ports = 0..self.shape.ports();
        let last_warp = self.shape.warps as u8 - 1;
        let names = |p: usize| [i.read_guard_i[p], i.read_s_i[p], i.read_t_i[p]];
        let read: Vec<(u8, u8)> = ports.clone().flat_map(|p| names(p).map(|name| (i.read_warp_i[p], name))).collect();
        let asked = |name: u8| read.iter().any(|r| r.1 == name);
        let written: Vec<(u8, u8)> = ports
            .clone()
            .filter(|p| i.write_valid_i >> p & 1 == 1)
            .map(|p| (i.write_warp_i[p], i.write_pred_i[p]))
            .collect();
        let meets = |targets: &[(u8, u8)]| {
            targets.iter().any(|&(warp, number)| number != NO_PRED && read.contains(&(warp, number)))
        };
        let partial = ports.clone().any(|p| i.write_valid_i >> p & 1 == 1 && i.write_mask_i[p] != u32::MAX);
        let both = written.len() == 2;
        let shared = |port: usize| read[3 * port..3 * port + 3].iter().copied().filter(|r| r.1 % INVERTED != NO_PRED);
        let points = [
            ("true is read", asked(NO_PRED)),
            ("true is read inverted", asked(NO_PRED | INVERTED)),
            ("a predicate is read inverted", read.iter().any(|r| r.1 & INVERTED != 0 && r.1 % INVERTED != NO_PRED)),
            ("read while it is written", meets(&written)),
            ("read in the cycle after it was written", meets(&self.last)),
            ("the last warp is read", read.iter().any(|r| r.0 == last_warp)),
            ("the last warp is written", written.iter().any(|w| w.0 == last_warp)),
            ("a write of number 7", written.iter().any(|w| w.1 == NO_PRED)),
            ("lanes are not written", partial),
            ("written in reset", i.rst_ni == 0 && !written.is_empty()),
            ("two predicates of one warp are written", both && written[0].0 == written[1].0),
            ("one predicate of two warps is written", both && written[0].1 == written[1].1),
            ("port 1 writes alone", i.write_valid_i == 0b10),
            ("both ports read one predicate", read.len() > 3 && shared(0).any(|a| shared(1).any(|b| a == b))),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        self.last = written;
    }
}
