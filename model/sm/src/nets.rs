//! The signals compared inside the SM: the outputs of its blocks and the registers behind them.
//!
//! Nothing is declared here a second time: a block's own declaration says what its outputs and its hidden state are, and the names of instances and
//! nets follow from the rule of `docs/blocks/sm.md`.

use std::mem::offset_of;

use gpurf_blocks::cache::Cache;
use gpurf_blocks::control::{BarrierUnit, BlockLauncher, FaultUnit};
use gpurf_blocks::designs::IssueGate;
use gpurf_blocks::execute::{Alu, Dispatcher, FpUnit, LaneCrossbar, ResultQueue, Sfu, SpecialRegisters, Writeback};
use gpurf_blocks::front::{Decode, Fetch, InstructionBuffer};
use gpurf_blocks::instances::{renamed, stem};
use gpurf_blocks::issue::{
    AlternatingScheduler, IssueStage, PredicateFile, Scoreboard, SimtStack, TwoLevelScheduler, WarpScheduler,
};
use gpurf_blocks::memory::{AddressUnit, Coalescer, ConstantMemory, ConstantUnit, LineTable, SharedMemory};
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::operands::OperandStage;
use gpurf_blocks::power::{AccessTable, PowerStates};
use gpurf_blocks::shape::{
    ALU_QUEUE_DEPTH, CONSTANT_QUEUE_DEPTH, CONSTANT_SOURCES, SFU_QUEUE_DEPTH, SIDE_QUEUE_DEPTH, SIDE_SOURCES, Shared,
    SmShape,
};
use gpurf_blocks::share::{ScratchpadLocks, ShareLocks, ShareThrottle};
use gpurf_blocks::unified::{UnifiedArbiter, UnifiedShared};
use gpurf_blocks::{Block, Field, Net, Ports, Shows, intern};

macro_rules! of_each_block {
    ($(#[$meta:meta])* $name:ident, $part:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        #[allow(missing_docs, reason = "each field is that of the instance of its name")]
        pub struct $name {
            pub fetch: <Fetch as Block>::$part,
            pub decode: [<Decode as Block>::$part; MAX_PORTS],
            pub instruction_buffer: <InstructionBuffer as Block>::$part,
            pub scoreboard: <Scoreboard as Block>::$part,
            pub issue_gate: <IssueGate as Block>::$part,
            /// Of whichever scheduler; the registers are those of the two-level one.
            pub warp_scheduler: <TwoLevelScheduler as Block>::$part,
            /// The registers of the single-level one.
            pub single: <WarpScheduler as Block>::$part,
            /// The registers of the alternating one.
            pub alternating: <AlternatingScheduler as Block>::$part,
            pub power_states: <PowerStates as Block>::$part,
            pub access_table: <AccessTable as Block>::$part,
            pub share_locks: <ShareLocks as Block>::$part,
            pub share_throttle: <ShareThrottle as Block>::$part,
            pub scratchpad_locks: <ScratchpadLocks as Block>::$part,
            pub issue_stage: <IssueStage as Block>::$part,
            pub predicate_file: <PredicateFile as Block>::$part,
            pub simt_stack: <SimtStack as Block>::$part,
            pub operand_stage: <OperandStage as Block>::$part,
            pub dispatcher: <Dispatcher as Block>::$part,
            pub alu: [<Alu as Block>::$part; MAX_PORTS],
            pub alu_queue: [<ResultQueue as Block>::$part; MAX_PORTS],
            pub fp_unit: [<FpUnit as Block>::$part; MAX_PORTS],
            pub fp_queue: [<ResultQueue as Block>::$part; MAX_PORTS],
            pub sfu: <Sfu as Block>::$part,
            pub sfu_queue: <ResultQueue as Block>::$part,
            pub constant_unit: <ConstantUnit as Block>::$part,
            pub constant_queue: <ResultQueue as Block>::$part,
            pub side_queue: <ResultQueue as Block>::$part,
            pub writeback: <Writeback as Block>::$part,
            pub lane_crossbar: <LaneCrossbar as Block>::$part,
            pub special_registers: <SpecialRegisters as Block>::$part,
            pub address_unit: <AddressUnit as Block>::$part,
            pub coalescer: <Coalescer as Block>::$part,
            pub line_table: <LineTable as Block>::$part,
            pub cache: <Cache as Block>::$part,
            /// Of whichever scratchpad.
            pub shared_memory: <SharedMemory as Block>::$part,
            pub unified_shared: <UnifiedShared as Block>::$part,
            pub unified_arbiter: <UnifiedArbiter as Block>::$part,
            pub constant_memory: <ConstantMemory as Block>::$part,
            pub block_launcher: <BlockLauncher as Block>::$part,
            pub barrier_unit: <BarrierUnit as Block>::$part,
            pub fault_unit: <FaultUnit as Block>::$part,
        }
    };
}

of_each_block! {
    /// The inputs of every block.
    Inputs, In
}
of_each_block! {
    /// The outputs of every block.
    Outputs, Out
}
of_each_block! {
    /// The registers of every block that no output shows.
    States, Probe
}

impl Inputs {
    pub(crate) fn zeroed() -> Self {
        // SAFETY: it is made of structs of ports, all of which have zero as a value.
        unsafe { std::mem::zeroed() }
    }
}

/// What lockstep compares inside the SM.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SmProbe {
    /// Outputs of the blocks.
    pub outputs: Outputs,
    /// Registers that no output shows.
    pub states: States,
}

/// Outputs that are not compared inside the SM, by instance and port.
const NOT_COMPARED: &[(&str, &str)] = &[
    // These outputs follow from the places of the buffer, which are compared by their write port and as memories.
    ("instruction_buffer", "head_pc_o"),
    ("instruction_buffer", "head_op_o"),
    ("instruction_buffer", "head_ctl_o"),
    ("instruction_buffer", "head_roles_o"),
    // These outputs are ports of the SM.
    ("operand_stage", "event_o"),
    ("operand_stage", "design_event_o"),
    ("operand_stage", "power_event_o"),
    ("operand_stage", "power_wait_event_o"),
    ("warp_scheduler", "event_o"),
    ("power_states", "event_o"),
    ("power_states", "wait_event_o"),
    ("access_table", "event_o"),
    ("share_locks", "event_o"),
    ("share_throttle", "event_o"),
    ("scratchpad_locks", "event_o"),
    // These outputs drive the nets of `share_locks`, whose place this block takes.
    ("scratchpad_locks", "clear_o"),
    ("scratchpad_locks", "lead_o"),
    ("scratchpad_locks", "last_o"),
    ("line_table", "mem_rsp_ready_o"),
    ("cache", "mem_rsp_ready_o"),
    ("cache", "event_o"),
    ("unified_arbiter", "event_o"),
    ("block_launcher", "busy_o"),
    ("block_launcher", "done_o"),
    ("fault_unit", "fault_o"),
    ("fault_unit", "fault_warp_o"),
    ("fault_unit", "fault_cause_o"),
    ("fault_unit", "fault_value_o"),
];

/// Outputs that are not connected, or only inside the generate block of their instance: they are read at the instance.
const OPEN: &[(&str, &str)] = &[
    ("alu_queue", "room_o"),
    ("fp_queue", "room_o"),
    ("sfu_queue", "room_o"),
    ("constant_queue", "ready_o"),
    ("side_queue", "ready_o"),
    ("access_table", "read_keep_o"),
    ("access_table", "reg_keep_o"),
];

/// Blocks of which one is there, and whose nets have a name of their own, and those that are there with one of them only: all their outputs are read at the
/// instance.
const ALTERNATIVES: [&str; 4] = ["line_table", "cache", "shared_memory", "unified_arbiter"];

/// Signals of a block that depend on the validity of one of its inputs: instance, input, and the signal that drives it.
const VALID_INPUTS: &[(&str, &str, &str)] = &[
    ("issue_stage", "issue_valid_i", "warp_scheduler_issue_valid"),
    ("operand_stage", "issue_valid_i", "issue_stage_operand_valid"),
    ("operand_stage", "write_valid_i", "writeback_write_valid"),
    ("operand_stage", "slot_valid_i", "warp_scheduler_slot_valid"),
    ("operand_stage", "candidate_valid_i", "warp_scheduler_candidate_valid"),
    ("address_unit", "in_valid_i", "dispatcher_memory_valid"),
    ("cache", "req_valid_i", "coalescer_mem_req_valid"),
];

/// Outputs that follow from a payload: they have a meaning only while the payload is valid. Instance, output, and the payload's valid.
const PAYLOADS: &[(&str, &str, &str)] = &[
    ("decode", "roles_o", "fetch_decode_valid"),
    ("issue_stage", "read_guard_o", "warp_scheduler_issue_valid"),
    ("issue_stage", "read_s_o", "warp_scheduler_issue_valid"),
    ("issue_stage", "read_t_o", "warp_scheduler_issue_valid"),
    ("predicate_file", "guard_o", "warp_scheduler_issue_valid"),
    ("predicate_file", "s_o", "warp_scheduler_issue_valid"),
    ("predicate_file", "t_o", "warp_scheduler_issue_valid"),
    ("block_launcher", "place_base_o", "dispatcher_memory_valid"),
    ("block_launcher", "place_common_o", "dispatcher_memory_valid"),
    ("scratchpad_locks", "place_released_o", "dispatcher_memory_valid"),
    ("block_launcher", "block_index_o", "constant_unit_busy"),
    ("block_launcher", "block_x_o", "constant_unit_busy"),
    ("block_launcher", "block_y_o", "constant_unit_busy"),
    ("block_launcher", "block_z_o", "constant_unit_busy"),
];

/// One instance.
#[derive(Clone, Copy)]
struct Instance {
    /// Name of the instance without `u_`: the first part of its nets' names.
    name: &'static str,
    /// Module.
    block: &'static str,
    /// Index of the port whose generate block it is in.
    port: Option<usize>,
    /// Path of the instance, if its nets are not named after it.
    at: Option<&'static str>,
}

impl Instance {
    /// Adds the fields of the instance's outputs and hidden state; the structs begin at these offsets.
    fn fields<B: Block>(self, shape: &B::Shape, outputs: usize, state: usize, fields: &mut Vec<Field>) {
        self.add(&B::Out::fields(shape), outputs, B::Probe::fields(shape), state, fields);
    }

    /// Adds the fields, from the declarations of outputs and registers.
    fn add(self, ports: &[Field], outputs: usize, registers: Vec<Field>, state: usize, fields: &mut Vec<Field>) {
        let is_port = |name: &str| ports.iter().any(|port| port.name == name);
        for mut field in ports.iter().filter(|f| self.is_compared(f.name)).cloned() {
            field.net = Net::At(intern(self.output(field.name)));
            let port = field.name;
            field.name = intern(self.signal(port));
            field.shows = field.shows.map(|shows| self.shown(shows, |valid| self.valid(valid, &is_port)));
            let payload = PAYLOADS.iter().find(|(instance, output, _)| (*instance, *output) == (self.name, port));
            let mut field = self.placed(field, outputs, &is_port);
            field.valid_by = payload.map(|&(_, _, valid)| valid).or(field.valid_by);
            fields.push(field);
        }
        for mut field in registers {
            let name = self.state(field.name);
            field.shows =
                field.shows.map(|shows| Shows { valid: shows.valid.map(|valid| self.valid(valid, &is_port)), ..shows });
            fields.push(self.placed(renamed(field, name), 0, &is_port).inside(&self.path(), state));
        }
    }

    /// A register that an output of the block shows, in the form of the SM's record.
    fn shown(self, shows: Shows, valid: impl Fn(&'static str) -> &'static str) -> Shows {
        let register = intern(format!("{}.{}", self.path(), shows.register));
        Shows { register, valid: shows.valid.map(valid), ..shows }
    }

    /// A field of the block in the form of the SM's record.
    fn placed(self, mut field: Field, offset: usize, is_port: &dyn Fn(&str) -> bool) -> Field {
        field.offset += offset;
        field.valid_by = field.valid_by.map(|valid| self.valid(valid, is_port));
        field.block = Some(self.block);
        field
    }

    /// The name in the SM's record of a port of the block.
    fn signal(self, name: &str) -> String {
        let number = self.port.map_or_else(String::new, |p| p.to_string());
        net(&format!("{}{number}", self.name), name)
    }

    /// The name in the SM's record of a register of the block, or of a net inside it.
    fn state(self, name: &str) -> String {
        if name.ends_with("_q") { self.signal(name) } else { self.signal(&format!("inner_{name}")) }
    }

    /// The name in the SM's record of the signal that makes a signal of the block valid.
    fn valid(self, name: &'static str, is_port: &dyn Fn(&str) -> bool) -> &'static str {
        let driven = VALID_INPUTS.iter().find(|(instance, input, _)| (*instance, *input) == (self.name, name));
        match driven {
            Some((_, _, signal)) => signal,
            None if !is_port(name) => intern(self.state(name)),
            None if self.is_compared(name) => intern(self.signal(name)),
            // A port of the SM, under its own name.
            None => name,
        }
    }

    /// Where the RTL has an output: at its net, or at the instance if there is no net, or only a part of one.
    fn output(self, port: &str) -> String {
        let is_open = OPEN.contains(&(self.name, port)) || ALTERNATIVES.contains(&self.name);
        if self.port.is_some() || is_open { format!("{}.{port}", self.path()) } else { net(self.name, port) }
    }

    /// The path of the instance in the RTL.
    fn path(self) -> String {
        if let Some(at) = self.at {
            return at.to_owned();
        }
        let scope = self.port.map_or_else(String::new, |p| format!("gen_port[{p}]."));
        format!("{scope}u_{}", self.name)
    }

    fn is_compared(self, port: &str) -> bool {
        !NOT_COMPARED.contains(&(self.name, port)) && !port.starts_with("mem_req_")
    }
}

/// The name of the net at an output.
fn net(instance: &str, port: &str) -> String {
    format!("{instance}_{}", stem(port))
}

macro_rules! instances {
    ($shape:ident, $fields:ident; $($name:ident: $block:ty $(, shape $own:expr)?;)+) => {$(
        #[allow(unused_variables, reason = "few blocks have another shape than the SM")]
        let own = $shape;
        $(let own = &$own;)?
        Instance { name: stringify!($name), block: <$block as Block>::NAME, port: None, at: None }.fields::<$block>(
            own,
            offset_of!(SmProbe, outputs) + offset_of!(Outputs, $name),
            offset_of!(SmProbe, states) + offset_of!(States, $name),
            &mut $fields,
        );
    )+};
}

/// The same for those in the generate block of a port, of which the structs are arrays.
macro_rules! port_instances {
    ($port:ident, $fields:ident; $($name:ident: $block:ty, shape $own:expr;)+) => {$(
        Instance { name: stringify!($name), block: <$block as Block>::NAME, port: Some($port), at: None }.fields::<$block>(
            $own,
            offset_of!(SmProbe, outputs) + offset_of!(Outputs, $name) + $port * size_of::<<$block as Block>::Out>(),
            offset_of!(SmProbe, states) + offset_of!(States, $name) + $port * size_of::<<$block as Block>::Probe>(),
            &mut $fields,
        );
    )+};
}

// SAFETY: made of structs of ports, `repr(C)`.
unsafe impl Ports for SmProbe {
    type Shape = SmShape;

    fn fields(shape: &SmShape) -> Vec<Field> {
        let mut fields = Vec::new();
        instances! { shape, fields;
            fetch: Fetch;
        }
        decode(shape, &mut fields);
        instances! { shape, fields;
            instruction_buffer: InstructionBuffer;
            scoreboard: Scoreboard;
        }
        issue_gate(shape, &mut fields);
        scheduler(shape, &mut fields);
        power(shape, &mut fields);
        share(shape, &mut fields);
        instances! { shape, fields;
            issue_stage: IssueStage;
            predicate_file: PredicateFile;
            simt_stack: SimtStack;
            operand_stage: OperandStage;
            dispatcher: Dispatcher;
        }
        let queue = shape.with_queue(ALU_QUEUE_DEPTH, 1);
        for port in 0..shape.ports() {
            port_instances! { port, fields;
                alu: Alu, shape shape;
                alu_queue: ResultQueue, shape &queue;
                fp_unit: FpUnit, shape shape;
                fp_queue: ResultQueue, shape &queue;
            }
        }
        instances! { shape, fields;
            sfu: Sfu;
            sfu_queue: ResultQueue, shape shape.with_queue(SFU_QUEUE_DEPTH, 1);
            constant_unit: ConstantUnit;
            constant_queue: ResultQueue, shape shape.with_queue(CONSTANT_QUEUE_DEPTH, CONSTANT_SOURCES);
            side_queue: ResultQueue, shape shape.with_queue(SIDE_QUEUE_DEPTH, SIDE_SOURCES);
            writeback: Writeback;
            lane_crossbar: LaneCrossbar;
            special_registers: SpecialRegisters;
            address_unit: AddressUnit;
            coalescer: Coalescer;
        }
        lines(shape, &mut fields);
        scratchpad(shape, &mut fields);
        instances! { shape, fields;
            constant_memory: ConstantMemory;
            block_launcher: BlockLauncher;
            barrier_unit: BarrierUnit;
            fault_unit: FaultUnit, shape shape.with_queue(0, shape.fault_sources());
        }
        fields
    }
}

/// The line table, or the data cache in its place.
fn lines(shape: &SmShape, fields: &mut Vec<Field>) {
    let (outputs, states) = (offset_of!(SmProbe, outputs), offset_of!(SmProbe, states));
    if !shape.caches() {
        let (name, at) = (LineTable::NAME, Some("gen_line_table.u_line_table"));
        Instance { name, block: name, port: None, at }.fields::<LineTable>(
            shape,
            outputs + offset_of!(Outputs, line_table),
            states + offset_of!(States, line_table),
            fields,
        );
        return;
    }
    // The request goes to the cache, even if the cache does not offer it to memory.
    let coalescer = Instance { name: Coalescer::NAME, block: Coalescer::NAME, port: None, at: None };
    let request =
        <Coalescer as Block>::Out::fields(shape).into_iter().filter(|field| !coalescer.is_compared(field.name));
    for mut field in request {
        field.net = Net::At(intern(format!("{}.{}", coalescer.path(), field.name)));
        field.name = intern(coalescer.signal(field.name));
        field.offset += outputs + offset_of!(Outputs, coalescer);
        field.valid_by = field.valid_by.map(|valid| intern(coalescer.signal(valid)));
        field.block = Some(Coalescer::NAME);
        field.shows = field.shows.map(|shows| coalescer.shown(shows, |valid| intern(coalescer.signal(valid))));
        fields.push(field);
    }
    let (name, at) = (Cache::NAME, Some("gen_cache.u_cache"));
    Instance { name, block: name, port: None, at }.fields::<Cache>(
        shape,
        outputs + offset_of!(Outputs, cache),
        states + offset_of!(States, cache),
        fields,
    );
}

/// Adds shared memory, or with unified memory the block in its place; the nets have the same names.
fn scratchpad(shape: &SmShape, fields: &mut Vec<Field>) {
    let (outputs, states) = (offset_of!(SmProbe, outputs), offset_of!(SmProbe, states));
    let name = SharedMemory::NAME;
    if !shape.unified() {
        let at = Some("gen_shared.u_shared_memory");
        Instance { name, block: name, port: None, at }.fields::<SharedMemory>(
            shape,
            outputs + offset_of!(Outputs, shared_memory),
            states + offset_of!(States, shared_memory),
            fields,
        );
        return;
    }
    let (block, at) = (UnifiedShared::NAME, Some("gen_unified.u_unified_shared"));
    Instance { name, block, port: None, at }.fields::<UnifiedShared>(
        shape,
        outputs + offset_of!(Outputs, unified_shared),
        states + offset_of!(States, unified_shared),
        fields,
    );
    let (name, at) = (UnifiedArbiter::NAME, Some("gen_unified.u_unified_arbiter"));
    Instance { name, block: name, port: None, at }.fields::<UnifiedArbiter>(
        shape,
        outputs + offset_of!(Outputs, unified_arbiter),
        states + offset_of!(States, unified_arbiter),
        fields,
    );
}

/// Adds one decoder for each fetch path. Its output is an array; an element is valid if its path has read an instruction.
fn decode(shape: &SmShape, fields: &mut Vec<Field>) {
    let outputs = offset_of!(SmProbe, outputs) + offset_of!(Outputs, decode);
    let of_one = fields.len();
    let instance = Instance { name: "decode", block: Decode::NAME, port: None, at: None };
    instance.fields::<Decode>(shape, outputs, 0, fields);
    for field in &mut fields[of_one..] {
        (field.array, field.capacity, field.count) = (true, MAX_PORTS, shape.ports());
    }
}

/// Adds the issue gate, if the design has one; otherwise its net is that of `scoreboard`.
fn issue_gate(shape: &SmShape, fields: &mut Vec<Field>) {
    let Some((of_gate, at)) = shape.organisation.issue_gate(&shape.stage_sizes()) else { return };
    let outputs = offset_of!(SmProbe, outputs) + offset_of!(Outputs, issue_gate);
    let state = offset_of!(SmProbe, states) + offset_of!(States, issue_gate);
    let instance = Instance { name: IssueGate::NAME, block: IssueGate::NAME, port: None, at: Some(at) };
    instance.fields::<IssueGate>(&of_gate, outputs, state, fields);
}

/// Adds power states, if registers have them; otherwise the net at `clear_o` is that of the issue gate.
fn power(shape: &SmShape, fields: &mut Vec<Field>) {
    if shape.power_entries == 0 {
        return;
    }
    let (outputs, states) = (offset_of!(SmProbe, outputs), offset_of!(SmProbe, states));
    if !shape.services().keeps_states {
        let (name, at) = (PowerStates::NAME, Some("gen_power.gen_states.u_power_states"));
        Instance { name, block: name, port: None, at }.fields::<PowerStates>(
            shape,
            outputs + offset_of!(Outputs, power_states),
            states + offset_of!(States, power_states),
            fields,
        );
    }
    let (name, at) = (AccessTable::NAME, Some("gen_power.u_access_table"));
    Instance { name, block: name, port: None, at }.fields::<AccessTable>(
        shape,
        outputs + offset_of!(Outputs, access_table),
        states + offset_of!(States, access_table),
        fields,
    );
}

/// Adds locks, if blocks may share registers or scratchpad memory; otherwise the net at `clear_o` is that of power states.
fn share(shape: &SmShape, fields: &mut Vec<Field>) {
    match shape.share {
        Shared::Nothing => {}
        Shared::Registers => share_locks(shape, fields),
        Shared::Scratchpad => scratchpad_locks(shape, fields),
    }
}

/// This block drives the nets that `share_locks` drives where registers are shared.
fn scratchpad_locks(shape: &SmShape, fields: &mut Vec<Field>) {
    let (outputs, states) = (offset_of!(SmProbe, outputs), offset_of!(SmProbe, states));
    let (block, at) = (ScratchpadLocks::NAME, Some("gen_scratchpad.u_scratchpad_locks"));
    let ports = <ShareLocks as Block>::Out::fields(shape);
    let in_its_place = Instance { name: ShareLocks::NAME, block, port: None, at };
    in_its_place.add(&ports, outputs + offset_of!(Outputs, share_locks), Vec::new(), 0, fields);
    Instance { name: block, block, port: None, at }.fields::<ScratchpadLocks>(
        shape,
        outputs + offset_of!(Outputs, scratchpad_locks),
        states + offset_of!(States, scratchpad_locks),
        fields,
    );
}

/// Adds the locks of registers, and the throttle, if there is one.
fn share_locks(shape: &SmShape, fields: &mut Vec<Field>) {
    let (outputs, states) = (offset_of!(SmProbe, outputs), offset_of!(SmProbe, states));
    let (name, at) = (ShareLocks::NAME, Some("gen_share.u_share_locks"));
    Instance { name, block: name, port: None, at }.fields::<ShareLocks>(
        shape,
        outputs + offset_of!(Outputs, share_locks),
        states + offset_of!(States, share_locks),
        fields,
    );
    if shape.throttle == 0 {
        return;
    }
    let (name, at) = (ShareThrottle::NAME, Some("gen_share.gen_throttle.u_share_throttle"));
    Instance { name, block: name, port: None, at }.fields::<ShareThrottle>(
        shape,
        outputs + offset_of!(Outputs, share_throttle),
        states + offset_of!(States, share_throttle),
        fields,
    );
}

/// Adds the scheduler of the SM. The nets are the same for every scheduler.
fn scheduler(shape: &SmShape, fields: &mut Vec<Field>) {
    let slots = shape.of_slots();
    let outputs = offset_of!(SmProbe, outputs) + offset_of!(Outputs, warp_scheduler);
    let mut ports = <TwoLevelScheduler as Block>::Out::fields(&slots);
    let states = offset_of!(SmProbe, states);
    let name = "warp_scheduler";
    if shape.active == 0 {
        let at = Some("gen_single.u_warp_scheduler");
        let registers = <WarpScheduler as Block>::Probe::fields(shape);
        let instance = Instance { name, block: WarpScheduler::NAME, port: None, at };
        instance.add(&ports, outputs, registers, states + offset_of!(States, single), fields);
    } else if shape.alternate {
        let at = Some("gen_alternating.u_alternating_scheduler");
        // Its own ports are among these, and show registers that the other scheduler does not have.
        let own = <AlternatingScheduler as Block>::Out::fields(shape);
        for port in &mut ports {
            port.shows = own.iter().find(|own| own.name == port.name).and_then(|own| own.shows);
        }
        let registers = <AlternatingScheduler as Block>::Probe::fields(shape);
        let instance = Instance { name, block: AlternatingScheduler::NAME, port: None, at };
        instance.add(&ports, outputs, registers, states + offset_of!(States, alternating), fields);
    } else {
        let at = Some("gen_two_level.u_two_level_scheduler");
        let registers = <TwoLevelScheduler as Block>::Probe::fields(&slots);
        let instance = Instance { name, block: TwoLevelScheduler::NAME, port: None, at };
        instance.add(&ports, outputs, registers, states + offset_of!(States, warp_scheduler), fields);
    }
}
