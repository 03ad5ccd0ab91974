//! `predicate_file`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_PRED;
use gpurf_blocks::issue::{PredicateFile, PredicateFileIn, PredicateFileOut};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::{Reset, alias, lane_mask, ports};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<PredicateFile, PredicateFileDriver, PredicateFileCover>();

pub(crate) struct PredicateFileDriver {
    shape: SmShape,
    reset: Reset,
}

knobs! {
    pub(crate) struct PredicateFileKnobs {
        write: "a predicate is written" = [100, 500, 950],
        near: "warp and number are among the first or last few, so that accesses meet" = [0, 500, 1000],
        r#true: "the predicate is number 7" = [50, 300],
        partial: "lanes are not written" = [0, 300, 900],
        reset,
    }
}

/// Bit of a predicate source: the value that is read is inverted.
const INVERTED: u8 = 8;

impl Driver for PredicateFileDriver {
    type In = PredicateFileIn;
    type Knobs = PredicateFileKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default() }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["read_warp_i", "write_warp_i"], shape.warps)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &PredicateFileKnobs, inputs: &mut PredicateFileIn) {
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        let ports_count = self.shape.ports();
        inputs.write_valid_i = ports(rng, ports_count, knobs.write);
        for port in 0..ports_count {
            inputs.read_warp_i[port] = self.warp(rng, knobs);
            for name in [&mut inputs.read_guard_i[port], &mut inputs.read_s_i[port], &mut inputs.read_t_i[port]] {
                *name = number(rng, knobs) | if rng.chance(300) { INVERTED } else { 0 };
            }
            inputs.write_warp_i[port] = self.warp(rng, knobs);
            inputs.write_pred_i[port] = number(rng, knobs);
            inputs.write_mask_i[port] = lane_mask(rng, knobs.partial);
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
    fn warp(&self, rng: &mut Rng, knobs: &PredicateFileKnobs) -> u8 {
        let warps = self.shape.warps as u64;
        if rng.chance(knobs.near) { [0, 1, warps - 1][rng.below(3) as usize] as u8 } else { rng.below(warps) as u8 }
    }
}

fn number(rng: &mut Rng, knobs: &PredicateFileKnobs) -> u8 {
    if rng.chance(knobs.r#true) {
        NO_PRED
    } else if rng.chance(knobs.near) {
        [0, 6][rng.below(2) as usize]
    } else {
        rng.below(7) as u8
    }
}

pub(crate) struct PredicateFileCover {
    shape: SmShape,
    /// The writes of the previous cycle: warp and number, for each port.
    last: Vec<(u8, u8)>,
}

#[cover]
impl PredicateFileCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape, last: Vec::new() }
    }

    fn observe(&mut self, i: &PredicateFileIn, _: &PredicateFileOut, _: &NoProbe<SmShape>, points: &mut Points) {
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
        point!("true is read", asked(NO_PRED));
        point!("true is read inverted", asked(NO_PRED | INVERTED));
        point!("a predicate is read inverted", read.iter().any(|r| r.1 & INVERTED != 0 && r.1 % INVERTED != NO_PRED));
        point!("read while it is written", meets(&written));
        point!("read in the cycle after it was written", meets(&self.last));
        point!("the last warp is read", read.iter().any(|r| r.0 == last_warp));
        point!("the last warp is written", written.iter().any(|w| w.0 == last_warp));
        point!("a write of number 7", written.iter().any(|w| w.1 == NO_PRED));
        point!("lanes are not written", partial);
        point!("written in reset", i.rst_ni == 0 && !written.is_empty());
        #[given(self.shape.ports() == 2)]
        {
            point!("two predicates of one warp are written", both && written[0].0 == written[1].0);
            point!("one predicate of two warps is written", both && written[0].1 == written[1].1);
            point!("port 1 writes alone", i.write_valid_i == 0b10);
            point!("both ports read one predicate", read.len() > 3 && shared(0).any(|a| shared(1).any(|b| a == b)));
        }

        self.last = written;
    }
}
