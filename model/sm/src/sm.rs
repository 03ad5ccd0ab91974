//! `sm`: the streaming multiprocessor. `docs/blocks/sm.md`.

mod cached;
mod decided;
mod edge;
mod events;
mod execute;
mod front;
mod memory;
mod power;
mod record;
mod scratchpad;
mod share;
mod still;
mod unified;

use gpurf_blocks::cache::Cache;
use gpurf_blocks::control::{BarrierUnit, BlockLauncher, FaultUnit};
use gpurf_blocks::design::{Events, SlotView};
use gpurf_blocks::designs::IssueGate;
use gpurf_blocks::execute::{Alu, Dispatcher, FpUnit, LaneCrossbar, ResultQueue, Sfu, SpecialRegisters, Writeback};
use gpurf_blocks::front::{Decode, Fetch, InstructionBuffer};
use gpurf_blocks::issue::{
    AlternatingScheduler, IssueStage, PredicateFile, Scoreboard, SimtStack, TwoLevelScheduler, WarpScheduler,
};
use gpurf_blocks::memory::{AddressUnit, Coalescer, ConstantMemory, ConstantUnit, LineTable, SharedMemory};
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::operands::OperandStage;
use gpurf_blocks::power::{AccessTable, PowerStates};
use gpurf_blocks::shape::{
    ALU_QUEUE_DEPTH, CONSTANT_QUEUE_DEPTH, CONSTANT_SOURCES, SFU_QUEUE_DEPTH, SIDE_QUEUE_DEPTH, SIDE_SOURCES, Shared,
    SmShape, Straps,
};
use gpurf_blocks::share::{ScratchpadLocks, ShareLocks, ShareThrottle};
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_blocks::unified::{UnifiedArbiter, UnifiedShared};
use gpurf_blocks::{Block, Memory, Ports, Wide};

use crate::nets::{Inputs, SmProbe};
use crate::ports::{CACHE_PORTS, POWER_EVENTS, SmIn, SmOut, THROTTLE_PORTS, UNIFIED_PORTS};
use decided::Decided;
use power::Power;
use scratchpad::Scratchpad;
use share::Share;
use unified::Unified;

/// The streaming multiprocessor: in order, 32 lanes, a SIMT stack for each warp, a scoreboard, operand collectors, an ALU and a single precision
/// unit for each port, one special function unit, one unit for constants and special registers, one memory pipeline, barriers, and a launcher of thread blocks (hierarchy thesis 2.4, 2.5, 4.3 and table 4.4; RFC paper 2.1, figures 1 and 3).
///
/// It calls its blocks directly, not through their ports, and works only on blocks that have something to do: a block without anything valid costs a test. A cycle has
/// two steps. [`late`](Block::late) computes the decisions from state and inputs; [`clock`](Block::clock) acts on them, block by block, in an order in which no block
/// reads a value that another one has already overwritten. A feature that few SMs have is a function of its own, not inlined, behind a test: the code of a cycle
/// is larger than the first-level cache, and the code that all SMs use should be contiguous. Ports exist where a run is recorded: [`probe`](Block::probe) fills them from the state before the edge and from
/// the decisions. It changes nothing, so a cycle is the same with it and without.
///
/// A further unit needs a field of [`Blocks`], its decisions and its edge in the file of its stage (a unit after the operand stage: `execute`), a line in `still` that says
/// when nothing is in flight in it, its results in `push_side_results` or a queue of its own, and its ports in `record`.
#[derive(Clone)]
pub struct Sm {
    blocks: Blocks,
    tied: Tied,
    decided: Decided,
    /// The blocks' inputs where they are probed; no block reads them.
    inputs: Box<Inputs>,
}

/// The straps, which stay the same for a whole run. They are decoded again only when they differ from those of the previous cycle.
#[derive(Clone)]
struct Tied {
    word: u64,
    design: Wide<4>,
    straps: Straps,
}

impl Tied {
    fn of(inputs: &SmIn) -> Self {
        let (word, design) = (inputs.cfg_i, inputs.design_cfg_i);
        Self { word, design, straps: Straps::of_ports(word, &design) }
    }

    /// Whether the inputs have these straps.
    #[inline]
    fn holds(&self, inputs: &SmIn) -> bool {
        (self.word, &self.design) == (inputs.cfg_i, &inputs.design_cfg_i)
    }
}

/// The blocks with state. `decode` and `issue_stage` have none.
#[derive(Clone)]
struct Blocks {
    ports: usize,
    /// The warps of each port.
    own: [u64; MAX_PORTS],
    fetch: Fetch,
    instruction_buffer: InstructionBuffer,
    scoreboard: Scoreboard,
    warp_scheduler: WarpScheduler,
    /// Replaces `warp_scheduler`, where it is present.
    two_level: Option<Box<TwoLevelScheduler>>,
    /// Replaces `warp_scheduler`, where it is present.
    alternating: Option<Box<AlternatingScheduler>>,
    /// Warps whose heads are marked "deschedule"; kept for schedulers with slots only.
    marked: u64,
    /// Places that the levels of each warp's head name; kept for schedulers with slots only.
    named: Box<[u16; MAX_WARPS]>,
    /// Present where registers have power states.
    power: Option<Box<Power>>,
    /// Present where blocks may share registers.
    share: Option<Box<Share>>,
    /// Present where blocks may share scratchpad memory.
    scratchpad: Option<Box<Scratchpad>>,
    predicate_file: PredicateFile,
    simt_stack: SimtStack,
    operand_stage: OperandStage,
    dispatcher: Dispatcher,
    alu: Vec<Alu>,
    alu_queue: Vec<ResultQueue>,
    fp_unit: Vec<FpUnit>,
    fp_queue: Vec<ResultQueue>,
    sfu: Sfu,
    sfu_queue: ResultQueue,
    constant_unit: ConstantUnit,
    constant_queue: ResultQueue,
    side_queue: ResultQueue,
    writeback: Writeback,
    lane_crossbar: LaneCrossbar,
    special_registers: SpecialRegisters,
    address_unit: AddressUnit,
    coalescer: Coalescer,
    line_table: LineTable,
    /// Replaces the line table, where it is present.
    cache: Option<Box<Cache>>,
    shared_memory: SharedMemory,
    /// Replaces shared memory, with unified memory.
    unified: Option<Box<Unified>>,
    /// Straps of the cache as of the last edge: straps stay the same for a whole run, and the request for memory is needed before the inputs of a
    /// cycle are known.
    cache_cfg: u16,
    constant_memory: ConstantMemory,
    block_launcher: BlockLauncher,
    barrier_unit: BarrierUnit,
    fault_unit: FaultUnit,
}

impl Blocks {
    /// The event word of the SM's scheduler.
    #[inline]
    fn scheduler_event(&self, decided: &Decided) -> u64 {
        match (&self.two_level, &self.alternating) {
            (Some(scheduler), _) => scheduler.event(&decided.outer),
            (None, Some(scheduler)) => scheduler.event(&decided.turn, self.simt_stack.alive()).into(),
            (None, None) => 0,
        }
    }

    /// Computes the decisions of a cycle; returns the events of the register file.
    #[inline]
    fn decide(&mut self, inputs: &SmIn, straps: &Straps, decided: &mut Decided) -> Events {
        self.operand_stage.begin();
        if let Some(power) = &mut self.power {
            power.begin(straps);
        }
        if let Some(spare) = self.block_launcher.fresh() {
            self.operand_stage.clear(spare);
        }
        if self.shares() {
            self.begin_share(straps);
        }
        self.show_slots(straps);
        self.decide_front(decided);
        self.decide_issue(straps, decided);
        self.decide_constant(&mut decided.constant);
        self.begin_pass(inputs, straps, &mut decided.pass);
        if self.unified.is_some() {
            self.decide_columns(straps, &decided.pass);
        }
        self.decide_pass(straps, &decided.constant, &mut decided.pass);
        decided.dispatch = self.decide_dispatch(&decided.pass, &decided.constant);
        self.decide_results(straps, decided);
        decided.opening = self.barrier_unit.opening(self.simt_stack.alive(), self.block_launcher.slots());
        if self.power.is_some() {
            self.tell_words(decided);
        }
        self.operand_stage.settle(decided.dispatch.ready)
    }
}

/// The slots of the scheduler, if it has slots.
#[inline]
fn slots<'a>(two_level: Option<&'a TwoLevelScheduler>, alternating: Option<&'a AlternatingScheduler>) -> SlotView<'a> {
    if let Some(scheduler) = two_level {
        SlotView {
            valid: scheduler.slot_valid(),
            flush: scheduler.flush(),
            drop: scheduler.dropped(),
            warp: scheduler.slot_warp(),
        }
    } else if let Some(scheduler) = alternating {
        SlotView {
            valid: scheduler.slot_valid().into(),
            flush: scheduler.flush().into(),
            drop: scheduler.dropped().into(),
            warp: scheduler.slot_warp(),
        }
    } else {
        SlotView::NONE
    }
}

impl Block for Sm {
    const NAME: &'static str = "sm";
    const PARAMETERS: &'static [&'static str] = &[
        "Warps",
        "CodeWords",
        "ConstWords",
        "SharedWords",
        "Rows",
        "Banks",
        "DualPort",
        "Collectors",
        "IssuePorts",
        "Depth",
        "Active",
        "Alternate",
        "Organisation",
        "Sizes",
        "PowerEntries",
        "Share",
        "Throttle",
        "Reference",
        "CacheLines",
        "CacheWays",
        "CacheMisses",
        "Unified",
    ];
    const CHILDREN: &'static [&'static str] = &[
        Fetch::NAME,
        Decode::NAME,
        InstructionBuffer::NAME,
        Scoreboard::NAME,
        IssueGate::NAME,
        WarpScheduler::NAME,
        TwoLevelScheduler::NAME,
        AlternatingScheduler::NAME,
        PowerStates::NAME,
        AccessTable::NAME,
        ShareLocks::NAME,
        ShareThrottle::NAME,
        ScratchpadLocks::NAME,
        IssueStage::NAME,
        PredicateFile::NAME,
        SimtStack::NAME,
        Coalescer::NAME,
        SharedMemory::NAME,
        ConstantMemory::NAME,
        ConstantUnit::NAME,
        LaneCrossbar::NAME,
        SpecialRegisters::NAME,
        AddressUnit::NAME,
        Alu::NAME,
        FpUnit::NAME,
        Sfu::NAME,
        Dispatcher::NAME,
        BlockLauncher::NAME,
        ResultQueue::NAME,
        Writeback::NAME,
        LineTable::NAME,
        Cache::NAME,
        UnifiedShared::NAME,
        UnifiedArbiter::NAME,
        BarrierUnit::NAME,
        OperandStage::NAME,
        FaultUnit::NAME,
    ];

    type Shape = SmShape;
    type In = SmIn;
    type Out = SmOut;
    type Probe = SmProbe;

    fn unused(shape: &SmShape) -> Vec<&'static str> {
        let ports = [
            (shape.has_external_reference(), THROTTLE_PORTS),
            (shape.caches(), CACHE_PORTS),
            (shape.unified(), UNIFIED_PORTS),
        ];
        ports.into_iter().filter(|(read, _)| !read).flat_map(|(_, ports)| ports.iter().copied()).collect()
    }

    fn new(shape: &SmShape) -> Self {
        let alu_queue = shape.with_queue(ALU_QUEUE_DEPTH, 1);
        let mut blocks = Blocks {
            ports: shape.ports(),
            own: [0, 1].map(|p| shape.own_warps(p)),
            fetch: Fetch::new(shape),
            instruction_buffer: InstructionBuffer::new(shape),
            scoreboard: Scoreboard::new(shape),
            warp_scheduler: WarpScheduler::new(shape),
            two_level: (shape.active != 0 && !shape.alternate)
                .then(|| Box::new(TwoLevelScheduler::new(&shape.of_slots()))),
            alternating: shape.alternate.then(|| Box::new(AlternatingScheduler::new(shape))),
            marked: 0,
            named: Box::new([0; MAX_WARPS]),
            power: (shape.power_entries != 0).then(|| Box::new(Power::new(shape))),
            share: (shape.share == Shared::Registers).then(|| Box::new(Share::new(shape))),
            scratchpad: shape.shares_scratchpad().then(|| Box::new(Scratchpad::new(shape))),
            predicate_file: PredicateFile::new(shape),
            simt_stack: SimtStack::new(shape),
            operand_stage: OperandStage::new(shape),
            dispatcher: Dispatcher::new(shape),
            alu: (0..shape.ports()).map(|_| Alu::new(shape)).collect(),
            alu_queue: (0..shape.ports()).map(|_| ResultQueue::new(&alu_queue)).collect(),
            fp_unit: (0..shape.ports()).map(|_| FpUnit::new(shape)).collect(),
            fp_queue: (0..shape.ports()).map(|_| ResultQueue::new(&alu_queue)).collect(),
            sfu: Sfu::new(shape),
            sfu_queue: ResultQueue::new(&shape.with_queue(SFU_QUEUE_DEPTH, 1)),
            constant_unit: ConstantUnit::new(shape),
            constant_queue: ResultQueue::new(&shape.with_queue(CONSTANT_QUEUE_DEPTH, CONSTANT_SOURCES)),
            side_queue: ResultQueue::new(&shape.with_queue(SIDE_QUEUE_DEPTH, SIDE_SOURCES)),
            writeback: Writeback::new(shape),
            lane_crossbar: LaneCrossbar::new(shape),
            special_registers: SpecialRegisters::new(shape),
            address_unit: AddressUnit::new(shape),
            coalescer: Coalescer::new(shape),
            line_table: LineTable::new(shape),
            cache: shape.caches().then(|| Box::new(Cache::new(shape))),
            shared_memory: SharedMemory::new(&shape.without_shared_memory()),
            unified: shape.unified().then(|| Box::new(Unified::new(shape))),
            cache_cfg: 0,
            constant_memory: ConstantMemory::new(shape),
            block_launcher: BlockLauncher::new(shape),
            barrier_unit: BarrierUnit::new(shape),
            fault_unit: FaultUnit::new(&shape.with_fault_sources()),
        };
        blocks.settle_unified();
        let decided = Decided { outer: front::ALL_ACTIVE, ..Decided::default() };
        Self { blocks, tied: Tied::of(&SmIn::zeroed()), decided, inputs: Box::new(Inputs::zeroed()) }
    }

    fn early(&self, out: &mut SmOut) {
        let blocks = &self.blocks;
        (out.busy_o, out.done_o) = (blocks.block_launcher.busy().into(), blocks.block_launcher.done().into());
        let fault = blocks.fault_unit.fault();
        out.fault_o = fault.is_some().into();
        let fault = fault.copied().unwrap_or_default();
        (out.fault_warp_o, out.fault_cause_o, out.fault_value_o) = (fault.warp, fault.cause, fault.value);
        out.mem_rsp_ready_o = blocks.takes_answer().into();
        let request = blocks.offered();
        out.mem_req_valid_o = request.is_some().into();
        if let Some((request, whole)) = request {
            out.mem_req_whole_o = whole.into();
            (out.mem_req_kind_o, out.mem_req_atomic_o) = (request.kind, request.atomic);
            (out.mem_req_size_o, out.mem_req_answer_o) = (request.size, request.answer.into());
            (out.mem_req_line_o, out.mem_req_mask_o) = (request.line, request.mask);
            (out.mem_req_warp_o, out.mem_req_offset_o) = (request.warp, request.offset);
            (out.mem_req_data_o, out.mem_req_compare_o) = (request.data, request.compare);
        } else {
            (out.mem_req_kind_o, out.mem_req_atomic_o, out.mem_req_size_o, out.mem_req_answer_o) = (0, 0, 0, 0);
            out.mem_req_whole_o = 0;
            (out.mem_req_line_o, out.mem_req_mask_o, out.mem_req_warp_o) = (0, 0, 0);
            out.mem_req_offset_o = Default::default();
        }
    }

    fn late(&mut self, inputs: &SmIn, out: &mut SmOut) {
        if !self.tied.holds(inputs) {
            self.tied = Tied::of(inputs);
        }
        let straps = &self.tied.straps;
        let events = self.blocks.decide(inputs, straps, &mut self.decided);
        (out.mrf_event_o, out.design_event_o) = (events.mrf, events.design);
        out.scheduler_event_o = self.blocks.scheduler_event(&self.decided);
        (out.power_event_o, out.share_event_o, out.cache_event_o) = ([0; POWER_EVENTS], 0, 0);
        if self.blocks.power.is_some() {
            out.power_event_o = self.blocks.decide_power(&self.decided);
        }
        if self.blocks.shares() {
            out.share_event_o = self.blocks.share_event(&self.decided);
        }
        if self.blocks.cache.is_some() {
            out.cache_event_o = self.blocks.cache_event(inputs, straps, &self.decided);
        }
        out.event_o = self.blocks.events(inputs, &self.decided);
    }

    fn clock(&mut self, inputs: &SmIn, out: &SmOut) {
        let straps = &self.tied.straps;
        if inputs.rst_ni == 0 {
            self.blocks.reset(inputs, straps, &self.decided);
        } else {
            self.blocks.edge(inputs, straps, &self.decided, out.event_o);
        }
    }

    fn probe(&self, inputs: &SmIn, out: &SmOut, probe: &mut SmProbe) {
        self.record(inputs, out, probe);
    }

    fn still(&self, inputs: &SmIn) -> u64 {
        self.blocks.still(inputs)
    }

    fn skip(&mut self, cycles: u64) {
        self.blocks.pass_time(cycles);
    }

    fn drain(&mut self) {
        self.blocks.block_launcher.drain();
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let mut all = Vec::new();
        let blocks = &mut self.blocks;
        macro_rules! add_each {
            ($($name:ident)+) => {
                $(all.extend(Memory::inside(concat!("u_", stringify!($name)), blocks.$name.memories()));)+
            };
        }
        add_each! {
            fetch instruction_buffer predicate_file simt_stack operand_stage sfu_queue constant_queue side_queue special_registers
            constant_memory
        }
        match &mut blocks.unified {
            Some(unified) => all.extend(Memory::inside("gen_unified.u_unified_shared", unified.shared.memories())),
            None => all.extend(Memory::inside("gen_shared.u_shared_memory", blocks.shared_memory.memories())),
        }
        match &mut blocks.cache {
            Some(cache) => all.extend(Memory::inside("gen_cache.u_cache", cache.memories())),
            None => all.extend(Memory::inside("gen_line_table.u_line_table", blocks.line_table.memories())),
        }
        if let Some(scheduler) = &mut blocks.two_level {
            all.extend(Memory::inside("gen_two_level.u_two_level_scheduler", scheduler.memories()));
        }
        if let Some(scheduler) = &mut blocks.alternating {
            all.extend(Memory::inside("gen_alternating.u_alternating_scheduler", scheduler.memories()));
        }
        for (p, queue) in blocks.alu_queue.iter_mut().enumerate() {
            all.extend(Memory::inside(format_args!("gen_port[{p}].u_alu_queue"), queue.memories()));
        }
        for (p, queue) in blocks.fp_queue.iter_mut().enumerate() {
            all.extend(Memory::inside(format_args!("gen_port[{p}].u_fp_queue"), queue.memories()));
        }
        all
    }
}
