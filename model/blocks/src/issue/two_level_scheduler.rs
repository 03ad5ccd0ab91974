//! `two_level_scheduler`: few active warps issue, the others wait. `docs/blocks/two_level_scheduler.md`.

use crate::instruction::NO_REG;
use crate::issue::warp_scheduler::{Candidates, half, ports_of};
use crate::issue::{Chosen, Classes, Heads};
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{first_from, is_set, only, pack, set_bits};
use crate::shape::ActiveShape;
use crate::sizes::{MAX_ACTIVE, MAX_WARPS, WARP_NUMBERS, own_of};
use crate::{Block, Decode, Memory, Ports, REG_BITS, WARP_BITS, Wide, field, ports};

/// Words of the set of a warp's registers.
const REGISTER_WORDS: usize = 8;

/// Fields of `two_level_event_t`, most significant first.
pub const TWO_LEVEL_EVENT: &[(&str, u32)] = &[
    ("activate", 2),
    ("leave_end", 6),
    ("leave_barrier", 6),
    ("leave_mark", 6),
    ("leave_patience", 6),
    ("active", 6),
    ("drain", 6),
    ("flush", 6),
    ("ready", 6),
];

/// States of a slot.
const SHOW_STATE: Decode = Decode::Enum(&["free", "active", "draining", "flushing"]);

ports! {
    /// Inputs of [`TwoLevelScheduler`].
    pub struct TwoLevelSchedulerIn(s: &ActiveShape) {
        /// The warp's head may issue as far as dependences go.
        clear_i: u64 = field(s.warps),
        /// The head goes to the operand stage.
        operand_i: u64 = field(s.warps),
        /// The head is a branch or an exit.
        branch_i: u64 = field(s.warps),
        /// The warp has a head.
        head_valid_i: u64 = field(s.warps),
        /// The head is marked "deschedule".
        mark_i: u64 = field(s.warps),
        /// Warps with living lanes.
        alive_i: u64 = field(s.warps),
        /// Warps that wait at a barrier.
        held_i: u64 = field(s.warps),
        /// The provider has nothing left of slot s.
        flush_done_i: u64 = field(s.active),
        /// Nothing is lost if the warp leaves slot s now.
        void_i: u64 = field(s.active),
        /// Straps: bit 0 greedy, bit 1 *stay*, bits 13:2 *patience*, bit 14 *handover*.
        cfg_i: u16 = field(15),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// The operand stage takes an instruction on port p.
        ready_i: u8 = field(s.ports()),
        /// Nothing issues.
        stop_i: u8 = field(1),
        /// An operand of port p's candidate of the cycle before is being read: it issues now.
        candidate_issue_i: u8 = field(s.ports()),
        /// The instruction issued on port p goes to the operand stage.
        set_valid_i: u8 = field(s.ports()),
        /// Register that the instruction issued on port p writes.
        set_d_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("set_valid_i"),
        /// The instruction issued on port p is a long-latency operation.
        set_long_i: u8 = field(s.ports()),
        /// An instruction leaves the operand stage.
        dispatch_valid_i: u8 = field(s.ports()),
        /// Warp of the instruction that leaves the operand stage.
        dispatch_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("dispatch_valid_i"),
        /// A register is complete.
        reg_valid_i: u8 = field(s.ports()),
        /// Warp whose register is complete.
        reg_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("reg_valid_i"),
        /// Register that is complete.
        reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("reg_valid_i"),
    }
}

ports! {
    /// Outputs of [`TwoLevelScheduler`].
    pub struct TwoLevelSchedulerOut(s: &ActiveShape) {
        /// The set of warps that issue.
        pop_o: u64 = field(s.warps),
        /// Warps in an active slot that they do not leave.
        active_o: u64 = field(s.warps),
        /// Slots that have a warp.
        slot_valid_o: u64 = field(s.active).early(),
        /// Slots that are to be emptied.
        flush_o: u64 = field(s.active).early(),
        /// Slots that are emptied without write-back.
        drop_o: u64 = field(s.active).early(),
        /// Events: `two_level_event_t`.
        event_o: u64 = field(50).shown(Decode::Packed(TWO_LEVEL_EVENT)),
        /// Port p issues.
        issue_valid_o: u8 = field(s.ports()),
        /// Warp whose head port p issues; 0 where there is none.
        issue_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
        /// Slot of the warp that port p issues; 0 where there is none.
        issue_slot_o: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()),
        /// Port p has a candidate.
        candidate_valid_o: u8 = field(s.ports()),
        /// Warp of port p's candidate; 0 where there is none.
        candidate_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
        /// The warp of each slot.
        slot_warp_o: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.active).valid_by("slot_valid_o").early(),
    }
}

ports! {
    /// State of [`TwoLevelScheduler`].
    pub struct TwoLevelSchedulerProbe(s: &ActiveShape) {
        /// State of each slot.
        state_q: [u8; MAX_ACTIVE] = field(2).count(s.active).shown(SHOW_STATE),
        /// Warp of each slot.
        warp_q: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.active).valid_by("state_q"),
        /// Instructions that each slot's warp has issued since it took the slot, up to 4095.
        issued_q: [u16; MAX_ACTIVE] = field(12).count(s.active).valid_by("state_q"),
        /// Instructions of each slot's warp in the operand stage.
        resident_q: [u8; MAX_ACTIVE] = field(6).count(s.active).valid_by("state_q"),
        /// Outstanding short results of each slot's warp.
        short_q: [u8; MAX_ACTIVE] = field(8).count(s.active).valid_by("state_q"),
        /// Outstanding long results of each warp.
        long_count_q: [u8; MAX_WARPS] = field(8).count(s.warps),
        /// The warp at which each port's search for a ready one begins.
        outer_q: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
        /// The slot of each port that issued last.
        last_q: [u8; MAX_PORTS] = field(6).count(s.ports()),
        /// Port p had a candidate in the cycle before.
        candidate_valid_q: u8 = field(s.ports()).when(s.candidates),
        /// Warp of port p's candidate of the cycle before.
        candidate_q: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.ports()).valid_by("candidate_valid_q").when(s.candidates),
        /// Slot of port p's candidate of the cycle before.
        candidate_slot_q: [u8; MAX_PORTS] =
            field(s.slot_w()).count(s.ports()).valid_by("candidate_valid_q").when(s.candidates),
        /// Slots from which nothing has issued since they were taken.
        fresh_q: u64 = field(s.active),
        /// Slots whose warp had ended when they had drained.
        drop_q: u64 = field(s.active),
        /// Registers of each slot whose results count as long, whether the slot is free or not.
        long_q: [Wide<REGISTER_WORDS>; MAX_ACTIVE] = field(1 << REG_BITS).count(s.active),
    }
}

/// State of the warps in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Warps {
    /// Warps with a head.
    pub head_valid: u64,
    /// Warps whose head is marked "deschedule".
    pub mark: u64,
    /// Warps with living lanes.
    pub alive: u64,
    /// Warps that wait at a barrier.
    pub held: u64,
    /// Slots that their warps may leave without a loss.
    pub void: u64,
}

/// The slots that are given up, as a mask for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leaving {
    /// The slot's warp has ended.
    pub end: u64,
    /// The slot's warp waits at a barrier.
    pub barrier: u64,
    /// The head of the slot's warp needs the result of a long-latency operation.
    pub mark: u64,
    /// The slot's warp has issued for long while other warps are ready.
    pub patience: u64,
}

impl Leaving {
    /// All slots that are given up.
    #[inline]
    pub fn all(&self) -> u64 {
        self.end | self.barrier | self.mark | self.patience
    }
}

/// Decisions of one cycle, except which warps issue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outer {
    /// Slots that are given up.
    pub leaving: Leaving,
    /// Warps in active slots that they do not give up.
    pub active: u64,
    /// Warps that are ready and wait for a slot.
    pub ready: u64,
    /// For each port, the slot that is taken and the warp that takes it.
    pub taking: [Option<(u8, u8)>; MAX_PORTS],
    /// A slot that is given up is free at once.
    pub handover: bool,
}

/// The parts of an issued instruction that matter to its slot.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// Register that the instruction writes; 255: none.
    pub d: u8,
    /// The instruction is a long-latency operation.
    pub long: bool,
}

/// Events that one clock edge acts on; sets of ports are masks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Happened {
    /// The warp that each port issues.
    pub issued: [Option<u8>; MAX_PORTS],
    /// Ports that issue the candidate of the cycle before, though the policy chooses another one.
    pub against: u8,
    /// The candidate of each port.
    pub candidate: [Option<usize>; MAX_PORTS],
    /// The instruction that each port sends to the operand stage.
    pub set: [Option<Set>; MAX_PORTS],
    /// Warps whose instructions leave the operand stage.
    pub dispatched: [Option<u8>; MAX_PORTS],
    /// Warps whose registers are complete, with these registers.
    pub complete: [Option<(u8, u8)>; MAX_PORTS],
    /// Slots of which the provider holds nothing any more.
    pub flush_done: u64,
}

const FREE: u8 = 0;
const ACTIVE: u8 = 1;
const DRAINING: u8 = 2;
const FLUSHING: u8 = 3;
/// Slot number of a warp that is in no slot.
const NO_SLOT: u8 = u8::MAX;
const MAX_ISSUED: u16 = 4095;
/// Bit of the straps: a slot that is given up is free at once.
const HANDOVER: usize = 14;

/// A small set of active warps has slots and issues; all other warps are pending (RFC paper 3.2; hierarchy thesis 2.5).
///
/// A caller that uses this twin directly asks for the decisions ([`outer`](Self::outer), [`choose`](Self::choose)) and ends the cycle with
/// [`advance`](Self::advance).
#[derive(Clone)]
pub struct TwoLevelScheduler {
    ports: usize,
    warps: u8,
    slots: usize,
    /// The warps and the slots of each port.
    own: [u64; MAX_PORTS],
    own_slots: [u64; MAX_PORTS],
    /// The ports name candidates.
    names_candidates: bool,
    candidates: Candidates,
    candidate_slot_q: [u8; MAX_PORTS],
    warp_q: [u8; MAX_ACTIVE],
    issued_q: [u16; MAX_ACTIVE],
    resident_q: [u8; MAX_ACTIVE],
    short_q: [u8; MAX_ACTIVE],
    fresh_q: u64,
    drop_q: u64,
    long_q: Box<[[u32; REGISTER_WORDS]]>,
    long_count_q: [u8; WARP_NUMBERS],
    outer_q: [u8; MAX_PORTS],
    last_q: [u8; MAX_PORTS],
    /// The set of slots in each state, indexed by the state's number.
    state: [u64; 4],
    /// Warps in active slots, in any slot, and with long-latency operations outstanding.
    active: u64,
    placed: u64,
    waiting: u64,
    /// The slot of each warp.
    slot_of: [u8; WARP_NUMBERS],
    /// Decisions of this cycle.
    decided: Outer,
    chosen: Chosen,
}

impl TwoLevelScheduler {
    /// Slots that have a warp.
    #[inline]
    pub fn slot_valid(&self) -> u64 {
        self.state[ACTIVE as usize] | self.state[DRAINING as usize] | self.flush()
    }

    /// The warp of each slot.
    #[inline]
    pub fn slot_warp(&self) -> &[u8; MAX_ACTIVE] {
        &self.warp_q
    }

    /// Slots that are to be emptied.
    #[inline]
    pub fn flush(&self) -> u64 {
        self.state[FLUSHING as usize]
    }

    /// Slots to be emptied whose contents are thrown away.
    #[inline]
    pub fn dropped(&self) -> u64 {
        self.flush() & self.drop_q
    }

    /// The slot of a warp that is in one.
    #[inline]
    pub fn slot_of(&self, warp: usize) -> u8 {
        self.slot_of[warp % WARP_NUMBERS]
    }

    /// The state of a slot.
    fn state_of(&self, s: usize) -> u8 {
        (FREE..=FLUSHING).find(|&state| is_set(self.state[usize::from(state)], s)).unwrap_or(FREE)
    }

    #[inline]
    fn change(&mut self, s: usize, from: u8, to: u8) {
        self.state[usize::from(from)] &= !(1 << s);
        self.state[usize::from(to)] |= 1 << s;
    }

    /// Decides which slots are given up, and which are taken.
    #[inline]
    pub fn outer(&self, straps: u16, warps: &Warps) -> Outer {
        let ready = warps.alive & !warps.held & !self.placed & !self.waiting;
        let leaving = self.leaving(straps, warps, ready);
        let mut taking = [None; MAX_PORTS];
        if ready != 0 && self.state[FREE as usize] != 0 {
            for (p, taking) in taking.iter_mut().enumerate().take(self.ports) {
                let free = self.state[FREE as usize] & self.own_slots[p];
                let warp = first_from(ready & self.own[p], self.outer_q[p].into());
                *taking = warp.filter(|_| free != 0).map(|w| (free.trailing_zeros() as u8, w as u8));
            }
        }
        let left = set_bits(leaving.all()).fold(0, |left, s| left | 1 << self.warp_q[s]);
        Outer { leaving, active: self.active & !left, ready, taking, handover: is_set(straps, HANDOVER) }
    }

    #[inline]
    fn leaving(&self, straps: u16, warps: &Warps, ready: u64) -> Leaving {
        let (stay, patience) = (is_set(straps, 1), straps >> 2 & MAX_ISSUED);
        let mut leaving = Leaving::default();
        let mut concerned = self.active & !warps.alive;
        if !stay {
            concerned |= self.active & (warps.held | warps.head_valid & warps.mark);
        }
        for w in set_bits(concerned) {
            let s = usize::from(self.slot_of[w]);
            let slot = 1 << s;
            if !is_set(warps.alive, w) {
                leaving.end |= slot;
            } else if is_set(warps.held, w) {
                leaving.barrier |= slot;
            } else if !is_set(self.fresh_q, s) {
                leaving.mark |= slot;
            }
        }
        if !stay && patience != 0 && ready != 0 {
            let wanted = (0..self.ports).filter(|&p| ready & self.own[p] != 0);
            let slots = wanted.fold(0, |slots, p| slots | self.own_slots[p]);
            for s in set_bits(slots & self.state[ACTIVE as usize] & warps.void & !leaving.all()) {
                leaving.patience |= u64::from(self.issued_q[s] >= patience) << s;
            }
        }
        leaving
    }

    /// The warp that each port issues. The caller has to handle a stop of issue. `ahead`: ports for whose candidate an
    /// operand is being read.
    #[inline]
    pub fn choose(&self, greedy: bool, heads: &Heads, active: u64, ready: u8, ahead: u8) -> Chosen {
        let mut allowed = heads.clear & active;
        let mut chosen = Chosen::default();
        for p in 0..self.ports {
            let ready = if is_set(ready, p) { u64::MAX } else { !heads.operand };
            let place = |w: usize| usize::from(self.slot_of[w]) / self.ports;
            let candidates = set_bits(allowed & self.own[p] & ready).fold(0u64, |all, w| all | 1 << place(w));
            let warp = |j: usize| usize::from(self.warp_q[self.ports * j + p]);
            let winner = self.policy(greedy, p, candidates);
            if self.names_candidates {
                let other = winner.and_then(|j| self.policy(greedy, p, candidates & !half(1, j)));
                // A warp whose patience is over may have left its slot since it was named.
                let stolen = self.candidates.of(p).filter(|&w| is_set(ahead, p) && is_set(active, w));
                chosen.add(p, winner.map(warp), other.map(warp), stolen);
                chosen.candidate[p] = chosen.candidate[p].filter(|&w| is_set(heads.operand, w));
            } else {
                chosen.warp[p] = winner.map(warp);
            }
            // The SIMT stack splits or ends one group a cycle.
            if chosen.warp[p].is_some_and(|w| is_set(heads.branch, w)) {
                allowed &= !heads.branch;
            }
        }
        chosen
    }

    /// The slot of `candidates` that the policy of port `p` chooses, with slots numbered as in the port.
    #[inline]
    fn policy(&self, greedy: bool, p: usize, candidates: u64) -> Option<usize> {
        let last = usize::from(self.last_q[p]);
        if greedy && is_set(candidates, last) { Some(last) } else { first_from(candidates, last as u32 + 1) }
    }

    /// Whether no port named a candidate in the previous cycle.
    pub fn has_no_candidate(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Performs the clock edge. All counts used are those before the edge.
    #[inline]
    pub fn advance(&mut self, outer: &Outer, alive: u64, happened: &Happened) {
        let drained = self.drained();
        if self.names_candidates {
            self.candidates.latch(&happened.candidate);
            self.candidate_slot_q = happened.candidate.map(|warp| warp.map_or(0, |w| self.slot_of(w)));
        }
        for &(warp, reg) in happened.complete.iter().flatten() {
            self.complete(warp.into(), reg);
        }
        // A slot that is handed over does not wait for its instructions.
        for &warp in happened.dispatched.iter().flatten().filter(|_| !outer.handover) {
            let s = usize::from(self.slot_of[usize::from(warp)]);
            if let Some(resident) = self.resident_q.get_mut(s) {
                *resident = resident.wrapping_sub(1) & 0x3f;
            }
        }
        for (p, warp) in happened.issued.iter().enumerate() {
            if let Some(warp) = *warp {
                self.issue(p, warp.into(), is_set(happened.against, p), happened.set[p], !outer.handover);
            }
        }
        self.go_on(outer, drained, alive, happened.flush_done);
        for (p, &taken) in outer.taking.iter().enumerate() {
            if let Some((s, warp)) = taken {
                self.take(p, s.into(), warp);
            }
        }
    }

    /// Moves slots from one state to the next. `drained`: draining slots that had nothing in flight before the edge.
    #[inline]
    fn go_on(&mut self, outer: &Outer, drained: u64, alive: u64, flush_done: u64) {
        for s in set_bits(self.flush() & flush_done) {
            self.free(s, FLUSHING);
        }
        for s in set_bits(drained) {
            self.change(s, DRAINING, FLUSHING);
            let ended = u64::from(!is_set(alive, self.warp_q[s].into()));
            self.drop_q = self.drop_q & !(1 << s) | ended << s;
        }
        for s in set_bits(outer.leaving.all()) {
            self.active &= !(1 << self.warp_q[s]);
            if outer.handover {
                // The slot's outstanding short results now count as long results of the warp.
                self.count_long(self.warp_q[s].into(), self.short_q[s]);
                self.free(s, ACTIVE);
            } else {
                self.change(s, ACTIVE, DRAINING);
            }
        }
    }

    /// Frees a slot: it has no warp any more.
    #[inline]
    fn free(&mut self, s: usize, from: u8) {
        self.change(s, from, FREE);
        let warp = self.warp_q[s];
        self.placed &= !(1 << warp);
        self.slot_of[usize::from(warp)] = NO_SLOT;
    }

    /// Draining slots with no instruction in the operand stage and no short result outstanding.
    #[inline]
    fn drained(&self) -> u64 {
        let empty = |&s: &usize| self.resident_q[s] == 0 && self.short_q[s] == 0;
        set_bits(self.state[DRAINING as usize]).filter(empty).fold(0, |all, s| all | 1 << s)
    }

    /// A register is complete. Outstanding results of a warp without a slot count as long.
    #[inline]
    fn complete(&mut self, warp: usize, reg: u8) {
        let s = usize::from(self.slot_of[warp]);
        let bit = 1 << (reg % 32);
        match self.long_q.get(s) {
            Some(long) if long[usize::from(reg) / 32] & bit == 0 => self.short_q[s] = self.short_q[s].wrapping_sub(1),
            _ => self.count_long(warp, u8::MAX),
        }
    }

    /// Adds to the count of a warp's outstanding long-latency operations.
    #[inline]
    fn count_long(&mut self, warp: usize, more: u8) {
        let count = &mut self.long_count_q[warp];
        *count = count.wrapping_add(more);
        self.waiting = self.waiting & !(1 << warp) | u64::from(*count != 0) << warp;
    }

    #[inline]
    fn issue(&mut self, p: usize, warp: usize, against: bool, set: Option<Set>, drains: bool) {
        let s = usize::from(self.slot_of[warp]);
        if s >= self.slots {
            return;
        }
        if !against {
            self.last_q[p] = (s / self.ports) as u8;
        }
        self.fresh_q &= !(1 << s);
        self.issued_q[s] = (self.issued_q[s] + 1).min(MAX_ISSUED);
        let Some(Set { d, long }) = set else { return };
        self.resident_q[s] = (self.resident_q[s] + u8::from(drains)) & 0x3f;
        if d == NO_REG {
            return;
        }
        let (word, bit) = (&mut self.long_q[s][usize::from(d) / 32], 1 << (d % 32));
        *word = *word & !bit | if long { bit } else { 0 };
        if long {
            self.count_long(warp, 1);
        } else {
            self.short_q[s] = self.short_q[s].wrapping_add(1);
        }
    }

    /// A warp takes a slot.
    #[inline]
    fn take(&mut self, p: usize, s: usize, warp: u8) {
        self.change(s, FREE, ACTIVE);
        self.warp_q[s] = warp;
        (self.issued_q[s], self.resident_q[s], self.short_q[s]) = (0, 0, 0);
        self.long_q[s] = [0; REGISTER_WORDS];
        self.fresh_q |= 1 << s;
        self.drop_q &= !(1 << s);
        self.active |= 1 << warp;
        self.placed |= 1 << warp;
        self.slot_of[usize::from(warp)] = s as u8;
        self.outer_q[p] = if warp + 1 == self.warps { 0 } else { warp + 1 };
    }

    /// Whether the state stays as it is, as long as nothing issues, leaves or completes.
    pub fn is_still(&self, outer: &Outer) -> bool {
        outer.leaving.all() == 0 && outer.taking == [None; MAX_PORTS] && self.flush() == 0 && self.drained() == 0
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        self.state = [self.own_slots[0] | self.own_slots[1], 0, 0, 0];
        (self.active, self.placed, self.waiting) = (0, 0, 0);
        self.long_count_q = [0; WARP_NUMBERS];
        self.slot_of = [NO_SLOT; WARP_NUMBERS];
        (self.outer_q, self.last_q) = ([0; MAX_PORTS], [0; MAX_PORTS]);
        (self.fresh_q, self.drop_q) = (0, 0);
        self.candidates = Candidates::default();
    }

    /// The event word of a cycle.
    #[inline]
    pub fn event(&self, outer: &Outer) -> u64 {
        let leaving = &outer.leaving;
        let count = |set: u64| set.count_ones();
        let values = [
            outer.taking.iter().flatten().count() as u32,
            count(leaving.end),
            count(leaving.barrier),
            count(leaving.mark),
            count(leaving.patience),
            count(self.state[ACTIVE as usize]),
            count(self.state[DRAINING as usize]),
            count(self.flush()),
            count(outer.ready),
        ];
        pack(TWO_LEVEL_EVENT, values)
    }
}

fn happened(inputs: &TwoLevelSchedulerIn, out: &TwoLevelSchedulerOut) -> Happened {
    let mut happened = Happened { flush_done: inputs.flush_done_i, ..Happened::default() };
    for p in set_bits(out.issue_valid_o) {
        happened.issued[p] = Some(out.issue_warp_o[p]);
        let set = Set { d: inputs.set_d_i[p], long: is_set(inputs.set_long_i, p) };
        happened.set[p] = is_set(inputs.set_valid_i, p).then_some(set);
    }
    for p in set_bits(inputs.dispatch_valid_i) {
        happened.dispatched[p] = Some(inputs.dispatch_warp_i[p]);
    }
    for p in set_bits(inputs.reg_valid_i) {
        happened.complete[p] = Some((inputs.reg_warp_i[p], inputs.reg_i[p]));
    }
    happened
}

impl Block for TwoLevelScheduler {
    const NAME: &'static str = "two_level_scheduler";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts", "Active", "Candidates"];

    type Shape = ActiveShape;
    type In = TwoLevelSchedulerIn;
    type Out = TwoLevelSchedulerOut;
    type Probe = TwoLevelSchedulerProbe;

    fn new(shape: &ActiveShape) -> Self {
        let (warps, slots) = (u64::MAX >> (u64::BITS as usize - shape.warps), u64::MAX >> (64 - shape.active));
        let of_port = |all: u64| [0, 1].map(|p| own_of(all, p, shape.ports()));
        let mut scheduler = Self {
            ports: shape.ports(),
            warps: shape.warps as u8,
            slots: shape.active,
            own: of_port(warps),
            own_slots: of_port(slots),
            names_candidates: shape.candidates,
            candidates: Candidates::default(),
            candidate_slot_q: [0; MAX_PORTS],
            warp_q: [0; MAX_ACTIVE],
            issued_q: [0; MAX_ACTIVE],
            resident_q: [0; MAX_ACTIVE],
            short_q: [0; MAX_ACTIVE],
            fresh_q: 0,
            drop_q: 0,
            long_q: vec![[0; REGISTER_WORDS]; shape.active].into(),
            long_count_q: [0; WARP_NUMBERS],
            outer_q: [0; MAX_PORTS],
            last_q: [0; MAX_PORTS],
            state: [0; 4],
            active: 0,
            placed: 0,
            waiting: 0,
            slot_of: [NO_SLOT; WARP_NUMBERS],
            decided: Outer::default(),
            chosen: Chosen::default(),
        };
        scheduler.reset();
        scheduler
    }

    fn early(&self, out: &mut TwoLevelSchedulerOut) {
        (out.slot_valid_o, out.flush_o, out.drop_o) = (self.slot_valid(), self.flush(), self.dropped());
        out.slot_warp_o = only(&self.warp_q, self.slot_valid());
    }

    fn late(&mut self, inputs: &TwoLevelSchedulerIn, out: &mut TwoLevelSchedulerOut) {
        let warps = Warps {
            head_valid: inputs.head_valid_i,
            mark: inputs.mark_i,
            alive: inputs.alive_i,
            held: inputs.held_i,
            void: inputs.void_i,
        };
        self.decided = self.outer(inputs.cfg_i, &warps);
        (out.active_o, out.event_o) = (self.decided.active, self.event(&self.decided));
        self.chosen = Chosen::default();
        if inputs.stop_i == 0 {
            let (greedy, active) = (is_set(inputs.cfg_i, 0), self.decided.active);
            let (clear, operand, branch) = (inputs.clear_i, inputs.operand_i, inputs.branch_i);
            let heads = Heads { clear, operand, branch, classes: Classes::default() };
            self.chosen = self.choose(greedy, &heads, active, inputs.ready_i, inputs.candidate_issue_i);
        }
        (out.issue_valid_o, out.issue_warp_o) = ports_of(&self.chosen.warp);
        out.issue_slot_o = self.chosen.warp.map(|warp| warp.map_or(0, |w| self.slot_of(w)));
        (out.candidate_valid_o, out.candidate_warp_o) = ports_of(&self.chosen.candidate);
        out.pop_o = self.chosen.warp.iter().flatten().fold(0, |set, w| set | 1 << w);
    }

    fn clock(&mut self, inputs: &TwoLevelSchedulerIn, out: &TwoLevelSchedulerOut) {
        let (decided, Chosen { against, candidate, .. }) = (self.decided, self.chosen);
        let happened = Happened { against, candidate, ..happened(inputs, out) };
        self.advance(&decided, inputs.alive_i, &happened);
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &TwoLevelSchedulerIn, _: &TwoLevelSchedulerOut, probe: &mut TwoLevelSchedulerProbe) {
        *probe = TwoLevelSchedulerProbe::zeroed();
        for s in set_bits(self.slot_valid()) {
            (probe.state_q[s], probe.warp_q[s]) = (self.state_of(s), self.warp_q[s]);
            (probe.issued_q[s], probe.resident_q[s]) = (self.issued_q[s], self.resident_q[s]);
            probe.short_q[s] = self.short_q[s];
        }
        probe.long_count_q.copy_from_slice(&self.long_count_q[..MAX_WARPS]);
        (probe.outer_q, probe.last_q) = (self.outer_q, self.last_q);
        (probe.fresh_q, probe.drop_q) = (self.fresh_q, self.drop_q);
        (probe.candidate_valid_q, probe.candidate_q) = self.candidates.state();
        probe.candidate_slot_q = self.candidate_slot_q;
        probe.long_q.iter_mut().zip(&self.long_q).for_each(|(shown, held)| *shown = Wide(*held));
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        vec![Memory {
            path: "long_q".into(),
            block: Self::NAME,
            words: self.long_q.as_flattened_mut(),
            bits: 1 << REG_BITS,
        }]
    }
}

#[cfg(test)]
mod tests;
