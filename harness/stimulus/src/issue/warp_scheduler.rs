//! `warp_scheduler`.

use gpurf_blocks::config::Config;
use gpurf_blocks::issue::{WarpSchedulerIn, WarpSchedulerOut, WarpSchedulerProbe};
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, ports};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct WarpSchedulerDriver {
    shape: SmShape,
    straps: Straps,
    reset: Reset,
    alive: u64,
}

const CLEAR: usize = 0;
const OPERAND: usize = 1;
const BRANCH: usize = 2;
const READY: usize = 3;
const STOP: usize = 4;
const START: usize = 5;
const END: usize = 6;
const STRAY: usize = 7;

impl Driver for WarpSchedulerDriver {
    type In = WarpSchedulerIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "clear", doc: "a warp may issue", values: &[30, 200, 600, 950] },
        Knob { name: "operand", doc: "its head goes to the operand stage", values: &[0, 500, 900] },
        Knob { name: "branch", doc: "it is a branch instead", values: &[100, 500, 1000] },
        Knob { name: "ready", doc: "the operand stage takes an instruction on a port", values: &[200, 900] },
        Knob { name: "stop", doc: "nothing issues", values: &[0, 100] },
        Knob { name: "start", doc: "a warp begins", values: &[20, 300] },
        Knob { name: "end", doc: "one ends", values: &[20, 200] },
        Knob { name: "stray", doc: "warps issue or begin, whether they live or not", values: &[0, 0, 200] },
        Knob { values: &[0, 5, 40], ..RESET },
    ];

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self { shape: *shape, straps: Straps::of(config), reset: Reset::default(), alive: 0 }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut WarpSchedulerIn) {
        let warps = self.shape.warps;
        let stray = rng.chance(knobs.get(STRAY));
        inputs.rst_ni = self.reset.next(rng, knobs.get(8));
        inputs.cfg_i = self.straps.scheduler;
        inputs.alive_i = self.alive;
        inputs.clear_i = rng.mask(warps as u32, knobs.get(CLEAR)) & if stray { u64::MAX } else { self.alive };
        inputs.operand_i = rng.mask(warps as u32, knobs.get(OPERAND));
        inputs.branch_i = !inputs.operand_i & rng.mask(warps as u32, knobs.get(BRANCH));
        inputs.ready_i = ports(rng, self.shape.ports(), knobs.get(READY));
        inputs.stop_i = rng.chance(knobs.get(STOP)).into();

        inputs.start_warp_i = rng.below(warps as u64) as u8;
        let begins = stray || self.alive >> inputs.start_warp_i & 1 == 0;
        inputs.start_valid_i = (begins && rng.chance(knobs.get(START))).into();
        if rng.chance(knobs.get(END)) {
            self.alive &= !(1 << rng.below(warps as u64));
        }
        self.alive |= u64::from(inputs.start_valid_i) << inputs.start_warp_i;
        if inputs.rst_ni == 0 {
            self.alive = 0;
        }
    }
}

pub(crate) struct WarpSchedulerCover {
    shape: SmShape,
}

impl Cover for WarpSchedulerCover {
    type In = WarpSchedulerIn;
    type Out = WarpSchedulerOut;
    type Probe = WarpSchedulerProbe;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        let mut points = vec![
            "issues",
            "nothing to issue",
            "stopped",
            "not ready",
            "not ready, another one needs no operands",
            "first from the turn is not the lowest",
            "turn wraps",
            "last warp issues",
            "the last one may issue again",
            "the last one may not issue again",
            "oldest is not the lowest",
            "oldest is not the first from the turn",
            "several without an age",
            "oldest is the last one again, and another one could go",
            "a warp begins",
            "a warp begins anew that others were younger than",
            "a warp begins among others",
            "reset with candidates",
            "reset as a warp begins",
        ];
        if shape.ports() == 2 {
            points.extend([
                "two issue",
                "port 1 alone",
                "branch on port 1",
                "branch on port 1 kept back",
                "branch kept back, another one goes",
            ]);
        }
        points
    }

    fn new(shape: &SmShape) -> Self {
        Self { shape: *shape }
    }

    fn observe(
        &mut self,
        i: &WarpSchedulerIn,
        o: &WarpSchedulerOut,
        p: &WarpSchedulerProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let (warps, ports) = (self.shape.warps, self.shape.ports());
        let bit = |set: u64, w: usize| set >> w & 1 == 1;
        let running = i.rst_ni == 1;
        let started = usize::from(i.start_warp_i);
        let begins = running && i.start_valid_i == 1;
        let mut points = vec![
            ("issues", running && o.issue_valid_o != 0),
            ("nothing to issue", i.clear_i == 0),
            ("stopped", running && i.stop_i == 1 && i.clear_i != 0),
            ("a warp begins", begins),
            (
                "a warp begins anew that others were younger than",
                begins && p.older_q[..warps].iter().any(|&older| bit(older, started)),
            ),
            ("a warp begins among others", begins && i.alive_i & !(1 << started) != 0),
            ("reset with candidates", !running && o.issue_valid_o != 0),
            ("reset as a warp begins", !running && i.start_valid_i == 1),
            ("two issue", running && o.issue_valid_o == 3),
            ("port 1 alone", running && o.issue_valid_o == 2),
            ("branch on port 1", running && o.issue_valid_o & 2 != 0 && bit(i.branch_i, o.issue_warp_o[1].into())),
        ];
        let mut branch_free = true;
        for port in 0..ports {
            let own = (0..warps).filter(|w| w % ports == port).fold(0u64, |set, w| set | 1 << w);
            let clear = if i.stop_i == 1 { 0 } else { i.clear_i & own };
            let takes = if i.ready_i >> port & 1 == 1 { u64::MAX } else { !i.operand_i };
            let allowed = if branch_free { u64::MAX } else { !i.branch_i };
            let candidates = clear & takes & allowed;
            let ready = clear & takes;
            let from = usize::from(p.rr_q[port]);
            let lowest = (0..warps).find(|&w| bit(candidates, w));
            let first = (0..warps).map(|n| (from + n) % warps).find(|&w| bit(candidates, w));
            let mut eldest = (0..warps).filter(|&w| bit(candidates, w) && p.older_q[w] & candidates == 0);
            let oldest = eldest.next();
            let last = usize::from(p.greedy_q[port]);
            let again = p.greedy_valid_q >> port & 1 == 1 && bit(candidates, last);
            let issued = o.issue_valid_o >> port & 1 == 1;
            points.extend([
                ("not ready", clear & !takes != 0),
                ("not ready, another one needs no operands", clear & !takes != 0 && candidates != 0),
                ("first from the turn is not the lowest", first != lowest),
                ("turn wraps", first.is_some_and(|w| w < from)),
                ("last warp issues", running && issued && usize::from(o.issue_warp_o[port]) + 1 == warps),
                ("the last one may issue again", again && first != Some(last) && oldest != Some(last)),
                ("the last one may not issue again", !again && p.greedy_valid_q >> port & 1 == 1 && candidates != 0),
                ("oldest is not the lowest", !again && oldest != lowest),
                ("oldest is not the first from the turn", !again && oldest != first),
                ("several without an age", eldest.next().is_some()),
                (
                    "oldest is the last one again, and another one could go",
                    again && oldest == Some(last) && first != Some(last),
                ),
                ("branch on port 1 kept back", ready != candidates),
                ("branch kept back, another one goes", ready != candidates && candidates != 0),
            ]);
            branch_free &= !(issued && bit(i.branch_i, o.issue_warp_o[port].into()));
        }
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
