//! `operand_stage`: the seam between the pipeline and the register file. `docs/blocks/operand_stage.md`.

mod nets;
mod provider;

pub use nets::{OperandStageNets, OperandStageProbe};
pub use provider::Events;

use provider::Provider;

use crate::hierarchy::{
    HIERARCHY_COUNT_EVENT, HIERARCHY_EVENT, Hierarchy, HierarchyEntries, HierarchyResults, LEVEL_BITS, PLACE_SET_BITS,
};
use crate::hrf::{HRF_COUNT_EVENT, HRF_EVENT, Hrf, HrfOperands, HrfResults};
use crate::instruction::{NO_REG, PC_BITS, ROLES_BITS, Roles, SHOW_ROLES, long_latency, marked, unit};
use crate::mrf::bits::{is_set, only, set_bits};
use crate::mrf::{MAX_PORTS, MRF_EVENT, Mrf, MrfIn, MrfOut};
use crate::rfc::{Extra, RFC_COUNT_EVENT, RFC_EVENT, RFC_EXTRA_EVENT, Rfc, RfcOperands, RfcResults, SlotView};
use crate::shape::{MAX_ACTIVE, SmShape};
use crate::steal::{STEAL_EVENT, Steal, StealExtra};
use crate::{
    Block, Decode, LANES, Memory, OPERANDS, Ports, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, ports,
};

const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;
/// Places for instructions: more than there are tags, so that no tag is checked.
const PLACES: usize = 32;

ports! {
    /// Inputs of [`OperandStage`].
    pub struct OperandStageIn(s: &SmShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Operation word.
        issue_op_i: [u64; MAX_PORTS] = field(u64::BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Control word.
        issue_ctl_i: [u64; MAX_PORTS] = field(u64::BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Roles.
        issue_roles_i: [u64; MAX_PORTS] =
            field(ROLES_BITS).count(s.ports()).valid_by("issue_valid_i").shown(SHOW_ROLES),
        /// Slots of the two-level scheduler that have a warp.
        slot_valid_i: u64 = field(s.slots()),
        /// Those that are to be emptied.
        flush_i: u64 = field(s.slots()),
        /// Without write-back.
        drop_i: u64 = field(s.slots()),
        /// Active lanes.
        issue_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("issue_valid_i"),
        /// Address of the instruction.
        issue_pc_i: [u32; MAX_PORTS] = field(PC_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Predicate source s.
        issue_s_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("issue_valid_i"),
        /// Predicate source t.
        issue_t_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("issue_valid_i"),
        /// The provider's straps.
        cfg_i: u32 = field(21),
        /// Roles of the heads of the schedulers' candidates.
        candidate_roles_i: [u64; MAX_PORTS] =
            field(ROLES_BITS).count(s.ports()).valid_by("candidate_valid_i").shown(SHOW_ROLES),
        /// Lanes to write.
        write_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("write_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// The warp of each slot.
        slot_warp_i: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.slots()).valid_by("slot_valid_i"),
        /// Slot of the warp that issues.
        issue_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()),
        /// The instruction that issues on port p, whether it comes here or not, ends its strand.
        issue_end_i: u8 = field(s.ports()),
        /// A result comes from a private unit.
        write_private_i: u8 = field(s.ports()),
        /// Rows of the register file that a warp has.
        rows_i: u8 = field(8),
        /// An instruction is offered on port p.
        issue_valid_i: u8 = field(s.ports()),
        /// Its warp.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// A result is offered on bus p.
        write_valid_i: u8 = field(s.ports()),
        /// Its warp.
        write_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Its register.
        write_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// The instruction offered on dispatch port p is taken at this edge if also valid.
        dispatch_ready_i: u8 = field(s.ports()),
        /// The scheduler of port p names a candidate.
        candidate_valid_i: u8 = field(s.ports()),
        /// It.
        candidate_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("candidate_valid_i"),
        /// A grid is about to begin.
        clear_i: u8 = field(1),
        /// The last row belongs to no warp of it.
        spare_i: u8 = field(1).valid_by("clear_i"),
    }
}

ports! {
    /// Outputs of [`OperandStage`].
    pub struct OperandStageOut(s: &SmShape) {
        /// Operands.
        dispatch_data_o: [WarpData; MAX_SOURCES] =
            field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("dispatch_src_valid_o").early()
            .from(of(s, "mrf_crossbar", RfcOperands::NAME, RfcOperands::NAME)),
        /// Operation word.
        dispatch_op_o: [u64; MAX_PORTS] = field(u64::BITS).count(s.ports()).valid_by("dispatch_valid_o").early(),
        /// Control word.
        dispatch_ctl_o: [u64; MAX_PORTS] = field(u64::BITS).count(s.ports()).valid_by("dispatch_valid_o").early(),
        /// Roles.
        dispatch_roles_o: [u64; MAX_PORTS] =
            field(ROLES_BITS).count(s.ports()).valid_by("dispatch_valid_o").early().shown(SHOW_ROLES),
        /// Events of the MRF: `mrf_event_t`.
        event_o: u64 = field(50).from(of(s, Mrf::NAME, Mrf::NAME, Mrf::NAME)).shown(Decode::Packed(MRF_EVENT)),
        /// Events of the cache: `rfc_event_t`.
        rfc_event_o: u64 = field(58).from(Rfc::NAME).shown(Decode::Packed(RFC_EVENT)),
        /// Events of the cache: `rfc_extra_event_t`.
        rfc_extra_event_o: u64 = field(33).from(Rfc::NAME).shown(Decode::Packed(RFC_EXTRA_EVENT)),
        /// Events of the hybrid file: `hrf_event_t`.
        hrf_event_o: u64 = field(43).from(Hrf::NAME).shown(Decode::Packed(HRF_EVENT)),
        /// Events of ORF and LRF: `hierarchy_event_t`.
        hierarchy_event_o: u64 = field(63).from(Hierarchy::NAME).shown(Decode::Packed(HIERARCHY_EVENT)),
        /// Events of ORF and LRF: `hierarchy_count_event_t`.
        hierarchy_count_event_o: u64 = field(36).from(Hierarchy::NAME).shown(Decode::Packed(HIERARCHY_COUNT_EVENT)),
        /// Events of bank stealing: `steal_event_t`.
        steal_event_o: u64 = field(61).from(Steal::NAME).shown(Decode::Packed(STEAL_EVENT)),
        /// Nothing is left of slot s.
        flush_done_o: u64 = field(s.slots()).from(of(s, Rfc::NAME, Rfc::NAME, HierarchyEntries::NAME)),
        /// The warp may leave slot s here.
        void_o: u64 = field(s.slots()).early().from(HierarchyEntries::NAME),
        /// Events of the cache: `rfc_count_event_t`.
        rfc_count_event_o: u32 = field(20).from(Rfc::NAME).shown(Decode::Packed(RFC_COUNT_EVENT)),
        /// Events of the hybrid file: `hrf_count_event_t`.
        hrf_count_event_o: u32 = field(23).from(Hrf::NAME).shown(Decode::Packed(HRF_COUNT_EVENT)),
        /// Active lanes.
        dispatch_mask_o: [u32; MAX_PORTS] =
            field(LANES).count(s.ports()).valid_by("dispatch_valid_o").early().from(of(s, Mrf::NAME, Mrf::NAME, Mrf::NAME)),
        /// Address of the instruction.
        dispatch_pc_o: [u32; MAX_PORTS] = field(PC_BITS).count(s.ports()).valid_by("dispatch_valid_o").early(),
        /// Predicate source s.
        dispatch_s_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("dispatch_valid_o").early(),
        /// Predicate source t.
        dispatch_t_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("dispatch_valid_o").early(),
        /// Places of slot s to which something is under way.
        wait_o: [u16; MAX_ACTIVE] = field(PLACE_SET_BITS).count(s.slots()).early().from(HierarchyEntries::NAME),
        /// The instruction on port p is taken at this edge if also valid.
        issue_ready_o: u8 = field(s.ports()).early().from(of(s, "mrf_allocator", Rfc::NAME, "mrf_allocator")),
        /// The result on bus p is taken at this edge if also valid.
        write_ready_o: u8 = field(s.ports()).early_when(s.early_results())
            .from_each(of(s, "mrf_write_queue", RfcResults::NAME, HierarchyResults::NAME), usize::from(s.plain())),
        /// A result has gone into its bank, or into the cache.
        write_done_o: u8 = field(s.ports()).early_when(s.early_results()).from(of(s, Mrf::NAME, RfcResults::NAME, HierarchyResults::NAME)),
        /// Its warp.
        write_done_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("write_done_o")
            .early_when(s.early_results()).from(of(s, Mrf::NAME, RfcResults::NAME, HierarchyResults::NAME)),
        /// Its register.
        write_done_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("write_done_o")
            .early_when(s.early_results()).from(of(s, Mrf::NAME, RfcResults::NAME, HierarchyResults::NAME)),
        /// The candidate of the cycle before issues on port p.
        steal_o: u8 = field(s.ports()).from("steal_arbiter"),
        /// An instruction with all its operands is offered.
        dispatch_valid_o: u8 = field(s.ports()).early().from(of(s, Mrf::NAME, if s.reads { Rfc::NAME } else { RfcOperands::NAME }, Hierarchy::NAME)),
        /// Its warp.
        dispatch_warp_o: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.ports()).valid_by("dispatch_valid_o").early().from(of(s, Mrf::NAME, Mrf::NAME, Mrf::NAME)),
        /// Bit 3p+k: `dispatch_valid_o[p]` and source k came from a register.
        dispatch_src_valid_o: u8 =
            field(s.mrf.sources()).early().from(of(s, Mrf::NAME, if s.reads { Rfc::NAME } else { RfcOperands::NAME }, Hierarchy::NAME)),
    }
}

/// The block that drives something: with the MRF alone, with a cache in front of it, with ORF and LRF. In the hybrid file, and in the one whose banks are stolen, it has another name than in the MRF.
fn of(s: &SmShape, mrf: &'static str, rfc: &'static str, hierarchy: &'static str) -> &'static str {
    if s.hybrid.is_some() {
        return match mrf {
            "mrf_crossbar" => HrfOperands::NAME,
            "mrf_write_queue" => HrfResults::NAME,
            "mrf_bank_map" => "mrf_collector",
            "mrf_collector" | "mrf_allocator" => mrf,
            _ => Hrf::NAME,
        };
    }
    if s.steal {
        return match mrf {
            "mrf_collector" => "steal_collector",
            Mrf::NAME => Steal::NAME,
            _ => mrf,
        };
    }
    match (s.entries, s.orf_entries) {
        (0, 0) => mrf,
        (0, _) => hierarchy,
        _ => rfc,
    }
}

/// An instruction on its way to the operand stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Issued {
    /// Operation word.
    pub op: u64,
    /// Control word.
    pub ctl: u64,
    /// Roles.
    pub roles: Roles,
    /// Active lanes.
    pub mask: u32,
    /// Address.
    pub pc: u32,
    /// Predicate source s.
    pub s: u32,
    /// Predicate source t.
    pub t: u32,
    /// Warp.
    pub warp: u8,
}

/// An instruction with all its operands.
#[derive(Clone, Copy, Debug)]
pub struct Dispatched<'a> {
    /// The instruction.
    pub instruction: Issued,
    /// Bit k: source k came from a register.
    pub src_valid: u8,
    /// Operands; those of other sources mean nothing.
    pub data: &'a [WarpData; OPERANDS],
}

impl<'a> Dispatched<'a> {
    /// Source `k`, if it came from a register.
    #[inline]
    pub fn source(&self, k: usize) -> Option<&'a WarpData> {
        is_set(self.src_valid, k).then_some(&self.data[k])
    }
}

/// Instructions in the provider, by place: memories for the harness.
struct Slots {
    /// Words of 64 bits, low half first.
    op_q: [[u32; 2]; PLACES],
    ctl_q: [[u32; 2]; PLACES],
    roles_q: [[u32; 2]; PLACES],
    pc_q: [u32; PLACES],
    s_q: [u32; PLACES],
    t_q: [u32; PLACES],
}

#[inline]
fn split(word: u64) -> [u32; 2] {
    [word as u32, (word >> u32::BITS) as u32]
}

#[inline]
fn join([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << u32::BITS | u64::from(low)
}

/// Asks a provider for an instruction's operands, keeps the rest of the instruction meanwhile, and sends it on with its operands. The provider is `mrf`, the
/// baseline register file, or `rfc`, or `hierarchy`, or `hrf`, or `steal`; a variant takes its place here and nowhere else.
///
/// Whoever uses this directly shows it the slots ([`see`](Self::see)), asks what is offered, says in a cycle what is issued, what is written ([`issue`](Self::issue), [`write`](Self::write)) and what
/// is taken ([`settle`](Self::settle)), and ends the cycle with [`edge`](Self::edge). Operands and results are looked at where they are, never moved.
pub struct OperandStage {
    provider: Provider,
    /// What the provider is given in this cycle, and what it shows (but for 1024-bit data).
    given: MrfIn,
    extra: Extra,
    told: StealExtra,
    shown: MrfOut,
    flush_done: u64,
    straps: u32,
    ports: usize,
    /// Places that there are.
    all: u32,
    rows: Rows,
    /// Of a register's number those bits that are not its bank's.
    bank_w: u32,
    /// Rows that a warp has in this cycle.
    warp_rows: u8,
    /// The provider is the hybrid file, and has buffers.
    buffered: bool,
    /// The set of all slots.
    all_slots: u64,
    slot_busy_q: u32,
    slots: Slots,
    /// What is offered in this cycle.
    offered: [Issued; MAX_PORTS],
}

impl OperandStage {
    /// The slots of the two-level scheduler in this cycle; what is asked about results and slots follows from them.
    #[inline]
    pub fn see(&mut self, straps: u32, slots: &SlotView<'_>, rows: u8) {
        (self.straps, self.warp_rows) = (straps, rows);
        self.flush_done = match &mut self.provider {
            Provider::Mrf(_) => slots.flush,
            Provider::Rfc(rfc) => {
                let base = |s: usize| self.rows.first(slots.warp.get(s).copied().unwrap_or_default(), rows);
                rfc.see(cache_straps(straps), slots, base, &mut self.shown);
                rfc.flush_done()
            }
            Provider::Hrf(hrf) => {
                let base = |s: usize| self.rows.first(slots.warp[s], rows);
                hrf.see(straps >> 1, if self.buffered { slots } else { &SlotView::NONE }, base, &mut self.shown);
                if self.buffered { hrf.flush_done() } else { slots.flush }
            }
            Provider::Hierarchy(hierarchy) => {
                hierarchy.see(slots);
                hierarchy.flush_done()
            }
            Provider::Steal(file) => {
                file.see(steal_straps(straps), &mut self.shown);
                slots.flush
            }
        };
    }

    /// Ports that issue the candidate of the cycle before.
    #[inline]
    pub fn steal(&self) -> u8 {
        match &self.provider {
            Provider::Steal(file) => file.steal(),
            _ => 0,
        }
    }

    /// Slots of which nothing is left.
    #[inline]
    pub fn flush_done(&self) -> u64 {
        self.flush_done
    }

    /// Slots that their warps may leave here.
    #[inline]
    pub fn void(&self) -> u64 {
        match &self.provider {
            Provider::Hierarchy(hierarchy) => hierarchy.void(),
            _ => self.all_slots,
        }
    }

    /// Places of each slot to which something is under way, and the slots with one.
    #[inline]
    pub fn waits(&self) -> (&[u16; MAX_ACTIVE], u64) {
        match &self.provider {
            Provider::Hierarchy(hierarchy) => hierarchy.waits(),
            _ => (&[0; MAX_ACTIVE], 0),
        }
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

    /// Buses whose result goes into its bank at this edge.
    #[inline]
    pub fn write_done(&self) -> u8 {
        self.shown.write_done_o
    }

    /// Warp and register of the result of bus `p` that goes into its bank.
    #[inline]
    pub fn written(&self, p: usize) -> (u8, u8) {
        (self.shown.write_done_warp_o[p], self.shown.write_done_reg_o[p])
    }

    /// Ports that offer an instruction with all its operands.
    #[inline]
    pub fn dispatch_valid(&self) -> u8 {
        self.shown.dispatch_valid_o
    }

    /// Roles of what port `p` offers, which does offer something.
    #[inline]
    pub fn dispatched_roles(&self, p: usize) -> Roles {
        Roles(join(self.slots.roles_q[self.shown.dispatch_tag_o[p] as usize % PLACES]))
    }

    /// What port `p` offers, which does offer something.
    #[inline]
    pub fn dispatched(&self, p: usize) -> Dispatched<'_> {
        let (shown, slots) = (&self.shown, &self.slots);
        let slot = shown.dispatch_tag_o[p] as usize % PLACES;
        let instruction = Issued {
            op: join(slots.op_q[slot]),
            ctl: join(slots.ctl_q[slot]),
            roles: Roles(join(slots.roles_q[slot])),
            mask: shown.dispatch_mask_o[p],
            pc: slots.pc_q[slot],
            s: slots.s_q[slot],
            t: slots.t_q[slot],
            warp: shown.dispatch_warp_o[p],
        };
        let src_valid = shown.dispatch_src_valid_o >> (OPERANDS * p) & 0b111;
        Dispatched { instruction, src_valid, data: self.provider.operands(p) }
    }

    /// Whether nothing is on its way between the register file and its ports: what is offered waits for somebody to take it.
    pub fn is_still(&self) -> bool {
        self.provider.is_still()
    }

    /// The place that port `p` takes: the (p+1)-th lowest-numbered free one, if there is one.
    #[inline]
    fn slot(&self, p: usize) -> Option<u8> {
        let free = self.all & !self.slot_busy_q;
        let free = if p == 0 { free } else { free & free.wrapping_sub(1) };
        (free != 0).then(|| free.trailing_zeros() as u8)
    }

    /// Port `p` offers an instruction in this cycle.
    #[inline]
    pub fn issue(&mut self, p: usize, instruction: &Issued, slot: u8, rows: u8) {
        let base = self.rows.first(instruction.warp, rows);
        let tag = self.slot(p).unwrap_or_default();
        let given = &mut self.given;
        given.issue_valid_i |= 1 << p;
        given.issue_warp_i[p] = instruction.warp;
        given.issue_base_i[p] = base;
        given.issue_mask_i[p] = instruction.mask;
        given.issue_tag_i[p] = tag.into();
        given.issue_src_valid_i |= registers(instruction.roles) << (OPERANDS * p);
        given.issue_src_reg_i[OPERANDS * p..][..OPERANDS].copy_from_slice(&sources(instruction.roles));
        if !matches!(self.provider, Provider::Mrf(_) | Provider::Steal(_)) {
            self.extra.add(p, instruction, slot);
        }
        self.offered[p] = *instruction;
    }

    /// The scheduler of port `p` names a candidate, whose head has these roles.
    #[inline]
    pub fn name(&mut self, p: usize, warp: u8, roles: Roles, rows: u8) {
        let base = self.rows.first(warp, rows);
        let told = &mut self.told;
        told.candidate_valid |= 1 << p;
        (told.candidate_warp[p], told.candidate_base[p]) = (warp, base);
        told.candidate_src_valid |= registers(roles) << (OPERANDS * p);
        told.candidate_src_reg[OPERANDS * p..][..OPERANDS].copy_from_slice(&sources(roles));
    }

    /// A grid is about to begin; `spare`: the last row belongs to no warp of it.
    #[inline]
    pub fn clear(&mut self, spare: bool) {
        self.told.clear = Some(spare);
    }

    /// What the instructions that leave say of registers that are dead behind them.
    #[inline]
    fn hint(&mut self, ready: u8) {
        for p in set_bits(self.shown.dispatch_valid_o & ready) {
            let inverted =
                (join(self.slots.ctl_q[self.shown.dispatch_tag_o[p] as usize % PLACES]) >> marked::FREE_REGISTER) as u8;
            if inverted != 0 && !inverted >> self.bank_w < self.warp_rows {
                self.told.hint_valid |= 1 << p;
                self.told.hint_reg[p] = !inverted;
                self.told.hint_base[p] = self.rows.first(self.shown.dispatch_warp_o[p], self.warp_rows);
            }
        }
    }

    /// The instruction that issues on port `p` in this cycle, of the warp in a slot, ends its strand, whether it comes here or not.
    #[inline]
    pub fn end_strand(&mut self, p: usize, slot: u8) {
        self.extra.slot[p] = slot;
        self.extra.end |= 1 << p;
    }

    /// Bus `p` offers a result in this cycle; its data is asked for at the edge.
    #[inline]
    pub fn write(&mut self, p: usize, result: &Written, rows: u8) {
        let Written { mask, warp, reg, private } = *result;
        let base = self.rows.first(warp, rows);
        self.extra.write_private = self.extra.write_private & !(1 << p) | u8::from(private) << p;
        let given = &mut self.given;
        given.write_valid_i |= 1 << p;
        given.write_warp_i[p] = warp;
        given.write_base_i[p] = base;
        given.write_reg_i[p] = reg;
        given.write_mask_i[p] = mask;
    }

    /// Settles the cycle: the ports in `ready` take what is offered to them. Gives the events.
    #[inline]
    pub fn settle(&mut self, ready: u8) -> Events {
        self.given.dispatch_ready_i = ready;
        if matches!(self.provider, Provider::Steal(_)) {
            self.hint(ready);
        }
        self.provider.late(&mut self.given, &self.extra, &self.told, self.straps, &mut self.shown)
    }

    /// The edge, after which nothing is offered. `write_data`: the data of a bus's result.
    #[inline]
    pub fn edge<'a>(&mut self, running: bool, write_data: impl Fn(usize) -> &'a WarpData) {
        if running && self.provider.is_quiet(&self.given, &self.extra, &self.told) {
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
            self.fill(slot.into(), p);
        }
        self.slot_busy_q = if running { busy } else { 0 };
        self.given.rst_ni = running.into();
        self.provider.edge(&self.given, &self.extra, &self.told, self.straps, write_data);
        self.provider.show(&mut self.shown);
        self.begin();
    }

    /// Nothing is offered yet: so it is after an edge. Whoever begins a cycle anew says so.
    #[inline]
    pub fn begin(&mut self) {
        (self.given.issue_valid_i, self.given.issue_src_valid_i, self.given.write_valid_i) = (0, 0, 0);
        self.extra.end = 0;
        self.told = StealExtra::default();
    }

    fn fill(&mut self, slot: usize, p: usize) {
        let Issued { op, ctl, roles, pc, s, t, .. } = self.offered[p];
        let slots = &mut self.slots;
        (slots.op_q[slot], slots.ctl_q[slot], slots.roles_q[slot]) = (split(op), split(ctl), split(roles.0));
        (slots.pc_q[slot], slots.s_q[slot], slots.t_q[slot]) = (pc, s, t);
    }
}

/// A result that is offered on a bus.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    /// Lanes to write.
    pub mask: u32,
    /// Warp.
    pub warp: u8,
    /// Register.
    pub reg: u8,
    /// It comes from a private unit: an ALU or a single precision unit.
    pub private: bool,
}

impl Extra {
    /// What an instruction on port `p` has for a cache, or for ORF and LRF.
    #[inline]
    fn add(&mut self, p: usize, instruction: &Issued, slot: u8) {
        let (ctl, roles) = (instruction.ctl, instruction.roles);
        let set = |mask: &mut u8, bit: bool| *mask = *mask & !(1 << p) | u8::from(bit) << p;
        (self.slot[p], self.dst[p]) = (slot, roles.d());
        let last = (ctl >> marked::LAST_READ) as u8 & 0b111;
        self.last = self.last & !(0b111 << (OPERANDS * p)) | last << (OPERANDS * p);
        let level = |low: u32| (ctl >> low) as u8 & 0x1f;
        for k in 0..OPERANDS {
            self.src_level[OPERANDS * p + k] = level(marked::SOURCE_LEVEL + LEVEL_BITS * k as u32);
        }
        self.dst_level[p] = level(marked::RESULT_LEVEL);
        set(&mut self.long, long_latency(instruction.op, roles.d()));
        set(&mut self.bypass, is_set(ctl, marked::BYPASS as usize));
        set(&mut self.past, is_set(ctl, marked::LRF_BYPASS as usize));
        set(&mut self.private, matches!(roles.unit(), unit::ALU | unit::FP));
    }
}

/// Where warps' rows are in the register file.
#[derive(Clone, Copy)]
struct Rows {
    /// The bits of a row's number.
    bits: u16,
    /// The bits of a warp's number that count: in the hybrid file an even warp and the odd one behind it have their rows together.
    warps: u8,
}

impl Rows {
    /// The first one of a warp that has so many.
    #[inline]
    fn first(self, warp: u8, rows: u8) -> u16 {
        (u16::from(warp & self.warps) * u16::from(rows)) & self.bits
    }
}

/// Those of the operand stage's straps that are `rfc`'s.
#[inline]
fn cache_straps(straps: u32) -> u8 {
    (straps & 0x1f) as u8
}

/// Those of them that are `steal`'s: bit 0 and bits 20 to 18.
#[inline]
fn steal_straps(straps: u32) -> u8 {
    (straps & 1 | straps >> 18 << 1) as u8
}

/// Register names of the sources of an instruction.
#[inline]
fn sources(roles: Roles) -> [u8; OPERANDS] {
    [roles.a(), roles.b(), roles.c()]
}

/// Bit k: source k of an instruction is a register.
#[inline]
fn registers(roles: Roles) -> u8 {
    let bit = |reg: u8| u8::from(reg != NO_REG);
    bit(roles.a()) | bit(roles.b()) << 1 | bit(roles.c()) << 2
}

/// The instruction on an issue port.
fn issued(inputs: &OperandStageIn, p: usize) -> Issued {
    Issued {
        op: inputs.issue_op_i[p],
        ctl: inputs.issue_ctl_i[p],
        roles: Roles(inputs.issue_roles_i[p]),
        mask: inputs.issue_mask_i[p],
        pc: inputs.issue_pc_i[p],
        s: inputs.issue_s_i[p],
        t: inputs.issue_t_i[p],
        warp: inputs.issue_warp_i[p],
    }
}

impl Block for OperandStage {
    const NAME: &'static str = "operand_stage";
    const PARAMETERS: &'static [&'static str] = &[
        "Banks",
        "DualPort",
        "Collectors",
        "IssuePorts",
        "Depth",
        "Active",
        "Entries",
        "Lrf",
        "Reads",
        "OrfEntries",
        "LrfBanks",
        "Hybrid",
        "BufferEntries",
        "Loads",
        "Steal",
    ];
    const CHILDREN: &'static [&'static str] = &[
        "hierarchy_levels",
        HierarchyEntries::NAME,
        "hierarchy_data",
        HierarchyResults::NAME,
        "hierarchy_copies",
        "rfc_fills",
        "rfc_lrf",
        "rfc_tags",
        "rfc_data",
        "rfc_evictions",
        RfcResults::NAME,
        RfcOperands::NAME,
        "hrf_rcm",
        "hrf_buffer",
        "hrf_drain",
        "hrf_loads",
        "hrf_power",
        "hrf_bank",
        HrfResults::NAME,
        "hrf_reads",
        HrfOperands::NAME,
        "mrf_bank_map",
        "mrf_write_queue",
        "mrf_collector",
        "steal_collector",
        "mrf_allocator",
        "steal_candidates",
        "steal_table",
        "steal_return",
        "steal_dependence",
        "steal_arbiter",
        "mrf_arbiter",
        "mrf_bank",
        "mrf_crossbar",
        Mrf::NAME,
        Rfc::NAME,
        Hrf::NAME,
        Hierarchy::NAME,
        Steal::NAME,
    ];

    type Shape = SmShape;
    type In = OperandStageIn;
    type Out = OperandStageOut;
    type Probe = OperandStageProbe;

    fn new(shape: &SmShape) -> Self {
        let mut stage = Self {
            provider: Provider::new(shape),
            given: MrfIn::zeroed(),
            extra: Extra::default(),
            told: StealExtra::default(),
            shown: MrfOut::zeroed(),
            flush_done: 0,
            straps: 0,
            ports: shape.ports(),
            all: u32::MAX >> (u32::BITS as usize - shape.tags()),
            rows: Rows { bits: (shape.mrf.depth - 1) as u16, warps: if shape.hybrid.is_some() { !1 } else { u8::MAX } },
            bank_w: shape.mrf.bank_w(),
            warp_rows: 0,
            buffered: shape.buffered(),
            all_slots: u64::MAX >> (u64::BITS as usize - shape.slots()),
            slot_busy_q: 0,
            slots: Slots {
                op_q: [[0; 2]; PLACES],
                ctl_q: [[0; 2]; PLACES],
                roles_q: [[0; 2]; PLACES],
                pc_q: [0; PLACES],
                s_q: [0; PLACES],
                t_q: [0; PLACES],
            },
            offered: [Issued::default(); MAX_PORTS],
        };
        stage.provider.show(&mut stage.shown);
        stage
    }

    fn early(&self, out: &mut OperandStageOut) {
        out.issue_ready_o = self.issue_ready();
        if !matches!(self.provider, Provider::Rfc(_) | Provider::Hrf(_) | Provider::Steal(_)) {
            self.results(out);
        }
        (out.void_o, out.wait_o) = (self.void(), *self.waits().0);
        out.dispatch_valid_o = self.dispatch_valid();
        out.dispatch_src_valid_o = self.shown.dispatch_src_valid_o;
        for p in 0..self.ports {
            let mut instruction = Issued::default();
            if is_set(self.dispatch_valid(), p) {
                let offer = self.dispatched(p);
                instruction = offer.instruction;
                out.dispatch_data_o[OPERANDS * p..][..OPERANDS].copy_from_slice(offer.data);
            }
            let Issued { op, ctl, roles, mask, pc, s, t, warp } = instruction;
            (out.dispatch_op_o[p], out.dispatch_ctl_o[p], out.dispatch_roles_o[p]) = (op, ctl, roles.0);
            (out.dispatch_mask_o[p], out.dispatch_pc_o[p]) = (mask, pc);
            (out.dispatch_s_o[p], out.dispatch_t_o[p], out.dispatch_warp_o[p]) = (s, t, warp);
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
        self.see(inputs.cfg_i, &slots, inputs.rows_i);
        for p in set_bits(inputs.issue_valid_i) {
            self.issue(p, &issued(inputs, p), inputs.issue_slot_i[p], inputs.rows_i);
        }
        if inputs.clear_i != 0 {
            self.clear(inputs.spare_i != 0);
        }
        for p in set_bits(inputs.candidate_valid_i) {
            let roles = Roles(inputs.candidate_roles_i[p]);
            self.name(p, inputs.candidate_warp_i[p], roles, inputs.rows_i);
        }
        for p in set_bits(inputs.issue_end_i) {
            self.end_strand(p, inputs.issue_slot_i[p]);
        }
        for p in set_bits(inputs.write_valid_i) {
            let result = Written {
                mask: inputs.write_mask_i[p],
                warp: inputs.write_warp_i[p],
                reg: inputs.write_reg_i[p],
                private: is_set(inputs.write_private_i, p),
            };
            self.write(p, &result, inputs.rows_i);
        }
        if !matches!(self.provider, Provider::Mrf(_)) {
            self.results(out);
        }
        (out.flush_done_o, out.steal_o) = (self.flush_done(), self.steal());
        let events = self.settle(inputs.dispatch_ready_i);
        (out.event_o, out.rfc_event_o, out.rfc_count_event_o) = (events.mrf, events.rfc, events.rfc_count);
        out.rfc_extra_event_o = events.rfc_extra;
        (out.hrf_event_o, out.hrf_count_event_o) = (events.hrf, events.hrf_count);
        out.steal_event_o = events.steal;
        (out.hierarchy_event_o, out.hierarchy_count_event_o) = (events.hierarchy, events.hierarchy_count);
    }

    fn clock(&mut self, inputs: &OperandStageIn, _: &OperandStageOut) {
        self.edge(inputs.rst_ni != 0, |p| &inputs.write_data_i[p]);
    }

    fn probe(&self, inputs: &OperandStageIn, _: &OperandStageOut, probe: &mut OperandStageProbe) {
        let warps = SlotView { valid: inputs.slot_valid_i, flush: 0, drop: 0, warp: &inputs.slot_warp_i };
        self.record(&warps, inputs.rows_i, probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let slots = self.all.count_ones() as usize;
        let Slots { op_q, ctl_q, roles_q, pc_q, s_q, t_q } = &mut self.slots;
        let words = [("op_q", op_q, u64::BITS), ("ctl_q", ctl_q, u64::BITS), ("roles_q", roles_q, ROLES_BITS)];
        let halves = [("pc_q", pc_q, PC_BITS), ("s_q", s_q, u32::BITS), ("t_q", t_q, u32::BITS)];
        let block = Self::NAME;
        let words = words.map(|(name, words, bits)| Memory {
            path: name.into(),
            block,
            words: words[..slots].as_flattened_mut(),
            bits,
        });
        let halves =
            halves.map(|(name, words, bits)| Memory { path: name.into(), block, words: &mut words[..slots], bits });
        words.into_iter().chain(halves).chain(self.provider.memories()).collect()
    }
}

impl OperandStage {
    /// What becomes of results: ports.
    pub fn results(&self, out: &mut OperandStageOut) {
        out.write_ready_o = self.write_ready();
        out.write_done_o = self.write_done();
        out.write_done_warp_o = only(&self.shown.write_done_warp_o, self.write_done());
        out.write_done_reg_o = only(&self.shown.write_done_reg_o, self.write_done());
    }

    /// What is compared inside; the slots are those of this cycle.
    pub fn record(&self, slots: &SlotView<'_>, rows: u8, probe: &mut OperandStageProbe) {
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
        if matches!(self.provider, Provider::Steal(_)) {
            let told = &self.told;
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
        if self.buffered || matches!(self.provider, Provider::Rfc(_)) {
            for s in set_bits(slots.valid) {
                nets.slot_base[s] = self.rows.first(slots.warp[s], rows);
            }
        }
        self.provider.probe(&self.given, &self.extra, &self.told, self.straps, &self.shown, probe);
    }
}

#[cfg(test)]
mod tests;
