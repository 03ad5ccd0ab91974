//! `scoreboard`: which heads may issue. `docs/blocks/scoreboard.md`.

use crate::instruction::{NO_PRED, NO_REG, Roles, unit};
use crate::issue::PRED_BITS;
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, set_bits};
use crate::shape::SmShape;
use crate::sizes::MAX_WARPS;
use crate::{Block, REG_BITS, WARP_BITS, field, packed, ports};

/// Capacity of the twin: instructions that may end in one cycle.
pub const MAX_FINISHES: usize = 2 * MAX_PORTS + 2;
/// Words of 64 bits in the set of a warp's registers.
const WORDS: usize = (1 << REG_BITS) / u64::BITS as usize;
/// Capacity of the state: every warp number that fits its width.
const NUMBERS: usize = 1 << WARP_BITS;

fn finishes(s: &SmShape) -> usize {
    2 * s.ports() + 2
}

ports! {
    /// Inputs of [`Scoreboard`].
    pub struct ScoreboardIn(s: &SmShape) {
        /// The instruction buffer has a head for warp w.
        head_valid_i: u64 = field(s.warps),
        /// Roles of the head of each warp.
        head_roles_i: [u64; MAX_WARPS] = packed::<Roles>().count(s.warps).valid_by("head_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction goes to the operand stage.
        set_valid_i: u8 = field(s.ports()),
        /// Warp of the instruction that goes to the operand stage.
        set_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("set_valid_i"),
        /// Register that the instruction writes; 255: none.
        set_d_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("set_valid_i"),
        /// Predicate that the instruction writes; 7: none.
        set_p_i: [u8; MAX_PORTS] = field(PRED_BITS).count(s.ports()).valid_by("set_valid_i"),
        /// A register has been written, for good.
        reg_valid_i: u8 = field(s.ports()),
        /// Warp whose register has been written.
        reg_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("reg_valid_i"),
        /// Register that has been written.
        reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("reg_valid_i"),
        /// A predicate has been written.
        pred_valid_i: u8 = field(s.ports()),
        /// Warp whose predicate has been written.
        pred_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("pred_valid_i"),
        /// Predicate that has been written.
        pred_i: [u8; MAX_PORTS] = field(PRED_BITS).count(s.ports()).valid_by("pred_valid_i"),
        /// An instruction has come to its end.
        finish_valid_i: u8 = field(finishes(s)),
        /// Warp whose instruction has ended.
        finish_warp_i: [u8; MAX_FINISHES] = field(WARP_BITS).count(finishes(s)).valid_by("finish_valid_i"),
    }
}

ports! {
    /// Outputs of [`Scoreboard`].
    pub struct ScoreboardOut(s: &SmShape) {
        /// Warp w has a head, and nothing that it uses is pending.
        clear_o: u64 = field(s.warps),
        /// Warp w has a head, which goes to the operand stage.
        operand_o: u64 = field(s.warps),
        /// Warp w has a head, which is done with at issue: a branch, an exit or a trap.
        branch_o: u64 = field(s.warps),
        /// No instruction of warp w is in flight.
        idle_o: u64 = field(s.warps).early(),
    }
}

ports! {
    /// State of [`Scoreboard`].
    pub struct ScoreboardProbe(s: &SmShape) {
        /// Bit r mod 64 of element 4w + r / 64: a result is on its way to register r of warp w.
        reg_q: [u64; WORDS * MAX_WARPS] = field(u64::BITS).count(WORDS * s.warps),
        /// Bit n of element w: a result is on its way to predicate n of warp w.
        pred_q: [u8; MAX_WARPS] = field(1 << PRED_BITS).count(s.warps),
        /// Instructions of each warp in flight.
        count_q: [u8; MAX_WARPS] = field(8).count(s.warps),
    }
}

/// A bit for each register and predicate of a warp that has a result outstanding, and a count of the warp's instructions in flight. An instruction
/// issues when none of its sources, destinations and predicates has its bit set (RFC paper, figure 1; hierarchy thesis, 2.4).
///
/// The set of clear heads is kept, and updated only where the head or a bit of its warp has changed: a head waits for many cycles, in which
/// nothing of its warp changes. A caller that uses this twin directly reports each change ([`head`](Self::head) and the methods for an edge), then calls
/// [`settle`](Self::settle) before it reads the sets.
#[derive(Clone)]
pub struct Scoreboard {
    warps: usize,
    reg_q: Box<[[u64; WORDS]; NUMBERS]>,
    pred_q: [u8; NUMBERS],
    count_q: [u8; NUMBERS],
    /// Warps whose count of instructions in flight is zero.
    idle: u64,
    /// The roles of the heads, as last reported.
    roles: Box<[Roles; NUMBERS]>,
    head_valid: u64,
    operand: u64,
    branch: u64,
    /// Heads with nothing pending; not valid for the warps of `stale`.
    clear: u64,
    stale: u64,
}

impl Scoreboard {
    /// Warps that have a head with nothing pending.
    #[inline]
    pub fn clear(&self) -> u64 {
        debug_assert_eq!(self.stale, 0, "settled");
        self.clear
    }

    /// Warps whose head goes to the operand stage.
    #[inline]
    pub fn operand(&self) -> u64 {
        self.operand
    }

    /// Warps whose head ends at issue.
    #[inline]
    pub fn branch(&self) -> u64 {
        self.branch
    }

    /// Warps without an instruction in flight.
    #[inline]
    pub fn idle(&self) -> u64 {
        self.idle
    }

    /// Reports that warp `w` has a new head, or none.
    #[inline]
    pub fn head(&mut self, w: usize, roles: Option<Roles>) {
        let bit = 1 << w;
        self.head_valid &= !bit;
        self.operand &= !bit;
        self.branch &= !bit;
        self.clear &= !bit;
        self.stale &= !bit;
        let Some(roles) = roles else { return };
        self.roles[w] = roles;
        self.head_valid |= bit;
        self.stale |= bit;
        match roles.unit() {
            unit::ALU | unit::MEMORY | unit::BARRIER | unit::FP | unit::SFU | unit::CONSTANT => self.operand |= bit,
            unit::CONTROL => self.branch |= bit,
            _ => {}
        }
    }

    /// Updates the heads for which something has changed.
    #[inline]
    pub fn settle(&mut self) {
        for w in set_bits(self.stale) {
            let clear = u64::from(self.nothing_pending(w, self.roles[w]));
            self.clear = self.clear & !(1 << w) | clear << w;
        }
        self.stale = 0;
    }

    #[inline]
    fn nothing_pending(&self, w: usize, roles: Roles) -> bool {
        let (regs, preds) = (&self.reg_q[w], self.pred_q[w]);
        // The bits of register 255 and predicate 7 are never set.
        let register = |r: u8| regs[usize::from(r) / 64] >> (r % 64);
        let predicate = |name: u8| preds >> (name % 8);
        let registers = register(roles.a()) | register(roles.b()) | register(roles.c()) | register(roles.d());
        let predicates = predicate(roles.guard()) | predicate(roles.s()) | predicate(roles.t()) | predicate(roles.p());
        (registers as u8 | predicates) & 1 == 0
    }

    /// Clock edge at which register `r` of warp `w` has its final value. If an edge has several events, all clears come before all sets: a set wins.
    #[inline]
    pub fn clear_register(&mut self, w: usize, r: u8) {
        self.reg_q[w][usize::from(r) / 64] &= !(1 << (r % 64));
        self.look_if_waiting(w);
    }

    /// Clock edge at which predicate `n` of warp `w` has been written.
    #[inline]
    pub fn clear_predicate(&mut self, w: usize, n: u8) {
        self.pred_q[w] &= !(1 << n);
        self.look_if_waiting(w);
    }

    /// A cleared bit of `w` cannot change a head that is already clear.
    #[inline]
    fn look_if_waiting(&mut self, w: usize) {
        self.stale |= 1 << w & self.head_valid & !self.clear;
    }

    /// Clock edge at which an instruction of warp `w` that writes register `d` and predicate `p` goes to the operand stage.
    #[inline]
    pub fn set(&mut self, w: usize, d: u8, p: u8) {
        if d != NO_REG {
            self.reg_q[w][usize::from(d) / 64] |= 1 << (d % 64);
        }
        if p != NO_PRED {
            self.pred_q[w] |= 1 << p;
        }
        self.stale |= 1 << w & self.head_valid;
        self.count(w, 1);
    }

    /// Clock edge at which an instruction of warp `w` ends.
    #[inline]
    pub fn finish(&mut self, w: usize) {
        self.count(w, u8::MAX);
    }

    /// Counts up by 1, or down by adding -1. The events of one edge may be counted in any order: only the sum matters.
    #[inline]
    fn count(&mut self, w: usize, step: u8) {
        let count = self.count_q[w].wrapping_add(step);
        self.count_q[w] = count;
        self.idle = self.idle & !(1 << w) | u64::from(count == 0) << w;
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        *self.reg_q = [[0; WORDS]; NUMBERS];
        (self.pred_q, self.count_q) = ([0; NUMBERS], [0; NUMBERS]);
        self.idle = u64::MAX >> (u64::BITS as usize - self.warps);
        self.stale |= self.head_valid;
    }
}

impl Block for Scoreboard {
    const NAME: &'static str = "scoreboard";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts"];

    type Shape = SmShape;
    type In = ScoreboardIn;
    type Out = ScoreboardOut;
    type Probe = ScoreboardProbe;

    fn new(shape: &SmShape) -> Self {
        let mut scoreboard = Self {
            warps: shape.warps,
            reg_q: Box::new([[0; WORDS]; NUMBERS]),
            pred_q: [0; NUMBERS],
            count_q: [0; NUMBERS],
            idle: 0,
            roles: Box::new([Roles::default(); NUMBERS]),
            head_valid: 0,
            operand: 0,
            branch: 0,
            clear: 0,
            stale: 0,
        };
        scoreboard.reset();
        scoreboard
    }

    fn early(&self, out: &mut ScoreboardOut) {
        // Bits of numbers that no warp has carry no meaning.
        out.idle_o = self.idle & u64::MAX >> (u64::BITS as usize - self.warps);
    }

    fn late(&mut self, inputs: &ScoreboardIn, out: &mut ScoreboardOut) {
        for w in 0..self.warps {
            let head = is_set(inputs.head_valid_i, w).then_some(Roles(inputs.head_roles_i[w]));
            let known = is_set(self.head_valid, w).then_some(self.roles[w]);
            if head != known {
                self.head(w, head);
            }
        }
        self.settle();
        (out.clear_o, out.operand_o, out.branch_o) = (self.clear, self.operand, self.branch);
    }

    fn clock(&mut self, inputs: &ScoreboardIn, _: &ScoreboardOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        for p in set_bits(inputs.reg_valid_i) {
            self.clear_register(inputs.reg_warp_i[p].into(), inputs.reg_i[p]);
        }
        for p in set_bits(inputs.pred_valid_i) {
            self.clear_predicate(inputs.pred_warp_i[p].into(), inputs.pred_i[p]);
        }
        for p in set_bits(inputs.set_valid_i) {
            self.set(inputs.set_warp_i[p].into(), inputs.set_d_i[p], inputs.set_p_i[p]);
        }
        for k in set_bits(inputs.finish_valid_i) {
            self.finish(inputs.finish_warp_i[k].into());
        }
    }

    fn probe(&self, _: &ScoreboardIn, _: &ScoreboardOut, probe: &mut ScoreboardProbe) {
        let warps = self.warps;
        probe.reg_q[..WORDS * warps].copy_from_slice(&self.reg_q.as_flattened()[..WORDS * warps]);
        probe.pred_q[..warps].copy_from_slice(&self.pred_q[..warps]);
        probe.count_q[..warps].copy_from_slice(&self.count_q[..warps]);
    }
}

#[cfg(test)]
mod tests;
