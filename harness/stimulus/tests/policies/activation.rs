//! Two levels of warps (`two_level_scheduler`): which active warp issues, which pending one becomes active, and when
//! patience ends.

use gpurf_blocks::Shape;
use gpurf_blocks::config::{Config, Scheduler, SmConfig};
use gpurf_blocks::issue::TwoLevelScheduler;
use gpurf_blocks::shape::ActiveShape;

use crate::run::{Checker, Cycle, Decided, Turn, config, config_with, count, expect, has, passes, refuses, set};

/// State of a slot (`state_q`): its warp issues.
const ACTIVE: u8 = 1;
/// State of a slot: it has no warp.
const FREE: u8 = 0;

/// The scheduler "uses a greedy policy in the inner level, issuing from a single warp until it can no longer issue
/// without a stall, and uses a round-robin policy when replacing active warps with ready pending warps from the outer
/// level" (hierarchy thesis, 2.5.3); or round-robin in the inner level, "using a rotating priority" (2.5.1). "When a
/// warp encounters a stall-inducing event, that warp is removed from the active set" (2.5).
///
/// The patience is an addition of this project: a warp that has issued that many instructions gives its slot to a warp
/// that is ready.
struct Activates {
    shape: ActiveShape,
    config: Config,
    /// Of each port: the turns of its slots and of the warps.
    inner: Vec<Turn>,
    outer: Vec<Turn>,
    /// Of each slot: instructions that its warp has issued there.
    issued: Vec<usize>,
    /// Slots that were free in the cycle before, and, for each port, the slot and the warp of the activation that has
    /// to follow.
    free: u64,
    takes: Vec<Option<(usize, usize)>>,
    /// Of each port: the slot of the warp that was named as candidate in the cycle before.
    named: Vec<Option<usize>>,
}

impl Activates {
    fn new(config: &Config) -> Self {
        let shape = ActiveShape::of(config);
        let mut inner = Turn::new(shape.active / shape.ports());
        // After reset, slot 0 counts as the last one served.
        inner.served(0);
        Self {
            inner: vec![inner; shape.ports()],
            outer: vec![Turn::new(shape.warps); shape.ports()],
            issued: vec![0; shape.active],
            free: set(shape.active, |_| true),
            takes: vec![None; shape.ports()],
            named: vec![None; shape.ports()],
            shape,
            config: *config,
        }
    }

    /// Checks that free slots have been taken by the warps that the policy selects.
    fn activation(&mut self, cycle: &Cycle<TwoLevelScheduler>) -> Result<(), String> {
        for (port, takes) in self.takes.iter().enumerate() {
            let own = |s: usize| s % self.shape.ports() == port && has(self.free, s);
            let taken = (0..self.shape.active).filter(|&s| own(s) && cycle.probe.state_q[s] != FREE);
            let taken: Vec<_> = taken.map(|s| (s, usize::from(cycle.out.slot_warp_o[s]))).collect();
            expect(&format!("activation for port {port}"), taken, takes.iter().copied().collect())?;
            if let &Some((slot, warp)) = takes {
                self.issued[slot] = 0;
                self.outer[port].served(warp);
            }
        }
        Ok(())
    }

    /// Whether the warp of an active slot stays, and whether its patience decides this.
    fn stays(&self, cycle: &Cycle<TwoLevelScheduler>, slot: usize, rivals: u64) -> (bool, bool) {
        let (i, sm) = (&cycle.inputs, &self.config.sm);
        let warp = usize::from(cycle.out.slot_warp_o[slot]);
        let marked = has(i.head_valid_i & i.mark_i, warp) && self.issued[slot] > 0;
        let stalls = !has(i.alive_i, warp) || !sm.stay && (has(i.held_i, warp) || marked);
        let bounded = !sm.stay && sm.patience > 0 && has(i.void_i, slot) && !stalls;
        let over = bounded && self.issued[slot] >= sm.patience && rivals != 0;
        (!stalls && !over, bounded && self.issued[slot] + 1 >= sm.patience && rivals != 0)
    }
}

impl Checker<TwoLevelScheduler> for Activates {
    fn judge(&mut self, cycle: &Cycle<TwoLevelScheduler>, decided: &mut Decided) -> Result<(), String> {
        self.activation(cycle)?;
        let (i, o, p, ports) = (&cycle.inputs, &cycle.out, &cycle.probe, self.shape.ports());
        let (slots, warp) = (self.shape.active, |s: usize| usize::from(o.slot_warp_o[s]));
        let resident = (0..slots).filter(|&s| p.state_q[s] != FREE).fold(0, |all, s| all | 1 << warp(s));
        let pending = set(self.shape.warps, |w| has(i.alive_i & !i.held_i & !resident, w) && p.long_count_q[w] == 0);
        self.free = set(slots, |s| p.state_q[s] == FREE);

        let mut active = 0;
        for slot in (0..slots).filter(|&s| p.state_q[s] == ACTIVE) {
            let rivals = set(self.shape.warps, |w| has(pending, w) && w % ports == slot % ports);
            let (stays, decides) = self.stays(cycle, slot, rivals);
            active |= u64::from(stays) << warp(slot);
            count(decided, "patience", decides);
        }
        expect("warps that are active and stay", o.active_o, active)?;

        let mut branch = false;
        for port in 0..ports {
            let ready = set(slots / ports, |j| {
                let (slot, w) = (j * ports + port, warp(j * ports + port));
                let stalls =
                    i.stop_i == 1 || has(i.operand_i, w) && !has(i.ready_i, port) || branch && has(i.branch_i, w);
                p.state_q[slot] == ACTIVE && has(active & i.clear_i, w) && !stalls
            });
            let greedy = self.config.sm.scheduler == Scheduler::GreedyThenOldest;
            let same = self.inner[port].last().filter(|&j| greedy && has(ready, j));
            let chosen = same.or(self.inner[port].first(ready));
            let stolen = self.named[port]
                .filter(|&slot| has(i.candidate_issue_i, port) && i.stop_i == 0 && has(active, warp(slot)));
            let issued = has(o.issue_valid_o, port).then_some(usize::from(o.issue_slot_o[port]));
            expect(&format!("issue on port {port}"), issued, stolen.or(chosen.map(|j| j * ports + port)))?;
            count(decided, "several ready", ready.count_ones() > 1 && stolen.is_none());
            if let Some(slot) = issued {
                expect("warp that issues", usize::from(o.issue_warp_o[port]), warp(slot))?;
                self.issued[slot] += 1;
                branch |= has(i.branch_i, warp(slot));
                if chosen == Some(slot / ports) {
                    self.inner[port].served(slot / ports);
                }
            }
            let named = has(o.candidate_valid_o, port).then_some(usize::from(o.candidate_warp_o[port]));
            self.named[port] = named.and_then(|w| (0..slots).find(|&s| p.state_q[s] == ACTIVE && warp(s) == w));

            let own = set(self.shape.warps, |w| has(pending, w) && w % ports == port);
            let slot = (0..slots).find(|&s| s % ports == port && has(self.free, s));
            self.takes[port] = slot.zip(self.outer[port].first(own));
            count(decided, "several pending", slot.is_some() && own.count_ones() > 1);
        }
        if i.rst_ni == 0 {
            *self = Self::new(&self.config);
        }
        Ok(())
    }
}

fn configs(scheduler: Scheduler, patience: usize) -> Vec<Config> {
    let two_level =
        |config: Config| Config { sm: SmConfig { active_warps: 8, scheduler, patience, ..config.sm }, ..config };
    let mut configs = ["two-level", "banks-16"].map(config).to_vec();
    configs.push(config_with(|services| services.takes_candidates));
    configs.push(Config { sm: SmConfig { handover: true, ..configs[0].sm }, ..configs[0] });
    configs.into_iter().map(two_level).collect()
}

const POLICIES: [Scheduler; 2] = [Scheduler::RoundRobin, Scheduler::GreedyThenOldest];

#[test]
fn warps_are_activated_and_issue_by_the_policy() {
    for scheduler in POLICIES {
        for patience in [3, 8] {
            for config in configs(scheduler, patience) {
                let kinds = ["several ready", "several pending", "patience"];
                passes(&config, &[], Activates::new(&config), &kinds);
            }
        }
    }
}

#[test]
fn another_policy_inside_is_refused() {
    for [done, checked] in [POLICIES, [POLICIES[1], POLICIES[0]]] {
        for (done, checked) in configs(done, 40).iter().zip(configs(checked, 40)) {
            refuses(done, &[], Activates::new(&checked), "issue on port", |_, _| {});
        }
    }
}

#[test]
fn a_patience_that_is_longer_or_shorter_by_one_is_refused() {
    for patience in [5, 7] {
        for (done, checked) in configs(POLICIES[0], patience).iter().zip(configs(POLICIES[0], 6)) {
            refuses(done, &[], Activates::new(&checked), "warps that are active and stay", |_, _| {});
        }
    }
}

#[test]
fn one_activation_out_of_turn_is_refused() {
    for config in configs(POLICIES[1], 40) {
        let (mut done, mut free, ports) = (false, true, config.mrf.issue_ports as u8);
        refuses(&config, &[], Activates::new(&config), "activation for port 0", |number, cycle| {
            let was_free = std::mem::replace(&mut free, cycle.probe.state_q[0] == FREE);
            if number > 1_000 && was_free && !free && !done {
                done = true;
                cycle.out.slot_warp_o[0] ^= ports;
            }
        });
    }
}
