//! Which warp issues: one level (`warp_scheduler`).

use gpurf_blocks::Shape;
use gpurf_blocks::config::{Config, Scheduler};
use gpurf_blocks::issue::WarpScheduler;
use gpurf_blocks::shape::SmShape;

use crate::run::{Checker, Cycle, Decided, Turn, config, config_with, count, expect, has, passes, refuses, set};

/// "For round-robin, we select a new ready warp from the active warp pool each cycle using a rotating priority. For
/// greedy, we continue to issue instructions from a single active warp for as long as possible, without stalling,
/// before selecting another ready warp. Our single-level scheduler has the same options, but all 32 warps remain
/// selectable at all times" (RFC paper, 3.2). With "greedy-then-oldest" (stealing paper, IV-B) this other warp is the
/// oldest one: it began before all others.
///
/// A warp for which an operand was stolen issues in place of the chosen one: "Wa, Wa, Wb, Wb, ..., may be changed to
/// Wa, Wb, Wa, Wb" (stealing paper, IV-B). The policy then continues from the last warp that it chose itself.
struct Issues {
    shape: SmShape,
    policy: Scheduler,
    turns: Vec<Turn>,
    /// Of each port: the warp that issued last by the policy.
    last: Vec<Option<usize>>,
    /// Of each port: the warp that was named as candidate in the cycle before.
    named: Vec<Option<usize>>,
    /// Warps, the oldest first.
    begun: Vec<usize>,
}

impl Issues {
    fn new(config: &Config, policy: Scheduler) -> Self {
        Self::reset(SmShape::of(config), policy)
    }

    fn reset(shape: SmShape, policy: Scheduler) -> Self {
        let ports = shape.ports();
        let turns = vec![Turn::new(shape.warps); ports];
        Self { shape, policy, turns, last: vec![None; ports], named: vec![None; ports], begun: Vec::new() }
    }
}

impl Checker<WarpScheduler> for Issues {
    fn judge(&mut self, cycle: &Cycle<WarpScheduler>, decided: &mut Decided) -> Result<(), String> {
        let (i, o, ports) = (&cycle.inputs, &cycle.out, self.shape.ports());
        let mut branch = false;
        for p in 0..ports {
            let ready = set(self.shape.warps, |w| {
                let stalls = i.stop_i == 1 || has(i.operand_i, w) && !has(i.ready_i, p) || branch && has(i.branch_i, w);
                w % ports == p && has(i.clear_i, w) && !stalls
            });
            let chosen = match self.policy {
                Scheduler::RoundRobin => self.turns[p].first(ready),
                Scheduler::GreedyThenOldest => {
                    self.last[p].into_iter().chain(self.begun.iter().copied()).find(|&w| has(ready, w))
                }
            };
            let stolen = self.named[p].filter(|_| has(i.candidate_issue_i, p) && i.stop_i == 0);
            let issued = has(o.issue_valid_o, p).then_some(usize::from(o.issue_warp_o[p]));
            expect(&format!("issue on port {p}"), issued, stolen.or(chosen))?;
            count(decided, "several ready", ready.count_ones() > 1 && stolen.is_none());
            count(decided, "stolen for", stolen.is_some() && stolen != chosen);
            if let Some(warp) = issued.filter(|_| issued == chosen) {
                self.turns[p].served(warp);
                self.last[p] = issued;
            }
            branch |= issued.is_some_and(|warp| has(i.branch_i, warp));
            self.named[p] = has(o.candidate_valid_o, p).then_some(usize::from(o.candidate_warp_o[p]));
            // "We always treat the other warp that is not selected for issue at the current cycle as the candidate"
            // (IV-B2).
            let other = self.named[p].is_none_or(|named| has(ready, named) && issued != Some(named));
            expect(&format!("candidate of port {p}, {:?}, is ready and does not issue", self.named[p]), other, true)?;
        }
        if i.start_valid_i == 1 {
            self.begun.retain(|&w| w != usize::from(i.start_warp_i));
            self.begun.push(i.start_warp_i.into());
        }
        if i.rst_ni == 0 {
            *self = Self::reset(self.shape, self.policy);
        }
        Ok(())
    }
}

/// Only live warps issue, and none begins twice: in other cases the page does not define their age.
const PINS: &[(&str, u32)] = &[("stray", 0)];

fn configs(policy: Scheduler) -> Vec<Config> {
    let mut configs = ["baseline", "banks-16"].map(config).to_vec();
    configs.push(config_with(|services| services.takes_candidates));
    configs.iter_mut().for_each(|config| config.sm.scheduler = policy);
    configs
}

#[test]
fn warps_issue_by_the_policy() {
    for policy in [Scheduler::RoundRobin, Scheduler::GreedyThenOldest] {
        for config in configs(policy) {
            let mut kinds = vec!["several ready"];
            kinds.extend(config.sm_shape().services().takes_candidates.then_some("stolen for"));
            passes(&config, PINS, Issues::new(&config, policy), &kinds);
        }
    }
}

#[test]
fn another_policy_is_refused() {
    let (turns, greedy) = (Scheduler::RoundRobin, Scheduler::GreedyThenOldest);
    for (done, checked) in [(turns, greedy), (greedy, turns)] {
        for config in configs(done) {
            refuses(&config, PINS, Issues::new(&config, checked), "issue on port", |_, _| {});
        }
    }
}

/// In one cycle, another ready warp issues.
#[test]
fn one_wrong_warp_is_refused() {
    for policy in [Scheduler::RoundRobin, Scheduler::GreedyThenOldest] {
        for config in configs(policy) {
            let (mut done, ports) = (false, config.mrf.issue_ports);
            refuses(&config, PINS, Issues::new(&config, policy), "issue on port", |number, cycle| {
                let (i, o) = (&cycle.inputs, &mut cycle.out);
                let others = i.clear_i & !i.operand_i & !i.branch_i & !o.pop_o;
                let other = (0..64).find(|&w| has(others, w) && w % ports == 0);
                if let Some(other) = other.filter(|_| number > 1_000 && o.issue_valid_o & 1 == 1 && !done) {
                    done = true;
                    o.issue_warp_o[0] = other as u8;
                }
            });
        }
    }
}
