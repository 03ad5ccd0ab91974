//! `alternating_scheduler`: one warp issues, and even and odd ones take turns. `docs/blocks/alternating_scheduler.md`.

use crate::instruction::NO_REG;
use crate::issue::{Set, Warps};
use crate::mrf::bits::{first_from, is_set, only, pack};
use crate::shape::SmShape;
use crate::sizes::{MAX_ACTIVE, MAX_WARPS, PARITIES, WARP_NUMBERS};
use crate::{Block, Decode, Memory, Ports, REG_BITS, WARP_BITS, field, ports};

/// Registers of a warp, as a set in words.
const REGISTER_WORDS: usize = 8;

/// Fields of `alternating_event_t`, most significant first. The two-level scheduler's fields have the names on the page, so these names begin with the scheduler's.
pub const ALTERNATING_EVENT: &[(&str, u32)] = &[
    ("alternating_activate", 1),
    ("alternating_same_parity", 1),
    ("alternating_leave_end", 1),
    ("alternating_leave_barrier", 1),
    ("alternating_leave_mark", 1),
    ("alternating_leave_patience", 1),
    ("alternating_active", 1),
    ("alternating_drain", 1),
    ("alternating_flush", 2),
    ("alternating_stall_switch", 1),
    ("alternating_stall_ready", 1),
    ("alternating_ready", 6),
    ("alternating_pending", 6),
];

/// States.
const SHOW_STATE: Decode = Decode::Enum(&["none", "active", "draining"]);

ports! {
    /// Inputs of [`AlternatingScheduler`].
    pub struct AlternatingSchedulerIn(s: &SmShape) {
        /// The warp's head may issue as far as dependences go.
        clear_i: u64 = field(s.warps),
        /// The head goes to the operand stage.
        operand_i: u64 = field(s.warps),
        /// The warp has a head.
        head_valid_i: u64 = field(s.warps),
        /// The head is marked "deschedule".
        mark_i: u64 = field(s.warps).valid_by("head_valid_i"),
        /// Warps with living lanes.
        alive_i: u64 = field(s.warps),
        /// Warps that wait at a barrier.
        held_i: u64 = field(s.warps),
        /// Strap: *patience*.
        cfg_i: u16 = field(12),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// The operand stage takes an instruction.
        ready_i: u8 = field(1),
        /// Nothing issues.
        stop_i: u8 = field(1),
        /// The instruction issued goes to the operand stage.
        set_valid_i: u8 = field(1),
        /// Register that the instruction issued writes.
        set_d_i: u8 = field(REG_BITS).valid_by("set_valid_i"),
        /// The instruction issued is a long-latency operation.
        set_long_i: u8 = field(1).valid_by("set_valid_i"),
        /// An instruction leaves the operand stage.
        dispatch_valid_i: u8 = field(1),
        /// Warp of the instruction that leaves the operand stage.
        dispatch_warp_i: u8 = field(WARP_BITS).valid_by("dispatch_valid_i"),
        /// A register is complete.
        reg_valid_i: u8 = field(1),
        /// Warp whose register is complete.
        reg_warp_i: u8 = field(WARP_BITS).valid_by("reg_valid_i"),
        /// Register that is complete.
        reg_i: u8 = field(REG_BITS).valid_by("reg_valid_i"),
        /// The provider has nothing left of slot b.
        flush_done_i: u8 = field(PARITIES),
    }
}

ports! {
    /// Outputs of [`AlternatingScheduler`].
    pub struct AlternatingSchedulerOut(s: &SmShape) {
        /// The set of warps that issue.
        pop_o: u64 = field(s.warps),
        /// The warp that is active and does not give up, as a set.
        active_o: u64 = field(s.warps),
        /// Events: `alternating_event_t`.
        event_o: u32 = field(24).shown(Decode::Packed(ALTERNATING_EVENT)),
        /// A warp issues.
        issue_valid_o: u8 = field(1),
        /// Warp that issues; 0 where nothing issues.
        issue_warp_o: u8 = field(WARP_BITS),
        /// Slot of the warp that issues; 0 where nothing issues.
        issue_slot_o: u8 = field(1),
        /// Slots that belong to a warp.
        slot_valid_o: u8 = field(PARITIES).early(),
        /// The warp of each slot.
        slot_warp_o: [u8; PARITIES] =
            field(WARP_BITS).count(PARITIES).valid_by("slot_valid_o").early().shows("slot_warp_q"),
        /// Slots that are to be emptied.
        flush_o: u8 = field(PARITIES).early().shows("flush_q"),
        /// Slots that are emptied without write-back.
        drop_o: u8 = field(PARITIES).early(),
    }
}

ports! {
    /// State of [`AlternatingScheduler`] that no output shows.
    pub struct AlternatingSchedulerProbe(s: &SmShape) {
        /// State of the scheduler.
        state_q: u8 = field(2).shown(SHOW_STATE),
        /// Slot of the warp that is or was active last.
        current_q: u8 = field(1),
        /// Slots whose warp had ended when it had drained.
        drop_q: u8 = field(PARITIES),
        /// Nothing has issued since the slot was taken.
        fresh_q: u8 = field(1),
        /// The warp at which the search for a ready one of a parity begins.
        outer_q: [u8; PARITIES] = field(WARP_BITS).count(PARITIES),
        /// Instructions that the warp has issued since it took the slot, up to 4095.
        issued_q: u16 = field(12).valid_by("state_q"),
        /// Instructions of the current slot's warp in the operand stage.
        resident_q: u8 = field(6).valid_by("state_q"),
        /// Outstanding short results of the current slot's warp.
        short_q: u8 = field(8).valid_by("state_q"),
        /// Outstanding long results of each warp.
        long_count_q: [u8; MAX_WARPS] = field(8).count(s.warps),
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
enum State {
    #[default]
    None,
    Active,
    Draining,
}

/// Why the active warp gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// The warp has ended.
    End,
    /// The warp waits at a barrier.
    Barrier,
    /// The head of the warp needs the result of a long-latency operation.
    Mark,
    /// The warp has issued for long while other warps are ready.
    Patience,
}

/// Decisions of one cycle, except which warp issues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The active warp gives up.
    pub leave: Option<Leave>,
    /// The warp that is active and does not give up, as a set.
    pub active: u64,
    /// Warps that are ready.
    pub ready: u64,
    /// The warp that becomes the active one.
    pub taking: Option<u8>,
    /// A warp could become active, but its slot is still being emptied.
    pub waits_for_slot: bool,
}

/// Events that one clock edge acts on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past {
    /// The active warp issues.
    pub issued: bool,
    /// The instruction that the active warp sends to the operand stage.
    pub set: Option<Set>,
    /// The warp whose instruction leaves the operand stage.
    pub dispatched: Option<u8>,
    /// The warp whose register is complete, and this register.
    pub complete: Option<(u8, u8)>,
    /// Slots of which the provider holds nothing any more.
    pub flush_done: u8,
}

const MAX_ISSUED: u16 = 4095;
/// The set of the even numbers.
const EVEN: u64 = u64::MAX / 3;

/// One warp is active and all others are pending. Of two consecutive active warps one is even and one odd, if both kinds are ready (hybrid paper 4.3, 6.1).
/// When a warp gives up, it first drains; then the register file empties the warp's slot, and meanwhile the next warp is active.
///
/// A caller that uses this twin directly asks for the decisions ([`turn`](Self::turn), [`choose`](Self::choose)) and ends the cycle with
/// [`advance`](Self::advance).
#[derive(Clone)]
pub struct AlternatingScheduler {
    warps: u8,
    state_q: State,
    current_q: u8,
    /// The warps of the two slots. The array is as long as the slot arrays of other schedulers.
    slot_warp_q: [u8; MAX_ACTIVE],
    flush_q: u8,
    drop_q: u8,
    fresh_q: bool,
    outer_q: [u8; PARITIES],
    issued_q: u16,
    resident_q: u8,
    short_q: u8,
    /// The harness sees this as a memory.
    long_q: [u32; REGISTER_WORDS],
    long_count_q: [u8; WARP_NUMBERS],
    /// Warps with long-latency operations outstanding.
    waiting: u64,
    /// Decisions of this cycle.
    decided: Turn,
}

impl AlternatingScheduler {
    /// The active warp, or the warp that has given up and is not drained yet.
    #[inline]
    fn current(&self) -> Option<u8> {
        (self.state_q != State::None).then(|| self.slot_warp_q[usize::from(self.current_q)])
    }

    /// Slots that belong to a warp.
    #[inline]
    pub fn slot_valid(&self) -> u8 {
        self.flush_q | u8::from(self.state_q != State::None) << self.current_q
    }

    /// The warp of each slot.
    #[inline]
    pub fn slot_warp(&self) -> &[u8; MAX_ACTIVE] {
        &self.slot_warp_q
    }

    /// Slots that are to be emptied.
    #[inline]
    pub fn flush(&self) -> u8 {
        self.flush_q
    }

    /// Slots to be emptied whose contents are thrown away.
    #[inline]
    pub fn dropped(&self) -> u8 {
        self.flush_q & self.drop_q
    }

    /// The slot of a warp, given by the parity of its number.
    #[inline]
    pub fn slot_of(warp: usize) -> u8 {
        (warp % PARITIES) as u8
    }

    /// Decides whether the active warp gives up, and which warp is next.
    #[inline]
    pub fn turn(&self, patience: u16, warps: &Warps) -> Turn {
        let placed = (0..PARITIES).filter(|&b| is_set(self.slot_valid(), b));
        let placed = placed.fold(0u64, |all, b| all | 1 << self.slot_warp_q[b]);
        let ready = warps.alive & !warps.held & !placed & !self.waiting;
        let mut turn = Turn { ready, ..Turn::default() };
        match self.state_q {
            State::None if ready != 0 => {
                let of_parity = |b: u8| ready & if b == 0 { EVEN } else { !EVEN };
                let other = 1 - self.current_q;
                let slot = if of_parity(other) != 0 { other } else { self.current_q };
                let next = first_from(of_parity(slot), self.outer_q[usize::from(slot)].into()).map(|w| w as u8);
                turn.waits_for_slot = is_set(self.flush_q, slot.into());
                turn.taking = next.filter(|_| !turn.waits_for_slot);
            }
            State::Active => {
                let warp = self.slot_warp_q[usize::from(self.current_q)];
                turn.leave = self.leave(warp.into(), patience, warps, ready);
                turn.active = if turn.leave.is_some() { 0 } else { 1 << warp };
            }
            State::None | State::Draining => {}
        }
        turn
    }

    /// Why the active warp gives up, if it does.
    #[inline]
    fn leave(&self, warp: usize, patience: u16, warps: &Warps, ready: u64) -> Option<Leave> {
        if !is_set(warps.alive, warp) {
            Some(Leave::End)
        } else if is_set(warps.held, warp) {
            Some(Leave::Barrier)
        } else if is_set(warps.head_valid & warps.mark, warp) && !self.fresh_q {
            Some(Leave::Mark)
        } else if patience != 0 && self.issued_q >= patience && ready != 0 {
            Some(Leave::Patience)
        } else {
            None
        }
    }

    /// The warp that issues. The caller has to handle a stop of issue. `active`: the set that [`turn`](Self::turn) returns.
    #[inline]
    pub fn choose(clear: u64, operand: u64, active: u64, ready: bool) -> Option<usize> {
        let free = if ready { u64::MAX } else { !operand };
        let issues = active & clear & free;
        (issues != 0).then(|| issues.trailing_zeros() as usize)
    }

    /// Performs the clock edge. All counts used are those before the edge.
    #[inline]
    pub fn advance(&mut self, turn: &Turn, alive: u64, past: &Past) {
        let (current, drained) = (self.current(), self.drained());
        let long = past.complete.map(|(warp, reg)| current != Some(warp) || self.is_long(reg));
        if past.issued {
            self.fresh_q = false;
            self.issued_q = (self.issued_q + 1).min(MAX_ISSUED);
            if let (Some(set), Some(warp)) = (past.set, current) {
                self.set(warp, set);
            }
        }
        if past.dispatched.is_some() && past.dispatched == current {
            self.resident_q = self.resident_q.wrapping_sub(1) & 0x3f;
        }
        match (past.complete, long) {
            (Some((warp, _)), Some(true)) => self.count_long(warp, u8::MAX),
            (Some(_), _) => self.short_q = self.short_q.wrapping_sub(1),
            (None, _) => {}
        }
        self.flush_q &= !past.flush_done;
        if drained {
            let warp = self.slot_warp_q[usize::from(self.current_q)];
            let ended = u8::from(!is_set(alive, warp.into()));
            self.state_q = State::None;
            self.flush_q |= 1 << self.current_q;
            self.drop_q = self.drop_q & !(1 << self.current_q) | ended << self.current_q;
        } else if turn.leave.is_some() {
            self.state_q = State::Draining;
        } else if let Some(warp) = turn.taking {
            self.take(warp);
        }
    }

    /// Whether the warp that has given up has no instruction in the operand stage and no short result outstanding.
    #[inline]
    fn drained(&self) -> bool {
        self.state_q == State::Draining && self.resident_q == 0 && self.short_q == 0
    }

    /// Whether a register of the current warp is the destination of a long-latency operation.
    #[inline]
    fn is_long(&self, reg: u8) -> bool {
        is_set(self.long_q[usize::from(reg) / 32], usize::from(reg) % 32)
    }

    /// Adds to the count of a warp's outstanding long-latency operations.
    #[inline]
    fn count_long(&mut self, warp: u8, more: u8) {
        let count = &mut self.long_count_q[usize::from(warp)];
        *count = count.wrapping_add(more);
        self.waiting = self.waiting & !(1 << warp) | u64::from(*count != 0) << warp;
    }

    /// The current warp sends an instruction to the operand stage.
    #[inline]
    fn set(&mut self, warp: u8, Set { d, long }: Set) {
        self.resident_q = (self.resident_q + 1) & 0x3f;
        if d == NO_REG {
            return;
        }
        let (word, bit) = (&mut self.long_q[usize::from(d) / 32], 1 << (d % 32));
        *word = *word & !bit | if long { bit } else { 0 };
        if long {
            self.count_long(warp, 1);
        } else {
            self.short_q = self.short_q.wrapping_add(1);
        }
    }

    /// A warp becomes the active one.
    #[inline]
    fn take(&mut self, warp: u8) {
        self.current_q = Self::slot_of(warp.into());
        self.slot_warp_q[usize::from(self.current_q)] = warp;
        self.state_q = State::Active;
        self.fresh_q = true;
        self.drop_q &= !(1 << self.current_q);
        self.outer_q[usize::from(self.current_q)] = if warp + 1 == self.warps { 0 } else { warp + 1 };
        (self.issued_q, self.resident_q, self.short_q) = (0, 0, 0);
        self.long_q = [0; REGISTER_WORDS];
    }

    /// Whether the state stays as it is, as long as nothing issues, leaves or completes.
    pub fn is_still(&self, turn: &Turn) -> bool {
        turn.leave.is_none() && turn.taking.is_none() && self.flush_q == 0 && !self.drained()
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        (self.state_q, self.current_q) = (State::None, 1);
        (self.flush_q, self.drop_q, self.fresh_q, self.outer_q) = (0, 0, false, [0; PARITIES]);
        (self.long_count_q, self.waiting) = ([0; WARP_NUMBERS], 0);
    }

    /// The event word of a cycle.
    #[inline]
    pub fn event(&self, turn: &Turn, alive: u64) -> u32 {
        let leaves = |cause: Leave| u32::from(turn.leave == Some(cause));
        let none = self.state_q == State::None;
        let current = self.current().map_or(0, |warp| 1 << warp);
        let same = turn.taking.is_some_and(|warp| Self::slot_of(warp.into()) == self.current_q);
        let values = [
            turn.taking.is_some().into(),
            same.into(),
            leaves(Leave::End),
            leaves(Leave::Barrier),
            leaves(Leave::Mark),
            leaves(Leave::Patience),
            (self.state_q == State::Active).into(),
            (self.state_q == State::Draining).into(),
            self.flush_q.count_ones(),
            turn.waits_for_slot.into(),
            (none && alive != 0 && turn.ready == 0).into(),
            turn.ready.count_ones(),
            (alive & !current).count_ones(),
        ];
        pack(ALTERNATING_EVENT, values) as u32
    }
}

impl Block for AlternatingScheduler {
    const NAME: &'static str = "alternating_scheduler";
    const PARAMETERS: &'static [&'static str] = &["Warps"];

    type Shape = SmShape;
    type In = AlternatingSchedulerIn;
    type Out = AlternatingSchedulerOut;
    type Probe = AlternatingSchedulerProbe;

    fn new(shape: &SmShape) -> Self {
        let mut scheduler = Self {
            warps: shape.warps as u8,
            state_q: State::None,
            current_q: 1,
            slot_warp_q: [0; MAX_ACTIVE],
            flush_q: 0,
            drop_q: 0,
            fresh_q: false,
            outer_q: [0; PARITIES],
            issued_q: 0,
            resident_q: 0,
            short_q: 0,
            long_q: [0; REGISTER_WORDS],
            long_count_q: [0; WARP_NUMBERS],
            waiting: 0,
            decided: Turn::default(),
        };
        scheduler.reset();
        scheduler
    }

    fn early(&self, out: &mut AlternatingSchedulerOut) {
        (out.slot_valid_o, out.flush_o, out.drop_o) = (self.slot_valid(), self.flush(), self.dropped());
        out.slot_warp_o = only(&[self.slot_warp_q[0], self.slot_warp_q[1]], self.slot_valid());
    }

    fn late(&mut self, inputs: &AlternatingSchedulerIn, out: &mut AlternatingSchedulerOut) {
        let warps = Warps {
            head_valid: inputs.head_valid_i,
            mark: inputs.mark_i,
            alive: inputs.alive_i,
            held: inputs.held_i,
            void: u64::MAX,
        };
        self.decided = self.turn(inputs.cfg_i, &warps);
        (out.active_o, out.event_o) = (self.decided.active, self.event(&self.decided, inputs.alive_i));
        let chosen = Self::choose(inputs.clear_i, inputs.operand_i, self.decided.active, inputs.ready_i != 0);
        let chosen = chosen.filter(|_| inputs.stop_i == 0);
        out.issue_valid_o = chosen.is_some().into();
        out.pop_o = chosen.map_or(0, |w| 1 << w);
        (out.issue_warp_o, out.issue_slot_o) = chosen.map_or((0, 0), |w| (w as u8, Self::slot_of(w)));
    }

    fn clock(&mut self, inputs: &AlternatingSchedulerIn, out: &AlternatingSchedulerOut) {
        let past = Past {
            issued: out.issue_valid_o != 0,
            set: (inputs.set_valid_i != 0).then_some(Set { d: inputs.set_d_i, long: inputs.set_long_i != 0 }),
            dispatched: (inputs.dispatch_valid_i != 0).then_some(inputs.dispatch_warp_i),
            complete: (inputs.reg_valid_i != 0).then_some((inputs.reg_warp_i, inputs.reg_i)),
            flush_done: inputs.flush_done_i,
        };
        let decided = self.decided;
        self.advance(&decided, inputs.alive_i, &past);
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &AlternatingSchedulerIn, _: &AlternatingSchedulerOut, probe: &mut AlternatingSchedulerProbe) {
        *probe = AlternatingSchedulerProbe::zeroed();
        (probe.state_q, probe.current_q) = (self.state_q as u8, self.current_q);
        (probe.drop_q, probe.fresh_q, probe.outer_q) = (self.drop_q, self.fresh_q.into(), self.outer_q);
        if self.state_q != State::None {
            (probe.issued_q, probe.resident_q, probe.short_q) = (self.issued_q, self.resident_q, self.short_q);
        }
        probe.long_count_q.copy_from_slice(&self.long_count_q[..MAX_WARPS]);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        vec![Memory { path: "long_q".into(), block: Self::NAME, words: &mut self.long_q, bits: 1 << REG_BITS }]
    }
}

#[cfg(test)]
mod tests;
