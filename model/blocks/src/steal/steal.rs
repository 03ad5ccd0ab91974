//! `steal`: a register file where accesses steal idle banks. `docs/blocks/steal.md`.

mod block;
mod design;
mod nets;

pub use design::StealSizes;
pub use nets::StealProbe;

use super::MAX_SOURCES;
use super::steal_arbiter::{Around, STEAL_ARBITER_EVENT, STEAL_PLACE_EVENT};
use super::steal_candidates::{Candidate, Wants};
use super::steal_collector::filled;
use super::steal_dependence::{At, Dependence, Reads, Spares, Way};
use super::steal_return::{Buses, Landing};
use super::steal_table::{Parks, TableEdge, Targets};
use crate::design::Candidates;
use crate::mrf::bits::{count_ports, is_set, pack, set_bits};
use crate::mrf::mrf_allocator::Choice;
use crate::mrf::mrf_arbiter::{Requests, Writes};
use crate::mrf::mrf_collector::{Collectors, Instruction};
use crate::mrf::mrf_write_queue::WriteTarget;
use crate::mrf::slots::Slots;
use crate::mrf::{
    MAX_PORTS, MAX_SLOTS, MRF_EVENT, MrfAllocator, MrfBank, MrfBankMap, MrfCrossbar, MrfIn, MrfOut, MrfShape,
    MrfWriteQueue,
};
use crate::steal::{StealArbiter, StealCandidates, StealReturn, StealTable};
use crate::write::{WriteWord, WrittenWord};
use crate::{Decode, LaneMask, OPERANDS, REG_BITS, WARP_BITS, WarpData, field, packed, ports};

/// Fields of `steal_event_t`, most significant first: the arbiter's events, then those of thefts and hints.
pub const STEAL_EVENT: &[(&str, u32)] = &{
    const OWN: [(&str, u32); 3] = [("wasted", 2), ("hint", 2), ("hint_ignored", 2)];
    const ARBITER: usize = STEAL_ARBITER_EVENT.len();
    let mut all = [("", 0); ARBITER + OWN.len()];
    let mut field = 0;
    while field < all.len() {
        all[field] = if field < ARBITER { STEAL_ARBITER_EVENT[field] } else { OWN[field - ARBITER] };
        field += 1;
    }
    all
};

ports! {
    /// Inputs of [`Steal`].
    pub struct StealIn(s: &MrfShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(1024).count(s.issue_ports).valid_by("write_valid_i"),
        /// Opaque, comes out at dispatch.
        issue_tag_i: [u64; MAX_PORTS] = field(s.tag_w).count(s.issue_ports).valid_by("issue_valid_i"),
        /// The offered result.
        write_i: [WriteWord; MAX_PORTS] = packed::<WriteWord>().count(s.issue_ports).valid_by("write_valid_i"),
        /// Active lanes.
        issue_mask_i: [u32; MAX_PORTS] = field(32).count(s.issue_ports).valid_by("issue_valid_i"),
        /// First row of the warp's registers.
        issue_base_i: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("issue_valid_i"),
        /// First row of the warp's registers.
        write_base_i: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// First row of the candidate's registers.
        candidate_base_i: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("candidate_valid_i"),
        /// First row of the registers of the warp that is dispatched.
        hint_base_i: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("hint_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Straps: order among the reads of a bank, read stealing, write stealing, eager, unread, redirect, drop.
        cfg_i: u8 = field(7),
        /// An instruction is offered on port p.
        issue_valid_i: u8 = field(s.issue_ports),
        /// Warp of the offered instruction.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.issue_ports).valid_by("issue_valid_i"),
        /// Bit 3p+s: source s of port p is a register.
        issue_src_valid_i: u8 = field(s.sources()),
        /// Register name of each source.
        issue_src_reg_i: [u8; MAX_SOURCES] = field(REG_BITS).count(s.sources()).valid_by("issue_src_valid_i"),
        /// A result is offered on bus p.
        write_valid_i: u8 = field(s.issue_ports),
        /// The next instruction of the result's warp reads it.
        write_next_i: u8 = field(s.issue_ports).valid_by("write_valid_i"),
        /// The instruction offered on dispatch port p is taken at this edge if also valid.
        dispatch_ready_i: u8 = field(s.issue_ports),
        /// Port p's scheduler names a candidate.
        candidate_valid_i: u8 = field(s.issue_ports),
        /// Warp of port p's candidate.
        candidate_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.issue_ports).valid_by("candidate_valid_i"),
        /// Bit 3p+s: source s of the head of port p's candidate is a register.
        candidate_src_valid_i: u8 = field(s.sources()),
        /// Register name of each source of the candidates.
        candidate_src_reg_i: [u8; MAX_SOURCES] =
            field(REG_BITS).count(s.sources()).valid_by("candidate_src_valid_i"),
        /// A grid is about to begin.
        clear_i: u8 = field(1),
        /// The last row belongs to no warp of the grid.
        spare_i: u8 = field(1).valid_by("clear_i"),
        /// The instruction dispatched on port p at this edge says that a register of its warp is dead.
        hint_valid_i: u8 = field(s.issue_ports),
        /// Register that is dead.
        hint_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.issue_ports).valid_by("hint_valid_i"),
    }
}

ports! {
    /// Outputs of [`Steal`].
    pub struct StealOut(s: &MrfShape) {
        /// Operands of the offered instruction.
        dispatch_data_o: [WarpData; MAX_SOURCES] =
            field(1024).count(s.sources()).valid_by("dispatch_src_valid_o").early(),
        /// Tag as issued.
        dispatch_tag_o: [u64; MAX_PORTS] = field(s.tag_w).count(s.issue_ports).valid_by("dispatch_valid_o").early(),
        /// Events of this cycle: `mrf_event_t`.
        event_o: u64 = field(50).shown(Decode::Packed(MRF_EVENT)),
        /// Events of this cycle: `steal_event_t`.
        steal_event_o: u64 = field(63).shown(Decode::Packed(STEAL_EVENT)),
        /// Events of this cycle: `steal_place_event_t`.
        place_event_o: u64 = field(8).shown(Decode::Packed(STEAL_PLACE_EVENT)),
        /// Active lanes as issued.
        dispatch_mask_o: [u32; MAX_PORTS] = field(32).count(s.issue_ports).valid_by("dispatch_valid_o").early(),
        /// The completed write.
        written_o: [WrittenWord; MAX_PORTS] = packed::<WrittenWord>().count(s.issue_ports).valid_by("write_done_o"),
        /// The instruction on port p is taken at this edge if also valid.
        issue_ready_o: u8 = field(s.issue_ports).early(),
        /// The result on bus p is taken at this edge if also valid.
        write_ready_o: u8 = field(s.issue_ports),
        /// The result at the head of queue p goes into its bank or is parked at this edge.
        write_done_o: u8 = field(s.issue_ports),
        /// An instruction with all its operands is offered.
        dispatch_valid_o: u8 = field(s.issue_ports).early(),
        /// Warp as issued.
        dispatch_warp_o: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.issue_ports).valid_by("dispatch_valid_o").early(),
        /// Bit 3p+s: `dispatch_valid_o[p]` and source s is a register.
        dispatch_src_valid_o: u8 = field(s.sources()).early(),
        /// An operand of port p's candidate is read: this warp issues now.
        steal_o: u8 = field(s.issue_ports),
    }
}

/// The decisions that follow from state and straps.
#[derive(Clone, Copy)]
struct Seen {
    straps: u8,
    wants: Wants,
    /// The banks and entries where the registers of the slots are read.
    at: At,
    needs: Dependence,
    buses: Buses,
    /// Ports with a stolen operand: their candidate of the previous cycle issues now.
    steal: u8,
    write_ready: u8,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            straps: 0,
            wants: Wants::default(),
            at: At { bank: [0; MAX_SLOTS], entry: [0; MAX_SLOTS] },
            needs: Dependence::default(),
            buses: Buses::default(),
            steal: 0,
            write_ready: 0,
        }
    }
}

/// The instructions, reads and values that arrive and leave in a cycle.
#[derive(Clone, Copy, Default)]
struct Late {
    filled: Choice,
    free: u16,
    /// Ports whose candidate issues and takes the stolen operands.
    taken: u8,
    fill: Slots,
    table: TableEdge,
    hint_taken: u8,
    issue_stall: u8,
    dispatch: u8,
    dispatch_stall: u8,
}

/// The main register file with an arbiter that uses idle banks (stealing paper, IV): an operand of the warp that issues next is read one cycle early, and a result that conflicts with a read
/// is parked in a dead register of another bank.
///
/// An operand stage calls it directly, like the MRF. Readiness for results and the ports that steal follow from state and straps, so [`see`](Self::see) comes first in a cycle.
#[derive(Clone)]
pub struct Steal {
    bank_map: MrfBankMap,
    queues: Vec<MrfWriteQueue>,
    /// One bit for each queue.
    ports: u8,
    collectors: Collectors,
    candidates: StealCandidates,
    table: StealTable,
    returns: StealReturn,
    allocator: MrfAllocator,
    arbiter: StealArbiter,
    banks: Vec<MrfBank>,
    crossbar: MrfCrossbar,
    /// Valid bits of the banks.
    read_data_valid: u32,

    /// The contents of the queues; queues whose head has all lanes; queues whose head the next instruction reads.
    writes: Writes,
    full: u8,
    head_next_q: u8,
    /// Nets that are computed right after the clock edge.
    free_collectors: Choice,
    offers: Choice,
    /// Nets that are computed when straps are presented, and nets that are computed late.
    seen: Seen,
    late: Late,
    /// The inputs of the MRF in a block that runs alone.
    outside: MrfIn,
}

impl Steal {
    /// Fills the outputs that depend on state alone, without the operands. Fields without a meaning keep their values.
    #[inline]
    pub(crate) fn show(&self, out: &mut MrfOut) {
        out.issue_ready_o = self.free_collectors.ports();
        out.dispatch_valid_o = self.offers.ports();
        out.dispatch_src_valid_o = 0;
        for p in set_bits(self.offers.ports()) {
            let (c, held) = (self.offers.of(p), self.collectors.held());
            (out.dispatch_tag_o[p], out.dispatch_mask_o[p], out.dispatch_warp_o[p]) =
                (held.tag[c], held.mask[c], held.warp[c]);
            out.dispatch_src_valid_o |= self.collectors.src_valid().bits_of(c) << (OPERANDS * p);
        }
    }

    /// Operands of the instruction that is offered on dispatch port `p`.
    #[inline]
    pub(crate) fn operands(&self, p: usize) -> &[WarpData; OPERANDS] {
        self.crossbar.operands(self.offers.of(p))
    }

    /// Computes all nets that follow from state and straps, and fills the outputs for results.
    #[inline]
    pub(crate) fn see(&mut self, straps: u8, out: &mut MrfOut) {
        let wants = self.candidates.wants(self.free_collectors.ports());
        let (places, landing) = (self.table.places(), self.returns.landing());
        let buses = self.returns.buses(self.writes.valid);
        let held = self.collectors.held();
        let reads = Reads { valid: self.collectors.pending(), bank: &held.bank, entry: &held.entry };
        let way = Way { landing: landing.map(|landing| landing.bank), turn: self.returns.turn(), any: buses.any };
        let spares = Spares { redirect: is_set(straps, 5), drop: if is_set(straps, 6) { self.full } else { 0 } };
        let needs = Dependence::of(places, spares, &reads, &self.heads(), &wants, &way);
        // A slot that shares the read of another slot is filled from the same bank.
        let at = At::of(places, spares.redirect, self.collectors.src_valid(), &reads);
        let requests = Requests {
            valid: reads.valid,
            bank: &at.bank,
            entry: &at.entry,
            groups: &held.groups,
            older: self.allocator.older(),
        };
        let around = Around {
            places,
            wants: &wants,
            own: &reads,
            needs: &needs,
            landing,
            full: self.full,
            next: self.head_next_q,
            turn: way.turn,
            bus_free: buses.free,
            fresh: self.returns.fresh(),
        };
        self.arbiter.decide(straps, &requests, &self.writes, &around);
        let decided = self.arbiter.decisions();
        // A queue is ready when it is empty or empties.
        let write_ready = (!self.writes.valid | decided.write_done) & self.ports;
        let steal = u8::from(decided.stolen & 0b111 != 0) | u8::from(decided.stolen >> OPERANDS != 0) << 1;
        self.seen = Seen { straps, wants, at, needs, buses, steal, write_ready };
        (out.write_ready_o, out.write_done_o) = (write_ready, decided.write_done);
        for p in set_bits(decided.write_done) {
            let target = self.queues[p].target();
            out.written_o[p] = WrittenWord::new(target.warp, target.reg);
        }
    }

    /// Ports whose candidate of the previous cycle issues now.
    #[inline]
    pub(crate) fn steal(&self) -> u8 {
        self.seen.steal
    }

    /// Settles the cycle.
    #[inline]
    pub(crate) fn late(&mut self, given: &MrfIn, extra: &Candidates) {
        let offered = self.offers.ports();
        let filled = self.free_collectors.only(given.issue_valid_i);
        let taken = set_bits(self.seen.steal & filled.ports())
            .filter(|&p| given.issue_warp_i[p] == self.candidates.warp(p))
            .fold(0, |taken, p| taken | 1 << p);
        let mut fill = self.collectors.fill(self.arbiter.decisions().grant);
        for p in set_bits(taken) {
            let slots = self::filled(&self.offered(given, p), self.stolen(p));
            fill |= Slots::of_collector(filled.of(p), slots);
        }
        let table = TableEdge {
            clear: extra.clear,
            hints: self.hints(extra),
            heads: self.heads(),
            parks: self.arbiter.decisions().parks,
            fetch: self.arbiter.decisions().fetch,
            drops: Parks { valid: self.arbiter.decisions().drop, bank: self.seen.needs.drops.bank }.banks(),
            alive: self.seen.needs.alive,
        };
        self.late = Late {
            filled,
            free: self.offers.only(given.dispatch_ready_i).all(),
            taken,
            fill,
            hint_taken: self.table.taken(&table),
            table,
            issue_stall: given.issue_valid_i & !self.free_collectors.ports(),
            dispatch: offered & given.dispatch_ready_i,
            dispatch_stall: offered & !given.dispatch_ready_i,
        };
    }

    /// The two event words.
    #[inline]
    pub(crate) fn events(&self, given: &MrfIn, extra: &Candidates) -> (u64, u64) {
        let (decided, late) = (self.arbiter.decisions(), &self.late);
        let stolen_groups: u32 = set_bits(late.taken)
            .map(|p| self.stolen(p).count_ones() * u32::from(LaneMask(given.issue_mask_i[p]).groups()))
            .sum();
        let [read, read_groups, others @ ..] = decided.counts;
        let mut event = [0; MRF_EVENT.len()];
        let own = [late.issue_stall, late.dispatch, late.dispatch_stall].map(count_ports);
        let all = [read, read_groups + stolen_groups].into_iter().chain(others).chain(own);
        event.iter_mut().zip(all).for_each(|(field, count)| *field = count);
        let mut steal_event = [0; STEAL_EVENT.len()];
        let own = [self.seen.steal & !late.taken, late.hint_taken, extra.hint_valid & !late.hint_taken];
        let all = decided.steal_counts.into_iter().chain(own.map(count_ports));
        steal_event.iter_mut().zip(all).for_each(|(field, count)| *field = count);
        (pack(MRF_EVENT, event), pack(STEAL_EVENT, steal_event))
    }

    /// The event word of places.
    #[inline]
    pub(crate) fn place_event(&self) -> u64 {
        pack(STEAL_PLACE_EVENT, self.arbiter.decisions().place_counts())
    }

    /// The clock edge. `write_data`: the data of a bus's result.
    #[inline]
    pub(crate) fn edge<'a>(&mut self, given: &MrfIn, extra: &Candidates, write_data: impl Fn(usize) -> &'a WarpData) {
        let running = given.rst_ni != 0;
        // The crossbar takes the output of the banks before the banks read again, the banks take results from the queues before
        // the queues take new ones, and the allocator uses the state of the collectors before the edge.
        self.crossbar.take(|bank| self.banks[bank].read_data());
        self.ask(given, running);
        self.clock_banks(running);
        let fetch = self.arbiter.decisions().fetch.map(|source| self.fetched(source));
        self.returns.advance(running, fetch, &self.arbiter.decisions().parks);
        self.table.advance(running, &self.late.table);
        self.clock_candidates(running, extra);
        if running {
            let late = &self.late;
            let (busy, warps) = (self.collectors.busy(), &self.collectors.held().warp);
            self.allocator.advance(busy, late.filled, late.free, &given.issue_warp_i, warps);
            self.clock_queues(given, extra.write_next, write_data);
            self.clock_collectors(given);
            self.arbiter.advance(is_set(self.seen.straps, 0));
        } else {
            self.reset();
        }
        self.settle();
    }

    /// Whether a clock edge changes nothing, except in reset.
    #[inline]
    pub(crate) fn is_quiet(&self, given: &MrfIn, extra: &Candidates) -> bool {
        let comes = given.write_valid_i | extra.candidate_valid | extra.hint_valid;
        comes == 0 && extra.clear.is_none() && self.late.filled.all() | self.late.free == 0 && self.is_still()
    }

    /// Whether nothing is in motion: no read request, no operand, no result, no parked value. Instructions with all their operands may wait.
    pub(crate) fn is_still(&self) -> bool {
        self.collectors.pending().is_empty()
            && self.read_data_valid == 0
            && self.writes.valid == 0
            && self.candidates.valid() == 0
            && self.table.places().parked == 0
            && self.returns.landing().is_none()
            && self.returns.fresh() == 0
            && self.crossbar.is_idle()
    }

    /// The stolen operands of port `p`'s candidate.
    #[inline]
    fn stolen(&self, p: usize) -> u8 {
        self.arbiter.decisions().stolen >> (OPERANDS * p) & 0b111
    }

    /// The destinations of the heads of the queues.
    #[inline]
    fn heads(&self) -> Targets {
        let Writes { valid, bank, entry, .. } = self.writes;
        Targets { valid, bank, entry }
    }

    /// The dead registers of the warps whose instructions are offered for dispatch.
    #[inline]
    fn hints(&self, extra: &Candidates) -> Targets {
        let mut hints = Targets { valid: extra.hint_valid & self.offers.ports(), ..Targets::default() };
        for p in set_bits(hints.valid) {
            let warp = self.collectors.held().warp[self.offers.of(p)];
            (hints.bank[p], hints.entry[p]) = self.bank_map.map(warp, extra.hint_base[p], extra.hint_reg[p]);
        }
        hints
    }

    /// The instruction that is offered on an issue port.
    #[inline]
    fn offered(&self, given: &MrfIn, p: usize) -> Instruction {
        let Candidate { entry, bank, src_valid, warp } = self.located(
            p,
            given.issue_warp_i[p],
            given.issue_base_i[p],
            given.issue_src_valid_i,
            &given.issue_src_reg_i,
        );
        Instruction { tag: given.issue_tag_i[p], mask: LaneMask(given.issue_mask_i[p]), entry, bank, warp, src_valid }
    }

    /// The banks and entries of the sources of port `p`.
    #[inline]
    fn located(&self, p: usize, warp: u8, base: u16, src_valid: u8, reg: &[u8; MAX_SOURCES]) -> Candidate {
        let place: [_; OPERANDS] = std::array::from_fn(|s| self.bank_map.map(warp, base, reg[OPERANDS * p + s]));
        Candidate {
            entry: place.map(|(_, entry)| entry),
            bank: place.map(|(bank, _)| bank),
            src_valid: src_valid >> (OPERANDS * p) & 0b111,
            warp,
        }
    }

    /// The result that is offered on a result bus.
    #[inline]
    fn arriving(&self, given: &MrfIn, p: usize) -> WriteTarget {
        let write = given.write_i[p];
        let (warp, reg) = write.register();
        let (bank, entry) = self.bank_map.map(warp, given.write_base_i[p], reg);
        WriteTarget { mask: LaneMask(write.mask()), entry, bank, warp, reg }
    }

    /// The landing of the value that is fetched from a bank.
    #[inline]
    fn fetched(&self, source: u8) -> Landing {
        let (places, b) = (self.table.places(), usize::from(source));
        Landing { entry: places.entry[b], source, bank: places.bank[b], port: self.seen.buses.port }
    }

    /// Tells the crossbar which latches take data next, and from which bank.
    #[inline]
    fn ask(&mut self, given: &MrfIn, running: bool) {
        let fill = self.late.fill.when(running);
        if self.late.taken == 0 {
            self.crossbar.ask(fill, &self.seen.at.bank);
            return;
        }
        self.crossbar.ask(fill, &self.fill_bank(given));
    }

    /// The bank of the read that fills each slot.
    #[inline]
    fn fill_bank(&self, given: &MrfIn) -> [u8; MAX_SLOTS] {
        let mut banks = self.seen.at.bank;
        for p in set_bits(self.late.taken) {
            banks[OPERANDS * self.late.filled.of(p)..][..OPERANDS].copy_from_slice(&self.offered(given, p).bank);
        }
        banks
    }

    #[inline]
    fn clock_banks(&mut self, running: bool) {
        let decided = self.arbiter.decisions();
        let landing = self.returns.landing().map(|landing| {
            let data = *self.banks[usize::from(landing.source)].read_data();
            (usize::from(landing.port), data)
        });
        for b in set_bits(decided.read_valid) {
            self.banks[b].read(decided.read_entry[b]);
        }
        for b in set_bits(decided.bank_write_valid) {
            let port = usize::from(is_set(decided.bank_write_port, b));
            let (data, mask) = match &landing {
                Some((bus, data)) if *bus == port => (data, LaneMask::ALL),
                _ => (self.queues[port].data(), self.queues[port].target().mask),
            };
            self.banks[b].write(decided.bank_write_entry[b], data, mask);
        }
        self.read_data_valid = if running { decided.read_valid } else { 0 };
    }

    #[inline]
    fn clock_candidates(&mut self, running: bool, extra: &Candidates) {
        let candidate = |p: usize| {
            let (warp, base) = (extra.candidate_warp[p], extra.candidate_base[p]);
            self.located(p, warp, base, extra.candidate_src_valid, &extra.candidate_src_reg)
        };
        let mut all = [Candidate::default(); MAX_PORTS];
        for p in set_bits(extra.candidate_valid) {
            all[p] = candidate(p);
        }
        self.candidates.advance(running, extra.candidate_valid, |p| all[p]);
    }

    #[inline]
    fn clock_queues<'a>(&mut self, given: &MrfIn, next: u8, data: impl Fn(usize) -> &'a WarpData) {
        let popped = self.arbiter.decisions().write_done;
        let pushed = given.write_valid_i & self.seen.write_ready;
        self.writes.valid = self.writes.valid & !popped | pushed;
        self.head_next_q = self.head_next_q & !pushed | next & pushed;
        for p in set_bits(pushed) {
            let target = self.arriving(given, p);
            self.queues[p].push(target, data(p));
            (self.writes.bank[p], self.writes.entry[p]) = (target.bank, target.entry);
            self.writes.groups[p] = target.mask.groups();
            self.full = self.full & !(1 << p) | u8::from(target.mask == LaneMask::ALL) << p;
        }
        for p in set_bits(popped & !pushed) {
            self.queues[p].pop();
        }
    }

    #[inline]
    fn clock_collectors(&mut self, given: &MrfIn) {
        let late = self.late;
        self.collectors.advance(self.arbiter.decisions().grant, late.free);
        for p in set_bits(late.filled.ports()) {
            let c = late.filled.of(p);
            self.collectors.allocate(c, &self.offered(given, p));
            if is_set(late.taken, p) {
                self.collectors.begin(c, self.stolen(p));
            }
        }
    }

    /// The effect of a clock edge in reset on the control state.
    fn reset(&mut self) {
        self.queues.iter_mut().for_each(MrfWriteQueue::reset);
        (self.writes.valid, self.head_next_q) = (0, 0);
        self.collectors.reset();
        self.allocator.reset();
        self.arbiter.reset();
    }

    /// Computes all nets that follow from state alone.
    #[inline]
    fn settle(&mut self) {
        self.free_collectors = self.allocator.free_collectors(self.collectors.busy());
        self.offers = self.allocator.offers(self.collectors.complete());
    }
}

#[cfg(test)]
mod tests;
