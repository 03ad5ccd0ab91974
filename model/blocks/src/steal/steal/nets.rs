//! The nets between the blocks of the register file with bank stealing, as lockstep compares them.

use super::{Steal, WriteTarget};
use crate::design::Candidates;
use crate::instances::{Instance, inside, net, nets};
use crate::mrf::bits::{only, pack, set_bits};
use crate::mrf::nets::collecting;
use crate::mrf::{
    MAX_BANKS, MAX_COLLECTORS, MAX_PORTS, MAX_SLOTS, MRF_ARBITER_EVENT, MrfBank, MrfBankMap, MrfCrossbar, MrfIn,
    MrfShape,
};
use crate::steal::steal_dependence::Force;
use crate::steal::{
    MAX_SOURCES, STEAL_ARBITER_EVENT, StealArbiter, StealCandidates, StealCollector, StealDependence, StealReturn,
    StealTable,
};
use crate::{Field, OPERANDS, Ports, WarpData, field};

nets! {
    /// Nets between the blocks of [`Steal`], and the state that no net shows.
    pub struct StealProbe(s: &MrfShape) {
        read_data: [WarpData; MAX_BANKS],
        head_data: [WarpData; MAX_PORTS],
        col_tag: [u64; MAX_COLLECTORS],
        req_valid: u64,
        req_parked: u64,
        fill: u64,
        col_src_valid: u64,
        grant: u64,
        arbiter_event: u64 = net().at("u_arbiter.event_o"),
        steal_arbiter_event: u64,
        place_event: u64,
        fill_q: u64,
        col_mask: [u32; MAX_COLLECTORS],
        head_mask: [u32; MAX_PORTS],
        read_valid: u32,
        bank_write_valid: u32,
        bank_write_port: u32,
        read_data_valid: u32,
        free_valid: u32,
        parked: u32,
        alive: u32,
        fresh: u32,
        issue_entry: [u16; MAX_SOURCES] = net().valid_by("issue_src_valid_i"),
        push_entry: [u16; MAX_PORTS] = net().valid_by("write_valid_i"),
        candidate_entry: [u16; MAX_SOURCES] = net().valid_by("candidate_src_valid_i"),
        hint_entry: [u16; MAX_PORTS] = net().valid_by("hint_valid_i"),
        head_entry: [u16; MAX_PORTS],
        want_entry: [u16; MAX_SOURCES],
        free_entry: [u16; MAX_BANKS],
        parked_entry: [u16; MAX_BANKS],
        land_entry: u16,
        alloc_valid: u16,
        alloc_port: u16,
        free: u16,
        older: [u16; MAX_COLLECTORS],
        same_warp_q: [u16; MAX_COLLECTORS],
        busy: u16,
        complete: u16,
        req_entry: [u16; MAX_SLOTS],
        at_entry: [u16; MAX_SLOTS],
        read_entry: [u16; MAX_BANKS],
        bank_write_entry: [u16; MAX_BANKS],
        issue_bank: [u8; MAX_SOURCES] = net().valid_by("issue_src_valid_i"),
        push_bank: [u8; MAX_PORTS] = net().valid_by("write_valid_i"),
        candidate_bank: [u8; MAX_SOURCES] = net().valid_by("candidate_src_valid_i"),
        hint_bank: [u8; MAX_PORTS] = net().valid_by("hint_valid_i"),
        head_valid: u8,
        head_bank: [u8; MAX_PORTS],
        head_warp: [u8; MAX_PORTS],
        head_reg: [u8; MAX_PORTS],
        head_groups: [u8; MAX_PORTS],
        /// The head of queue p is read next.
        head_next_q: u8 = field(s.issue_ports),
        dispatch_valid: u8,
        dispatch_col: [u8; MAX_PORTS],
        req_bank: [u8; MAX_SLOTS],
        at_bank: [u8; MAX_SLOTS],
        fill_bank: [u8; MAX_SLOTS],
        req_groups: [u8; MAX_COLLECTORS],
        col_warp: [u8; MAX_COLLECTORS],
        want_valid: u8,
        want_bank: [u8; MAX_SOURCES],
        want_warp: [u8; MAX_PORTS],
        candidates_valid_q: u8,
        candidates_leader_q: u8,
        candidates_warp_q: [u8; MAX_PORTS],
        candidates_bank_q: [u8; MAX_SOURCES],
        candidates_entry_q: [u16; MAX_SOURCES],
        parked_bank: [u8; MAX_BANKS],
        hint_taken: u8,
        write_parked: u8,
        drop_valid: u8,
        drop_bank: [u8; MAX_PORTS],
        drop: u8,
        want_parked: u8,
        force_valid: u8,
        force_bank: u8,
        force_read: u8,
        force_write: u8,
        force_alive: u8,
        land_valid: u8,
        land_source: u8,
        land_bank: u8,
        land_port: u8,
        turn: u8,
        bus_free: u8,
        bus_any: u8,
        bus_port: u8,
        stolen: u8,
        /// The candidate that issues on port p takes what was read.
        stolen_taken: u8 = field(s.issue_ports),
        park_valid: u8,
        park_bank: [u8; MAX_PORTS],
        write_done: u8,
        fetch_valid: u8,
        fetch_bank: u8,
        fetch_forced: u8,
        inflight_q: [u8; MAX_COLLECTORS],
        leader_q: [u8; MAX_SLOTS],
        rr_q: [u8; MAX_BANKS],
        turn_q: u8,
        park_turn_q: u8,
        fill_bank_q: [u8; MAX_SLOTS],
    }
}

/// Nets of the candidates that have names of their own.
const WANTED: &[(&str, &str)] = &[
    ("want_valid", "want_valid_o"),
    ("want_bank", "want_bank_o"),
    ("want_entry", "want_entry_o"),
    ("want_warp", "want_warp_o"),
];

// SAFETY: `repr(C)`, made of integers.
unsafe impl Ports for StealProbe {
    type Shape = MrfShape;

    fn fields(s: &MrfShape) -> Vec<Field> {
        let mut instances = vec![
            Instance::one::<StealArbiter>("arbiter", "u_arbiter", s)
                .nets(&["", "arbiter_"])
                .named(&[("steal_arbiter_event", "steal_event_o")]),
            Instance::one::<StealCandidates>("candidates", "u_candidates", s).named(WANTED),
            Instance::one::<StealTable>("table", "u_table", s).nets(&[""]),
            Instance::one::<StealReturn>("return", "u_return", s).nets(&[""]),
            Instance::one::<StealDependence>("dependence", "u_dependence", s).nets(&[""]),
            Instance::each::<MrfBank>("bank", "gen_bank[{}].u_bank", s.banks, s).nets(&[""]),
            Instance::one::<MrfCrossbar>("crossbar", "u_crossbar", s).nets(&[""]),
            Instance::each::<MrfBankMap>("candidate", "gen_candidate[{}].u_bank_map", s.sources(), s),
            Instance::each::<MrfBankMap>("hint", "gen_hint[{}].u_bank_map", s.issue_ports, s),
        ];
        instances.extend(collecting::<StealCollector>(s, ""));
        inside(&Self::declared(s), 0, &instances)
    }
}

/// Records the nets, grouped by the blocks that drive them. Nets without a meaning are zero where that is cheap.
impl Steal {
    /// Records the values that lockstep compares inside.
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
        (probe.head_valid, probe.head_next_q) = (self.writes.valid, self.head_next_q);
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
        (probe.drop_valid, probe.drop_bank) = (needs.drops.valid, needs.drops.bank);
        (probe.at_bank, probe.at_entry) = (self.seen.at.bank, self.seen.at.entry);
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
        probe.place_event = self.place_event();
        probe.drop = decided.drop;
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
