//! `mrf`: the banked main register file. `docs/blocks/mrf.md`.

mod design;
pub(crate) mod nets;

pub use design::MrfSizes;
pub use nets::MrfProbe;

use crate::config::Config;
use crate::mrf::bits::{count_ports, pack, set_bits};
use crate::mrf::mrf_allocator::Choice;
use crate::mrf::mrf_arbiter::{Requests, Writes};
use crate::mrf::mrf_collector::{Collectors, Instruction};
use crate::mrf::mrf_write_queue::WriteTarget;
use crate::mrf::slots::Slots;
use crate::mrf::storage::{Banked, Storage};
use crate::mrf::{MAX_PORTS, MRF_ARBITER_EVENT, MrfAllocator, MrfBankMap, MrfShape, MrfWriteQueue};
use crate::share::{RegisterLayout, RegisterPlaces};
use crate::unified::{COLUMNS_INPUTS, Columns, ColumnsFree, ColumnsIn, ColumnsOut};
use crate::write::{WriteWord, WrittenWord};
use crate::{Block, Decode, LaneMask, Memory, OPERANDS, REG_BITS, WARP_BITS, WarpData, field, packed, ports};

const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

/// Fields of `mrf_event_t`, most significant first: the arbiter's events, then those of the ports.
pub const MRF_EVENT: &[(&str, u32)] = &[
    ("read", 6),
    ("read_groups", 9),
    ("write", 2),
    ("write_groups", 5),
    ("conflict_intra", 6),
    ("conflict_inter", 6),
    ("conflict_read_write", 6),
    ("conflict_write", 2),
    ("write_held", 2),
    ("issue_stall", 2),
    ("dispatch", 2),
    ("dispatch_stall", 2),
];

ports! {
    /// Inputs of [`Mrf`].
    pub struct MrfIn(s: &MrfShape) {
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
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap: order among the reads of a bank, 0 oldest first, 1 round-robin.
        cfg_i: u8 = field(1),
        /// Layout of the register file, read where registers are handed out one by one.
        layout_i: u64 = packed::<RegisterLayout>(),
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
        /// The instruction offered on dispatch port p is taken at this edge if also valid.
        dispatch_ready_i: u8 = field(s.issue_ports),
    } +
    /// What memory asks of the columns.
    columns: ColumnsIn as s
}

ports! {
    /// Outputs of [`Mrf`].
    pub struct MrfOut(s: &MrfShape) {
        /// Operands of the offered instruction.
        dispatch_data_o: [WarpData; MAX_SOURCES] =
            field(1024).count(s.sources()).valid_by("dispatch_src_valid_o").early(),
        /// Tag as issued.
        dispatch_tag_o: [u64; MAX_PORTS] = field(s.tag_w).count(s.issue_ports).valid_by("dispatch_valid_o").early(),
        /// Events of this cycle: `mrf_event_t`.
        event_o: u64 = field(50).shown(Decode::Packed(MRF_EVENT)),
        /// Active lanes as issued.
        dispatch_mask_o: [u32; MAX_PORTS] = field(32).count(s.issue_ports).valid_by("dispatch_valid_o").early(),
        /// The completed write.
        written_o: [WrittenWord; MAX_PORTS] =
            packed::<WrittenWord>().count(s.issue_ports).valid_by("write_done_o").early(),
        /// The instruction on port p is taken at this edge if also valid.
        issue_ready_o: u8 = field(s.issue_ports).early(),
        /// The result on bus p is taken at this edge if also valid.
        write_ready_o: u8 = field(s.issue_ports).early(),
        /// The result at the head of queue p goes into its bank at this edge.
        write_done_o: u8 = field(s.issue_ports).early(),
        /// An instruction with all its operands is offered.
        dispatch_valid_o: u8 = field(s.issue_ports).early(),
        /// Warp as issued.
        dispatch_warp_o: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.issue_ports).valid_by("dispatch_valid_o").early(),
        /// Bit 3p+s: `dispatch_valid_o[p]` and source s is a register.
        dispatch_src_valid_o: u8 = field(s.sources()).early(),
    } +
    /// What the columns say to memory.
    columns: ColumnsOut as s
}

/// The baseline register file of the papers: banks with operand collectors, one arbiter, one crossbar.
///
/// An instruction allocates a collector, requests its source registers from the banks, and is dispatched to an execution
/// unit when all of them have arrived. A result waits in the write queue of its bus until its bank is free.
///
/// All outputs but the events follow from state alone, through several blocks. They are therefore computed once, right
/// after the clock edge, and [`early`](Block::early) returns them.
pub type Mrf = OperandFile<Banked>;

/// A register file with operand collectors: [`Mrf`], or any other file that differs only in its storage.
#[derive(Clone)]
pub struct OperandFile<S> {
    bank_map: MrfBankMap,
    /// Replaces the bank map where registers are allocated one by one.
    places: Option<RegisterPlaces>,
    queues: Vec<MrfWriteQueue>,
    /// One bit for each queue.
    ports: u8,
    collectors: Collectors,
    allocator: MrfAllocator,
    storage: S,

    /// Nets that are computed right after the clock edge.
    writes: Writes,
    free_collectors: Choice,
    offers: Choice,
    write_ready: u8,
    /// Nets that are computed late in the cycle.
    filled: Choice,
    free: u16,
    fill: Slots,
}

#[expect(private_bounds, reason = "a storage works inside this crate; the files that there are have names")]
impl<S: Storage> OperandFile<S> {
    /// [`early`](Block::early) without the operands; [`operands`](Self::operands) returns these without a copy. Invalid fields keep their values.
    #[inline]
    pub(crate) fn show(&self, out: &mut MrfOut) {
        out.issue_ready_o = self.free_collectors.ports();
        out.write_ready_o = self.write_ready;
        out.write_done_o = self.storage.write_grant();
        for p in set_bits(out.write_done_o) {
            let target = self.queues[p].target();
            out.written_o[p] = WrittenWord::new(target.warp, target.reg);
        }
        out.dispatch_valid_o = self.offers.ports();
        out.dispatch_src_valid_o = 0;
        for p in set_bits(self.offers.ports()) {
            let c = self.offers.of(p);
            let held = self.collectors.held();
            out.dispatch_tag_o[p] = held.tag[c];
            out.dispatch_mask_o[p] = held.mask[c];
            out.dispatch_warp_o[p] = held.warp[c];
            let sources = self.collectors.src_valid().bits_of(c);
            out.dispatch_src_valid_o |= sources << (OPERANDS * p);
        }
    }

    /// Operands of the instruction that is offered on dispatch port `p`.
    #[inline]
    pub(crate) fn operands(&self, p: usize) -> &[WarpData; OPERANDS] {
        self.storage.operands(self.offers.of(p))
    }

    /// [`late`](Block::late) without the data that memory reads.
    #[inline]
    pub(crate) fn decide(&mut self, inputs: &MrfIn, out: &mut MrfOut) {
        self.storage.reads(&requests(&self.collectors, &self.allocator), inputs.cfg_i != 0);
        self.fill = self.collectors.fill(self.storage.grant());
        self.filled = self.free_collectors.only(inputs.issue_valid_i);
        self.free = self.offers.only(inputs.dispatch_ready_i).all();
        let offered = self.offers.ports();
        let at_ports = [
            inputs.issue_valid_i & !self.free_collectors.ports(),
            offered & inputs.dispatch_ready_i,
            offered & !inputs.dispatch_ready_i,
        ];
        let layout = &MRF_EVENT[MRF_ARBITER_EVENT.len()..];
        let width: u32 = layout.iter().map(|&(_, bits)| bits).sum();
        out.event_o = self.storage.event() << width | pack(layout, at_ports.map(count_ports));
    }

    /// [`clock`](Block::clock), with the data of each result taken directly from its sender.
    #[inline]
    pub(crate) fn edge<'a>(&mut self, inputs: &MrfIn, write_data: impl Fn(usize) -> &'a WarpData) {
        let running = inputs.rst_ni != 0;
        // The storage takes the results from the queues before the queues take new ones, and the allocator uses the state of
        // the collectors before the edge.
        self.storage.edge(running, self.fill, self.collectors.held(), &self.queues);
        if running {
            let (busy, warps) = (self.collectors.busy(), &self.collectors.held().warp);
            self.allocator.advance(busy, self.filled, self.free, &inputs.issue_warp_i, warps);
            self.clock_queues(inputs, write_data);
            self.clock_collectors(inputs);
            self.storage.advance(inputs.cfg_i != 0);
        } else {
            self.reset();
        }
        self.settle();
    }

    /// The columns of unified memory, if the file has them.
    #[inline]
    pub(crate) fn columns(&self) -> Option<&Columns> {
        self.storage.columns()
    }

    /// The columns of unified memory, to change them.
    #[inline]
    pub(crate) fn columns_mut(&mut self) -> Option<&mut Columns> {
        self.storage.columns_mut()
    }

    /// The column ports that registers leave free in this cycle. This follows from state alone.
    #[inline]
    pub(crate) fn columns_free(&self) -> ColumnsFree {
        self.storage.columns_free(&self.queues)
    }

    /// Fills the outputs for unified memory that depend on state alone.
    pub(crate) fn show_columns(&self, out: &mut ColumnsOut) {
        if self.columns().is_some() {
            out.show_free(&self.columns_free());
        }
    }

    /// Fills the remaining output for unified memory, the data.
    pub(crate) fn show_column_data(&self, inputs: &ColumnsIn, out: &mut ColumnsOut) {
        if let Some(columns) = self.columns() {
            out.memory_data_o = columns.data(&inputs.memory_data_column_i);
        }
    }

    /// Passes on the accesses that memory performs at the next clock edge.
    pub(crate) fn ask_columns(&mut self, inputs: &ColumnsIn) {
        if let Some(columns) = self.columns_mut() {
            columns.ask(&inputs.accesses());
        }
    }

    /// Whether nothing moves: no read, write, operand, instruction or result. Then a clock edge changes nothing, except in reset.
    #[inline]
    pub(crate) fn is_quiet(&self, inputs: &MrfIn) -> bool {
        let writes = self.storage.write_grant() | inputs.write_valid_i & self.write_ready;
        writes == 0 && self.filled.all() | self.free == 0 && self.storage.is_quiet()
    }

    /// Whether nothing is in motion: no read request, no operand and no result. Instructions with all their operands may wait.
    pub(crate) fn is_still(&self) -> bool {
        self.collectors.pending().is_empty() && self.writes.valid == 0 && self.storage.is_still()
    }

    /// Computes all nets that follow from state alone.
    #[inline]
    fn settle(&mut self) {
        self.free_collectors = self.allocator.free_collectors(self.collectors.busy());
        self.offers = self.allocator.offers(self.collectors.complete());
        self.storage.writes(&requests(&self.collectors, &self.allocator), &self.writes);
        let write_grant = self.storage.write_grant();
        // A queue is ready when it is empty or empties.
        self.write_ready = (!self.writes.valid | write_grant) & self.ports;
    }

    /// Bank and entry of a register of a warp whose first row is `base`.
    #[inline]
    fn locate(&self, inputs: &MrfIn, warp: u8, base: u16, reg: u8) -> (u8, u16) {
        match &self.places {
            None => self.bank_map.map(warp, base, reg),
            Some(places) => places.map(RegisterLayout(inputs.layout_i), warp, reg),
        }
    }

    /// The instruction that is offered on an issue port.
    #[inline]
    fn offered(&self, inputs: &MrfIn, p: usize) -> Instruction {
        let warp = inputs.issue_warp_i[p];
        let (mut bank, mut entry) = ([0; OPERANDS], [0; OPERANDS]);
        for s in 0..OPERANDS {
            let reg = inputs.issue_src_reg_i[OPERANDS * p + s];
            (bank[s], entry[s]) = self.locate(inputs, warp, inputs.issue_base_i[p], reg);
        }
        Instruction {
            tag: inputs.issue_tag_i[p],
            mask: LaneMask(inputs.issue_mask_i[p]),
            entry,
            bank,
            warp,
            src_valid: inputs.issue_src_valid_i >> (OPERANDS * p) & 0b111,
        }
    }

    /// The result that is offered on a result bus.
    #[inline]
    fn arriving(&self, inputs: &MrfIn, p: usize) -> WriteTarget {
        let write = inputs.write_i[p];
        let (warp, reg) = write.register();
        let (bank, entry) = self.locate(inputs, warp, inputs.write_base_i[p], reg);
        WriteTarget { mask: LaneMask(write.mask()), entry, bank, warp, reg }
    }

    #[inline]
    fn clock_queues<'a>(&mut self, inputs: &MrfIn, data: impl Fn(usize) -> &'a WarpData) {
        let popped = self.storage.write_grant();
        let pushed = inputs.write_valid_i & self.write_ready;
        self.writes.valid = self.writes.valid & !popped | pushed;
        for p in set_bits(pushed) {
            let target = self.arriving(inputs, p);
            self.queues[p].push(target, data(p));
            self.writes.bank[p] = target.bank;
            self.writes.entry[p] = target.entry;
            self.writes.groups[p] = target.mask.groups();
        }
        for p in set_bits(popped & !pushed) {
            self.queues[p].pop();
        }
    }

    #[inline]
    fn clock_collectors(&mut self, inputs: &MrfIn) {
        self.collectors.advance(self.storage.grant(), self.free);
        for p in set_bits(self.filled.ports()) {
            let instruction = self.offered(inputs, p);
            self.collectors.allocate(self.filled.of(p), &instruction);
        }
    }

    /// The effect of a clock edge in reset on the control state.
    fn reset(&mut self) {
        self.queues.iter_mut().for_each(MrfWriteQueue::reset);
        self.writes.valid = 0;
        self.collectors.reset();
        self.allocator.reset();
        self.storage.reset();
    }
}

/// The read requests of the collectors to the arbiter.
#[inline]
fn requests<'a>(collectors: &'a Collectors, allocator: &'a MrfAllocator) -> Requests<'a> {
    Requests {
        valid: collectors.pending(),
        bank: &collectors.held().bank,
        entry: &collectors.held().entry,
        groups: &collectors.held().groups,
        older: allocator.older(),
    }
}

impl<S: Storage> Block for OperandFile<S> {
    const NAME: &'static str = S::NAME;
    const PARAMETERS: &'static [&'static str] = S::PARAMETERS;
    const CHILDREN: &'static [&'static str] = S::CHILDREN;

    type Shape = MrfShape;
    type In = MrfIn;
    type Out = MrfOut;
    type Probe = S::Probe;

    const WITHOUT: &'static [&'static str] = S::WITHOUT;

    fn unused(shape: &MrfShape) -> Vec<&'static str> {
        if shape.unified || !S::WITHOUT.is_empty() { Vec::new() } else { COLUMNS_INPUTS.to_vec() }
    }

    fn shape_alone(config: &Config) -> MrfShape {
        let shape = config.shape();
        let unified = shape.unified && S::WITHOUT.is_empty();
        MrfShape { places: shape.places && S::PLACES, unified, separate: shape.separate && unified, ..shape }
    }

    fn new(shape: &MrfShape) -> Self {
        let mut mrf = Self {
            bank_map: MrfBankMap::new(shape),
            places: (shape.places && S::PLACES).then(|| RegisterPlaces::new(shape)),
            ports: u8::MAX >> (u8::BITS as usize - shape.issue_ports),
            queues: (0..shape.issue_ports).map(|_| MrfWriteQueue::new(shape)).collect(),
            collectors: Collectors::new(),
            allocator: MrfAllocator::new(shape),
            storage: S::new(shape),
            writes: Writes::default(),
            free_collectors: Choice::default(),
            offers: Choice::default(),
            write_ready: 0,
            filled: Choice::default(),
            free: 0,
            fill: Slots::NONE,
        };
        mrf.settle();
        mrf
    }

    #[inline]
    fn early(&self, out: &mut MrfOut) {
        out.written_o = Default::default();
        (out.dispatch_tag_o, out.dispatch_mask_o) = ([0; MAX_PORTS], [0; MAX_PORTS]);
        out.dispatch_warp_o = [0; MAX_PORTS];
        self.show(out);
        self.show_columns(&mut out.columns);
        for p in set_bits(self.offers.ports()) {
            // Copies all three operands: cheaper than an unpredictable branch for each.
            out.dispatch_data_o[OPERANDS * p..][..OPERANDS].copy_from_slice(self.operands(p));
        }
    }

    #[inline]
    fn late(&mut self, inputs: &MrfIn, out: &mut MrfOut) {
        self.decide(inputs, out);
        self.show_column_data(&inputs.columns, &mut out.columns);
    }

    #[inline]
    fn clock(&mut self, inputs: &MrfIn, _: &MrfOut) {
        self.ask_columns(&inputs.columns);
        self.edge(inputs, |p| &inputs.write_data_i[p]);
    }

    fn probe(&self, inputs: &MrfIn, _: &MrfOut, probe: &mut S::Probe) {
        let probe = probe.as_mut();
        self.probe_ports(inputs, probe);
        self.probe_collectors(probe);
        self.storage.probe(probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        self.storage.memories()
    }
}

#[cfg(test)]
pub(crate) mod tests;
