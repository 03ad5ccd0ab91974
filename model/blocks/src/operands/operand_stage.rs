//! `operand_stage`: the seam between the pipeline and the register file. `docs/blocks/operand_stage.md`.

mod nets;

pub use nets::{OperandStageNets, OperandStageProbe};

use crate::design::{
    Candidates, DESIGN_CFG_BITS, DESIGN_EVENT_BITS, DESIGN_EVENTS, DesignCfg, Events, PLACE_SET_BITS, PowerSide, Rows,
    Sideband, SlotView,
};
use crate::designs::Provider;
pub use crate::instruction::Issued;
use crate::instruction::{Instruction, NO_REG, Roles, marked};
use crate::mrf::bits::{is_set, only, set_bits};
use crate::mrf::{MAX_PORTS, MRF_EVENT, MrfIn, MrfOut};
use crate::power::{POWER_EVENT, POWER_WAIT_EVENT};
use crate::shape::SmShape;
use crate::share::RegisterLayout;
use crate::sizes::{MAX_ACTIVE, WARP_NUMBERS};
use crate::unified::{Accesses, COLUMNS_INPUTS, ColumnsFree, ColumnsIn, ColumnsOut, WORDS};
use crate::write::{WriteWord, WrittenWord};
use crate::{
    Block, Decode, LANES, Memory, OPERANDS, Packed, PackedMemory, Ports, WARP_BITS, WARP_DATA_BITS, WarpData, Wide,
    field, packed, ports,
};

const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;
/// Places for instructions: more than there are tags, so that no tag has to be checked.
const PLACES: usize = 32;
/// 32-bit words of an instruction.
const INSTRUCTION_WORDS: usize = Instruction::BITS.div_ceil(u32::BITS) as usize;

ports! {
    /// Inputs of [`OperandStage`].
    pub struct OperandStageIn(s: &SmShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Slots of the two-level scheduler that have a warp.
        slot_valid_i: u64 = field(s.slots()),
        /// Slots that are to be emptied.
        flush_i: u64 = field(s.slots()),
        /// Slots that are emptied without write-back.
        drop_i: u64 = field(s.slots()),
        /// Active lanes.
        issue_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("issue_valid_i"),
        /// Instruction offered on port p.
        issue_instruction_i: [Instruction; MAX_PORTS] =
            packed::<Instruction>().count(s.ports()).valid_by("issue_valid_i"),
        /// Warps that have ended.
        over_i: u64 = field(WARP_NUMBERS as u32),
        /// The design's straps.
        design_cfg_i: Wide<4> = field(DESIGN_CFG_BITS),
        /// Roles of the heads of the schedulers' candidates.
        candidate_roles_i: [u64; MAX_PORTS] = packed::<Roles>().count(s.ports()).valid_by("candidate_valid_i"),
        /// Layout of the register file, read where registers are handed out one by one.
        layout_i: u64 = packed::<RegisterLayout>(),
        /// Result offered on bus p.
        write_i: [WriteWord; MAX_PORTS] = packed::<WriteWord>().count(s.ports()).valid_by("write_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Order among the reads of a bank: 0 oldest first, 1 round robin.
        cfg_i: u8 = field(1),
        /// The warp of each slot.
        slot_warp_i: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.slots()).valid_by("slot_valid_i"),
        /// Slot of the warp that issues.
        issue_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()),
        /// The instruction that issues on port p, whether it comes here or not, ends its strand.
        issue_end_i: u8 = field(s.ports()),
        /// The next instruction of the result's warp reads the register.
        write_next_i: u8 = field(s.ports()),
        /// Rows of the register file that a warp has.
        rows_i: u8 = field(8),
        /// An instruction is offered on port p.
        issue_valid_i: u8 = field(s.ports()),
        /// Warp of the instruction offered on port p.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// A result is offered on bus p.
        write_valid_i: u8 = field(s.ports()),
        /// The instruction offered on dispatch port p is taken at this edge if also valid.
        dispatch_ready_i: u8 = field(s.ports()),
        /// The scheduler of port p names a candidate.
        candidate_valid_i: u8 = field(s.ports()),
        /// Warp of the candidate of port p.
        candidate_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("candidate_valid_i"),
        /// Bit 3p+k: another instruction accesses source k of what is dispatched on port p.
        dispatch_keep_i: u8 = field(s.mrf.sources()),
        /// A grid is about to begin.
        clear_i: u8 = field(1),
        /// The last row belongs to no warp of the grid.
        spare_i: u8 = field(1).valid_by("clear_i"),
    } +
    /// What memory asks of the columns.
    columns: ColumnsIn as &s.mrf
}

ports! {
    /// Outputs of [`OperandStage`].
    pub struct OperandStageOut(s: &SmShape) {
        /// Operands of the offered instruction.
        dispatch_data_o: [WarpData; MAX_SOURCES] =
            field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("dispatch_src_valid_o").early(),
        /// Events of the main register file: `mrf_event_t`.
        event_o: u64 = field(50).shown(Decode::Packed(MRF_EVENT)),
        /// Event words of the design (docs/designs.md).
        design_event_o: [u64; DESIGN_EVENTS] =
            field(DESIGN_EVENT_BITS).count(DESIGN_EVENTS).shown(Decode::PackedEach(s.organisation.design().events)),
        /// Nothing is left of slot s.
        flush_done_o: u64 = field(s.slots()),
        /// Events of power states that the design keeps: `power_event_t`.
        power_event_o: u64 = field(56).shown(Decode::Packed(POWER_EVENT)),
        /// Events of power states that the design keeps: `power_wait_event_t`.
        power_wait_event_o: u16 = field(12).shown(Decode::Packed(POWER_WAIT_EVENT)),
        /// The warp may leave slot s here.
        void_o: u64 = field(s.slots()).early(),
        /// Active lanes.
        dispatch_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("dispatch_valid_o").early(),
        /// Instruction offered on dispatch port p.
        dispatch_instruction_o: [Instruction; MAX_PORTS] =
            packed::<Instruction>().count(s.ports()).valid_by("dispatch_valid_o").early(),
        /// Places of slot s to which something is under way.
        wait_o: [u16; MAX_ACTIVE] = field(PLACE_SET_BITS).count(s.slots()).early(),
        /// The completed write.
        written_o: [WrittenWord; MAX_PORTS] =
            packed::<WrittenWord>().count(s.ports()).valid_by("write_done_o").early_when(s.services().early_results),
        /// The instruction on port p is taken at this edge if also valid.
        issue_ready_o: u8 = field(s.ports()).early(),
        /// The result on bus p is taken at this edge if also valid.
        write_ready_o: u8 = field(s.ports()).early_when(s.services().early_results),
        /// A result has gone into its bank, or into the cache.
        write_done_o: u8 = field(s.ports()).early_when(s.services().early_results),
        /// The candidate of the cycle before issues on port p.
        candidate_issue_o: u8 = field(s.ports()),
        /// An instruction with all its operands is offered.
        dispatch_valid_o: u8 = field(s.ports()).early(),
        /// Warp of the instruction with all its operands.
        dispatch_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("dispatch_valid_o").early(),
        /// Bit 3p+k: `dispatch_valid_o[p]` and source k came from a register.
        dispatch_src_valid_o: u8 = field(s.mrf.sources()).early(),
    } +
    /// What the columns say to memory.
    columns: ColumnsOut as &s.mrf
}

/// An instruction with all its operands.
#[derive(Clone, Copy, Debug)]
pub struct Dispatched<'a> {
    /// The instruction.
    pub issued: Issued,
    /// Bit k: source k came from a register.
    pub src_valid: u8,
    /// Operands. Those of sources that are not registers have no meaning.
    pub data: &'a [WarpData; OPERANDS],
}

impl<'a> Dispatched<'a> {
    /// Source `k`, if it came from a register.
    #[inline]
    pub fn source(&self, k: usize) -> Option<&'a WarpData> {
        is_set(self.src_valid, k).then_some(&self.data[k])
    }
}

/// Requests an instruction's operands from a provider, keeps the rest of the instruction meanwhile, and offers it with its
/// operands. The provider is the register-file design of the shape's organisation (`docs/designs.md`).
///
/// The SM uses the stage directly, not through its ports. In a cycle it presents the slots ([`see`](Self::see)), offers
/// instructions, results and candidates ([`issue`](Self::issue), [`write`](Self::write), [`name`](Self::name)), says which
/// instructions are taken ([`settle`](Self::settle)), and ends the cycle with [`edge`](Self::edge). Operands and results
/// are read in place, never moved.
#[derive(Clone)]
pub struct OperandStage {
    provider: Provider,
    /// Inputs of the provider in this cycle, and its outputs (but for 1024-bit data).
    given: MrfIn,
    side: Sideband,
    shown: MrfOut,
    /// Slots to flush in this cycle.
    flush: u64,
    ports: usize,
    /// All places that exist.
    all: u32,
    rows: Rows,
    /// Number of low bits of a register number that select its bank.
    bank_w: u32,
    /// The provider reads the fields of instructions.
    reads_fields: bool,
    /// Schedulers name candidates.
    takes_candidates: bool,
    /// The provider reads the rows of the slots' warps.
    slot_rows: bool,
    /// The design's handling of results follows from state alone.
    early_results: bool,
    unified: bool,
    /// The set of all slots.
    all_slots: u64,
    slot_busy_q: u32,
    /// Instructions in the provider, by place, in 32-bit words: the form in which the harness reads them.
    instruction_q: [[u32; INSTRUCTION_WORDS]; PLACES],
    /// The instructions that are offered in this cycle.
    offered: [Issued; MAX_PORTS],
}

impl OperandStage {
    /// Begins a cycle with the slots of the scheduler, the straps, the rows of a warp and the layout of the file. The readiness
    /// for results and the state of the slots follow from them.
    #[inline]
    pub fn see(&mut self, cfg: DesignCfg, slots: &SlotView<'_>, rows: u8, layout: RegisterLayout) {
        (self.side.cfg, self.rows.count, self.flush) = (cfg, rows, slots.flush);
        self.given.layout_i = layout.0;
        self.provider.present(cfg, slots, self.rows, &mut self.shown);
    }

    /// Ports that issue the candidate of the previous cycle.
    #[inline]
    pub fn candidate_issue(&self) -> u8 {
        self.provider.candidate_issue()
    }

    /// Flushed slots with no value left.
    #[inline]
    pub fn flush_done(&self) -> u64 {
        self.provider.flush_done(self.flush)
    }

    /// Slots that their warps may leave, as far as the register file is concerned.
    #[inline]
    pub fn void(&self) -> u64 {
        self.provider.void(self.all_slots)
    }

    /// Pending places of each slot, and the slots with one.
    #[inline]
    pub fn waits(&self) -> (&[u16; MAX_ACTIVE], u64) {
        self.provider.waits()
    }

    /// Whether the design needs to know which results the next instruction reads.
    #[inline]
    pub fn asks_for_readers(&self) -> bool {
        self.takes_candidates
    }

    /// Ports on which an instruction is taken.
    #[inline]
    pub fn issue_ready(&self) -> u8 {
        self.shown.issue_ready_o
    }

    /// Buses on which a result is taken.
    #[inline]
    pub fn write_ready(&self) -> u8 {
        self.shown.write_ready_o
    }

    /// Buses whose result is written into its bank at this clock edge.
    #[inline]
    pub fn write_done(&self) -> u8 {
        self.shown.write_done_o
    }

    /// Warp and register of the result of bus `p` that is written into its bank.
    #[inline]
    pub fn written(&self, p: usize) -> (u8, u8) {
        self.shown.written_o[p].register()
    }

    /// Ports that offer an instruction with all its operands.
    #[inline]
    pub fn dispatch_valid(&self) -> u8 {
        self.shown.dispatch_valid_o
    }

    /// The instruction that port `p` offers. The port must offer one.
    #[inline]
    fn place(&self, p: usize) -> Instruction {
        Instruction(self.instruction_q[self.shown.dispatch_tag_o[p] as usize % PLACES])
    }

    /// Roles of the instruction that port `p` offers. The port must offer one.
    #[inline]
    pub fn dispatched_roles(&self, p: usize) -> Roles {
        self.place(p).roles()
    }

    /// The instruction that port `p` offers, with its operands. The port must offer one.
    #[inline]
    pub fn dispatched(&self, p: usize) -> Dispatched<'_> {
        let shown = &self.shown;
        let issued =
            Issued { instruction: self.place(p), mask: shown.dispatch_mask_o[p], warp: shown.dispatch_warp_o[p] };
        let src_valid = shown.dispatch_src_valid_o >> (OPERANDS * p) & 0b111;
        Dispatched { issued, src_valid, data: self.provider.operands(p) }
    }

    /// Whether nothing is in motion between the register file and its ports: offered instructions wait until they are taken.
    pub fn is_still(&self) -> bool {
        self.provider.is_still()
    }

    /// The place for the instruction of port `p`: the (p+1)-th lowest-numbered free place, if there is one.
    #[inline]
    fn slot(&self, p: usize) -> Option<u8> {
        let free = self.all & !self.slot_busy_q;
        let free = if p == 0 { free } else { free & free.wrapping_sub(1) };
        (free != 0).then(|| free.trailing_zeros() as u8)
    }

    /// Offers an instruction on port `p` in this cycle.
    #[inline]
    pub fn issue(&mut self, p: usize, issued: &Issued, slot: u8) {
        let (base, roles) = (self.rows.first(issued.warp), issued.instruction.roles());
        let tag = self.slot(p).unwrap_or_default();
        let given = &mut self.given;
        given.issue_valid_i |= 1 << p;
        given.issue_warp_i[p] = issued.warp;
        given.issue_base_i[p] = base;
        given.issue_mask_i[p] = issued.mask;
        given.issue_tag_i[p] = tag.into();
        given.issue_src_valid_i |= registers(roles) << (OPERANDS * p);
        given.issue_src_reg_i[OPERANDS * p..][..OPERANDS].copy_from_slice(&roles.sources());
        if self.reads_fields {
            self.side.fields.add(p, &issued.instruction, slot);
        }
        self.offered[p] = *issued;
    }

    /// Names the candidate of port `p`'s scheduler; its head has these roles.
    #[inline]
    pub fn name(&mut self, p: usize, warp: u8, roles: Roles) {
        let base = self.rows.first(warp);
        let told = &mut self.side.candidates;
        told.candidate_valid |= 1 << p;
        (told.candidate_warp[p], told.candidate_base[p]) = (warp, base);
        told.candidate_src_valid |= registers(roles) << (OPERANDS * p);
        told.candidate_src_reg[OPERANDS * p..][..OPERANDS].copy_from_slice(&roles.sources());
    }

    /// Announces that a grid is about to begin. `spare`: the last row belongs to none of its warps.
    #[inline]
    pub fn clear(&mut self, spare: bool) {
        self.side.candidates.clear = Some(spare);
    }

    /// Passes the sources of dispatched instructions that another instruction accesses too, three bits a port, and the warps that have ended.
    /// Only a design that keeps power states uses them.
    #[inline]
    pub fn tell_power(&mut self, keep: u8, over: u64) {
        self.side.power = PowerSide { keep, over };
    }

    /// Events of the power states that the design keeps; valid in a settled cycle.
    #[inline]
    pub fn power_events(&self) -> (u64, u16) {
        self.provider.power_events()
    }

    /// Whether ended warps change none of these power states.
    pub fn words_are_still(&self, over: u64) -> bool {
        self.provider.words_are_still(over)
    }

    /// Passes on the dead registers that dispatched instructions name.
    #[inline]
    fn hint(&mut self, ready: u8) {
        for p in set_bits(self.shown.dispatch_valid_o & ready) {
            let inverted = (self.place(p).ctl() >> marked::FREE_REGISTER) as u8;
            if inverted != 0 && !inverted >> self.bank_w < self.rows.count {
                let candidates = &mut self.side.candidates;
                candidates.hint_valid |= 1 << p;
                candidates.hint_reg[p] = !inverted;
                candidates.hint_base[p] = self.rows.first(self.shown.dispatch_warp_o[p]);
            }
        }
    }

    /// Port `p` issues the last instruction of a strand in this cycle, of the warp in a slot, whether or not it comes to this stage.
    #[inline]
    pub fn end_strand(&mut self, p: usize, slot: u8) {
        self.side.fields.slot[p] = slot;
        self.side.fields.end |= 1 << p;
    }

    /// Offers a result on bus `p`; its data is read at the clock edge. `next`: the next instruction of its warp reads the result, which only a
    /// design with candidates uses.
    #[inline]
    pub fn write(&mut self, p: usize, result: WriteWord, next: bool) {
        self.side.candidates.write_next |= u8::from(next) << p;
        let given = &mut self.given;
        given.write_valid_i |= 1 << p;
        (given.write_i[p], given.write_base_i[p]) = (result, self.rows.first(result.warp()));
    }

    /// Settles the cycle: the ports in `ready` take the instructions that are offered to them. Returns the events.
    #[inline]
    pub fn settle(&mut self, ready: u8) -> Events {
        self.given.dispatch_ready_i = ready;
        if self.takes_candidates {
            self.hint(ready);
        }
        self.provider.settle(&mut self.given, &self.side, &mut self.shown)
    }

    /// The clock edge. Afterwards nothing is offered. `write_data`: the data of a bus's result.
    #[inline]
    pub fn edge<'a>(&mut self, running: bool, write_data: impl Fn(usize) -> &'a WarpData) {
        if running && self.provider.is_quiet(&self.given, &self.side) {
            if self.unified {
                self.access_alone();
            }
            self.begin();
            return;
        }
        let mut busy = self.slot_busy_q;
        for p in set_bits(self.shown.dispatch_valid_o & self.given.dispatch_ready_i) {
            busy &= !(1 << self.shown.dispatch_tag_o[p]);
        }
        for p in set_bits(self.given.issue_valid_i & self.shown.issue_ready_o) {
            let Some(slot) = self.slot(p) else { continue };
            busy |= 1 << slot;
            self.instruction_q[usize::from(slot)] = self.offered[p].instruction.0;
        }
        self.slot_busy_q = if running { busy } else { 0 };
        self.given.rst_ni = running.into();
        self.provider.edge(&self.given, &self.side, write_data);
        self.provider.show(&mut self.shown);
        self.begin();
    }

    /// A clock edge at which no register is accessed.
    fn access_alone(&mut self) {
        if let Some(columns) = self.provider.columns_mut() {
            columns.edge(true, |_| (None, None));
        }
    }

    /// With unified memory: the column ports that registers leave free in this cycle. This follows from state alone.
    #[inline]
    pub fn columns_free(&self) -> ColumnsFree {
        self.provider.columns_free()
    }

    /// With unified memory: the word at each word place, each from a column of its own.
    pub fn column_data(&self, columns: &[u8; WORDS]) -> WarpData {
        self.provider.columns().map_or(WarpData::ZERO, |file| file.data(columns))
    }

    /// With unified memory: the accesses that memory performs at the next clock edge.
    #[inline]
    pub fn access_columns(&mut self, accesses: &Accesses) {
        if let Some(columns) = self.provider.columns_mut() {
            columns.ask(accesses);
        }
    }

    /// Clears all offers, as after a clock edge. Callers that begin a cycle anew call this.
    #[inline]
    pub fn begin(&mut self) {
        (self.given.issue_valid_i, self.given.issue_src_valid_i, self.given.write_valid_i) = (0, 0, 0);
        self.side.fields.end = 0;
        self.side.candidates = Candidates::default();
        self.side.power = PowerSide::default();
    }
}

/// Bit k: source k of an instruction is a register.
#[inline]
fn registers(roles: Roles) -> u8 {
    let bit = |reg: u8| u8::from(reg != NO_REG);
    bit(roles.a()) | bit(roles.b()) << 1 | bit(roles.c()) << 2
}

/// The instruction that is offered on an issue port.
fn issued(inputs: &OperandStageIn, p: usize) -> Issued {
    Issued { instruction: inputs.issue_instruction_i[p], mask: inputs.issue_mask_i[p], warp: inputs.issue_warp_i[p] }
}

impl Block for OperandStage {
    const NAME: &'static str = "operand_stage";
    const PARAMETERS: &'static [&'static str] =
        &["Banks", "DualPort", "Collectors", "IssuePorts", "Depth", "Active", "Organisation", "Sizes", "Unified"];
    const DESIGNS: bool = true;
    const PACKED_MEMORIES: &'static [PackedMemory] = &[("instruction_q", Instruction::layout)];

    type Shape = SmShape;
    type In = OperandStageIn;
    type Out = OperandStageOut;
    type Probe = OperandStageProbe;

    fn unused(shape: &SmShape) -> Vec<&'static str> {
        if shape.unified() { Vec::new() } else { COLUMNS_INPUTS.to_vec() }
    }

    fn new(shape: &SmShape) -> Self {
        let services = shape.services();
        let mut stage = Self {
            provider: Provider::new(&shape.organisation, &shape.stage_sizes()),
            given: MrfIn::zeroed(),
            side: Sideband::default(),
            shown: MrfOut::zeroed(),
            flush: 0,
            ports: shape.ports(),
            all: u32::MAX >> (u32::BITS as usize - shape.tags()),
            rows: Rows::new(shape.mrf.depth, services.pairs_rows),
            bank_w: shape.mrf.bank_w(),
            reads_fields: services.reads_fields,
            takes_candidates: services.takes_candidates,
            slot_rows: shape.organisation.reads_slot_rows(),
            early_results: services.early_results,
            unified: shape.unified(),
            all_slots: u64::MAX >> (u64::BITS as usize - shape.slots()),
            slot_busy_q: 0,
            instruction_q: [[0; INSTRUCTION_WORDS]; PLACES],
            offered: [Issued::default(); MAX_PORTS],
        };
        stage.provider.show(&mut stage.shown);
        stage
    }

    fn early(&self, out: &mut OperandStageOut) {
        out.issue_ready_o = self.issue_ready();
        if self.unified {
            out.columns.show_free(&self.columns_free());
        }
        if self.early_results {
            self.results(out);
        }
        (out.void_o, out.wait_o) = (self.void(), *self.waits().0);
        out.dispatch_valid_o = self.dispatch_valid();
        out.dispatch_src_valid_o = self.shown.dispatch_src_valid_o;
        for p in 0..self.ports {
            let mut issued = Issued::default();
            if is_set(self.dispatch_valid(), p) {
                let offer = self.dispatched(p);
                issued = offer.issued;
                out.dispatch_data_o[OPERANDS * p..][..OPERANDS].copy_from_slice(offer.data);
            }
            (out.dispatch_instruction_o[p], out.dispatch_mask_o[p], out.dispatch_warp_o[p]) =
                (issued.instruction, issued.mask, issued.warp);
        }
    }

    fn late(&mut self, inputs: &OperandStageIn, out: &mut OperandStageOut) {
        self.begin();
        let slots = SlotView {
            valid: inputs.slot_valid_i,
            flush: inputs.flush_i,
            drop: inputs.drop_i,
            warp: &inputs.slot_warp_i,
        };
        let cfg = DesignCfg { read_order: inputs.cfg_i, straps: inputs.design_cfg_i.to_u128() };
        self.see(cfg, &slots, inputs.rows_i, RegisterLayout(inputs.layout_i));
        for p in set_bits(inputs.issue_valid_i) {
            self.issue(p, &issued(inputs, p), inputs.issue_slot_i[p]);
        }
        if inputs.clear_i != 0 {
            self.clear(inputs.spare_i != 0);
        }
        for p in set_bits(inputs.candidate_valid_i) {
            let roles = Roles(inputs.candidate_roles_i[p]);
            self.name(p, inputs.candidate_warp_i[p], roles);
        }
        for p in set_bits(inputs.issue_end_i) {
            self.end_strand(p, inputs.issue_slot_i[p]);
        }
        for p in set_bits(inputs.write_valid_i) {
            self.write(p, inputs.write_i[p], is_set(inputs.write_next_i, p));
        }
        if !self.early_results {
            self.results(out);
        }
        (out.flush_done_o, out.candidate_issue_o) = (self.flush_done(), self.candidate_issue());
        self.tell_power(inputs.dispatch_keep_i, inputs.over_i);
        if self.unified {
            out.columns.memory_data_o = self.column_data(&inputs.columns.memory_data_column_i);
        }
        let events = self.settle(inputs.dispatch_ready_i);
        (out.power_event_o, out.power_wait_event_o) = self.power_events();
        (out.event_o, out.design_event_o) = (events.mrf, events.design);
    }

    fn clock(&mut self, inputs: &OperandStageIn, _: &OperandStageOut) {
        if self.unified {
            self.access_columns(&inputs.columns.accesses());
        }
        self.edge(inputs.rst_ni != 0, |p| &inputs.write_data_i[p]);
    }

    fn probe(&self, inputs: &OperandStageIn, _: &OperandStageOut, probe: &mut OperandStageProbe) {
        let warps = SlotView { valid: inputs.slot_valid_i, flush: 0, drop: 0, warp: &inputs.slot_warp_i };
        self.record(&warps, probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let slots = self.all.count_ones() as usize;
        let words = self.instruction_q[..slots].as_flattened_mut();
        let own = Memory { path: "instruction_q".into(), block: Self::NAME, words, bits: Instruction::BITS };
        [own].into_iter().chain(self.provider.memories()).collect()
    }
}

impl OperandStage {
    /// The outputs for results: ports.
    pub fn results(&self, out: &mut OperandStageOut) {
        out.write_ready_o = self.write_ready();
        out.write_done_o = self.write_done();
        out.written_o = only(&self.shown.written_o, self.write_done());
    }

    /// Records the values that lockstep compares inside; the slots are those of this cycle.
    pub fn record(&self, slots: &SlotView<'_>, probe: &mut OperandStageProbe) {
        let nets = &mut probe.nets;
        *nets = OperandStageNets::zeroed();
        nets.slot_busy_q = self.slot_busy_q;
        nets.issue_src_valid = self.given.issue_src_valid_i;
        nets.issue_src_reg = only(&self.given.issue_src_reg_i, nets.issue_src_valid);
        for p in 0..self.ports {
            nets.issue_tag[p] = self.slot(p).unwrap_or_default();
        }
        for p in set_bits(self.given.issue_valid_i) {
            nets.issue_base[p] = self.given.issue_base_i[p];
        }
        for p in set_bits(self.given.write_valid_i) {
            nets.write_base[p] = self.given.write_base_i[p];
        }
        if self.takes_candidates {
            let told = &self.side.candidates;
            nets.candidate_src_valid = told.candidate_src_valid;
            nets.candidate_src_reg = only(&told.candidate_src_reg, told.candidate_src_valid);
            nets.candidate_base = only(&told.candidate_base, told.candidate_valid);
            nets.hint_valid = told.hint_valid;
            (nets.hint_reg, nets.hint_base) =
                (only(&told.hint_reg, told.hint_valid), only(&told.hint_base, told.hint_valid));
        }
        for p in set_bits(self.dispatch_valid()) {
            nets.dispatch_tag[p] = self.shown.dispatch_tag_o[p] as u8;
        }
        if self.slot_rows {
            for s in set_bits(slots.valid) {
                nets.slot_base[s] = self.rows.first(slots.warp[s]);
            }
        }
        self.provider.record(&self.given, &self.side, &self.shown, &mut probe.provider);
    }
}

#[cfg(test)]
pub(crate) mod tests;
