//! `warp_scheduler`: which warps issue. `docs/blocks/warp_scheduler.md`.

use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{first_from, is_set, set_bits};
use crate::shape::SmShape;
use crate::sizes::{MAX_WARPS, WARP_NUMBERS};
use crate::{Block, WARP_BITS, field, ports};

ports! {
    /// Inputs of [`WarpScheduler`].
    pub struct WarpSchedulerIn(s: &SmShape) {
        /// The warp's head may issue as far as dependences go.
        clear_i: u64 = field(s.warps),
        /// The head goes to the operand stage.
        operand_i: u64 = field(s.warps),
        /// The head is a branch or an exit.
        branch_i: u64 = field(s.warps),
        /// Warps with living lanes.
        alive_i: u64 = field(s.warps),
        /// Warps that are preferred, where some are.
        lead_i: u64 = field(s.warps),
        /// Warps that are taken last, where some are preferred.
        last_i: u64 = field(s.warps),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap: 0 loose round-robin, 1 greedy then oldest.
        cfg_i: u8 = field(1),
        /// The operand stage takes an instruction on port p.
        ready_i: u8 = field(s.ports()),
        /// Nothing issues.
        stop_i: u8 = field(1),
        /// An operand of port p's candidate of the cycle before is being read: it issues now.
        candidate_issue_i: u8 = field(s.ports()),
        /// A warp begins.
        start_valid_i: u8 = field(1),
        /// Warp that begins.
        start_warp_i: u8 = field(WARP_BITS).valid_by("start_valid_i"),
    }
}

ports! {
    /// Outputs of [`WarpScheduler`].
    pub struct WarpSchedulerOut(s: &SmShape) {
        /// The set of warps that issue.
        pop_o: u64 = field(s.warps),
        /// Port p issues.
        issue_valid_o: u8 = field(s.ports()),
        /// Warp whose head port p issues; 0 where there is none.
        issue_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
        /// Port p has a candidate.
        candidate_valid_o: u8 = field(s.ports()),
        /// Warp of port p's candidate; 0 where there is none.
        candidate_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
    }
}

ports! {
    /// State of [`WarpScheduler`].
    pub struct WarpSchedulerProbe(s: &SmShape) {
        /// Bit v of element w: v began before w.
        older_q: [u64; MAX_WARPS] = field(s.warps).count(s.warps),
        /// The warp that each port asks first.
        rr_q: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
        /// Port p has issued.
        greedy_valid_q: u8 = field(s.ports()),
        /// Warp that port p issued last.
        greedy_q: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("greedy_valid_q"),
        /// Port p had a candidate in the cycle before.
        candidate_valid_q: u8 = field(s.ports()).when(s.services().takes_candidates),
        /// Warp of port p's candidate of the cycle before.
        candidate_q: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.ports()).valid_by("candidate_valid_q").when(s.services().takes_candidates),
    }
}

/// State of the warps' heads in a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    /// Heads that may issue as far as dependences allow.
    pub clear: u64,
    /// Heads that go to the operand stage.
    pub operand: u64,
    /// Heads that branch or end.
    pub branch: u64,
    /// Warps that come before others, and after them.
    pub classes: Classes,
}

/// Warps that come before others and after them, for a scheduler that prefers some (sharing thesis 2.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Preferred warps.
    pub lead: u64,
    /// Warps that are taken last.
    pub last: u64,
}

impl Classes {
    /// The candidates that are in the best class among them.
    #[inline]
    fn best(&self, candidates: u64) -> u64 {
        let led = candidates & self.lead;
        let between = candidates & !self.last;
        [led, between].into_iter().find(|&class| class != 0).unwrap_or(candidates)
    }
}

/// The warps that the ports issue in a cycle, and the candidates that they name for the next cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The warp that each port issues.
    pub warp: [Option<usize>; MAX_PORTS],
    /// Ports that issue the candidate of the cycle before, though the policy chooses another one.
    pub against: u8,
    /// The candidate of each port: the warp that lost the last level of the selection tree, and whose head goes to the operand stage.
    pub candidate: [Option<usize>; MAX_PORTS],
}

impl Chosen {
    /// The multiplexers after the selection tree of port `p` (stealing paper, figure 7): a candidate whose operand is being read issues in the
    /// winner's place, and the winner is the next candidate; otherwise `other` is the next candidate.
    #[inline]
    pub(super) fn add(&mut self, p: usize, winner: Option<usize>, other: Option<usize>, stolen: Option<usize>) {
        self.warp[p] = stolen.or(winner);
        let against = stolen.is_some() && winner != stolen;
        self.against |= u8::from(against) << p;
        self.candidate[p] = if against { winner } else { other };
    }
}

/// The latched candidates of the ports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidates {
    valid_q: u8,
    warp_q: [u8; MAX_PORTS],
}

impl Candidates {
    /// The candidate of port `p`.
    #[inline]
    pub(super) fn of(&self, p: usize) -> Option<usize> {
        is_set(self.valid_q, p).then_some(self.warp_q[p].into())
    }

    /// The candidate registers: valid bits and warps.
    pub(super) fn state(&self) -> (u8, [u8; MAX_PORTS]) {
        (self.valid_q, self.warp_q)
    }

    /// Whether there is no candidate.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.valid_q == 0
    }

    /// Latches the candidates at the clock edge.
    #[inline]
    pub(super) fn latch(&mut self, candidate: &[Option<usize>; MAX_PORTS]) {
        (self.valid_q, self.warp_q) = ports_of(candidate);
    }
}

/// The half of the selection tree, at its last level, in which a port of `ports` has this warp or slot. A port numbers its own from 0, and
/// those with even numbers are one half.
#[inline]
pub(super) fn half(ports: usize, own: usize) -> u64 {
    let even = if ports == 1 { u64::MAX / 3 } else { u64::MAX / 5 };
    if is_set(even, own) { even } else { !even }
}

/// The ports that have a warp, as a mask, and the warps.
#[inline]
pub(super) fn ports_of(warps: &[Option<usize>; MAX_PORTS]) -> (u8, [u8; MAX_PORTS]) {
    let valid = warps.iter().enumerate().fold(0, |valid, (p, warp)| valid | u8::from(warp.is_some()) << p);
    (valid, warps.map(|warp| warp.unwrap_or_default() as u8))
}

/// Chooses a warp for each port, by loose round-robin or greedy then oldest. With two ports each has its own half of
/// the warps (stealing paper, II).
#[derive(Clone)]
pub struct WarpScheduler {
    /// The warps of each port.
    own: [u64; MAX_PORTS],
    warps: u8,
    ports: usize,
    /// The ports name candidates.
    names_candidates: bool,
    /// Some warps are preferred.
    has_classes: bool,
    candidates: Candidates,
    rr_q: [u8; MAX_PORTS],
    greedy_valid_q: u8,
    greedy_q: [u8; MAX_PORTS],
    older_q: [u64; WARP_NUMBERS],
    /// The inverse relation: bit v of element w says that w began before v.
    younger: [u64; WARP_NUMBERS],
    /// Decisions of this cycle.
    chosen: Chosen,
}

impl WarpScheduler {
    /// The warp that each port issues, with `ready` for each port. The caller has to handle a stop of issue. `ahead`:
    /// ports for whose candidate an operand is being read.
    #[inline]
    pub fn choose(&self, greedy: bool, heads: &Heads, ready: u8, ahead: u8) -> Chosen {
        let mut allowed = heads.clear;
        let mut chosen = Chosen::default();
        for (p, own) in self.own.iter().enumerate() {
            let ready = if is_set(ready, p) { u64::MAX } else { !heads.operand };
            let candidates = own & allowed & ready;
            let candidates = if self.has_classes { heads.classes.best(candidates) } else { candidates };
            let winner = self.policy(greedy, p, candidates);
            if self.names_candidates {
                let other = winner.and_then(|w| self.policy(greedy, p, candidates & !half(self.ports, w)));
                chosen.add(p, winner, other, self.candidates.of(p).filter(|_| is_set(ahead, p)));
                chosen.candidate[p] = chosen.candidate[p].filter(|&w| is_set(heads.operand, w));
            } else {
                chosen.warp[p] = winner;
            }
            // The SIMT stack splits or ends one group a cycle.
            if chosen.warp[p].is_some_and(|w| is_set(heads.branch, w)) {
                allowed &= !heads.branch;
            }
        }
        chosen
    }

    /// The warp of `candidates` that the policy of port `p` chooses.
    #[inline]
    fn policy(&self, greedy: bool, p: usize, candidates: u64) -> Option<usize> {
        if greedy { self.greedy_then_oldest(p, candidates) } else { first_from(candidates, self.rr_q[p].into()) }
    }

    #[inline]
    fn greedy_then_oldest(&self, p: usize, candidates: u64) -> Option<usize> {
        let greedy = usize::from(self.greedy_q[p]);
        if is_set(self.greedy_valid_q, p) && is_set(candidates, greedy) {
            return Some(greedy);
        }
        self.oldest(candidates)
    }

    /// The lowest candidate that has no older candidate.
    #[inline]
    fn oldest(&self, candidates: u64) -> Option<usize> {
        // Steps from each candidate to an older one; few steps are needed.
        let mut w = candidates;
        loop {
            if w == 0 {
                return None;
            }
            let first = w.trailing_zeros() as usize;
            w = self.older_q[first] & candidates;
            if w == 0 {
                // A lower number may also have no older candidate, but only if it is not ordered with `first`.
                return if candidates & !(self.younger[first] | 1 << first) == 0 {
                    Some(first)
                } else {
                    set_bits(candidates).find(|&w| self.older_q[w] & candidates == 0)
                };
            }
        }
    }

    /// Whether no port named a candidate in the previous cycle.
    pub fn has_no_candidate(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Clock edge: latches the candidates of the cycle.
    #[inline]
    pub fn name(&mut self, candidate: &[Option<usize>; MAX_PORTS]) {
        if self.names_candidates {
            self.candidates.latch(candidate);
        }
    }

    /// Clock edge at which port p issues a warp that its policy has chosen.
    #[inline]
    pub fn issued(&mut self, p: usize, warp: usize) {
        self.rr_q[p] = if warp + 1 == usize::from(self.warps) { 0 } else { warp as u8 + 1 };
        self.greedy_q[p] = warp as u8;
        self.greedy_valid_q |= 1 << p;
    }

    /// Clock edge at which a warp begins: it is younger than all living warps.
    pub fn start(&mut self, warp: u8, alive: u64) {
        let own = 1 << warp;
        for (older, younger) in self.older_q.iter_mut().zip(&mut self.younger) {
            *older &= !own;
            *younger &= !own;
        }
        self.older_q[usize::from(warp)] = alive & !own;
        self.younger[usize::from(warp)] = 0;
        for w in set_bits(alive & !own) {
            self.younger[w] |= own;
        }
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        (self.rr_q, self.greedy_valid_q) = ([0; MAX_PORTS], 0);
        self.candidates = Candidates::default();
        (self.older_q, self.younger) = ([0; WARP_NUMBERS], [0; WARP_NUMBERS]);
    }
}

impl Block for WarpScheduler {
    const NAME: &'static str = "warp_scheduler";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts", "Candidates", "Classes"];

    type Shape = SmShape;
    type In = WarpSchedulerIn;
    type Out = WarpSchedulerOut;
    type Probe = WarpSchedulerProbe;

    fn new(shape: &SmShape) -> Self {
        Self {
            own: [0, 1].map(|p| shape.own_warps(p)),
            warps: shape.warps as u8,
            ports: shape.ports(),
            names_candidates: shape.services().takes_candidates,
            has_classes: shape.shares(),
            candidates: Candidates::default(),
            rr_q: [0; MAX_PORTS],
            greedy_valid_q: 0,
            greedy_q: [0; MAX_PORTS],
            older_q: [0; WARP_NUMBERS],
            younger: [0; WARP_NUMBERS],
            chosen: Chosen::default(),
        }
    }

    fn early(&self, _: &mut WarpSchedulerOut) {}

    fn late(&mut self, inputs: &WarpSchedulerIn, out: &mut WarpSchedulerOut) {
        self.chosen = Chosen::default();
        if inputs.stop_i == 0 {
            let classes = Classes { lead: inputs.lead_i, last: inputs.last_i };
            let heads = Heads { clear: inputs.clear_i, operand: inputs.operand_i, branch: inputs.branch_i, classes };
            self.chosen = self.choose(inputs.cfg_i != 0, &heads, inputs.ready_i, inputs.candidate_issue_i);
        }
        (out.issue_valid_o, out.issue_warp_o) = ports_of(&self.chosen.warp);
        (out.candidate_valid_o, out.candidate_warp_o) = ports_of(&self.chosen.candidate);
        out.pop_o = self.chosen.warp.iter().flatten().fold(0, |set, w| set | 1 << w);
    }

    fn clock(&mut self, inputs: &WarpSchedulerIn, out: &WarpSchedulerOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        let chosen = self.chosen;
        for p in set_bits(out.issue_valid_o & !chosen.against) {
            self.issued(p, out.issue_warp_o[p].into());
        }
        self.name(&chosen.candidate);
        if inputs.start_valid_i != 0 {
            self.start(inputs.start_warp_i, inputs.alive_i);
        }
    }

    fn probe(&self, _: &WarpSchedulerIn, _: &WarpSchedulerOut, probe: &mut WarpSchedulerProbe) {
        probe.older_q.copy_from_slice(&self.older_q[..MAX_WARPS]);
        (probe.rr_q, probe.greedy_valid_q, probe.greedy_q) = (self.rr_q, self.greedy_valid_q, [0; MAX_PORTS]);
        for p in set_bits(self.greedy_valid_q) {
            probe.greedy_q[p] = self.greedy_q[p];
        }
        (probe.candidate_valid_q, probe.candidate_q) = self.candidates.state();
    }
}

#[cfg(test)]
mod tests;
