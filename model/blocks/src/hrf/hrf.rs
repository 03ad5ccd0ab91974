//! `hrf`: the hybrid register file. `docs/blocks/hrf.md`.

mod block;
mod design;
mod events;
mod nets;

pub use design::HrfSizes;
pub use nets::{HrfNets, HrfProbe};

use crate::design::SlotView;
use crate::hrf::hrf_drain::Flush;
use crate::hrf::hrf_loads::BankWrite;
use crate::hrf::hrf_operands::Fill;
use crate::hrf::hrf_power::PowerStraps;
use crate::hrf::hrf_reads::{Banks, Chosen, Reads};
use crate::hrf::hrf_results::{Around, Latched, Way};
use crate::hrf::{
    BufferWrite, HrfBank, HrfBuffer, HrfDrain, HrfLoads, HrfOperands, HrfPower, HrfRcm, HrfReads, HrfResults, HrfShape,
    PARITIES,
};
use crate::mrf::bits::{is_set, set_bits};
use crate::mrf::mrf_allocator::Choice;
use crate::mrf::mrf_collector::{Collectors, Instruction};
use crate::mrf::slots::Slots;
use crate::mrf::{MRF_EVENT, MrfAllocator, MrfIn, MrfOut};
use crate::write::{WriteWord, WrittenWord};
use crate::{Decode, LANES, LaneMask, OPERANDS, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, packed, ports};

/// Fields of `hrf_event_t`, most significant first. Other event words of the SM use the names on the page, so these names begin with the file's.
pub const HRF_EVENT: &[(&str, u32)] = &[
    ("hrf_look", 3),
    ("hrf_hit", 2),
    ("hrf_partial", 2),
    ("hrf_miss", 2),
    ("hrf_read_groups", 5),
    ("hrf_write", 1),
    ("hrf_write_groups", 4),
    ("hrf_coalesced", 1),
    ("hrf_load", 1),
    ("hrf_load_groups", 4),
    ("hrf_direct", 1),
    ("hrf_direct_groups", 4),
    ("hrf_drain", 2),
    ("hrf_drain_groups", 5),
    ("hrf_gated", 2),
    ("hrf_wake", 2),
    ("hrf_sleep", 2),
];

/// Fields of `hrf_count_event_t`, most significant first.
pub const HRF_COUNT_EVENT: &[(&str, u32)] = &[
    ("hrf_wait_wake", 1),
    ("hrf_wait_full", 1),
    ("hrf_wait_load", 1),
    ("hrf_wait_read", 1),
    ("hrf_frozen", 1),
    ("hrf_draining", 2),
    ("hrf_waking", 2),
    ("hrf_sleeping", 2),
    ("hrf_period", 2),
    ("hrf_period_entries", 8),
    ("hrf_period_drop", 2),
];

ports! {
    /// Inputs of [`Hrf`].
    pub struct HrfIn(s: &HrfShape) {
        /// Data of a result.
        write_data_i: WarpData = field(WARP_DATA_BITS).valid_by("write_valid_i"),
        /// Opaque, comes out at dispatch.
        issue_tag_i: u64 = field(s.mrf.tag_w).valid_by("issue_valid_i"),
        /// The offered result.
        write_i: WriteWord = packed::<WriteWord>().valid_by("write_valid_i"),
        /// Active lanes.
        issue_mask_i: u32 = field(LANES).valid_by("issue_valid_i"),
        /// Straps: write latency, read latency less 1, powered entries in fours, cycles to wake, cycles to sleep.
        cfg_i: u32 = field(17),
        /// First entry of the warp in its bank.
        issue_base_i: u16 = field(s.entry_w()).valid_by("issue_valid_i"),
        /// First entry of the warp in its bank.
        write_base_i: u16 = field(s.entry_w()).valid_by("write_valid_i"),
        /// First entry of each slot's warp.
        slot_base_i: [u16; PARITIES] = field(s.entry_w()).count(PARITIES).valid_by("slot_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is offered.
        issue_valid_i: u8 = field(1),
        /// Warp of the offered instruction.
        issue_warp_i: u8 = field(WARP_BITS).valid_by("issue_valid_i"),
        /// Source k is a register.
        issue_src_valid_i: u8 = field(OPERANDS),
        /// Register of source k.
        issue_src_reg_i: [u8; OPERANDS] = field(REG_BITS).count(OPERANDS).valid_by("issue_src_valid_i"),
        /// A result is offered.
        write_valid_i: u8 = field(1),
        /// The instruction offered is taken at this edge if also valid.
        dispatch_ready_i: u8 = field(1),
        /// Slots that have a warp.
        slot_valid_i: u8 = field(PARITIES),
        /// The warp of each slot.
        slot_warp_i: [u8; PARITIES] = field(WARP_BITS).count(PARITIES).valid_by("slot_valid_i"),
        /// Buffers that are to be emptied.
        flush_i: u8 = field(PARITIES),
        /// Buffers that are emptied without anything being written.
        drop_i: u8 = field(PARITIES),
    }
}

ports! {
    /// Outputs of [`Hrf`].
    pub struct HrfOut(s: &HrfShape) {
        /// Operands of the offered instruction.
        dispatch_data_o: [WarpData; OPERANDS] =
            field(WARP_DATA_BITS).count(OPERANDS).valid_by("dispatch_src_valid_o").early(),
        /// Tag as issued.
        dispatch_tag_o: u64 = field(s.mrf.tag_w).valid_by("dispatch_valid_o").early(),
        /// Events: `hrf_event_t`.
        event_o: u64 = field(43).shown(Decode::Packed(HRF_EVENT)),
        /// Events of the STT-RAM: `mrf_event_t`.
        mrf_event_o: u64 = field(50).shown(Decode::Packed(MRF_EVENT)),
        /// Events: `hrf_count_event_t`.
        count_event_o: u32 = field(23).shown(Decode::Packed(HRF_COUNT_EVENT)),
        /// Active lanes as issued.
        dispatch_mask_o: u32 = field(LANES).valid_by("dispatch_valid_o").early(),
        /// The completed write.
        written_o: WrittenWord = packed::<WrittenWord>().valid_by("write_done_o"),
        /// The instruction is taken at this edge if also valid.
        issue_ready_o: u8 = field(1).early(),
        /// The result is taken at this edge if also valid.
        write_ready_o: u8 = field(1),
        /// The result in the latch goes where it goes at this edge.
        write_done_o: u8 = field(1),
        /// An instruction with all its operands is offered.
        dispatch_valid_o: u8 = field(1).early(),
        /// Warp of the instruction with all its operands.
        dispatch_warp_o: u8 = field(WARP_BITS).valid_by("dispatch_valid_o").early(),
        /// `dispatch_valid_o` and source k is a register.
        dispatch_src_valid_o: u8 = field(OPERANDS).early(),
        /// The buffer is empty.
        flush_done_o: u8 = field(PARITIES),
    }
}

/// The straps.
#[derive(Clone, Copy, Default)]
struct HrfStraps {
    /// The straps of a bank.
    bank: u8,
    /// Read latency of a bank less 1.
    read_latency: u8,
    power: PowerStraps,
}

impl HrfStraps {
    #[inline]
    fn of(word: u32) -> Self {
        Self {
            bank: (word & 0x3f) as u8,
            read_latency: (word >> 4 & 0b11) as u8,
            power: PowerStraps::of((word >> 6) as u16),
        }
    }
}

/// The blocks that each of the two buffers has.
#[derive(Clone)]
struct Parity {
    buffer: HrfBuffer,
    drain: HrfDrain,
    loads: HrfLoads,
    power: HrfPower,
}

/// The buffers, and the blocks around them.
#[derive(Clone)]
struct Buffers {
    rcm: HrfRcm,
    parity: [Parity; PARITIES],
}

impl Buffers {
    fn new(shape: &HrfShape) -> Self {
        use crate::Block;
        let parity = |_| Parity {
            buffer: HrfBuffer::new(shape),
            drain: HrfDrain::new(shape),
            loads: HrfLoads::new(shape),
            power: HrfPower::new(shape),
        };
        Self { rcm: HrfRcm::new(shape), parity: std::array::from_fn(parity) }
    }
}

/// The source of a write to a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Writer {
    Queue,
    Drain,
    Latch,
}

/// The decisions that follow from state and slots.
#[derive(Clone, Copy, Default)]
struct Seen {
    straps: HrfStraps,
    flush: u8,
    drop: u8,
    base: [u16; PARITIES],
    /// The state that routes the result in the latch; its destination; whether it leaves the latch.
    around: Around,
    way: Option<(usize, Way)>,
    goes: bool,
    /// Buffers that are being emptied.
    emptying: u8,
    /// The source of the write to each bank, and the banks that take their write.
    writer: [Option<Writer>; PARITIES],
    taken: u8,
    flush_done: u8,
}

impl Seen {
    /// Banks to which a write is offered.
    #[inline]
    fn write_valid(&self) -> u8 {
        u8::from(self.writer[0].is_some()) | u8::from(self.writer[1].is_some()) << 1
    }

    /// Whether bank `b` takes the write of this source.
    #[inline]
    fn takes(&self, b: usize, from: Writer) -> bool {
        is_set(self.taken, b) && self.writer[b] == Some(from)
    }

    /// The write that is offered to bank `b`.
    #[inline]
    fn write<'a>(
        &self,
        b: usize,
        parity: Option<&'a Parity>,
        results: &'a HrfResults,
        entry_bits: u16,
    ) -> Option<(BankWrite, &'a WarpData)> {
        match self.writer[b]? {
            Writer::Queue => parity.and_then(|parity| Some((parity.loads.head()?, parity.loads.head_data()))),
            Writer::Drain => parity.and_then(|parity| {
                let (reg, mask) = parity.drain.offer()?;
                let entry = self.base[b].wrapping_add(reg.into()) & entry_bits;
                Some((BankWrite { mask, entry }, parity.buffer.data(0)))
            }),
            Writer::Latch => {
                let Latched { mask, entry, .. } = results.latched()?;
                Some((BankWrite { mask, entry }, results.data()))
            }
        }
    }

    /// The request to the drain of buffer `b`. `used`: entries in use.
    #[inline]
    fn flush(&self, b: usize, used: u8) -> Flush {
        Flush { flush: is_set(self.flush, b), drop: is_set(self.drop, b), used }
    }

    /// Whether the result in the latch takes this way, to buffer or bank `b`.
    #[inline]
    fn is(&self, b: usize, way: fn(&Way) -> bool) -> bool {
        self.way.is_some_and(|(parity, taken)| parity == b && way(&taken))
    }
}

/// The reads of a cycle, and the instructions that arrive and leave.
#[derive(Clone, Copy, Default)]
struct Late {
    chosen: Option<Chosen>,
    /// Entries that hold the sources' registers, and the valid lanes of these entries.
    found: [Option<u8>; OPERANDS],
    lanes: [u32; OPERANDS],
    reads: Reads,
    fill: Slots,
    filled: Choice,
    free: u16,
    issue_stall: bool,
    dispatch: bool,
    dispatch_stall: bool,
}

impl Late {
    /// Sources whose register is in the buffer.
    #[inline]
    fn hit(&self) -> u8 {
        self.found.iter().enumerate().fold(0, |hit, (k, found)| hit | u8::from(found.is_some()) << k)
    }
}

/// The main register file is STT-RAM in two banks, one for even and one for odd warps; each bank has a write buffer of SRAM (hybrid paper 4.2 to 4.4). One warp is active at a time:
/// its results are written into the buffer of its parity, operands are looked up there first, and lanes that miss come from its bank. When the warp gives up its slot,
/// the buffer is written to the bank, while the next warp fills the other buffer.
///
/// An operand stage calls it directly, like the MRF: [`see`](Self::see) presents the slots, then follow the functions that have the same names as the MRF's.
#[derive(Clone)]
pub struct Hrf {
    entry_bits: u16,
    tag_w: u32,
    allocator: MrfAllocator,
    collectors: Collectors,
    reads: HrfReads,
    operands: HrfOperands,
    results: HrfResults,
    banks: [HrfBank; PARITIES],
    buffers: Option<Box<Buffers>>,
    direct_q: u8,
    /// Nets that are computed right after the clock edge.
    free_collectors: Choice,
    offers: Choice,
    frozen: bool,
    /// Nets that are computed when the slots are presented, and nets that are computed late.
    seen: Seen,
    late: Late,
    /// The inputs of the MRF in a block that runs alone.
    outside: MrfIn,
}

impl Hrf {
    /// Fills the outputs that depend on state alone, without the operands. Fields without a meaning keep their values.
    #[inline]
    pub(crate) fn show(&self, out: &mut MrfOut) {
        (out.issue_ready_o, out.dispatch_valid_o, out.dispatch_src_valid_o) = (0, 0, 0);
        if self.frozen {
            return;
        }
        out.issue_ready_o = self.free_collectors.ports();
        if self.offers.ports() != 0 {
            let (c, held) = (self.offers.of(0), self.collectors.held());
            out.dispatch_valid_o = 1;
            out.dispatch_tag_o[0] = held.tag[c] & ((1 << self.tag_w) - 1);
            (out.dispatch_mask_o[0], out.dispatch_warp_o[0]) = (held.mask[c], held.warp[c]);
            out.dispatch_src_valid_o = self.collectors.src_valid().bits_of(c);
        }
    }

    /// Operands of the offered instruction.
    #[inline]
    pub(crate) fn operands(&self) -> &[WarpData; OPERANDS] {
        self.operands.operands(self.offers.of(0))
    }

    /// Flushed slots with no value left.
    #[inline]
    pub(crate) fn flush_done(&self) -> u64 {
        self.seen.flush_done.into()
    }

    /// Whether nothing is in motion. Instructions with all their operands may wait.
    pub(crate) fn is_still(&self) -> bool {
        let parity_is_still = |parity: &Parity| {
            let power = &parity.power;
            parity.loads.head().is_none()
                && parity.drain.offer().is_none()
                && power.is_steady()
                && !power.sleeps(parity.buffer.used())
        };
        self.collectors.pending().is_empty()
            && self.reads.is_idle()
            && self.operands.is_idle()
            && self.collectors.inflight().is_empty()
            && self.results.latched().is_none()
            && self.banks.iter().all(HrfBank::is_idle)
            && self.buffers.as_ref().is_none_or(|buffers| buffers.parity.iter().all(parity_is_still))
    }

    /// Whether a clock edge changes nothing, except in reset.
    #[inline]
    pub(crate) fn is_quiet(&self, given: &MrfIn) -> bool {
        let clears = self.seen.around.open == 0 && self.buffers.as_ref().is_some_and(|buffers| !buffers.rcm.is_empty());
        self.late.filled.all() | self.late.free == 0
            && given.write_valid_i == 0
            && self.seen.flush == 0
            && !clears
            && self.is_still()
    }

    /// Computes all nets that follow from state alone.
    #[inline]
    fn settle(&mut self) {
        self.free_collectors = self.allocator.free_collectors(self.collectors.busy());
        self.offers = self.allocator.offers(self.collectors.complete());
        self.frozen = set_bits(self.direct_q).any(|b| self.banks[b].writing());
    }

    /// Computes all nets that follow from state and slots, and fills the outputs. `base`: the first entry of a slot's warp.
    #[inline]
    pub(crate) fn see(&mut self, straps: u32, slots: &SlotView<'_>, base: impl Fn(usize) -> u16, out: &mut MrfOut) {
        let parities = |set: u64| set as u8 & 0b11;
        let mut seen = Seen {
            straps: HrfStraps::of(straps),
            flush: parities(slots.flush),
            drop: parities(slots.drop),
            base: std::array::from_fn(base),
            ..Seen::default()
        };
        let around = &mut seen.around;
        around.open = parities(slots.valid & !slots.flush);
        around.slot_warp = [slots.warp[0], slots.warp[1]];
        match &self.buffers {
            Some(buffers) => self.see_buffers(buffers, &mut seen),
            None => {
                seen.way = self.results.way(&seen.around);
                seen.flush_done = seen.flush;
            }
        }
        for b in 0..PARITIES {
            seen.writer[b] = self.writer(b, &seen);
            seen.taken |= u8::from(seen.writer[b].is_some() && self.banks[b].write_ready()) << b;
        }
        let direct = (0..PARITIES).fold(0, |all, b| all | u8::from(seen.takes(b, Writer::Latch)) << b);
        seen.goes = self.results.goes(&seen.around, self.room(), direct);
        (out.write_ready_o, out.write_done_o) = (1, seen.goes.into());
        if let Some(latched) = self.results.latched() {
            out.write_ready_o = seen.goes.into();
            out.written_o[0] = WrittenWord::new(latched.warp, latched.reg);
        }
        self.seen = seen;
    }

    #[inline]
    fn see_buffers(&self, buffers: &Buffers, seen: &mut Seen) {
        let around = &mut seen.around;
        around.hit = buffers.rcm.find(self.results.look());
        for (b, Parity { buffer, power, .. }) in buffers.parity.iter().enumerate() {
            around.used[b] = buffer.used();
            around.closed |= u8::from(power.closed(seen.straps.power, buffer.used())) << b;
            let drops = is_set(seen.drop, b);
            seen.emptying |= u8::from(is_set(seen.flush, b) && !drops && buffer.used() != 0) << b;
        }
        seen.way = self.results.way(&seen.around);
        for b in 0..PARITIES {
            let done = HrfDrain::done(seen.flush(b, seen.around.used[b]));
            seen.flush_done |= u8::from(done) << b;
        }
    }

    /// Queues with room.
    #[inline]
    fn room(&self) -> u8 {
        let Some(buffers) = &self.buffers else { return 0 };
        let [even, odd] = &buffers.parity;
        u8::from(even.loads.room()) | u8::from(odd.loads.room()) << 1
    }

    /// The source of the write to bank `b`: results that were in the queue when a flush began, then the buffer, then the rest of the queue.
    #[inline]
    fn writer(&self, b: usize, seen: &Seen) -> Option<Writer> {
        let parity = self.buffers.as_ref().map(|buffers| &buffers.parity[b]);
        let waits = parity.is_some_and(|parity| parity.loads.head().is_some());
        let old = parity.is_some_and(|parity| parity.loads.old());
        if waits && (old || !is_set(seen.emptying, b)) {
            Some(Writer::Queue)
        } else if parity.is_some_and(|parity| parity.drain.offer().is_some()) {
            Some(Writer::Drain)
        } else if seen.is(b, |way| *way == Way::Direct) && !waits {
            Some(Writer::Latch)
        } else {
            None
        }
    }

    /// Settles the cycle.
    #[inline]
    pub(crate) fn late(&mut self, given: &MrfIn) {
        let mut late = Late::default();
        let pending = self.collectors.pending();
        late.chosen = HrfReads::choose(pending.collectors(), self.allocator.older()).map(|c| self.instruction(c));
        if let Some(buffers) = &self.buffers {
            let buffer = &buffers.parity[late.chosen.map_or(0, |chosen| chosen.bank())].buffer;
            for k in 0..OPERANDS {
                let reg = late.chosen.map_or(0, |chosen| chosen.look(k));
                late.found[k] = buffers.rcm.find(reg);
                late.lanes[k] = late.found[k].map_or(0, |index| buffer.lanes(index));
            }
        }
        let ready = |b: usize| u8::from(self.banks[b].read_ready()) << b;
        let banks = Banks {
            frozen: self.frozen,
            latency: self.seen.straps.read_latency,
            read_ready: ready(0) | ready(1),
            write_valid: self.seen.write_valid(),
        };
        late.reads = self.reads.read(late.chosen.as_ref(), late.hit(), &late.lanes, banks, pending.count());
        late.fill = self.collectors.fill(Slots::from_port(late.reads.fill.slots));
        let allowed = if self.frozen { 0 } else { 1 };
        late.filled = self.free_collectors.only(given.issue_valid_i & allowed);
        late.free = self.offers.only(given.dispatch_ready_i & allowed).all();
        late.issue_stall = is_set(given.issue_valid_i, 0) && late.filled.all() == 0;
        late.dispatch = late.free != 0;
        late.dispatch_stall = self.offers.ports() & allowed != 0 && !late.dispatch;
        self.late = late;
    }

    /// The instruction of a collector that makes a request.
    #[inline]
    fn instruction(&self, c: usize) -> Chosen {
        let held = self.collectors.held();
        Chosen {
            collector: c,
            wanted: self.collectors.pending().bits_of(c),
            sources: self.collectors.src_valid().bits_of(c),
            reg: std::array::from_fn(|k| held.entry[OPERANDS * c + k] as u8),
            mask: held.mask[c],
            base: (held.tag[c] >> self.tag_w) as u16,
            warp: held.warp[c],
        }
    }

    /// The clock edge. `write_data`: the data of the result. Each block's data is read before that block advances.
    #[inline]
    pub(crate) fn edge<'a>(&mut self, given: &MrfIn, write_data: impl Fn(usize) -> &'a WarpData) {
        let running = given.rst_ni != 0;
        let (seen, late) = (self.seen, self.late);
        let fill = Fill { slots: late.fill.to_port(), ..late.reads.fill };
        let (buffers, banks) = (self.buffers.as_deref(), &self.banks);
        self.operands.advance(
            running,
            &fill,
            |b, port| buffers.map_or(&WarpData::ZERO, |buffers| buffers.parity[b].buffer.data(port)),
            |b| banks[b].output(),
        );
        self.clock_banks(running);
        if let Some(buffers) = &mut self.buffers {
            buffers.edge(running, &seen, &late, &self.results);
        }
        let result = (given.write_valid_i & 1 != 0).then(|| {
            let write = given.write_i[0];
            let (warp, reg) = write.register();
            let latched = Latched { mask: write.mask(), entry: given.write_base_i[0], warp, reg };
            (latched, write_data(0))
        });
        self.results.advance(running, seen.goes, result);
        self.reads.advance(running, &late.reads, seen.straps.read_latency);
        if running {
            let (busy, warps) = (self.collectors.busy(), &self.collectors.held().warp);
            self.allocator.advance(busy, late.filled, late.free, &given.issue_warp_i, warps);
            self.collectors.advance(Slots::from_port(late.reads.fill.slots), late.free);
            if late.filled.all() != 0 {
                self.collectors.allocate(late.filled.of(0), &self.offered(given));
            }
        } else {
            self.collectors.reset();
            self.allocator.reset();
            self.direct_q = 0;
        }
        self.settle();
    }

    #[inline]
    fn clock_banks(&mut self, running: bool) {
        let (seen, begins) = (&self.seen, self.late.reads.stt);
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let read = begins.filter(|&(bank, _)| bank == b).map(|(_, entry)| entry);
            let parity = self.buffers.as_ref().map(|buffers| &buffers.parity[b]);
            bank.advance(running, seen.straps.bank, read, seen.write(b, parity, &self.results, self.entry_bits));
            if is_set(seen.taken, b) {
                self.direct_q = self.direct_q & !(1 << b) | u8::from(seen.takes(b, Writer::Latch)) << b;
            }
        }
    }

    /// The instruction that is offered, with register numbers in place of the entries of the MRF.
    #[inline]
    fn offered(&self, given: &MrfIn) -> Instruction {
        let warp = given.issue_warp_i[0];
        Instruction {
            tag: u64::from(given.issue_base_i[0]) << self.tag_w | given.issue_tag_i[0],
            mask: LaneMask(given.issue_mask_i[0]),
            entry: std::array::from_fn(|k| given.issue_src_reg_i[k].into()),
            bank: [warp % PARITIES as u8; OPERANDS],
            warp,
            src_valid: given.issue_src_valid_i & 0b111,
        }
    }
}

impl Buffers {
    /// The clock edge. All decisions use the state before it.
    #[inline]
    fn edge(&mut self, running: bool, seen: &Seen, late: &Late, results: &HrfResults) {
        let latched = results.latched().unwrap_or_default();
        let mut set = None;
        for (b, Parity { buffer, drain, loads, power }) in self.parity.iter_mut().enumerate() {
            let (used, taken) = (buffer.used(), seen.takes(b, Writer::Drain));
            let flush = seen.flush(b, used);
            let (begins, read, empties) =
                (drain.begins(flush.flush), drain.reads(flush, taken), drain.empties(flush, taken));
            drain.advance(running, flush, taken, |index| (buffer.reg(index), buffer.lanes(index)));
            power.advance(running, seen.straps.power, used, seen.is(b, |way| *way == Way::Need));
            let push = seen.is(b, |way| *way == Way::Queue);
            let push = push.then(|| (BankWrite { mask: latched.mask, entry: latched.entry }, results.data()));
            loads.advance(running, push, seen.takes(b, Writer::Queue), begins);
            let write = match seen.way {
                Some((parity, Way::Buffer { new, index })) if parity == b => {
                    let reg = results.look();
                    set = set.or(new.then_some((reg, index)));
                    Some((BufferWrite { mask: latched.mask, index, reg, new }, results.data()))
                }
                _ => None,
            };
            let reads = if usize::from(late.reads.fill.bank) == b { late.reads.buffer } else { 0 };
            let index = late.found.map(Option::unwrap_or_default);
            buffer.advance(running, write, reads, index, read, empties);
        }
        self.rcm.advance(running, seen.around.open == 0, set);
    }
}

#[cfg(test)]
mod tests;
