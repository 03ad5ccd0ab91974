//! `warp_scheduler`.

use gpurf_blocks::config::Config;
use gpurf_blocks::issue::{WarpScheduler, WarpSchedulerIn, WarpSchedulerOut, WarpSchedulerProbe};
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin, ports};
use crate::{Driver, Points, Unreached, cover};

mod directed;

pub(crate) use directed::DIRECTED;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry =
    crate::Entry { directed: DIRECTED, ..crate::entry::<WarpScheduler, WarpSchedulerDriver, WarpSchedulerCover>() };

pub(crate) struct WarpSchedulerDriver {
    shape: SmShape,
    straps: Straps,
    reset: Reset,
    /// Tells which warps the ports name, in designs in which they do.
    twin: Option<Twin<WarpScheduler>>,
    /// Warps that the ports have named, and heads that go to the operand stage.
    named: u64,
    operand: u64,
    alive: u64,
}

knobs! {
    pub(crate) struct WarpSchedulerKnobs {
        clear: "a warp may issue" = [30, 200, 600, 950],
        operand: "its head goes to the operand stage" = [0, 500, 900],
        branch: "it is a branch instead" = [100, 500, 1000],
        ready: "the operand stage takes an instruction on a port" = [200, 900],
        stop: "nothing issues" = [0, 100],
        start: "a warp begins" = [20, 300],
        end: "one ends" = [20, 200],
        stray: "warps issue or begin, whether they live or not" = [0, 0, 200],
        class: "a warp is preferred, or taken last" = [50, 300, 700],
        candidate: "an operand of a candidate is read" = [0, 300, 900],
        reset = [0, 5, 40],
    }
}

impl Driver for WarpSchedulerDriver {
    type In = WarpSchedulerIn;
    type Knobs = WarpSchedulerKnobs;

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

    fn drive(&mut self, rng: &mut Rng, knobs: &WarpSchedulerKnobs, inputs: &mut WarpSchedulerIn) {
        let warps = self.shape.warps;
        let stray = rng.chance(knobs.stray);
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.cfg_i = self.straps.scheduler;
        inputs.alive_i = self.alive;
        inputs.clear_i = rng.mask(warps as u32, knobs.clear) & if stray { u64::MAX } else { self.alive };
        inputs.operand_i = rng.mask(warps as u32, knobs.operand);
        // The head of a warp that was named and has not issued does not change.
        inputs.clear_i |= self.named;
        inputs.operand_i = inputs.operand_i & !self.named | self.operand & self.named;
        inputs.branch_i = !inputs.operand_i & rng.mask(warps as u32, knobs.branch);
        inputs.ready_i = ports(rng, self.shape.ports(), knobs.ready);
        inputs.stop_i = rng.chance(knobs.stop).into();
        // Without classes these inputs have no meaning.
        (inputs.lead_i, inputs.last_i) = (rng.mask(warps as u32, knobs.class), rng.mask(warps as u32, knobs.class));

        inputs.start_warp_i = rng.below(warps as u64) as u8;
        let begins = stray || self.alive >> inputs.start_warp_i & 1 == 0;
        inputs.start_valid_i = (begins && rng.chance(knobs.start)).into();
        // Without candidates this input has no meaning.
        inputs.candidate_issue_i = ports(rng, self.shape.ports(), knobs.candidate);
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
        if rng.chance(knobs.end) {
            self.alive &= !(1 << rng.below(warps as u64)) | self.named;
        }
        self.alive |= u64::from(inputs.start_valid_i) << inputs.start_warp_i;
        if inputs.rst_ni == 0 {
            self.alive = 0;
        }
    }
}

/// The warps of a set that are of its best class.
fn best(i: &WarpSchedulerIn, all: u64) -> u64 {
    let classes = [all & i.lead_i, all & !i.lead_i & !i.last_i];
    classes.into_iter().find(|&class| class != 0).unwrap_or(all)
}

pub(crate) struct WarpSchedulerCover {
    shape: SmShape,
    /// Ports that issued a warp for which an operand was stolen in the previous cycle.
    stolen: u8,
}

#[cover]
impl WarpSchedulerCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape, stolen: 0 }
    }

    fn observe(&mut self, i: &WarpSchedulerIn, o: &WarpSchedulerOut, p: &WarpSchedulerProbe, points: &mut Points) {
        let (warps, ports) = (self.shape.warps, self.shape.ports());
        let bit = |set: u64, w: usize| set >> w & 1 == 1;
        let running = i.rst_ni == 1;
        let started = usize::from(i.start_warp_i);
        let begins = running && i.start_valid_i == 1;
        point!("issues", running && o.issue_valid_o != 0);
        point!("nothing to issue", i.clear_i == 0);
        point!("stopped", running && i.stop_i == 1 && i.clear_i != 0);
        point!("a warp begins", begins);
        point!(
            "a warp begins anew that others were younger than",
            begins && p.older_q[..warps].iter().any(|&older| bit(older, started))
        );
        point!("a warp begins among others", begins && i.alive_i & !(1 << started) != 0);
        point!("reset with candidates", !running && o.issue_valid_o != 0);
        point!("reset as a warp begins", !running && i.start_valid_i == 1);
        #[given(self.shape.ports() == 2)]
        {
            point!("two issue", running && o.issue_valid_o == 3);
            point!("port 1 alone", running && o.issue_valid_o == 2);
            point!(
                "branch on port 1",
                running && o.issue_valid_o & 2 != 0 && bit(i.branch_i, o.issue_warp_o[1].into())
            );
        }

        let mut branch_free = true;
        let (mut stolen, mut branch_passed) = (0, false);
        for port in 0..ports {
            let own = (0..warps).filter(|w| w % ports == port).fold(0u64, |set, w| set | 1 << w);
            let clear = if i.stop_i == 1 { 0 } else { i.clear_i & own };
            let takes = if i.ready_i >> port & 1 == 1 { u64::MAX } else { !i.operand_i };
            let allowed = if branch_free { u64::MAX } else { !i.branch_i };
            let all = clear & takes & allowed;
            let ready = clear & takes;
            let candidates = if self.shape.shares() { best(i, all) } else { all };
            let from = usize::from(p.rr_q[port]);
            let lowest = (0..warps).find(|&w| bit(candidates, w));
            let first = (0..warps).map(|n| (from + n) % warps).find(|&w| bit(candidates, w));
            let mut eldest = (0..warps).filter(|&w| bit(candidates, w) && p.older_q[w] & candidates == 0);
            let oldest = eldest.next();
            let last = usize::from(p.greedy_q[port]);
            let again = p.greedy_valid_q >> port & 1 == 1 && bit(candidates, last);
            let issued = o.issue_valid_o >> port & 1 == 1;
            point!("not ready", clear & !takes != 0);
            point!("not ready, another one needs no operands", clear & !takes != 0 && candidates != 0);
            point!("first from the turn is not the lowest", first != lowest);
            point!("turn wraps", first.is_some_and(|w| w < from));
            point!("last warp issues", running && issued && usize::from(o.issue_warp_o[port]) + 1 == warps);
            point!("the last one may issue again", again && first != Some(last) && oldest != Some(last));
            point!("the last one may not issue again", !again && p.greedy_valid_q >> port & 1 == 1 && candidates != 0);
            point!("oldest is not the lowest", !again && oldest != lowest);
            point!("oldest is not the first from the turn", !again && oldest != first);
            point!("several without an age", eldest.next().is_some());
            point!(
                "oldest is the last one again, and another one could go",
                again && oldest == Some(last) && first != Some(last)
            );
            let issues = running && issued;
            let choice = |among: u64| {
                let first = (0..warps).map(|n| (from + n) % warps).find(|&w| bit(among, w));
                let eldest = (0..warps).find(|&w| bit(among, w) && p.older_q[w] & among == 0);
                let greedy = p.greedy_valid_q >> port & 1 == 1 && bit(among, last);
                if i.cfg_i & 1 == 0 { first } else { Some(last).filter(|_| greedy).or(eldest) }
            };
            let (led, between) = (all & i.lead_i, all & !i.lead_i & !i.last_i);
            #[given(self.shape.shares())]
            {
                point!(
                    "a preferred warp issues in the place of the policy's choice",
                    issues && led != 0 && choice(all) != choice(led)
                );
                point!(
                    "a warp of neither class issues in the place of the policy's choice",
                    issues && led == 0 && between != 0 && choice(all) != choice(between)
                );
                point!("several preferred warps may issue", issues && led.count_ones() > 1);
                point!(
                    "warps of all three classes may issue",
                    issues && led != 0 && between != 0 && all & i.last_i & !i.lead_i != 0
                );
                point!("only warps that are taken last may issue", issues && led == 0 && between == 0);
                point!("a warp that is preferred and taken last may issue", issues && led & i.last_i != 0);
                point!("a preferred warp may not issue", issues && led == 0 && own & i.lead_i & !all != 0);
            }
            point!("branch on port 1 kept back", ready != all, given = self.shape.ports() == 2);
            point!(
                "branch kept back, another one goes",
                ready != all && candidates != 0,
                given = self.shape.ports() == 2
            );

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
            #[given(self.shape.services().takes_candidates)]
            {
                point!("a candidate of the even half", running && named.is_some_and(|w| bit(even, w)));
                point!("a candidate of the odd half", running && named.is_some_and(|w| !bit(even, w)));
                point!("no candidate: no warp is in the other half", !goes && winner.is_some() && other.is_none());
                point!(
                    "no candidate: the one who has lost needs no operands",
                    !goes && other.is_some() && named.is_none()
                );
                point!("nothing is stolen, the tree's winner goes", running && had && !asked && winner.is_some());
                point!("a stolen warp issues", goes);
                point!(
                    "a stolen warp issues, the tree's winner is the next candidate",
                    goes && named.is_some() && named == winner
                );
                point!("a stolen warp issues that the tree has chosen, too", goes && winner == Some(one));
                point!(
                    "a stolen warp issues that the tree has chosen, too, and the one who has lost is the next candidate",
                    goes && winner == Some(one) && named.is_some() && named == other
                );
                point!("a stolen warp issues, its port is not ready", goes && i.ready_i >> port & 1 == 0);
                point!("a stolen warp issues, and the tree has no winner", goes && winner.is_none());
                point!("stolen, but stopped", running && had && asked && i.stop_i == 1);
                point!("stolen, and no candidate was there", running && asked && !had);
                point!("a stolen warp issues after another one", goes && self.stolen >> port & 1 == 1);
            }
        }
        let branch = o.issue_valid_o & 2 != 0 && bit(i.branch_i, o.issue_warp_o[1].into());
        point!(
            "both ports issue stolen warps",
            stolen == 3,
            given = self.shape.services().takes_candidates && self.shape.ports() == 2
        );
        point!(
            "port 0's winner is a branch, a stolen warp goes instead, and a branch on port 1",
            branch_passed && branch && stolen == 1,
            given = self.shape.services().takes_candidates && self.shape.ports() == 2
        );

        self.stolen = stolen;
    }
}
