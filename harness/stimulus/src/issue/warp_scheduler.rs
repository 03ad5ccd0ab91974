//! `warp_scheduler`.

use gpurf_blocks::config::Config;
use gpurf_blocks::issue::{WarpScheduler, WarpSchedulerIn, WarpSchedulerOut, WarpSchedulerProbe};
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, Twin, ports};
use crate::{Cover, Driver, Knob, Knobs, Unreached};

pub(crate) struct WarpSchedulerDriver {
    shape: SmShape,
    straps: Straps,
    reset: Reset,
    /// Knows which warps the ports name, where they do.
    twin: Option<Twin<WarpScheduler>>,
    /// Warps that the ports have named, and what their heads are.
    named: u64,
    operand: u64,
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
const STEAL: usize = 8;

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
        Knob { name: "steal", doc: "an operand of a candidate is read", values: &[0, 300, 900] },
        Knob { values: &[0, 5, 40], ..RESET },
    ];

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            straps: Straps::of(config),
            reset: Reset::default(),
            twin: shape.services().takes_candidates.then(|| Twin::new(shape)),
            named: 0,
            operand: 0,
            alive: 0,
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["start_warp_i"], shape.warps)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut WarpSchedulerIn) {
        let warps = self.shape.warps;
        let stray = rng.chance(knobs.get(STRAY));
        inputs.rst_ni = self.reset.next(rng, knobs.get(9));
        inputs.cfg_i = self.straps.scheduler;
        inputs.alive_i = self.alive;
        inputs.clear_i = rng.mask(warps as u32, knobs.get(CLEAR)) & if stray { u64::MAX } else { self.alive };
        inputs.operand_i = rng.mask(warps as u32, knobs.get(OPERAND));
        // A warp that was named and has not issued is as it was.
        inputs.clear_i |= self.named;
        inputs.operand_i = inputs.operand_i & !self.named | self.operand & self.named;
        inputs.branch_i = !inputs.operand_i & rng.mask(warps as u32, knobs.get(BRANCH));
        inputs.ready_i = ports(rng, self.shape.ports(), knobs.get(READY));
        inputs.stop_i = rng.chance(knobs.get(STOP)).into();

        inputs.start_warp_i = rng.below(warps as u64) as u8;
        let begins = stray || self.alive >> inputs.start_warp_i & 1 == 0;
        inputs.start_valid_i = (begins && rng.chance(knobs.get(START))).into();
        // Without candidates it means nothing.
        inputs.candidate_issue_i = ports(rng, self.shape.ports(), knobs.get(STEAL));
        if let Some(twin) = &mut self.twin {
            twin.late(inputs);
            (self.named, self.operand) = (0, inputs.operand_i);
            for p in (0..self.shape.ports()).filter(|p| twin.out.candidate_valid_o >> p & 1 == 1) {
                self.named |= 1 << twin.out.candidate_warp_o[p];
            }
            twin.clock(inputs);
            if inputs.rst_ni == 0 {
                self.named = 0;
            }
        }
        if rng.chance(knobs.get(END)) {
            self.alive &= !(1 << rng.below(warps as u64)) | self.named;
        }
        self.alive |= u64::from(inputs.start_valid_i) << inputs.start_warp_i;
        if inputs.rst_ni == 0 {
            self.alive = 0;
        }
    }
}

pub(crate) struct WarpSchedulerCover {
    shape: SmShape,
    /// Ports that issued a stolen warp in the cycle before.
    stolen: u8,
}

/// What candidates for stealing add.
const STEALING: [&str; 14] = [
    "a candidate of the even half",
    "a candidate of the odd half",
    "no candidate: nobody is in the other half",
    "no candidate: the one who has lost needs no operands",
    "nothing is stolen, the tree's winner goes",
    "a stolen warp issues",
    "a stolen warp issues, the tree's winner is the next candidate",
    "a stolen warp issues that the tree has chosen, too",
    "a stolen warp issues that the tree has chosen, too, and the one who has lost is the next candidate",
    "a stolen warp issues, its port is not ready",
    "a stolen warp issues, and the tree has no winner",
    "stolen, but stopped",
    "stolen, and no candidate was there",
    "a stolen warp issues behind another one",
];

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
        if shape.services().takes_candidates {
            points.extend(STEALING);
            if shape.ports() == 2 {
                points.extend([
                    "both ports issue stolen warps",
                    "port 0's winner is a branch, a stolen warp goes instead, and a branch on port 1",
                ]);
            }
        }
        points
    }

    fn new(shape: &SmShape) -> Self {
        Self { shape: *shape, stolen: 0 }
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
        let (mut stolen, mut branch_passed) = (0, false);
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
            if !self.shape.services().takes_candidates {
                continue;
            }
            let even = (0..warps).filter(|w| (w / ports).is_multiple_of(2)).fold(0u64, |set, w| set | 1 << w);
            let choose = |among: u64| {
                let from = (0..warps).map(|n| (from + n) % warps).find(|&w| bit(among, w));
                let eldest = (0..warps).find(|&w| bit(among, w) && p.older_q[w] & among == 0);
                let greedy = p.greedy_valid_q >> port & 1 == 1 && bit(among, last);
                if i.cfg_i & 1 == 0 { from } else { Some(last).filter(|_| greedy).or(eldest) }
            };
            let winner = choose(candidates);
            let other = winner.and_then(|w| choose(candidates & if bit(even, w) { !even } else { even }));
            let had = p.candidate_valid_q >> port & 1 == 1;
            let asked = i.candidate_issue_i >> port & 1 == 1;
            let goes = running && had && asked && i.stop_i == 0;
            let named = (o.candidate_valid_o >> port & 1 == 1).then(|| usize::from(o.candidate_warp_o[port]));
            let one = usize::from(p.candidate_q[port]);
            stolen |= u8::from(goes) << port;
            branch_passed |= goes && port == 0 && winner.is_some_and(|w| bit(i.branch_i, w));
            points.extend([
                ("a candidate of the even half", running && named.is_some_and(|w| bit(even, w))),
                ("a candidate of the odd half", running && named.is_some_and(|w| !bit(even, w))),
                ("no candidate: nobody is in the other half", !goes && winner.is_some() && other.is_none()),
                ("no candidate: the one who has lost needs no operands", !goes && other.is_some() && named.is_none()),
                ("nothing is stolen, the tree's winner goes", running && had && !asked && winner.is_some()),
                ("a stolen warp issues", goes),
                ("a stolen warp issues, the tree's winner is the next candidate", goes && named.is_some() && named == winner),
                ("a stolen warp issues that the tree has chosen, too", goes && winner == Some(one)),
                (
                    "a stolen warp issues that the tree has chosen, too, and the one who has lost is the next candidate",
                    goes && winner == Some(one) && named.is_some() && named == other,
                ),
                ("a stolen warp issues, its port is not ready", goes && i.ready_i >> port & 1 == 0),
                ("a stolen warp issues, and the tree has no winner", goes && winner.is_none()),
                ("stolen, but stopped", running && had && asked && i.stop_i == 1),
                ("stolen, and no candidate was there", running && asked && !had),
                ("a stolen warp issues behind another one", goes && self.stolen >> port & 1 == 1),
            ]);
        }
        let branch = o.issue_valid_o & 2 != 0 && bit(i.branch_i, o.issue_warp_o[1].into());
        points.extend([
            ("both ports issue stolen warps", stolen == 3),
            (
                "port 0's winner is a branch, a stolen warp goes instead, and a branch on port 1",
                branch_passed && branch && stolen == 1,
            ),
        ]);
        self.stolen = stolen;
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
