//! The contract of a register-file design: `docs/designs.md`.
//!
//! A design provides operands to the operand stage. It declares what the rest of the project needs to know in one [`Design`], and
//! implements [`RegisterFile`]. [`crate::designs`] lists the designs; adding one is a line there.

use crate::config::{Config, Preset, Selection};
use crate::entry::Entry;
use crate::instruction::{Instruction, Roles, long_latency, marked, unit};
use crate::mrf::bits::is_set;
use crate::mrf::{MAX_PORTS, MAX_SLOTS, MrfIn, MrfOut, MrfProbe};
use crate::power::sources_left;
use crate::sizes::{MAX_ACTIVE, StageSizes};
use crate::unified::{Columns, ColumnsFree};
use crate::{Block, Field, OPERANDS, WarpData};

/// Maximum number of event words of a design: `DesignEvents` of `gpurf_pkg`.
pub const DESIGN_EVENTS: usize = 3;
/// Width of a design's event word, and of a scheduler's.
pub const DESIGN_EVENT_BITS: u32 = 64;
/// Width of a design's straps: `DesignCfgW` of `gpurf_pkg`.
pub const DESIGN_CFG_BITS: u32 = 128;
/// Width of a set of places of a slot: `wait_o` of the operand stage.
pub const PLACE_SET_BITS: u32 = 11;
const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

/// Fields of an event word, most significant first: name and width in bits. The word's unused upper bits are 0.
pub type EventWord = &'static [(&'static str, u32)];

/// Everything that the project has to know about a design, declared once in the design's folder.
pub struct Design {
    /// Name of the design's module and of its folders.
    pub name: &'static str,
    /// Blocks of the design, leaves first.
    pub blocks: &'static [Entry],
    /// Event words of the design, in the order of `design_event_o`.
    pub events: &'static [EventWord],
    /// Fields of event words whose values are counted one by one, each with the field that is not 0 in the cycles that count.
    pub spreads: &'static [(&'static str, &'static str)],
    /// Services that the design requests from the SM.
    pub services: Services,
    /// How the configuration selects the design, with its rules and presets.
    pub selection: &'static Selection,
    /// The preset with most features, which represents the design where one preset has to do.
    pub main_preset: &'static str,
    /// The design's straps for a configuration, as its packed struct of straps in `gpurf_pkg`.
    pub straps: fn(&Config) -> u128,
    /// What `cfg_i` of a block of the design is tied to, by the block's name, the order of a bank's reads (1 bit) and the
    /// design's straps. `None`: not a block with straps of this design.
    pub cfg_of_block: fn(&str, u8, u128) -> Option<u64>,
    /// The design's sizes in a few words, from the RTL parameter `Sizes`.
    pub size_words: fn(u32) -> String,
    /// Meaning of these words; empty: there are none.
    pub legend: &'static str,
    /// The policies that the straps of a block select, in words. Arguments: the block's name ([`STAGE`]: the whole design), the configuration,
    /// the words for the order of a bank's reads. `None`: only that order.
    pub policy_words: fn(&str, &Config, &str) -> Option<String>,
}

impl Design {
    /// A design that declares nothing: the main register file's declaration, without its name, its blocks and its presets.
    pub(crate) const PLAIN: Self = Self {
        name: "",
        blocks: &[],
        events: &[],
        spreads: &[],
        services: Services::NEUTRAL,
        selection: &Selection::NONE,
        main_preset: "",
        straps: |_| 0,
        cfg_of_block: |_, _, _| None,
        size_words: |_| String::new(),
        legend: "",
        policy_words: |_, _, _| None,
    };

    /// Its main preset.
    ///
    /// # Panics
    /// When there is no such preset: a mistake in the declaration.
    pub fn preset(&self) -> &'static Preset {
        let mut presets = self.selection.presets.iter();
        presets.find(|preset| preset.name == self.main_preset).expect("a design declares its main preset")
    }

    /// The configuration of its main preset.
    ///
    /// # Panics
    /// As [`Self::preset`].
    pub fn config(&self) -> Config {
        self.preset().config
    }

    /// Whether a module is the design itself or is inside it, at any depth.
    pub fn contains(&self, module: &str) -> bool {
        self.blocks.iter().any(|block| block.name == self.name && block.contains(module))
    }
}

/// The name that stands for the whole design when the words of all its policies are requested.
pub const STAGE: &str = "operand_stage";

/// Joins the words that are not empty.
pub(crate) fn joined(words: &[&str], between: &str) -> String {
    words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(between)
}

/// Services that a design requests from the SM. The default is neutral: the services that the main register file needs.
#[derive(Clone, Copy, Debug)]
pub struct Services {
    /// Instructions that the design holds in stages in front of its operand collectors, as a function of the number of issue ports.
    pub front_places: fn(usize) -> usize,
    /// An even warp and the next warp share their row numbers, in two banks.
    pub pairs_rows: bool,
    /// Maximum number of registers of a warp.
    pub max_registers: usize,
    /// Schedulers name candidates, for which the design may read operands.
    pub takes_candidates: bool,
    /// A register is reported to scoreboard and scheduler when the design has taken its result.
    pub reports_taken: bool,
    /// The design reads slots, marks and levels of instructions.
    pub reads_fields: bool,
    /// The design keeps values for the warps of slots: a slot has to be flushed before another warp takes it.
    pub keeps_slots: bool,
    /// The handling of a result follows from state alone: `write_ready_o`, `write_done_o`.
    pub early_results: bool,
    /// Reads and writes may wait for each other.
    pub has_conflicts: bool,
    /// The roles of an instruction without the registers that are not accessed in the main register file, from the design's sizes (the RTL
    /// parameter `Sizes`), the roles, operation word and control word. `None`: its accesses there are not known at issue, and its registers have
    /// no power states.
    pub main_roles: Option<MainRoles>,
    /// The design keeps the power states of the main register file's words itself, because it learns of the accesses later.
    pub keeps_states: bool,
    /// Scratchpad memory and data cache may be in the banks of the main register file: unified memory.
    pub serves_memory: bool,
}

/// See [`Services::main_roles`].
pub type MainRoles = fn(u32, Roles, u64, u64) -> Roles;

impl Services {
    /// The services that the main register file needs.
    pub const NEUTRAL: Self = Self {
        front_places: |_| 0,
        pairs_rows: false,
        max_registers: 256,
        takes_candidates: false,
        reports_taken: false,
        reads_fields: false,
        keeps_slots: false,
        early_results: true,
        has_conflicts: true,
        main_roles: None,
        keeps_states: false,
        serves_memory: false,
    };

    /// Value of `main_roles` where all registers of an instruction are accessed in the main register file.
    pub(crate) const ALL_MAIN: Option<MainRoles> = Some(|_, roles, _, _| roles);
}

/// The sizes of a design beyond those of the SM and of the main register file.
pub(crate) trait DesignSizes {
    /// The sizes for a configuration that selects the design.
    fn of(config: &Config) -> Self;

    /// The packed struct of sizes of `gpurf_pkg`: the RTL parameter `Sizes`.
    fn word(&self) -> u32 {
        0
    }

    /// Whether the design reads the first rows of the slots' warps.
    fn reads_slot_rows(&self) -> bool {
        false
    }
}

/// A field inside the register file that is valid by a port of the file: in an operand stage this port is a net.
pub(crate) fn valid_by_nets(mut field: Field) -> Field {
    let nets = [
        ("issue_src_valid_i", "issue_src_valid"),
        ("candidate_src_valid_i", "candidate_src_valid"),
        ("hint_valid_i", "hint_valid"),
    ];
    if let Some((_, net)) = nets.iter().find(|(port, _)| field.valid_by == Some(port)) {
        field.valid_by = Some(net);
    }
    field
}

/// The straps that a design gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DesignCfg {
    /// Order among the reads of a bank: 0 oldest first, 1 round robin.
    pub read_order: u8,
    /// The design's own straps.
    pub straps: u128,
}

/// The slots of the two-level or the alternating scheduler, in a cycle.
#[derive(Clone, Copy)]
pub struct SlotView<'a> {
    /// Slots that have a warp.
    pub valid: u64,
    /// Slots to flush.
    pub flush: u64,
    /// Of these, slots whose values are dropped without write-back.
    pub drop: u64,
    /// The warp of each slot.
    pub warp: &'a [u8; MAX_ACTIVE],
}

impl SlotView<'_> {
    /// No slots.
    pub const NONE: SlotView<'static> = SlotView { valid: 0, flush: 0, drop: 0, warp: &[0; MAX_ACTIVE] };
}

/// Where the warps' rows are in the register file.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    /// Bits of a row's number.
    bits: u16,
    /// Bits of a warp's number that select rows.
    warps: u8,
    /// Rows of a warp in this cycle.
    pub(crate) count: u8,
}

impl Rows {
    /// The rows of a file of `depth` rows; `pairs`: [`Services::pairs_rows`].
    pub(crate) fn new(depth: usize, pairs: bool) -> Self {
        Self { bits: (depth.next_power_of_two() - 1) as u16, warps: if pairs { !1 } else { u8::MAX }, count: 0 }
    }

    /// The first row of a warp.
    #[inline]
    pub(crate) fn first(self, warp: u8) -> u16 {
        (u16::from(warp & self.warps) * u16::from(self.count)) & self.bits
    }
}

/// Fields of an issuing instruction that a design gets in addition to those for the main register file.
#[derive(Clone, Copy, Default)]
pub(crate) struct IssueFields {
    /// Slot of the warp.
    pub(crate) slot: [u8; MAX_PORTS],
    /// Register written; 255: none.
    pub(crate) dst: [u8; MAX_PORTS],
    /// Last reads: three bits a port.
    pub(crate) last: u8,
    /// Ports whose instruction takes a result from memory.
    pub(crate) long: u8,
    /// Ports whose result bypasses the register file cache, and its LRF.
    pub(crate) bypass: u8,
    pub(crate) past: u8,
    /// Ports whose instruction executes in a private unit.
    pub(crate) private: u8,
    /// Levels of sources and result.
    pub(crate) src_level: [u8; MAX_SOURCES],
    pub(crate) dst_level: [u8; MAX_PORTS],
    /// Ports whose instruction ends its strand, whether it reads operands or not.
    pub(crate) end: u8,
    /// The power state in which each source is left.
    pub(crate) left: [u8; MAX_SOURCES],
}

/// Inputs of a design that keeps power states: sources of dispatched instructions that another instruction accesses too, three bits a port, and
/// warps that have ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PowerSide {
    pub(crate) keep: u8,
    pub(crate) over: u64,
}

impl IssueFields {
    /// Adds the instruction on port `p`, whose warp is in a slot.
    #[inline]
    pub(crate) fn add(&mut self, p: usize, instruction: &Instruction, slot: u8) {
        let (ctl, roles) = (instruction.ctl(), instruction.roles());
        let set = |mask: &mut u8, bit: bool| *mask = *mask & !(1 << p) | u8::from(bit) << p;
        (self.slot[p], self.dst[p]) = (slot, roles.d());
        let last = (ctl >> marked::LAST_READ) as u8 & 0b111;
        self.last = self.last & !(0b111 << (OPERANDS * p)) | last << (OPERANDS * p);
        let level = |low: u32| (ctl >> low) as u8 & 0x1f;
        for k in 0..OPERANDS {
            self.src_level[OPERANDS * p + k] = level(marked::SOURCE_LEVEL + marked::LEVEL_BITS * k as u32);
        }
        self.dst_level[p] = level(marked::RESULT_LEVEL);
        self.left[OPERANDS * p..][..OPERANDS].copy_from_slice(&sources_left(roles, ctl));
        set(&mut self.long, long_latency(instruction.op(), roles.d()));
        set(&mut self.bypass, is_set(ctl, marked::BYPASS as usize));
        set(&mut self.past, is_set(ctl, marked::LRF_BYPASS as usize));
        set(&mut self.private, is_private(roles));
    }
}

/// Whether an instruction executes in an ALU or a single precision unit.
#[inline]
fn is_private(roles: Roles) -> bool {
    matches!(roles.unit(), unit::ALU | unit::FP)
}

/// Candidates of the schedulers, dead registers, and the start of a grid.
#[derive(Clone, Copy, Default)]
pub(crate) struct Candidates {
    /// Ports with a candidate; then for each candidate its warp, the first row of the warp, and its registers.
    pub(crate) candidate_valid: u8,
    pub(crate) candidate_warp: [u8; MAX_PORTS],
    pub(crate) candidate_base: [u16; MAX_PORTS],
    pub(crate) candidate_src_valid: u8,
    pub(crate) candidate_src_reg: [u8; MAX_SOURCES],
    /// Buses whose result the next instruction of its warp reads.
    pub(crate) write_next: u8,
    /// A grid is about to begin; whether the last row is spare.
    pub(crate) clear: Option<bool>,
    /// Dispatch ports whose instruction names a dead register; then this register, and the first row of its warp.
    pub(crate) hint_valid: u8,
    pub(crate) hint_base: [u16; MAX_PORTS],
    pub(crate) hint_reg: [u8; MAX_PORTS],
}

/// Inputs of a design in a cycle, in addition to those of the main register file.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sideband {
    pub(crate) cfg: DesignCfg,
    pub(crate) fields: IssueFields,
    pub(crate) candidates: Candidates,
    pub(crate) power: PowerSide,
}

/// The operand collectors in a cycle, for any design.
#[derive(Clone, Copy, Debug)]
pub struct CollectorView {
    /// Collectors with an instruction.
    pub busy: u16,
    /// Collectors that have all operands of their instruction.
    pub complete: u16,
    /// Bit 3c+k: collector c still needs operand k.
    pub wanted: u64,
    /// Operands that are read at this clock edge.
    pub granted: u64,
    /// Dispatch ports with an instruction.
    pub dispatch: u8,
    /// The collector of each of these instructions.
    pub leaving: [u8; MAX_PORTS],
}

/// Banks of the main register file and the queues of results in front of them, in a cycle.
#[derive(Clone, Copy, Debug)]
pub struct BankView {
    /// Banks that are read.
    pub read: u32,
    /// Banks that are written.
    pub written: u32,
    /// Element 3c+k: the bank of operand k of collector c, as long as the collector needs it.
    pub wanted: [u8; MAX_SLOTS],
    /// Queues with a result.
    pub heads: u8,
    /// The bank of each of these queues' results.
    pub head_bank: [u8; MAX_PORTS],
    /// Queues whose result is written.
    pub granted: u8,
}

/// Results that a design parks in another place than their own in a cycle, to bring them back later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParkingView {
    /// Buses whose result is parked at this clock edge.
    pub parked: u8,
    /// The place of each of these results.
    pub place: [u8; MAX_PORTS],
    /// Places whose parked value leaves them at this clock edge.
    pub left: u32,
}

impl CollectorView {
    /// The collectors of the main register file.
    pub(crate) fn of(probe: &MrfProbe) -> Self {
        let &MrfProbe { busy, complete, req_valid, grant, dispatch_valid, dispatch_col, .. } = probe;
        Self { busy, complete, wanted: req_valid, granted: grant, dispatch: dispatch_valid, leaving: dispatch_col }
    }
}

impl BankView {
    /// The banks of the main register file.
    pub(crate) fn of(probe: &MrfProbe) -> Self {
        let &MrfProbe { read_valid, bank_write_valid, req_bank, head_valid, head_bank, write_grant, .. } = probe;
        Self {
            read: read_valid,
            written: bank_write_valid,
            wanted: req_bank,
            heads: head_valid,
            head_bank,
            granted: write_grant,
        }
    }
}

/// Power states of the main register file's words that a design keeps: bit r mod 64 of element 4w + r / 64 is that of register r of warp w.
#[derive(Clone, Copy, Debug)]
pub struct WordStates<'a> {
    /// Words that are OFF.
    pub off: &'a [u64],
    /// Words in SLEEP.
    pub asleep: &'a [u64],
}

/// Event words of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// `mrf_event_t`.
    pub mrf: u64,
    /// The design's event words.
    pub design: [u64; DESIGN_EVENTS],
}

/// A design's twin as the operand stage uses it. A cycle is: [`present`](Self::present), [`settle`](Self::settle),
/// [`edge`](Self::edge), [`show`](Self::show). All designs have the inputs and outputs of the main register file.
pub(crate) trait RegisterFile: Block {
    /// The design's declaration.
    const DESIGN: Design;
    /// The design's sizes.
    type Sizes: DesignSizes + Copy;

    /// The design's shape in an SM.
    fn shape(stage: &StageSizes, sizes: &Self::Sizes) -> Self::Shape;

    /// The fields that lockstep compares inside the design, with names as in an operand stage.
    fn fields(stage: &StageSizes, sizes: &Self::Sizes) -> Vec<Field>;

    /// Begins a cycle: decides everything that follows from state, straps and slots, and fills the outputs for results.
    fn present(&mut self, cfg: DesignCfg, slots: &SlotView<'_>, rows: Rows, shown: &mut MrfOut);

    /// Settles the cycle. Returns the events.
    fn settle(&mut self, given: &mut MrfIn, side: &Sideband, shown: &mut MrfOut) -> Events;

    /// The clock edge. `write_data`: the data of a bus's result.
    fn edge<'a>(&mut self, given: &MrfIn, side: &Sideband, write_data: impl Fn(usize) -> &'a WarpData);

    /// Fills the outputs that depend on state alone, without the operands.
    fn show(&self, shown: &mut MrfOut);

    /// Operands of the instruction that is offered on dispatch port `p`.
    fn operands(&self, p: usize) -> &[WarpData; OPERANDS];

    /// Whether a clock edge changes nothing, except in reset.
    fn is_quiet(&self, given: &MrfIn, side: &Sideband) -> bool;

    /// Whether nothing moves between the register file and its ports: offered instructions wait for their units.
    fn is_still(&self) -> bool;

    /// Records the values that lockstep compares inside the design.
    fn record(&self, given: &MrfIn, side: &Sideband, shown: &MrfOut, probe: &mut Self::Probe);

    /// Events of the power states that the design keeps: `power_event_t`, `power_wait_event_t`.
    fn power_events(&self) -> (u64, u16) {
        (0, 0)
    }

    /// Whether ended warps change no power state that the design keeps.
    fn words_are_still(&self, _over: u64) -> bool {
        true
    }

    /// Service *unified memory*: the columns of the design's banks.
    fn columns(&self) -> Option<&Columns> {
        None
    }

    /// Service *unified memory*: the columns, to change them.
    fn columns_mut(&mut self) -> Option<&mut Columns> {
        None
    }

    /// Service *unified memory*: the column ports that registers leave free in this cycle. This follows from state alone.
    fn columns_free(&self) -> ColumnsFree {
        ColumnsFree::default()
    }

    /// The design's operand collectors, from a record.
    fn collectors(probe: &Self::Probe) -> CollectorView;

    /// The design's banks and the queues in front of them, from a record. `None`: the design has banks of another kind.
    fn banks(probe: &Self::Probe) -> Option<BankView>;

    /// Power states that the design keeps, from a record. `None`: the design keeps none.
    fn word_states(_: &Self::Probe) -> Option<WordStates<'_>> {
        None
    }

    /// Results that the design parks, from a record.
    fn parking(_: &Self::Probe) -> ParkingView {
        ParkingView::default()
    }

    /// Service *slots*: slots of `flush` with no value left.
    #[inline]
    fn flush_done(&self, flush: u64) -> u64 {
        flush
    }

    /// Service *levels*: slots that their warps may leave, among all slots.
    #[inline]
    fn void(&self, all: u64) -> u64 {
        all
    }

    /// Service *levels*: pending places of each slot, and the slots with one.
    #[inline]
    fn waits(&self) -> (&[u16; MAX_ACTIVE], u64) {
        (&[0; MAX_ACTIVE], 0)
    }

    /// Service *candidates*: ports that issue the candidate of the previous cycle.
    #[inline]
    fn candidate_issue(&self) -> u8 {
        0
    }
}
