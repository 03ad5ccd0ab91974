//! `warp_scheduler`: which warps issue. `docs/blocks/warp_scheduler.md`.

use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{first_from, is_set, set_bits};
use crate::shape::{MAX_WARPS, SmShape, WARP_NUMBERS};
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
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap: 0 loose round-robin, 1 greedy then oldest.
        cfg_i: u8 = field(1),
        /// The operand stage takes an instruction on port p.
        ready_i: u8 = field(s.ports()),
        /// Nothing issues.
        stop_i: u8 = field(1),
        /// A warp begins.
        start_valid_i: u8 = field(1),
        /// Which.
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
        /// The warp whose head it issues; 0 where there is none.
        issue_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
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
        /// The warp that it issued last.
        greedy_q: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("greedy_valid_q"),
    }
}

/// What is known of the warps' heads in a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    /// May issue as far as dependences go.
    pub clear: u64,
    /// Go to the operand stage.
    pub operand: u64,
    /// Branch or end.
    pub branch: u64,
}

/// Chooses a warp for each port, by loose round-robin or greedy then oldest. With two ports each has its own half of
/// the warps (stealing paper, II).
pub struct WarpScheduler {
    /// The warps of each port.
    own: [u64; MAX_PORTS],
    warps: u8,
    rr_q: [u8; MAX_PORTS],
    greedy_valid_q: u8,
    greedy_q: [u8; MAX_PORTS],
    older_q: [u64; WARP_NUMBERS],
    /// The same the other way round: bit v of element w: w began before v.
    younger: [u64; WARP_NUMBERS],
}

impl WarpScheduler {
    /// The warp that each port issues, with `ready` for each port; nothing issues while it is stopped, which is the
    /// caller's to know.
    #[inline]
    pub fn choose(&self, greedy: bool, heads: &Heads, ready: u8) -> [Option<usize>; MAX_PORTS] {
        let mut allowed = heads.clear;
        std::array::from_fn(|p| {
            let ready = if is_set(ready, p) { u64::MAX } else { !heads.operand };
            let candidates = self.own[p] & allowed & ready;
            let chosen = if greedy {
                self.greedy_then_oldest(p, candidates)
            } else {
                first_from(candidates, self.rr_q[p].into())
            };
            // The SIMT stack splits or ends one group a cycle.
            if chosen.is_some_and(|w| is_set(heads.branch, w)) {
                allowed &= !heads.branch;
            }
            chosen
        })
    }

    #[inline]
    fn greedy_then_oldest(&self, p: usize, candidates: u64) -> Option<usize> {
        let greedy = usize::from(self.greedy_q[p]);
        if is_set(self.greedy_valid_q, p) && is_set(candidates, greedy) {
            return Some(greedy);
        }
        self.oldest(candidates)
    }

    /// The first of them that no other of them is older than.
    #[inline]
    fn oldest(&self, candidates: u64) -> Option<usize> {
        // From each to an older one, which is few steps.
        let mut w = candidates;
        loop {
            if w == 0 {
                return None;
            }
            let first = w.trailing_zeros() as usize;
            w = self.older_q[first] & candidates;
            if w == 0 {
                // Others may be before it in their numbers only if they have nothing to do with it.
                return if candidates & !(self.younger[first] | 1 << first) == 0 {
                    Some(first)
                } else {
                    set_bits(candidates).find(|&w| self.older_q[w] & candidates == 0)
                };
            }
        }
    }

    /// The edge at which port p issues a warp.
    #[inline]
    pub fn issued(&mut self, p: usize, warp: usize) {
        self.rr_q[p] = if warp + 1 == usize::from(self.warps) { 0 } else { warp as u8 + 1 };
        self.greedy_q[p] = warp as u8;
        self.greedy_valid_q |= 1 << p;
    }

    /// The edge at which a warp begins: it is younger than those that live.
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

    /// An edge in reset.
    pub fn reset(&mut self) {
        (self.rr_q, self.greedy_valid_q) = ([0; MAX_PORTS], 0);
        (self.older_q, self.younger) = ([0; WARP_NUMBERS], [0; WARP_NUMBERS]);
    }
}

impl Block for WarpScheduler {
    const NAME: &'static str = "warp_scheduler";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts"];

    type Shape = SmShape;
    type In = WarpSchedulerIn;
    type Out = WarpSchedulerOut;
    type Probe = WarpSchedulerProbe;

    fn new(shape: &SmShape) -> Self {
        let all = shape.all_warps();
        let even = all & EVEN;
        Self {
            own: if shape.ports() == 1 { [all, 0] } else { [even, all & !even] },
            warps: shape.warps as u8,
            rr_q: [0; MAX_PORTS],
            greedy_valid_q: 0,
            greedy_q: [0; MAX_PORTS],
            older_q: [0; WARP_NUMBERS],
            younger: [0; WARP_NUMBERS],
        }
    }

    fn early(&self, _: &mut WarpSchedulerOut) {}

    fn late(&mut self, inputs: &WarpSchedulerIn, out: &mut WarpSchedulerOut) {
        *out = WarpSchedulerOut { pop_o: 0, issue_valid_o: 0, issue_warp_o: [0; MAX_PORTS] };
        if inputs.stop_i != 0 {
            return;
        }
        let heads = Heads { clear: inputs.clear_i, operand: inputs.operand_i, branch: inputs.branch_i };
        for (p, chosen) in self.choose(inputs.cfg_i != 0, &heads, inputs.ready_i).into_iter().enumerate() {
            if let Some(w) = chosen {
                out.issue_valid_o |= 1 << p;
                out.issue_warp_o[p] = w as u8;
                out.pop_o |= 1 << w;
            }
        }
    }

    fn clock(&mut self, inputs: &WarpSchedulerIn, out: &WarpSchedulerOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        for p in set_bits(out.issue_valid_o) {
            self.issued(p, out.issue_warp_o[p].into());
        }
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
    }
}

/// The even numbers.
const EVEN: u64 = u64::MAX / 3;

#[cfg(test)]
mod tests;
