//! The nets between the blocks of the register file whose idle banks are stolen, as lockstep compares them.

use super::{Steal, WriteTarget};
use crate::design::Candidates;
use crate::mrf::bits::{only, pack, set_bits};
use crate::mrf::{MAX_BANKS, MAX_COLLECTORS, MAX_PORTS, MAX_SLOTS, MRF_ARBITER_EVENT, MrfIn, MrfShape};
use crate::steal::steal_dependence::Force;
use crate::steal::{MAX_SOURCES, STEAL_ARBITER_EVENT};
use crate::{Decode, OPERANDS, REG_BITS, WARP_BITS, WarpData, field, ports};

ports! {
    /// Nets between the blocks of [`Steal`], and the state that no net shows.
    pub struct StealProbe(s: &MrfShape) {
        /// Data of each bank.
        read_data: [WarpData; MAX_BANKS] = field(1024).early().count(s.banks).valid_by("read_data_valid"),
        /// Data at the head of each write queue.
        head_data: [WarpData; MAX_PORTS] = field(1024).early().count(s.issue_ports).valid_by("head_valid"),
        /// Tag of each collector.
        col_tag: [u64; MAX_COLLECTORS] = field(s.tag_w).early().count(s.collectors).valid_by("busy"),
        /// Slot i wants its bank.
        req_valid: u64 = field(s.slots()).early(),
        /// The register of the read of slot i is parked somewhere.
        req_parked: u64 = field(s.slots()),
        /// Slot i will be filled by a read that is performed at this edge.
        fill: u64 = field(s.slots()),
        /// An instruction has a source in slot i.
        col_src_valid: u64 = field(s.slots()).early(),
        /// The read of slot i is performed at this edge.
        grant: u64 = field(s.slots()),
        /// Events of the arbiter that `mrf_arbiter` counts, too.
        arbiter_event: u64 = field(44).at("u_arbiter.event_o").shown(Decode::Packed(MRF_ARBITER_EVENT)),
        /// Events of this cycle: `steal_arbiter_event_t`.
        steal_arbiter_event: u64 = field(55).shown(Decode::Packed(STEAL_ARBITER_EVENT)),
        /// Slot i takes its data in this cycle.
        fill_q: u64 = field(s.slots()).at("u_crossbar.fill_q"),
        /// Active lanes of each collector's instruction.
        col_mask: [u32; MAX_COLLECTORS] = field(32).early().count(s.collectors).valid_by("busy"),
        /// Lanes that the head of each write queue writes.
        head_mask: [u32; MAX_PORTS] = field(32).early().count(s.issue_ports).valid_by("head_valid"),
        /// Bank b reads.
        read_valid: u32 = field(s.banks),
        /// Bank b writes.
        bank_write_valid: u32 = field(s.banks),
        /// Bus whose result bank b writes.
        bank_write_port: u32 = field(s.banks),
        /// Bank b has data.
        read_data_valid: u32 = field(s.banks).early(),
        /// Banks with a free entry.
        free_valid: u32 = field(s.banks).early(),
        /// Banks with a value in their free entry.
        parked: u32 = field(s.banks).early(),
        /// Banks whose free entry a head is for.
        alive: u32 = field(s.banks),
        /// Banks in which a value was parked in the last cycle.
        fresh: u32 = field(s.banks).early(),
        /// Entry of each source that is issued.
        issue_entry: [u16; MAX_SOURCES] = field(s.entry_w()).count(s.sources()).valid_by("issue_src_valid_i"),
        /// Entry of each result that arrives.
        push_entry: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// Entry of each source of the candidates.
        candidate_entry: [u16; MAX_SOURCES] = field(s.entry_w()).count(s.sources()).valid_by("candidate_src_valid_i"),
        /// Entry of each register that is dead.
        hint_entry: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("hint_valid_i"),
        /// Entry that the head of each write queue goes to.
        head_entry: [u16; MAX_PORTS] = field(s.entry_w()).early().count(s.issue_ports).valid_by("head_valid"),
        /// Entry of each operand of the candidates.
        want_entry: [u16; MAX_SOURCES] = field(s.entry_w()).count(s.sources()).valid_by("want_valid"),
        /// The free entries.
        free_entry: [u16; MAX_BANKS] = field(s.entry_w()).early().count(s.banks).valid_by("free_valid"),
        /// Entries to which parked values belong.
        parked_entry: [u16; MAX_BANKS] = field(s.entry_w()).early().count(s.banks).valid_by("parked"),
        /// Entry into which a landing value goes.
        land_entry: u16 = field(s.entry_w()).early().valid_by("land_valid"),
        /// Collector c takes an instruction at this edge.
        alloc_valid: u16 = field(s.collectors),
        /// Port whose instruction collector c takes.
        alloc_port: u16 = field(s.collectors),
        /// Collector c is freed at this edge.
        free: u16 = field(s.collectors),
        /// Bit d of element c: d holds an older instruction than c.
        older: [u16; MAX_COLLECTORS] = field(s.collectors).early().count(s.collectors),
        /// Bit d of element c: d is older than c and of the same warp.
        same_warp_q: [u16; MAX_COLLECTORS] = field(s.collectors).count(s.collectors)
            .at("u_allocator.same_warp_q"),
        /// Collector c holds an instruction.
        busy: u16 = field(s.collectors).early(),
        /// Collector c has all its operands.
        complete: u16 = field(s.collectors).early(),
        /// Entry of each register source.
        req_entry: [u16; MAX_SLOTS] = field(s.entry_w()).early().count(s.slots()).valid_by("col_src_valid"),
        /// Entry bank b reads.
        read_entry: [u16; MAX_BANKS] = field(s.entry_w()).count(s.banks).valid_by("read_valid"),
        /// Entry bank b writes.
        bank_write_entry: [u16; MAX_BANKS] = field(s.entry_w()).count(s.banks).valid_by("bank_write_valid"),
        /// Bank of each source that is issued.
        issue_bank: [u8; MAX_SOURCES] = field(s.bank_w()).count(s.sources()).valid_by("issue_src_valid_i"),
        /// Bank of each result that arrives.
        push_bank: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// Bank of each source of the candidates.
        candidate_bank: [u8; MAX_SOURCES] = field(s.bank_w()).count(s.sources()).valid_by("candidate_src_valid_i"),
        /// Bank of each register that is dead.
        hint_bank: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("hint_valid_i"),
        /// A result waits in queue p.
        head_valid: u8 = field(s.issue_ports).early(),
        /// Bank that the head of each write queue goes to.
        head_bank: [u8; MAX_PORTS] = field(s.bank_w()).early().count(s.issue_ports).valid_by("head_valid"),
        /// Warp of the head of each write queue.
        head_warp: [u8; MAX_PORTS] = field(WARP_BITS).early().count(s.issue_ports).valid_by("head_valid"),
        /// Register name of the head of each write queue.
        head_reg: [u8; MAX_PORTS] = field(REG_BITS).early().count(s.issue_ports).valid_by("head_valid"),
        /// 4-lane groups that the head of each write queue writes.
        head_groups: [u8; MAX_PORTS] = field(4).early().count(s.issue_ports).valid_by("head_valid"),
        /// Dispatch port p offers an instruction.
        dispatch_valid: u8 = field(s.issue_ports),
        /// Collector of the instruction that port p offers.
        dispatch_col: [u8; MAX_PORTS] = field(s.col_w()).count(s.issue_ports).valid_by("dispatch_valid"),
        /// Bank of each register source.
        req_bank: [u8; MAX_SLOTS] = field(s.bank_w()).early().count(s.slots()).valid_by("col_src_valid"),
        /// The bank of the read that fills slot i.
        fill_bank: [u8; MAX_SLOTS] = field(s.bank_w()).count(s.slots()).valid_by("fill"),
        /// 4-lane groups a read of collector c costs.
        req_groups: [u8; MAX_COLLECTORS] = field(4).early().count(s.collectors).valid_by("busy"),
        /// Warp of each collector's instruction.
        col_warp: [u8; MAX_COLLECTORS] = field(WARP_BITS).early().count(s.collectors).valid_by("busy"),
        /// Operands of the candidates.
        want_valid: u8 = field(s.sources()),
        /// Bank of each operand of the candidates.
        want_bank: [u8; MAX_SOURCES] = field(s.bank_w()).count(s.sources()).valid_by("want_valid"),
        /// Warp of each port's candidate.
        want_warp: [u8; MAX_PORTS] = field(WARP_BITS).early().count(s.issue_ports).valid_by("candidates_valid_q"),
        /// Port p had a candidate.
        candidates_valid_q: u8 = field(s.issue_ports).at("u_candidates.valid_q"),
        /// Bit 3p+s: source s of the candidate latched last is a register that no lower source names.
        candidates_leader_q: u8 = field(s.sources()).at("u_candidates.leader_q"),
        /// Warp of each port's candidate latched last.
        candidates_warp_q: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.issue_ports).at("u_candidates.warp_q"),
        /// Bank of each operand.
        candidates_bank_q: [u8; MAX_SOURCES] =
            field(s.bank_w()).count(s.sources()).at("u_candidates.bank_q"),
        /// Entry of each operand.
        candidates_entry_q: [u16; MAX_SOURCES] =
            field(s.entry_w()).count(s.sources()).at("u_candidates.entry_q"),
        /// Banks to which parked values belong.
        parked_bank: [u8; MAX_BANKS] = field(s.bank_w()).early().count(s.banks).valid_by("parked"),
        /// Hints that are taken.
        hint_taken: u8 = field(s.issue_ports),
        /// The head of queue p waits for a parked value.
        write_parked: u8 = field(s.issue_ports),
        /// The register of the candidate's operand is parked somewhere.
        want_parked: u8 = field(s.sources()),
        /// A parked value is fetched now, whoever wants its bank.
        force_valid: u8 = field(1),
        /// Bank from which the parked value is fetched.
        force_bank: u8 = field(s.bank_w()).valid_by("force_valid"),
        /// A read needs the value that is fetched.
        force_read: u8 = field(1),
        /// A write needs the value that is fetched.
        force_write: u8 = field(1),
        /// A write needs the entry in which the value is parked.
        force_alive: u8 = field(1),
        /// A value lands.
        land_valid: u8 = field(1).early(),
        /// Bank whose output has the landing value.
        land_source: u8 = field(s.bank_w()).early().valid_by("land_valid"),
        /// Bank that takes the landing value.
        land_bank: u8 = field(s.bank_w()).early().valid_by("land_valid"),
        /// Bus of the landing value.
        land_port: u8 = field(1).early().valid_by("land_valid"),
        /// Bank at which the search for a value begins.
        turn: u8 = field(s.bank_w()).early(),
        /// Some queue is empty.
        bus_free: u8 = field(1),
        /// A forced fetch finds a bus.
        bus_any: u8 = field(1),
        /// The bus of a fetch.
        bus_port: u8 = field(1).at("u_return.bus_port"),
        /// The operand of a candidate is read at this edge.
        stolen: u8 = field(s.sources()),
        /// The candidate that issues on port p takes what was read.
        stolen_taken: u8 = field(s.issue_ports),
        /// Values are parked at this edge.
        park_valid: u8 = field(s.issue_ports),
        /// Bank in which the result of queue p is parked.
        park_bank: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("park_valid"),
        /// The result of queue p is written into its bank or parked at this edge.
        write_done: u8 = field(s.issue_ports),
        /// A parked value is read at this edge.
        fetch_valid: u8 = field(1),
        /// Bank in which the parked value is read.
        fetch_bank: u8 = field(s.bank_w()).valid_by("fetch_valid"),
        /// The fetch of the parked value was forced.
        fetch_forced: u8 = field(1),
        /// Slots of each collector that were granted in the last cycle.
        inflight_q: [u8; MAX_COLLECTORS] = field(OPERANDS).count(s.collectors)
            .each("gen_collector[{}].u_collector.inflight_q", 1),
        /// The slot that reads for each slot.
        leader_q: [u8; MAX_SLOTS] = field(OPERANDS.ilog2() + 1).count(s.slots()).valid_by("busy")
            .each("gen_collector[{}].u_collector.leader_q", OPERANDS),
        /// Collector where bank b's next round-robin search begins.
        rr_q: [u8; MAX_BANKS] = field(s.col_w()).count(s.banks).at("u_arbiter.rr_q"),
        /// Queue that goes first when both want a bank.
        turn_q: u8 = field(1).at("u_arbiter.turn_q"),
        /// Bank where the next search for a parking place begins.
        park_turn_q: u8 = field(s.bank_w()).at("u_arbiter.park_turn_q"),
        /// Bank from which slot i takes its data.
        fill_bank_q: [u8; MAX_SLOTS] = field(s.bank_w()).count(s.slots()).valid_by("fill_q")
            .at("u_crossbar.fill_bank_q"),
    }
}

/// By the blocks that drive them. What means nothing is zero, where that is cheap.
impl Steal {
    /// What is compared inside.
    pub(crate) fn record(&self, given: &MrfIn, extra: &Candidates, probe: &mut StealProbe) {
        self.record_maps(given, extra, probe);
        self.record_queues(probe);
        self.record_allocator(probe);
        self.record_collectors(given, probe);
        self.record_candidates(probe);
        self.record_table(probe);
        self.record_return(probe);
        self.record_dependence(probe);
        self.record_arbiter(probe);
        self.record_data(probe);
    }

    fn record_maps(&self, given: &MrfIn, extra: &Candidates, probe: &mut StealProbe) {
        (probe.issue_bank, probe.issue_entry) = Default::default();
        for i in set_bits(given.issue_src_valid_i) {
            let (p, reg) = (i / OPERANDS, given.issue_src_reg_i[i]);
            (probe.issue_bank[i], probe.issue_entry[i]) =
                self.bank_map.map(given.issue_warp_i[p], given.issue_base_i[p], reg);
        }
        (probe.candidate_bank, probe.candidate_entry) = Default::default();
        for i in set_bits(extra.candidate_src_valid) {
            let (p, reg) = (i / OPERANDS, extra.candidate_src_reg[i]);
            (probe.candidate_bank[i], probe.candidate_entry[i]) =
                self.bank_map.map(extra.candidate_warp[p], extra.candidate_base[p], reg);
        }
        (probe.push_bank, probe.push_entry) = Default::default();
        for p in set_bits(given.write_valid_i) {
            let WriteTarget { bank, entry, .. } = self.arriving(given, p);
            (probe.push_bank[p], probe.push_entry[p]) = (bank, entry);
        }
        let hints = &self.late.table.hints;
        (probe.hint_bank, probe.hint_entry) = (hints.bank, hints.entry);
    }

    fn record_queues(&self, probe: &mut StealProbe) {
        (probe.head_warp, probe.head_reg, probe.head_mask) = Default::default();
        (probe.head_bank, probe.head_entry, probe.head_groups) = Default::default();
        probe.head_valid = self.writes.valid;
        for p in set_bits(probe.head_valid) {
            let WriteTarget { mask, entry, bank, warp, reg } = *self.queues[p].target();
            (probe.head_bank[p], probe.head_entry[p]) = (bank, entry);
            (probe.head_warp[p], probe.head_reg[p]) = (warp, reg);
            (probe.head_mask[p], probe.head_groups[p]) = (mask.0, mask.groups());
            probe.head_data[p] = *self.queues[p].data();
        }
    }

    fn record_allocator(&self, probe: &mut StealProbe) {
        (probe.alloc_valid, probe.alloc_port) = (self.late.filled.all(), self.late.filled.second());
        probe.free = self.late.free;
        (probe.older, probe.same_warp_q) = (*self.allocator.older(), *self.allocator.same_warp());
        (probe.dispatch_valid, probe.dispatch_col) = (self.offers.ports(), [0; MAX_PORTS]);
        for p in set_bits(probe.dispatch_valid) {
            probe.dispatch_col[p] = self.offers.of(p) as u8;
        }
    }

    fn record_collectors(&self, given: &MrfIn, probe: &mut StealProbe) {
        let collectors = &self.collectors;
        (probe.busy, probe.complete) = (collectors.busy(), collectors.complete());
        (probe.req_valid, probe.fill) = (collectors.pending().to_port(), self.late.fill.to_port());
        probe.fill_bank = only(&self.fill_bank(given), probe.fill);
        (probe.col_src_valid, probe.stolen_taken) = (collectors.src_valid().to_port(), self.late.taken);
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

    fn record_candidates(&self, probe: &mut StealProbe) {
        let wants = &self.seen.wants;
        (probe.candidates_valid_q, probe.want_valid) = (self.candidates.valid(), wants.valid);
        (probe.want_bank, probe.want_entry) = (only(&wants.bank, wants.valid), only(&wants.entry, wants.valid));
        let state = self.candidates.state();
        (probe.candidates_leader_q, probe.candidates_warp_q) = (state.leader_q, state.warp_q);
        (probe.candidates_bank_q, probe.candidates_entry_q) = (state.bank_q, state.entry_q);
        probe.want_warp = [0; MAX_PORTS];
        for p in set_bits(probe.candidates_valid_q) {
            probe.want_warp[p] = self.candidates.warp(p);
        }
    }

    fn record_table(&self, probe: &mut StealProbe) {
        let places = self.table.places();
        (probe.free_valid, probe.free_entry) = (places.free, only(&places.free_entry, places.free));
        (probe.parked, probe.parked_bank) = (places.parked, only(&places.bank, places.parked));
        probe.parked_entry = only(&places.entry, places.parked);
        probe.hint_taken = self.late.hint_taken;
    }

    fn record_return(&self, probe: &mut StealProbe) {
        let (landing, buses) = (self.returns.landing(), self.seen.buses);
        probe.land_valid = landing.is_some().into();
        let landing = landing.unwrap_or_default();
        (probe.land_source, probe.land_bank) = (landing.source, landing.bank);
        (probe.land_entry, probe.land_port) = (landing.entry, landing.port);
        (probe.turn, probe.fresh) = (self.returns.turn(), self.returns.fresh());
        (probe.bus_free, probe.bus_any, probe.bus_port) = (buses.free.into(), buses.any.into(), buses.port);
    }

    fn record_dependence(&self, probe: &mut StealProbe) {
        let needs = &self.seen.needs;
        (probe.req_parked, probe.write_parked) = (needs.reads.to_port(), needs.writes);
        (probe.want_parked, probe.alive) = (needs.wants, needs.alive);
        let Force { bank, read, write, alive } = needs.force.unwrap_or_default();
        (probe.force_valid, probe.force_bank) = (needs.force.is_some().into(), bank);
        (probe.force_read, probe.force_write, probe.force_alive) = (read.into(), write.into(), alive.into());
    }

    fn record_arbiter(&self, probe: &mut StealProbe) {
        let decided = self.arbiter.decisions();
        (probe.grant, probe.stolen, probe.write_done) = (decided.grant.to_port(), decided.stolen, decided.write_done);
        (probe.park_valid, probe.park_bank) = (decided.parks.valid, only(&decided.parks.bank, decided.parks.valid));
        (probe.fetch_valid, probe.fetch_bank) = (decided.fetch.is_some().into(), decided.fetch.unwrap_or_default());
        probe.fetch_forced = decided.forced.into();
        (probe.read_valid, probe.read_entry) = (decided.read_valid, only(&decided.read_entry, decided.read_valid));
        (probe.bank_write_valid, probe.bank_write_port) = (decided.bank_write_valid, decided.bank_write_port);
        probe.bank_write_entry = only(&decided.bank_write_entry, decided.bank_write_valid);
        probe.arbiter_event = pack(MRF_ARBITER_EVENT, decided.counts);
        probe.steal_arbiter_event = pack(STEAL_ARBITER_EVENT, decided.steal_counts);
        let state = self.arbiter.state();
        (probe.rr_q, probe.turn_q, probe.park_turn_q) = (state.rr_q, state.turn_q, state.park_turn_q);
    }

    fn record_data(&self, probe: &mut StealProbe) {
        probe.read_data_valid = self.read_data_valid;
        for b in set_bits(self.read_data_valid) {
            probe.read_data[b] = *self.banks[b].read_data();
        }
        let state = self.crossbar.state();
        (probe.fill_q, probe.fill_bank_q) = (state.fill_q, state.fill_bank_q);
    }
}
