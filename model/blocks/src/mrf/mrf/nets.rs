//! The nets between the blocks of the register file, as lockstep compares them.

use super::{MAX_SOURCES, MrfIn, OperandFile, WriteTarget};
use crate::mrf::bits::{only, set_bits};
use crate::mrf::storage::{Banked, Storage};
use crate::mrf::{MAX_BANKS, MAX_COLLECTORS, MAX_PORTS, MAX_SLOTS, MRF_ARBITER_EVENT, MrfShape};
use crate::{Decode, OPERANDS, REG_BITS, WARP_BITS, WarpData, field, ports};

ports! {
    /// Nets between the blocks of [`Mrf`](super::Mrf), and the state that no net shows.
    pub struct MrfProbe(s: &MrfShape) {
        /// Data of each bank.
        read_data: [WarpData; MAX_BANKS] = field(1024).early()
            .count(s.banks).valid_by("read_data_valid"),
        /// Data at the head of each write queue.
        head_data: [WarpData; MAX_PORTS] = field(1024).early()
            .count(s.issue_ports).valid_by("head_valid"),
        /// Tag of each collector.
        col_tag: [u64; MAX_COLLECTORS] = field(s.tag_w).early()
            .count(s.collectors).valid_by("busy"),
        /// Slot i wants its bank.
        req_valid: u64 = field(s.slots()).early(),
        /// Slot i will be filled by the read granted now.
        fill: u64 = field(s.slots()),
        /// An instruction has a source in slot i.
        col_src_valid: u64 = field(s.slots()).early(),
        /// The read of slot i is performed at this edge.
        grant: u64 = field(s.slots()),
        /// Events of the arbiter.
        arbiter_event: u64 = field(44).at("u_arbiter.event_o").shown(Decode::Packed(MRF_ARBITER_EVENT)),
        /// Slot i takes its data in this cycle.
        fill_q: u64 = field(s.slots()).at("u_crossbar.fill_q"),
        /// Active lanes of each collector's instruction.
        col_mask: [u32; MAX_COLLECTORS] = field(32).early()
            .count(s.collectors).valid_by("busy"),
        /// Lanes that the head of each write queue writes.
        head_mask: [u32; MAX_PORTS] = field(32).early()
            .count(s.issue_ports).valid_by("head_valid"),
        /// Bank b reads.
        read_valid: u32 = field(s.banks),
        /// Bank b writes.
        bank_write_valid: u32 = field(s.banks),
        /// Queue whose result bank b writes.
        bank_write_port: u32 = field(s.banks),
        /// Bank b has data.
        read_data_valid: u32 = field(s.banks).early(),
        /// Entry of each source that is issued.
        issue_entry: [u16; MAX_SOURCES] = field(s.entry_w())
            .count(s.sources()).valid_by("issue_src_valid_i"),
        /// Entry of each result that arrives.
        push_entry: [u16; MAX_PORTS] = field(s.entry_w())
            .count(s.issue_ports).valid_by("write_valid_i"),
        /// Entry that the head of each write queue goes to.
        head_entry: [u16; MAX_PORTS] = field(s.entry_w()).early()
            .count(s.issue_ports).valid_by("head_valid"),
        /// Collector c takes an instruction at this edge.
        alloc_valid: u16 = field(s.collectors),
        /// Port whose instruction collector c takes.
        alloc_port: u16 = field(s.collectors),
        /// Collector c is freed at this edge.
        free: u16 = field(s.collectors),
        /// Bit d of element c: d holds an older instruction than c.
        older: [u16; MAX_COLLECTORS] = field(s.collectors).early()
            .count(s.collectors),
        /// Bit d of element c: d is older than c and of the same warp.
        same_warp_q: [u16; MAX_COLLECTORS] = field(s.collectors)
            .count(s.collectors).at("u_allocator.same_warp_q"),
        /// Collector c holds an instruction.
        busy: u16 = field(s.collectors).early(),
        /// Collector c has all its operands.
        complete: u16 = field(s.collectors).early(),
        /// Entry of each register source.
        req_entry: [u16; MAX_SLOTS] = field(s.entry_w()).early()
            .count(s.slots()).valid_by("col_src_valid"),
        /// Entry bank b reads.
        read_entry: [u16; MAX_BANKS] = field(s.entry_w())
            .count(s.banks).valid_by("read_valid"),
        /// Entry bank b writes.
        bank_write_entry: [u16; MAX_BANKS] = field(s.entry_w())
            .count(s.banks).valid_by("bank_write_valid"),
        /// Bank of each source that is issued.
        issue_bank: [u8; MAX_SOURCES] = field(s.bank_w())
            .count(s.sources()).valid_by("issue_src_valid_i"),
        /// Bank of each result that arrives.
        push_bank: [u8; MAX_PORTS] = field(s.bank_w())
            .count(s.issue_ports).valid_by("write_valid_i"),
        /// A result waits in queue p.
        head_valid: u8 = field(s.issue_ports).early(),
        /// Bank that the head of each write queue goes to.
        head_bank: [u8; MAX_PORTS] = field(s.bank_w()).early()
            .count(s.issue_ports).valid_by("head_valid"),
        /// Warp of the head of each write queue.
        head_warp: [u8; MAX_PORTS] = field(WARP_BITS).early()
            .count(s.issue_ports).valid_by("head_valid"),
        /// Register name of the head of each write queue.
        head_reg: [u8; MAX_PORTS] = field(REG_BITS).early()
            .count(s.issue_ports).valid_by("head_valid"),
        /// 4-lane groups that the head of each write queue writes.
        head_groups: [u8; MAX_PORTS] = field(4).early()
            .count(s.issue_ports).valid_by("head_valid"),
        /// Dispatch port p offers an instruction.
        dispatch_valid: u8 = field(s.issue_ports),
        /// Collector of the instruction that port p offers.
        dispatch_col: [u8; MAX_PORTS] = field(s.col_w())
            .count(s.issue_ports).valid_by("dispatch_valid"),
        /// Bank of each register source.
        req_bank: [u8; MAX_SLOTS] = field(s.bank_w()).early()
            .count(s.slots()).valid_by("col_src_valid"),
        /// 4-lane groups a read of collector c costs.
        req_groups: [u8; MAX_COLLECTORS] = field(4).early()
            .count(s.collectors).valid_by("busy"),
        /// Warp of each collector's instruction.
        col_warp: [u8; MAX_COLLECTORS] = field(WARP_BITS).early()
            .count(s.collectors).valid_by("busy"),
        /// The write of queue p is performed at this edge.
        write_grant: u8 = field(s.issue_ports),
        /// Slots of each collector that were granted in the last cycle.
        inflight_q: [u8; MAX_COLLECTORS] = field(OPERANDS)
            .count(s.collectors).each("gen_collector[{}].u_collector.inflight_q", 1),
        /// The slot that reads for each slot.
        leader_q: [u8; MAX_SLOTS] = field(OPERANDS.ilog2() + 1)
            .count(s.slots()).each("gen_collector[{}].u_collector.leader_q", OPERANDS).valid_by("busy"),
        /// Collector where bank b's next round-robin search begins.
        rr_q: [u8; MAX_BANKS] = field(s.col_w()).count(s.banks).at("u_arbiter.rr_q"),
        /// Queue that goes first when both want a bank.
        turn_q: u8 = field(1).at("u_arbiter.turn_q"),
        /// Bank from which slot i takes its data.
        fill_bank_q: [u8; MAX_SLOTS] = field(s.bank_w())
            .count(s.slots()).valid_by("fill_q").at("u_crossbar.fill_bank_q"),
    }
}

impl AsRef<MrfProbe> for MrfProbe {
    fn as_ref(&self) -> &MrfProbe {
        self
    }
}

impl AsMut<MrfProbe> for MrfProbe {
    fn as_mut(&mut self) -> &mut MrfProbe {
        self
    }
}

/// By the blocks that drive them. What means nothing is zero, where that is cheap.
#[expect(private_bounds, reason = "a storage works inside this crate; the files that there are have names")]
impl<S: Storage> OperandFile<S> {
    pub(super) fn probe_ports(&self, inputs: &MrfIn, probe: &mut MrfProbe) {
        (probe.issue_bank, probe.issue_entry) = ([0; MAX_SOURCES], [0; MAX_SOURCES]);
        for i in set_bits(inputs.issue_src_valid_i) {
            let p = i / OPERANDS;
            (probe.issue_bank[i], probe.issue_entry[i]) =
                self.bank_map.map(inputs.issue_warp_i[p], inputs.issue_base_i[p], inputs.issue_src_reg_i[i]);
        }
        (probe.push_bank, probe.push_entry) = ([0; MAX_PORTS], [0; MAX_PORTS]);
        for p in set_bits(inputs.write_valid_i) {
            let WriteTarget { bank, entry, .. } = self.arriving(inputs, p);
            (probe.push_bank[p], probe.push_entry[p]) = (bank, entry);
        }
        (probe.head_warp, probe.head_reg, probe.head_mask) = Default::default();
        (probe.head_bank, probe.head_entry, probe.head_groups) = Default::default();
        probe.head_valid = self.writes.valid;
        for p in set_bits(probe.head_valid) {
            let queue = &self.queues[p];
            let WriteTarget { mask, entry, bank, warp, reg } = *queue.target();
            (probe.head_bank[p], probe.head_entry[p]) = (bank, entry);
            (probe.head_warp[p], probe.head_reg[p]) = (warp, reg);
            (probe.head_mask[p], probe.head_groups[p]) = (mask.0, mask.groups());
            probe.head_data[p] = *queue.data();
        }
        (probe.alloc_valid, probe.alloc_port) = (self.filled.all(), self.filled.second());
        probe.free = self.free;
        probe.older = *self.allocator.older();
        probe.same_warp_q = *self.allocator.same_warp();
        (probe.dispatch_valid, probe.dispatch_col) = (self.offers.ports(), [0; MAX_PORTS]);
        for p in set_bits(probe.dispatch_valid) {
            probe.dispatch_col[p] = self.offers.of(p) as u8;
        }
    }

    pub(super) fn probe_collectors(&self, probe: &mut MrfProbe) {
        let collectors = &self.collectors;
        (probe.busy, probe.complete) = (collectors.busy(), collectors.complete());
        (probe.req_valid, probe.fill) = (collectors.pending().to_port(), self.fill.to_port());
        probe.col_src_valid = collectors.src_valid().to_port();
        let held = collectors.held().only(collectors.busy());
        (probe.col_warp, probe.col_tag, probe.col_mask) = (held.warp, held.tag, held.mask);
        (probe.req_groups, probe.req_bank, probe.req_entry) = (held.groups, held.bank, held.entry);
        probe.leader_q = held.leader;
        probe.inflight_q = [0; MAX_COLLECTORS];
        let inflight = collectors.inflight();
        for c in set_bits(inflight.collectors()) {
            probe.inflight_q[c] = inflight.bits_of(c);
        }
    }
}

impl Banked {
    pub(crate) fn probe_arbiter(&self, probe: &mut MrfProbe) {
        let decided = self.arbiter.decisions();
        (probe.grant, probe.write_grant) = (decided.grant.to_port(), decided.write_grant);
        probe.arbiter_event = decided.event;
        (probe.read_valid, probe.bank_write_valid) = (decided.read_valid, decided.bank_write_valid);
        probe.bank_write_port = decided.bank_write_port;
        probe.read_entry = only(&decided.read_entry, decided.read_valid);
        probe.bank_write_entry = only(&decided.bank_write_entry, decided.bank_write_valid);
        let state = self.arbiter.state();
        (probe.rr_q, probe.turn_q) = (state.rr_q, state.turn_q);
    }

    pub(crate) fn probe_data(&self, probe: &mut MrfProbe) {
        probe.read_data_valid = self.read_data_valid;
        for b in set_bits(self.read_data_valid) {
            probe.read_data[b] = *self.banks[b].read_data();
        }
        let state = self.crossbar.state();
        (probe.fill_q, probe.fill_bank_q) = (state.fill_q, state.fill_bank_q);
    }
}
