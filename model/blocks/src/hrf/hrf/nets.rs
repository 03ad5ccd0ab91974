//! The nets between the blocks of the hybrid register file, as lockstep compares them.

use std::mem::offset_of;

use super::{Hrf, Way, Writer};
use crate::hrf::{
    HrfBank, HrfBankProbe, HrfBuffer, HrfBufferProbe, HrfDrain, HrfDrainProbe, HrfLoads, HrfLoadsProbe, HrfOperands,
    HrfOperandsProbe, HrfPower, HrfPowerProbe, HrfRcm, HrfRcmProbe, HrfReads, HrfReadsProbe, HrfResults,
    HrfResultsProbe, HrfShape, LOOKS, PARITIES,
};
use crate::instances::{Instance, inside, net, nets, record};
use crate::mrf::bits::{is_set, set_bits};
use crate::mrf::{MAX_COLLECTORS, MAX_SLOTS, MrfAllocator, MrfCollector};
use crate::{Field, LANES, OPERANDS, Ports, WarpData, field};

nets! {
    /// Nets between the blocks of `Hrf`, and its own state.
    pub struct HrfNets(s: &HrfShape) {
        loads_data: [WarpData; PARITIES],
        results_data: WarpData,
        bank_read_data: [WarpData; PARITIES],
        req_valid: u64,
        fill: u64,
        col_src_valid: u64,
        col_tag: [u64; MAX_COLLECTORS],
        grant: u64,
        reads_event: u64,
        col_mask: [u32; MAX_COLLECTORS],
        reads_take: [u32; OPERANDS],
        /// Lanes of each source's register that are in the buffer.
        look_lanes: [u32; OPERANDS] = field(LANES).count(OPERANDS).valid_by("reads_take"),
        drain_lanes: [u32; PARITIES],
        loads_mask: [u32; PARITIES],
        results_mask: u32,
        alloc_valid: u16,
        free: u16,
        older: [u16; MAX_COLLECTORS],
        same_warp_q: [u16; MAX_COLLECTORS],
        busy: u16,
        complete: u16,
        reads_stt_entry: u16,
        loads_entry: [u16; PARITIES],
        results_entry: u16,
        dispatch_valid: u8,
        dispatch_col: [u8; 1],
        req_reg: [u8; MAX_SLOTS],
        req_bank: [u8; MAX_SLOTS],
        req_groups: [u8; MAX_COLLECTORS],
        col_warp: [u8; MAX_COLLECTORS],
        inflight_q: [u8; MAX_COLLECTORS],
        leader_q: [u8; MAX_SLOTS],
        reads_look_reg: [u8; OPERANDS],
        reads_bank: u8,
        reads_stt_valid: u8,
        reads_buffer: u8,
        reads_port: [u8; OPERANDS],
        rcm_hit: u8,
        rcm_index: [u8; LOOKS],
        buffer_used: [u8; PARITIES],
        drain_begin: u8,
        drain_read: u8,
        drain_valid: u8,
        drain_empty: u8,
        drain_done: u8,
        drain_index: [u8; PARITIES] = net().valid_by("drain_read"),
        drain_reg: [u8; PARITIES],
        loads_room: u8,
        loads_valid: u8,
        loads_old: u8,
        power_closed: u8,
        power_wake: u8,
        power_sleep: u8,
        power_state: [u8; PARITIES],
        results_need: u8,
        results_buffer_valid: u8,
        results_push_valid: u8,
        results_direct_valid: u8,
        results_new: u8 = net().valid_by("results_buffer_valid"),
        results_index: u8 = net().valid_by("results_buffer_valid"),
        results_reg: u8,
        results_valid: u8,
        bank_read_ready: u8,
        bank_write_ready: u8,
        bank_writing: u8,
        bank_read_data_valid: u8,
        /// The pipeline stands still.
        frozen: u8 = field(1),
        bank_write_valid: u8,
        /// Source of the write that is offered: queue, drain, latch.
        write_source: [u8; PARITIES] = field(2).count(PARITIES),
        /// Banks whose last write came straight from the latch.
        direct_q: u8 = field(PARITIES),
    }
}

/// The values that lockstep compares inside `Hrf`: its nets and its state, and the registers of its blocks.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct HrfProbe {
    /// Nets between the blocks.
    pub nets: HrfNets,
    /// Registers of the banks.
    pub bank: [HrfBankProbe; PARITIES],
    /// Registers of the latch of results.
    pub results: HrfResultsProbe,
    /// Registers of the operand latches.
    pub operands: HrfOperandsProbe,
    /// Registers of the reads.
    pub reads: HrfReadsProbe,
    /// Registers of RCM.
    pub rcm: HrfRcmProbe,
    /// Registers of the buffers.
    pub buffer: [HrfBufferProbe; PARITIES],
    /// Registers of the drains.
    pub drain: [HrfDrainProbe; PARITIES],
    /// Registers of the queues.
    pub loads: [HrfLoadsProbe; PARITIES],
    /// Registers of the power gating.
    pub power: [HrfPowerProbe; PARITIES],
}

// SAFETY: `repr(C)`, made of such structs, with their alignments.
unsafe impl Ports for HrfProbe {
    type Shape = HrfShape;

    fn fields(s: &HrfShape) -> Vec<Field> {
        let buffered = s.buffered();
        let instances = [
            Instance::each::<MrfCollector>(
                "collector",
                "gen_collector[{}].u_collector",
                s.mrf.collectors,
                &s.collector(),
            )
            .nets(&["", "col_"])
            .named(&[("req_reg", "req_entry_o")]),
            Instance::one::<MrfAllocator>("allocator", "u_allocator", &s.mrf).nets(&[""]),
            Instance::each::<HrfBank>("bank", "gen_bank[{}].u_bank", PARITIES, s).state(offset_of!(Self, bank)),
            Instance::one::<HrfResults>("results", "u_results", s).state(offset_of!(Self, results)),
            Instance::one::<HrfOperands>("operands", "u_operands", s).state(offset_of!(Self, operands)),
            Instance::one::<HrfReads>("reads", "u_reads", s).nets(&["reads_", ""]).state(offset_of!(Self, reads)),
            Instance::one::<HrfRcm>("rcm", "gen_buffers.u_rcm", s).state_when(buffered, offset_of!(Self, rcm)),
            Instance::each::<HrfBuffer>("buffer", "gen_buffers.gen_parity[{}].u_buffer", PARITIES, s)
                .state_when(buffered, offset_of!(Self, buffer)),
            Instance::each::<HrfDrain>("drain", "gen_buffers.gen_parity[{}].u_drain", PARITIES, s)
                .state_when(buffered, offset_of!(Self, drain)),
            Instance::each::<HrfLoads>("loads", "gen_buffers.gen_parity[{}].u_loads", PARITIES, s)
                .named(LOADS)
                .state_when(buffered, offset_of!(Self, loads)),
            Instance::each::<HrfPower>("power", "gen_buffers.gen_parity[{}].u_power", PARITIES, s)
                .state_when(buffered, offset_of!(Self, power)),
        ];
        inside(&HrfNets::declared(s), offset_of!(Self, nets), &instances)
    }
}

/// The nets of a queue describe its head.
const LOADS: &[(&str, &str)] = &[
    ("loads_data", "head_data_o"),
    ("loads_mask", "head_mask_o"),
    ("loads_entry", "head_entry_o"),
    ("loads_valid", "head_valid_o"),
];

/// Records the nets, grouped by the blocks that drive them. Nets without a meaning are zero where that is cheap.
impl Hrf {
    pub(crate) fn record(&self, probe: &mut HrfProbe) {
        self.record_collectors(&mut probe.nets);
        self.record_reads(&mut probe.nets);
        self.record_results(&mut probe.nets);
        self.record_banks(&mut probe.nets);
        self.record_buffers(&mut probe.nets);
        record(&self.results, &mut probe.results);
        record(&self.operands, &mut probe.operands);
        record(&self.reads, &mut probe.reads);
        for (b, bank) in self.banks.iter().enumerate() {
            record(bank, &mut probe.bank[b]);
        }
        let Some(buffers) = &self.buffers else { return };
        record(&buffers.rcm, &mut probe.rcm);
        for (b, parity) in buffers.parity.iter().enumerate() {
            record(&parity.buffer, &mut probe.buffer[b]);
            record(&parity.drain, &mut probe.drain[b]);
            record(&parity.loads, &mut probe.loads[b]);
            record(&parity.power, &mut probe.power[b]);
        }
    }

    fn record_collectors(&self, nets: &mut HrfNets) {
        let collectors = &self.collectors;
        (nets.alloc_valid, nets.free) = (self.late.filled.all(), self.late.free);
        (nets.older, nets.same_warp_q) = (*self.allocator.older(), *self.allocator.same_warp());
        nets.dispatch_valid = self.offers.ports();
        nets.dispatch_col[0] = if nets.dispatch_valid != 0 { self.offers.of(0) as u8 } else { 0 };
        (nets.busy, nets.complete) = (collectors.busy(), collectors.complete());
        (nets.req_valid, nets.fill) = (collectors.pending().to_port(), self.late.fill.to_port());
        nets.col_src_valid = collectors.src_valid().to_port();
        let held = collectors.held().only(collectors.busy());
        (nets.col_warp, nets.col_tag, nets.col_mask) = (held.warp, held.tag, held.mask);
        (nets.req_groups, nets.req_reg, nets.req_bank) = (held.groups, held.entry.map(|name| name as u8), held.bank);
        nets.leader_q = held.leader;
        nets.inflight_q = [0; MAX_COLLECTORS];
        let inflight = collectors.inflight();
        for c in set_bits(inflight.collectors()) {
            nets.inflight_q[c] = inflight.bits_of(c);
        }
    }

    fn record_reads(&self, nets: &mut HrfNets) {
        let late = &self.late;
        let reads = &late.reads;
        nets.reads_look_reg = std::array::from_fn(|k| late.chosen.map_or(0, |chosen| chosen.look(k)));
        (nets.reads_bank, nets.grant) = (reads.fill.bank, reads.fill.slots);
        (nets.reads_stt_valid, nets.reads_stt_entry) = reads.stt.map_or((0, 0), |(bank, entry)| (1 << bank, entry));
        (nets.reads_buffer, nets.reads_port) = (reads.buffer, reads.fill.port);
        (nets.reads_take, nets.reads_event) = (reads.fill.take, reads.event);
        (nets.rcm_hit, nets.rcm_index, nets.look_lanes) = Default::default();
        let result = self.buffers.as_ref().and_then(|buffers| buffers.rcm.find(self.results.look()));
        for (k, found) in late.found.into_iter().chain([result]).enumerate() {
            if let Some(index) = found {
                nets.rcm_hit |= 1 << k;
                nets.rcm_index[k] = index;
            }
        }
        nets.look_lanes = late.lanes;
    }

    fn record_results(&self, nets: &mut HrfNets) {
        let latched = self.results.latched();
        nets.results_valid = latched.is_some().into();
        if latched.is_some() {
            nets.results_data = *self.results.data();
        }
        let latched = latched.unwrap_or_default();
        (nets.results_reg, nets.results_entry, nets.results_mask) = (latched.reg, latched.entry, latched.mask);
        (nets.results_need, nets.results_buffer_valid) = (0, 0);
        (nets.results_push_valid, nets.results_direct_valid) = (0, 0);
        (nets.results_new, nets.results_index) = (0, 0);
        let Some((b, way)) = self.seen.way else { return };
        let bit = 1 << b;
        match way {
            Way::Buffer { new, index } => {
                (nets.results_buffer_valid, nets.results_new, nets.results_index) = (bit, new.into(), index);
            }
            Way::Need => nets.results_need = bit,
            Way::Direct => nets.results_direct_valid = bit,
            Way::Queue => nets.results_push_valid = bit,
        }
    }

    fn record_banks(&self, nets: &mut HrfNets) {
        (nets.bank_read_ready, nets.bank_write_ready) = (0, 0);
        (nets.bank_writing, nets.bank_read_data_valid) = (0, 0);
        for (b, bank) in self.banks.iter().enumerate() {
            nets.bank_read_ready |= u8::from(bank.read_ready()) << b;
            nets.bank_write_ready |= u8::from(bank.write_ready()) << b;
            nets.bank_writing |= u8::from(bank.writing()) << b;
            if let Some(data) = bank.read_data() {
                nets.bank_read_data_valid |= 1 << b;
                nets.bank_read_data[b] = *data;
            }
        }
        (nets.frozen, nets.direct_q) = (self.frozen.into(), self.direct_q);
        nets.bank_write_valid = self.seen.write_valid();
        nets.write_source = self.seen.writer.map(|writer| writer.unwrap_or(Writer::Queue) as u8);
    }

    fn record_buffers(&self, nets: &mut HrfNets) {
        (nets.drain_begin, nets.drain_read, nets.drain_valid, nets.drain_empty, nets.drain_done) = (0, 0, 0, 0, 0);
        (nets.drain_index, nets.drain_reg, nets.drain_lanes) = Default::default();
        (nets.loads_room, nets.loads_valid, nets.loads_old) = (0, 0, 0);
        (nets.loads_entry, nets.loads_mask) = Default::default();
        (nets.power_closed, nets.power_wake, nets.power_sleep) = (0, 0, 0);
        (nets.power_state, nets.buffer_used) = Default::default();
        let (Some(buffers), seen) = (&self.buffers, &self.seen) else { return };
        for (b, parity) in buffers.parity.iter().enumerate() {
            let (drain, loads, power) = (&parity.drain, &parity.loads, &parity.power);
            let (used, taken) = (parity.buffer.used(), seen.takes(b, Writer::Drain));
            let flush = seen.flush(b, used);
            let bit = |set: bool| u8::from(set) << b;
            nets.buffer_used[b] = used;
            nets.drain_begin |= bit(drain.begins(flush.flush));
            nets.drain_empty |= bit(drain.empties(flush, taken));
            nets.drain_done |= bit(HrfDrain::done(flush));
            if let Some(index) = drain.reads(flush, taken) {
                nets.drain_read |= bit(true);
                nets.drain_index[b] = index;
            }
            if let Some((reg, lanes)) = drain.offer() {
                nets.drain_valid |= bit(true);
                (nets.drain_reg[b], nets.drain_lanes[b]) = (reg, lanes);
            }
            (nets.loads_room, nets.loads_old) =
                (nets.loads_room | bit(loads.room()), nets.loads_old | bit(loads.old()));
            if let Some(head) = loads.head() {
                nets.loads_valid |= bit(true);
                (nets.loads_entry[b], nets.loads_mask[b]) = (head.entry, head.mask);
                nets.loads_data[b] = *loads.head_data();
            }
            nets.power_closed |= bit(is_set(seen.around.closed, b));
            nets.power_wake |= bit(power.wakes(seen.is(b, |way| *way == Way::Need)));
            nets.power_sleep |= bit(power.sleeps(used));
            nets.power_state[b] = power.state() as u8;
        }
    }
}
