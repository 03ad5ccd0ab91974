//! The nets between the blocks of the register file, as lockstep compares them.

use super::{MAX_SOURCES, MrfIn, OperandFile, WriteTarget};
use crate::instances::{Instance, inside, net, nets};
use crate::mrf::bits::{only, set_bits};
use crate::mrf::storage::{Banked, Storage};
use crate::mrf::{
    MAX_BANKS, MAX_COLLECTORS, MAX_PORTS, MAX_SLOTS, MrfAllocator, MrfArbiter, MrfBank, MrfBankMap, MrfCollector,
    MrfCrossbar, MrfShape, MrfWriteQueue,
};
use crate::share::RegisterPlaces;
use crate::unified::UnifiedBank;
use crate::{Block, Field, OPERANDS, Ports, WarpData, intern};

nets! {
    /// Nets between the blocks of [`Mrf`](super::Mrf), and the state that no net shows.
    pub struct MrfProbe(s: &MrfShape) {
        read_data: [WarpData; MAX_BANKS],
        head_data: [WarpData; MAX_PORTS],
        col_tag: [u64; MAX_COLLECTORS],
        req_valid: u64,
        fill: u64,
        col_src_valid: u64,
        grant: u64,
        arbiter_event: u64 = net().at("u_arbiter.event_o"),
        fill_q: u64,
        col_mask: [u32; MAX_COLLECTORS],
        head_mask: [u32; MAX_PORTS],
        read_valid: u32,
        bank_write_valid: u32,
        bank_write_port: u32,
        read_data_valid: u32,
        issue_entry: [u16; MAX_SOURCES] = net().valid_by("issue_src_valid_i"),
        push_entry: [u16; MAX_PORTS] = net().valid_by("write_valid_i"),
        head_entry: [u16; MAX_PORTS],
        alloc_valid: u16,
        alloc_port: u16,
        free: u16,
        older: [u16; MAX_COLLECTORS],
        same_warp_q: [u16; MAX_COLLECTORS],
        busy: u16,
        complete: u16,
        req_entry: [u16; MAX_SLOTS],
        read_entry: [u16; MAX_BANKS],
        bank_write_entry: [u16; MAX_BANKS],
        issue_bank: [u8; MAX_SOURCES] = net().valid_by("issue_src_valid_i"),
        push_bank: [u8; MAX_PORTS] = net().valid_by("write_valid_i"),
        head_valid: u8,
        head_bank: [u8; MAX_PORTS],
        head_warp: [u8; MAX_PORTS],
        head_reg: [u8; MAX_PORTS],
        head_groups: [u8; MAX_PORTS],
        dispatch_valid: u8,
        dispatch_col: [u8; MAX_PORTS],
        req_bank: [u8; MAX_SLOTS],
        req_groups: [u8; MAX_COLLECTORS],
        col_warp: [u8; MAX_COLLECTORS],
        write_grant: u8,
        inflight_q: [u8; MAX_COLLECTORS],
        leader_q: [u8; MAX_SLOTS],
        rr_q: [u8; MAX_BANKS],
        turn_q: u8,
        fill_bank_q: [u8; MAX_SLOTS],
    }
}

/// The blocks of every file with operand collectors of type `C`. The bank maps are in the scopes of their ports.
pub(crate) fn collecting<C: Block<Shape = MrfShape>>(s: &MrfShape, rows: &str) -> [Instance; 5] {
    [
        Instance::each::<C>("collector", "gen_collector[{}].u_collector", s.collectors, s).nets(&["", "col_"]),
        Instance::one::<MrfAllocator>("allocator", "u_allocator", s).nets(&[""]),
        Instance::each::<MrfWriteQueue>("write_queue", "gen_write[{}].u_write_queue", s.issue_ports, s).nets(&[""]),
        maps(s, "issue", "gen_issue[{}]", rows, s.sources()),
        maps(s, "push", "gen_write[{}]", rows, s.issue_ports),
    ]
}

/// The blocks that locate registers, at ports of a file.
fn maps(s: &MrfShape, name: &'static str, scope: &str, rows: &str, count: usize) -> Instance {
    if s.places {
        Instance::each::<RegisterPlaces>(name, intern(format!("{scope}.gen_places.u_places")), count, s)
    } else {
        Instance::each::<MrfBankMap>(name, intern(format!("{scope}{rows}.u_bank_map")), count, s)
    }
}

// SAFETY: `repr(C)`, made of integers.
unsafe impl Ports for MrfProbe {
    type Shape = MrfShape;

    fn fields(s: &MrfShape) -> Vec<Field> {
        Self::fields_in(s, true)
    }
}

impl MrfProbe {
    /// The fields of a file, with or without banks and the blocks that belong to banks.
    pub(crate) fn fields_in(s: &MrfShape, banked: bool) -> Vec<Field> {
        let banks = [
            Instance::one::<MrfArbiter>("arbiter", "u_arbiter", s).nets(&["", "arbiter_"]),
            if s.unified {
                Instance::each::<UnifiedBank>("bank", "gen_bank[{}].gen_unified.u_bank", s.banks, s).nets(&[""])
            } else {
                Instance::each::<MrfBank>("bank", "gen_bank[{}].gen_alone.u_bank", s.banks, s).nets(&[""])
            },
            Instance::one::<MrfCrossbar>("crossbar", "u_crossbar", s).nets(&[""]),
        ];
        let mut instances = Vec::from(banks.map(|instance| instance.when(banked)));
        instances.extend(collecting::<MrfCollector>(s, if banked { ".gen_rows" } else { "" }));
        inside(&Self::declared(s), 0, &instances)
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

/// Records the nets, grouped by the blocks that drive them. Nets without a meaning are zero where that is cheap.
#[expect(private_bounds, reason = "a storage works inside this crate; the files that there are have names")]
impl<S: Storage> OperandFile<S> {
    pub(super) fn probe_ports(&self, inputs: &MrfIn, probe: &mut MrfProbe) {
        (probe.issue_bank, probe.issue_entry) = ([0; MAX_SOURCES], [0; MAX_SOURCES]);
        for i in set_bits(inputs.issue_src_valid_i) {
            let p = i / OPERANDS;
            (probe.issue_bank[i], probe.issue_entry[i]) =
                self.locate(inputs, inputs.issue_warp_i[p], inputs.issue_base_i[p], inputs.issue_src_reg_i[i]);
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
            probe.read_data[b] = *self.read_data(b);
        }
        let state = self.crossbar.state();
        (probe.fill_q, probe.fill_bank_q) = (state.fill_q, state.fill_bank_q);
    }
}
