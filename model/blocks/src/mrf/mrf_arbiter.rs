//! `mrf_arbiter`: decides which accesses each bank performs. `docs/blocks/mrf_arbiter.md`.

use crate::mrf::bits::{count_ports, is_set, lowest, oldest, only, pack, set_bits};
use crate::mrf::slots::Slots;
use crate::mrf::{MAX_BANKS, MAX_COLLECTORS, MAX_PORTS, MAX_SLOTS, MrfShape};
use crate::{Block, Decode, field, ports};

/// Fields of `mrf_arbiter_event_t`, most significant first.
pub const MRF_ARBITER_EVENT: &[(&str, u32)] = &[
    ("read", 6),
    ("read_groups", 9),
    ("write", 2),
    ("write_groups", 5),
    ("conflict_intra", 6),
    ("conflict_inter", 6),
    ("conflict_read_write", 6),
    ("conflict_write", 2),
    ("write_held", 2),
];

ports! {
    /// Inputs of [`MrfArbiter`].
    pub struct MrfArbiterIn(s: &MrfShape) {
        /// Slot i wants to read.
        req_valid_i: u64 = field(s.slots()),
        /// Entry that slot i wants to read.
        req_entry_i: [u16; MAX_SLOTS] = field(s.entry_w()).count(s.slots()).valid_by("req_valid_i"),
        /// Bit d of element c: collector d is older than c.
        older_i: [u16; MAX_COLLECTORS] = field(s.collectors).count(s.collectors),
        /// Entry each queue writes.
        write_entry_i: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Order among the reads of a bank: 0 oldest first, 1 round-robin.
        cfg_i: u8 = field(1),
        /// Bank that slot i wants to read.
        req_bank_i: [u8; MAX_SLOTS] = field(s.bank_w()).count(s.slots()).valid_by("req_valid_i"),
        /// 4-lane groups a read of collector c costs.
        req_groups_i: [u8; MAX_COLLECTORS] = field(4).count(s.collectors),
        /// A result waits in queue p.
        write_valid_i: u8 = field(s.issue_ports),
        /// Bank each queue writes.
        write_bank_i: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// 4-lane groups each queue writes.
        write_groups_i: [u8; MAX_PORTS] = field(4).count(s.issue_ports).valid_by("write_valid_i"),
    }
}

ports! {
    /// Outputs of [`MrfArbiter`].
    pub struct MrfArbiterOut(s: &MrfShape) {
        /// The read of slot i is performed at this edge.
        grant_o: u64 = field(s.slots()),
        /// Events of this cycle: `mrf_arbiter_event_t`.
        event_o: u64 = field(44).shown(Decode::Packed(MRF_ARBITER_EVENT)),
        /// Bank b reads.
        read_valid_o: u32 = field(s.banks),
        /// Bank b writes.
        bank_write_valid_o: u32 = field(s.banks),
        /// Bit b: queue whose result bank b writes; 0 where `bank_write_valid_o[b]` is 0.
        bank_write_port_o: u32 = field(s.banks),
        /// Entry bank b reads.
        read_entry_o: [u16; MAX_BANKS] = field(s.entry_w()).count(s.banks).valid_by("read_valid_o"),
        /// Entry bank b writes.
        bank_write_entry_o: [u16; MAX_BANKS] = field(s.entry_w()).count(s.banks).valid_by("bank_write_valid_o"),
        /// The write of queue p is performed at this edge.
        write_grant_o: u8 = field(s.issue_ports),
    }
}

ports! {
    /// State of [`MrfArbiter`].
    pub struct MrfArbiterProbe(s: &MrfShape) {
        /// Collector where bank b's next round-robin search begins.
        rr_q: [u8; MAX_BANKS] = field(s.col_w()).count(s.banks),
        /// Queue that goes first when both want a bank.
        turn_q: u8 = field(1),
    }
}

/// The waiting read requests, by slot, and the groups and ages of their collectors.
#[derive(Clone, Copy)]
pub(crate) struct Requests<'a> {
    pub(crate) valid: Slots,
    pub(crate) bank: &'a [u8; MAX_SLOTS],
    pub(crate) entry: &'a [u16; MAX_SLOTS],
    pub(crate) groups: &'a [u8; MAX_COLLECTORS],
    pub(crate) older: &'a [u16; MAX_COLLECTORS],
}

/// The waiting writes, by queue.
#[derive(Clone, Copy, Default)]
pub(crate) struct Writes {
    pub(crate) valid: u8,
    pub(crate) bank: [u8; MAX_PORTS],
    pub(crate) entry: [u16; MAX_PORTS],
    pub(crate) groups: [u8; MAX_PORTS],
}

/// The decisions of the arbiter: its outputs, with the slots as a set. Entries of idle banks have no meaning.
#[derive(Clone, Copy, Default)]
pub(crate) struct Decisions {
    pub(crate) grant: Slots,
    pub(crate) event: u64,
    pub(crate) read_valid: u32,
    pub(crate) bank_write_valid: u32,
    pub(crate) bank_write_port: u32,
    pub(crate) read_entry: [u16; MAX_BANKS],
    pub(crate) bank_write_entry: [u16; MAX_BANKS],
    pub(crate) write_grant: u8,
}

/// Grants banks to reads and writes: one decision for each bank and cycle (stealing paper, II-B: a single access to a
/// bank at a time, writes go first for "an early clearance of the dependent instructions on the scoreboard").
///
/// In each cycle `writes` is called first, then `reads`, then the clock edge. The strap affects only
/// the reads, so a register file can derive all other decisions from state alone.
#[derive(Clone)]
pub struct MrfArbiter {
    dual_port: bool,
    collectors: u8,
    rr_q: [u8; MAX_BANKS],
    turn_q: u8,
    /// `turn_q` after this cycle.
    turn_d: u8,
    decisions: Decisions,
    /// Banks with a read request, banks with several, and the slots that request each bank.
    wanted: u32,
    contested: u32,
    slots: [Slots; MAX_BANKS],
    /// Requests that hold back a write.
    blocking: Slots,
    /// The collector whose read each bank performs.
    chosen: [u8; MAX_BANKS],
    /// Events of the writes, for the event word.
    write_events: [u32; 4],
}

impl MrfArbiter {
    /// The decisions: those on writes are valid after [`writes`](Self::writes), all of them after [`reads`](Self::reads).
    #[inline]
    pub(crate) fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    /// Sorts the requests by bank and decides the writes.
    #[inline]
    pub(crate) fn writes(&mut self, requests: &Requests<'_>, writes: &Writes) {
        self.turn_d = self.turn_q;
        if writes.valid == 0 {
            self.sort(requests);
            self.blocking = Slots::NONE;
            let decisions = &mut self.decisions;
            (decisions.write_grant, decisions.bank_write_valid, decisions.bank_write_port) = (0, 0, 0);
            self.write_events = [0; 4];
            return;
        }
        self.sort(requests);
        let hits = hits(requests, writes);
        let held = u8::from(!hits[0].is_empty()) | u8::from(!hits[1].is_empty()) << 1;
        self.blocking = hits[0] | hits[1];
        let open = writes.valid & !held;
        let mut grant = open;
        if held != 0 && !self.dual_port {
            // A blocking read has priority over every write of its bank.
            let blocked = set_bits(held).fold(0u32, |banks, p| banks | 1 << writes.bank[p]);
            grant = set_bits(open).fold(0, |grant, p| grant | u8::from(!is_set(blocked, writes.bank[p].into())) << p);
        }
        if grant == 0b11 && writes.bank[0] == writes.bank[1] {
            grant = 1 << self.turn_q;
            self.turn_d = 1 - self.turn_q;
        }

        let decisions = &mut self.decisions;
        (decisions.write_grant, decisions.bank_write_valid, decisions.bank_write_port) = (grant, 0, 0);
        let mut groups = 0;
        for p in set_bits(grant) {
            let bank = usize::from(writes.bank[p]);
            decisions.bank_write_valid |= 1 << bank;
            decisions.bank_write_port |= (p as u32) << bank;
            decisions.bank_write_entry[bank] = writes.entry[p];
            groups += u32::from(writes.groups[p]);
        }
        self.write_events = [count_ports(grant), groups, count_ports(open & !grant), count_ports(held)];
    }

    /// Sorts the requests by bank.
    #[inline]
    fn sort(&mut self, requests: &Requests<'_>) {
        (self.wanted, self.contested) = (0, 0);
        for slot in requests.valid.iter() {
            let bank = requests.bank[slot.index()];
            let bit = 1 << bank;
            let others = if self.wanted & bit != 0 { self.slots[usize::from(bank)] } else { Slots::NONE };
            self.slots[usize::from(bank)] = others | slot.into();
            self.contested |= self.wanted & bit;
            self.wanted |= bit;
        }
    }

    /// Decides the reads, and packs the events.
    #[inline]
    pub(crate) fn reads(&mut self, requests: &Requests<'_>, round_robin: bool) {
        let [write, write_groups, conflict_write, write_held] = self.write_events;
        if self.wanted == 0 {
            (self.decisions.grant, self.decisions.read_valid) = (Slots::NONE, 0);
            let events = [0, 0, write, write_groups, 0, 0, 0, conflict_write, write_held];
            self.decisions.event = pack(MRF_ARBITER_EVENT, events);
            return;
        }
        let writing = if self.dual_port { 0 } else { self.decisions.bank_write_valid };
        let mut grant = Slots::NONE;
        let mut granted = 0;
        let mut read_valid = 0;
        let mut read_groups = 0;
        for bank in set_bits(self.wanted & !writing) {
            let mut candidates = self.slots[bank];
            let mut slot = candidates.first();
            if is_set(self.contested, bank) {
                if !(candidates & self.blocking).is_empty() {
                    candidates = candidates & self.blocking;
                }
                let readers = candidates.collectors();
                let reader = match round_robin {
                    true => next_from(readers, self.rr_q[bank]),
                    false => lowest(oldest(readers, requests.older)),
                };
                if reader == 0 {
                    continue;
                }
                slot = candidates.first_of(reader);
            } else if !round_robin && is_set(requests.older[slot.collector()], slot.collector()) {
                // The collector is older than itself: the ages form a cycle, and nothing is granted here either.
                continue;
            }
            grant |= slot.into();
            granted += 1;
            read_valid |= 1 << bank;
            read_groups += u32::from(requests.groups[slot.collector()]);
            self.decisions.read_entry[bank] = requests.entry[slot.index()];
            self.chosen[bank] = slot.collector() as u8;
        }
        self.decisions.grant = grant;
        self.decisions.read_valid = read_valid;
        let [intra, inter, read_write] = self.conflicts(requests.valid - grant, writing);
        self.decisions.event = pack(
            MRF_ARBITER_EVENT,
            [granted, read_groups, write, write_groups, intra, inter, read_write, conflict_write, write_held],
        );
    }

    /// Banks with a read request.
    #[inline]
    pub(crate) fn wanted(&self) -> u32 {
        self.wanted
    }

    /// Counts waiting requests by cause: a read of their own collector, a read of another collector, a write.
    #[inline]
    fn conflicts(&self, waiting: Slots, writing: u32) -> [u32; 3] {
        if waiting.is_empty() {
            return [0; 3];
        }
        let (mut intra, mut read_write) = (Slots::NONE, Slots::NONE);
        for bank in set_bits(self.wanted & writing) {
            read_write |= self.slots[bank];
        }
        for bank in set_bits(self.contested & self.decisions.read_valid) {
            intra |= self.slots[bank] & waiting & Slots::all_of(1 << self.chosen[bank]);
        }
        [intra.count(), (waiting - intra - read_write).count(), read_write.count()]
    }

    /// The clock edge.
    #[inline]
    pub(crate) fn advance(&mut self, round_robin: bool) {
        self.turn_q = self.turn_d;
        if round_robin {
            for bank in set_bits(self.decisions.read_valid) {
                self.rr_q[bank] = (self.chosen[bank] + 1) % self.collectors;
            }
        }
    }

    /// A clock edge in reset.
    pub(crate) fn reset(&mut self) {
        self.turn_q = 0;
        self.rr_q = [0; MAX_BANKS];
    }

    /// The collector at which each bank's next round-robin search begins, and the queue that goes first in a contest.
    pub(crate) fn state(&self) -> MrfArbiterProbe {
        MrfArbiterProbe { rr_q: self.rr_q, turn_q: self.turn_q }
    }
}

/// For each queue, the requests for the register that the queue is about to write.
#[inline]
pub(crate) fn hits(requests: &Requests<'_>, writes: &Writes) -> [Slots; MAX_PORTS] {
    let mut hits = [Slots::NONE; MAX_PORTS];
    for p in set_bits(writes.valid) {
        for slot in requests.valid.iter() {
            let (bank, entry) = (requests.bank[slot.index()], requests.entry[slot.index()]);
            let hit = (writes.bank[p] == bank) & (writes.entry[p] == entry);
            hits[p] |= Slots::from(slot).when(hit);
        }
    }
    hits
}

/// The first member of a set from `start` upwards, wrapping around.
#[inline]
pub(crate) fn next_from(set: u16, start: u8) -> u16 {
    match lowest(set & u16::MAX << start) {
        0 => lowest(set),
        next => next,
    }
}

impl Block for MrfArbiter {
    const NAME: &'static str = "mrf_arbiter";
    const PARAMETERS: &'static [&'static str] = &["Banks", "DualPort", "Collectors", "IssuePorts", "Depth"];

    type Shape = MrfShape;
    type In = MrfArbiterIn;
    type Out = MrfArbiterOut;
    type Probe = MrfArbiterProbe;

    fn new(shape: &MrfShape) -> Self {
        Self {
            dual_port: shape.dual_port,
            collectors: shape.collectors as u8,
            rr_q: [0; MAX_BANKS],
            turn_q: 0,
            turn_d: 0,
            decisions: Decisions::default(),
            wanted: 0,
            contested: 0,
            slots: [Slots::NONE; MAX_BANKS],
            blocking: Slots::NONE,
            chosen: [0; MAX_BANKS],
            write_events: [0; 4],
        }
    }

    fn early(&self, _: &mut MrfArbiterOut) {}

    fn late(&mut self, inputs: &MrfArbiterIn, out: &mut MrfArbiterOut) {
        let requests = Requests {
            valid: Slots::from_port(inputs.req_valid_i),
            bank: &inputs.req_bank_i,
            entry: &inputs.req_entry_i,
            groups: &inputs.req_groups_i,
            older: &inputs.older_i,
        };
        let writes = Writes {
            valid: inputs.write_valid_i,
            bank: inputs.write_bank_i,
            entry: inputs.write_entry_i,
            groups: inputs.write_groups_i,
        };
        self.writes(&requests, &writes);
        self.reads(&requests, inputs.cfg_i != 0);
        let Decisions {
            grant,
            event,
            read_valid,
            bank_write_valid,
            bank_write_port,
            read_entry,
            bank_write_entry,
            write_grant,
        } = &self.decisions;
        (out.grant_o, out.event_o, out.write_grant_o) = (grant.to_port(), *event, *write_grant);
        (out.read_valid_o, out.read_entry_o) = (*read_valid, only(read_entry, *read_valid));
        (out.bank_write_valid_o, out.bank_write_port_o) = (*bank_write_valid, *bank_write_port);
        out.bank_write_entry_o = only(bank_write_entry, *bank_write_valid);
    }

    fn clock(&mut self, inputs: &MrfArbiterIn, _: &MrfArbiterOut) {
        if inputs.rst_ni == 0 {
            self.reset();
        } else {
            self.advance(inputs.cfg_i != 0);
        }
    }

    fn probe(&self, _: &MrfArbiterIn, _: &MrfArbiterOut, probe: &mut MrfArbiterProbe) {
        *probe = self.state();
    }
}

#[cfg(test)]
mod tests;
