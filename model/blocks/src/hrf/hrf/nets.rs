//! The nets between the blocks of the hybrid register file, as lockstep compares them.

use std::mem::offset_of;

use super::{Hrf, Way, Writer};
use crate::hrf::{
    BUFFER_REG_BITS, HRF_READS_EVENT, HrfBankProbe, HrfBufferProbe, HrfDrain, HrfDrainProbe, HrfLoadsProbe,
    HrfOperandsProbe, HrfPowerProbe, HrfRcmProbe, HrfReadsProbe, HrfResultsProbe, HrfShape, LOOKS, PARITIES,
};
use crate::mrf::bits::{is_set, set_bits};
use crate::mrf::{MAX_COLLECTORS, MAX_SLOTS};
use crate::ports::renamed;
use crate::{
    Block, Decode, Field, LANES, OPERANDS, Ports, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, ports,
};

ports! {
    /// Nets between the blocks of `Hrf`, and its own state.
    pub struct HrfNets(s: &HrfShape) {
        /// Data at the head of each queue.
        loads_data: [WarpData; PARITIES] = field(WARP_DATA_BITS).count(PARITIES).valid_by("loads_valid")
            .early(),
        /// Data of the result in the latch.
        results_data: WarpData = field(WARP_DATA_BITS).valid_by("results_valid").early(),
        /// Data that each bank has read.
        bank_read_data: [WarpData; PARITIES] = field(WARP_DATA_BITS).count(PARITIES).valid_by("bank_read_data_valid")
            .early(),
        /// Slots that want their register.
        req_valid: u64 = field(s.mrf.slots()).early(),
        /// Slots that are filled by the reads granted now.
        fill: u64 = field(s.mrf.slots()),
        /// Slots that hold a register.
        col_src_valid: u64 = field(s.mrf.slots()).early(),
        /// Base and tag of each collector.
        col_tag: [u64; MAX_COLLECTORS] = field(s.mrf.tag_w + s.entry_w()).count(s.mrf.collectors).valid_by("busy")
            .early(),
        /// Slots whose read is performed at this edge.
        grant: u64 = field(s.mrf.slots()),
        /// Events of the reads.
        reads_event: u64 = field(34).shown(Decode::Packed(HRF_READS_EVENT)),
        /// Lanes of each collector.
        col_mask: [u32; MAX_COLLECTORS] = field(LANES).count(s.mrf.collectors).valid_by("busy")
            .early(),
        /// Lanes of each source that come from the buffer.
        reads_take: [u32; OPERANDS] = field(LANES).count(OPERANDS),
        /// Lanes of each source's register that are in the buffer.
        look_lanes: [u32; OPERANDS] = field(LANES).count(OPERANDS).valid_by("reads_take"),
        /// Lanes of the entries that the drains offer.
        drain_lanes: [u32; PARITIES] = field(LANES).count(PARITIES).valid_by("drain_valid")
            .early(),
        /// Lanes of the head of each queue.
        loads_mask: [u32; PARITIES] = field(LANES).count(PARITIES).valid_by("loads_valid")
            .early(),
        /// Lanes of the result in the latch.
        results_mask: u32 = field(LANES).valid_by("results_valid").early(),
        /// Collectors that take an instruction at this edge.
        alloc_valid: u16 = field(s.mrf.collectors),
        /// Collectors that are freed at this edge.
        free: u16 = field(s.mrf.collectors),
        /// Bit d of element c: d holds an older instruction than c.
        older: [u16; MAX_COLLECTORS] = field(s.mrf.collectors).count(s.mrf.collectors)
            .early(),
        /// Bit d of element c: d is older than c and of the same warp.
        same_warp_q: [u16; MAX_COLLECTORS] = field(s.mrf.collectors).count(s.mrf.collectors)
            .at("u_allocator.same_warp_q"),
        /// Collectors that hold an instruction.
        busy: u16 = field(s.mrf.collectors).early(),
        /// Collectors that have all their operands.
        complete: u16 = field(s.mrf.collectors).early(),
        /// Entry that the bank reads.
        reads_stt_entry: u16 = field(s.entry_w()).valid_by("reads_stt_valid"),
        /// Entry of the head of each queue.
        loads_entry: [u16; PARITIES] = field(s.entry_w()).count(PARITIES).valid_by("loads_valid")
            .early(),
        /// Entry of the bank of the result in the latch.
        results_entry: u16 = field(s.entry_w()).valid_by("results_valid").early(),
        /// An instruction has all its operands.
        dispatch_valid: u8 = field(1),
        /// Collector of the instruction that has all its operands.
        dispatch_col: [u8; 1] =
            field(s.mrf.col_w()).valid_by("dispatch_valid"),
        /// Register of each slot.
        req_reg: [u8; MAX_SLOTS] = field(REG_BITS).count(s.mrf.slots()).valid_by("col_src_valid")
            .early(),
        /// Bank of each slot: the parity of its warp.
        req_bank: [u8; MAX_SLOTS] = field(1).count(s.mrf.slots()).valid_by("col_src_valid")
            .early(),
        /// 4-lane groups of each collector.
        req_groups: [u8; MAX_COLLECTORS] = field(4).count(s.mrf.collectors).valid_by("busy")
            .early(),
        /// Warp of each collector.
        col_warp: [u8; MAX_COLLECTORS] = field(WARP_BITS).count(s.mrf.collectors).valid_by("busy")
            .early(),
        /// Slots of each collector that were granted in the last cycle.
        inflight_q: [u8; MAX_COLLECTORS] = field(OPERANDS).count(s.mrf.collectors)
            .each("gen_collector[{}].u_collector.inflight_q", 1),
        /// The slot that reads for each slot.
        leader_q: [u8; MAX_SLOTS] = field(OPERANDS.ilog2() + 1).count(s.mrf.slots()).valid_by("busy")
            .each("gen_collector[{}].u_collector.leader_q", OPERANDS),
        /// Registers of the chosen instruction's sources.
        reads_look_reg: [u8; OPERANDS] = field(BUFFER_REG_BITS).count(OPERANDS),
        /// Bank of the chosen instruction.
        reads_bank: u8 = field(1),
        /// Banks that begin a read.
        reads_stt_valid: u8 = field(PARITIES),
        /// Read ports of the buffer that read.
        reads_buffer: u8 = field(OPERANDS),
        /// Source whose reads serve each source.
        reads_port: [u8; OPERANDS] = field(2).count(OPERANDS),
        /// Registers that have an entry.
        rcm_hit: u8 = field(LOOKS),
        /// Entry of the register that is looked up.
        rcm_index: [u8; LOOKS] = field(s.index_w()).count(LOOKS).valid_by("rcm_hit"),
        /// Entries in use.
        buffer_used: [u8; PARITIES] = field(s.used_w()).count(PARITIES).early(),
        /// A flush begins.
        drain_begin: u8 = field(PARITIES),
        /// A drain reads an entry.
        drain_read: u8 = field(PARITIES),
        /// A drain offers an entry.
        drain_valid: u8 = field(PARITIES).early(),
        /// The buffer is empty from this edge on.
        drain_empty: u8 = field(PARITIES),
        /// Nothing of the buffer is left to be written.
        drain_done: u8 = field(PARITIES),
        /// The entry that a drain reads.
        drain_index: [u8; PARITIES] = field(s.index_w()).count(PARITIES).valid_by("drain_read"),
        /// Register of the entry that a drain offers.
        drain_reg: [u8; PARITIES] = field(BUFFER_REG_BITS).count(PARITIES).valid_by("drain_valid")
            .early(),
        /// Queues with room.
        loads_room: u8 = field(PARITIES).early(),
        /// Queues that are not empty.
        loads_valid: u8 = field(PARITIES).early(),
        /// Queues whose head is older than the drain.
        loads_old: u8 = field(PARITIES).early(),
        /// Buffers whose next entry has no power.
        power_closed: u8 = field(PARITIES),
        /// A wake-up begins.
        power_wake: u8 = field(PARITIES),
        /// A sleep begins.
        power_sleep: u8 = field(PARITIES),
        /// State of each buffer's power.
        power_state: [u8; PARITIES] = field(2).count(PARITIES).early(),
        /// The result in the latch waits for power.
        results_need: u8 = field(PARITIES),
        /// The result in the latch is written to a buffer at this edge.
        results_buffer_valid: u8 = field(PARITIES),
        /// The result in the latch is offered to a queue.
        results_push_valid: u8 = field(PARITIES),
        /// The result in the latch is offered to a bank.
        results_direct_valid: u8 = field(PARITIES),
        /// The result in the latch takes a new entry.
        results_new: u8 = field(1).valid_by("results_buffer_valid"),
        /// Entry of the buffer that the result in the latch goes to.
        results_index: u8 = field(s.index_w()).valid_by("results_buffer_valid"),
        /// Register of the result in the latch.
        results_reg: u8 = field(REG_BITS).valid_by("results_valid").early(),
        /// The latch holds a result.
        results_valid: u8 = field(1).early(),
        /// Banks that could begin a read.
        bank_read_ready: u8 = field(PARITIES).early(),
        /// Banks that could take a write.
        bank_write_ready: u8 = field(PARITIES).early(),
        /// Banks that write.
        bank_writing: u8 = field(PARITIES).early(),
        /// Banks that have read.
        bank_read_data_valid: u8 = field(PARITIES).early(),
        /// The pipeline stands still.
        frozen: u8 = field(1).early(),
        /// Banks to which a write is offered.
        bank_write_valid: u8 = field(PARITIES),
        /// Source of the write that is offered: queue, drain, latch.
        write_source: [u8; PARITIES] = field(2).count(PARITIES),
        /// Banks whose last write came straight from the latch.
        direct_q: u8 = field(PARITIES),
    }
}

/// What lockstep compares inside `Hrf`: its nets and its state, and the registers of its blocks.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct HrfProbe {
    /// Between the blocks.
    pub nets: HrfNets,
    /// Registers of the banks.
    pub bank: [HrfBankProbe; PARITIES],
    /// Those of the latch.
    pub results: HrfResultsProbe,
    /// Those of the operand latches.
    pub operands: HrfOperandsProbe,
    /// Those of the reads.
    pub reads: HrfReadsProbe,
    /// Those of RCM.
    pub rcm: HrfRcmProbe,
    /// Those of the buffers.
    pub buffer: [HrfBufferProbe; PARITIES],
    /// Those of the drains.
    pub drain: [HrfDrainProbe; PARITIES],
    /// Those of the queues.
    pub loads: [HrfLoadsProbe; PARITIES],
    /// Those of the power gating.
    pub power: [HrfPowerProbe; PARITIES],
}

// SAFETY: `repr(C)`, made of such structs, with their alignments.
unsafe impl Ports for HrfProbe {
    type Shape = HrfShape;

    fn fields(s: &HrfShape) -> Vec<Field> {
        let mut fields = HrfNets::fields(s);
        fields.iter_mut().for_each(|f| f.offset += offset_of!(Self, nets));
        let mut add = |of: Vec<Field>, prefix: &str, instance: &str, offset: usize| {
            fields.extend(of.into_iter().map(|f| renamed(f, prefix).inside(instance, offset)));
        };
        for b in 0..PARITIES {
            let at = offset_of!(Self, bank) + b * size_of::<HrfBankProbe>();
            add(HrfBankProbe::fields(s), &format!("bank{b}_"), &format!("gen_bank[{b}].u_bank"), at);
        }
        let at = offset_of!(Self, results);
        add(HrfResultsProbe::fields(s), "results_", "u_results", at);
        let at = offset_of!(Self, operands);
        add(HrfOperandsProbe::fields(s), "operands_", "u_operands", at);
        add(HrfReadsProbe::fields(s), "reads_", "u_reads", offset_of!(Self, reads));
        if !s.buffered() {
            return fields;
        }
        add(HrfRcmProbe::fields(s), "rcm_", "gen_buffers.u_rcm", offset_of!(Self, rcm));
        for b in 0..PARITIES {
            let instance = |name: &str| format!("gen_buffers.gen_parity[{b}].u_{name}");
            let at = offset_of!(Self, buffer) + b * size_of::<HrfBufferProbe>();
            add(HrfBufferProbe::fields(s), &format!("buffer{b}_"), &instance("buffer"), at);
            let at = offset_of!(Self, drain) + b * size_of::<HrfDrainProbe>();
            add(HrfDrainProbe::fields(s), &format!("drain{b}_"), &instance("drain"), at);
            let at = offset_of!(Self, loads) + b * size_of::<HrfLoadsProbe>();
            add(HrfLoadsProbe::fields(s), &format!("loads{b}_"), &instance("loads"), at);
            let at = offset_of!(Self, power) + b * size_of::<HrfPowerProbe>();
            add(HrfPowerProbe::fields(s), &format!("power{b}_"), &instance("power"), at);
        }
        fields
    }
}

/// By the blocks that drive them. What means nothing is zero, where that is cheap.
impl Hrf {
    pub(crate) fn record(&self, probe: &mut HrfProbe) {
        self.record_collectors(&mut probe.nets);
        self.record_reads(&mut probe.nets);
        self.record_results(&mut probe.nets);
        self.record_banks(&mut probe.nets);
        self.record_buffers(&mut probe.nets);
        // None of these looks at ports.
        let (inputs, out) = (Ports::zeroed(), Ports::zeroed());
        self.results.probe(&inputs, &out, &mut probe.results);
        let (inputs, out) = (Ports::zeroed(), Ports::zeroed());
        self.operands.probe(&inputs, &out, &mut probe.operands);
        let (inputs, out) = (Ports::zeroed(), Ports::zeroed());
        self.reads.probe(&inputs, &out, &mut probe.reads);
        for (b, bank) in self.banks.iter().enumerate() {
            bank.probe(&Ports::zeroed(), &Ports::zeroed(), &mut probe.bank[b]);
        }
        let Some(buffers) = &self.buffers else { return };
        buffers.rcm.probe(&Ports::zeroed(), &Ports::zeroed(), &mut probe.rcm);
        for (b, parity) in buffers.parity.iter().enumerate() {
            parity.buffer.probe(&Ports::zeroed(), &Ports::zeroed(), &mut probe.buffer[b]);
            parity.drain.probe(&Ports::zeroed(), &Ports::zeroed(), &mut probe.drain[b]);
            parity.loads.probe(&Ports::zeroed(), &Ports::zeroed(), &mut probe.loads[b]);
            parity.power.probe(&Ports::zeroed(), &Ports::zeroed(), &mut probe.power[b]);
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
