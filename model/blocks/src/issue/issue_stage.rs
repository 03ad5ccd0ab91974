//! `issue_stage`: the instruction that issues, with its lanes and predicates. `docs/blocks/issue_stage.md`.

use crate::instruction::{
    Instruction, InstructionFields, NO_PRED, NO_REG, PC_BITS, PROBE, Roles, RolesFields, cause, constant, modifiers,
    opcode, unit,
};
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::is_set;
use crate::shape::SmShape;
use crate::sizes::MAX_WARPS;
use crate::{Block, NoProbe, WARP_BITS, field, packed, ports};

/// Width of a predicate source: inverted, number.
const PREDICATE_BITS: u32 = 4;
/// Width of the cause of a fault.
const CAUSE_BITS: u32 = 4;

ports! {
    /// Inputs of [`IssueStage`].
    pub struct IssueStageIn(s: &SmShape) {
        /// The warp's head issues as a probe.
        probe_i: u64 = field(s.warps),
        /// Operation word of each head.
        head_op_i: [u64; MAX_WARPS] = field(64).count(s.warps),
        /// Control word of each head.
        head_ctl_i: [u64; MAX_WARPS] = field(64).count(s.warps),
        /// Roles of each head.
        head_roles_i: [u64; MAX_WARPS] = packed::<Roles>().count(s.warps),
        /// Address of each head.
        head_pc_i: [u32; MAX_WARPS] = field(PC_BITS).count(s.warps),
        /// Lanes of each warp's executing group.
        mask_i: [u32; MAX_WARPS] = field(32).count(s.warps),
        /// Lanes of each warp that have not ended.
        live_i: [u32; MAX_WARPS] = field(32).count(s.warps),
        /// Value of the guard.
        guard_i: [u32; MAX_PORTS] = field(32).count(s.ports()),
        /// Value of s.
        s_i: [u32; MAX_PORTS] = field(32).count(s.ports()),
        /// Value of t.
        t_i: [u32; MAX_PORTS] = field(32).count(s.ports()),
        /// Port p issues.
        issue_valid_i: u8 = field(s.ports()),
        /// Warp whose head port p issues; 0 where there is none.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
    }
}

ports! {
    /// Outputs of [`IssueStage`].
    pub struct IssueStageOut(s: &SmShape) {
        /// The instruction, with its predicate sources.
        instruction_o: [Instruction; MAX_PORTS] =
            packed::<Instruction>().count(s.ports()).valid_by("issue_valid_i"),
        /// Lanes that execute the instruction.
        exec_o: [u32; MAX_PORTS] = field(32).count(s.ports()).valid_by("issue_valid_i"),
        /// Target of a branch.
        target_o: [u32; MAX_PORTS] = field(PC_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Reconvergence point of a branch.
        join_o: [u32; MAX_PORTS] = field(PC_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Value that belongs to the cause of the fault.
        fault_value_o: [u32; MAX_PORTS] = field(32).count(s.ports()).valid_by("fault_valid_o"),
        /// Predicate that is the guard.
        read_guard_o: [u8; MAX_PORTS] = field(PREDICATE_BITS).count(s.ports()),
        /// Predicate that is s.
        read_s_o: [u8; MAX_PORTS] = field(PREDICATE_BITS).count(s.ports()),
        /// Predicate that is t.
        read_t_o: [u8; MAX_PORTS] = field(PREDICATE_BITS).count(s.ports()),
        /// The instruction goes to the operand stage.
        operand_valid_o: u8 = field(s.ports()),
        /// Warp of the instruction.
        warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Kind of the instruction: 0 other, 1 branch, 2 exit.
        kind_o: [u8; MAX_PORTS] = field(2).count(s.ports()).valid_by("issue_valid_i"),
        /// The fetch waits for the instruction.
        stop_o: u8 = field(s.ports()),
        /// A barrier goes to the operand stage: its warp is held.
        hold_valid_o: u8 = field(s.ports()),
        /// The instruction is at fault.
        fault_valid_o: u8 = field(s.ports()),
        /// Cause of the fault.
        fault_cause_o: [u8; MAX_PORTS] = field(CAUSE_BITS).count(s.ports()).valid_by("fault_valid_o"),
    }
}

/// Kind of an instruction, as the SIMT stack distinguishes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The warp continues with the next instruction.
    Other = 0,
    /// A branch.
    Branch = 1,
    /// An exit.
    Exit = 2,
}

// Opcodes that the issue stage knows by name.
const BRA: u8 = 0x02;
const EXIT: u8 = 0x03;
const BAR: u8 = 0x04;
const WARPSYNC: u8 = 0x05;
const TRAP: u8 = 0x07;

impl Kind {
    /// The kind of an operation word.
    #[inline]
    pub fn of(op: u64) -> Self {
        match opcode(op) {
            BRA => Self::Branch,
            EXIT => Self::Exit,
            _ => Self::Other,
        }
    }

    /// The kind that its two bits encode.
    #[inline]
    pub fn from_bits(bits: u8) -> Self {
        match bits {
            1 => Self::Branch,
            2 => Self::Exit,
            _ => Self::Other,
        }
    }
}

/// Target of a branch.
#[inline]
pub fn target(op: u64) -> u32 {
    constant(op) & ADDRESS
}

/// Reconvergence point of a branch.
#[inline]
pub fn join(ctl: u64) -> u32 {
    ctl as u32 & ADDRESS
}

const ADDRESS: u32 = (1 << PC_BITS) - 1;

/// Cause and value of the fault of an instruction that the lanes of `exec` execute, if it has one.
#[inline]
pub fn fault(op: u64, ctl: u64, roles: Roles, exec: u32, live: u32) -> Option<(u8, u32)> {
    if roles.unit() == unit::UNSUPPORTED {
        return Some((cause::UNSUPPORTED, opcode(op).into()));
    }
    match opcode(op) {
        TRAP if exec != 0 => Some((cause::TRAP, constant(op))),
        BAR if exec != 0 && exec != live => Some((cause::BARRIER_DIVERGENCE, modifiers(op, ctl) & BARRIER_NUMBER)),
        _ => None,
    }
}

/// The bits of the modifiers that hold the number of a barrier.
const BARRIER_NUMBER: u32 = 0xf;

/// Whether an instruction that is not at fault goes to the operand stage. One without lanes ends here: it has
/// been counted, and holds nothing.
#[inline]
pub fn goes_to_operands(roles: Roles, exec: u32) -> bool {
    let goes = matches!(roles.unit(), unit::ALU | unit::MEMORY | unit::BARRIER | unit::FP | unit::SFU | unit::CONSTANT);
    goes && exec != 0
}

/// Operation word and roles of a head that issues as a probe. A probe forms the addresses and writes nothing.
#[inline]
pub fn as_probe(op: u64, roles: Roles) -> (u64, Roles) {
    let op = op & !u64::from(OPCODE) | u64::from(PROBE);
    let (c, d, p) = (NO_REG, NO_REG, NO_PRED);
    (op, RolesFields { c, d, p, ..roles.fields() }.into())
}

/// The bits of an operation word that hold its opcode.
const OPCODE: u8 = 0x7f;

/// The first predicate source as a unit gets it: WARPSYNC gets the living lanes.
#[inline]
pub fn first_source(op: u64, s: u32, live: u32) -> u32 {
    if opcode(op) == WARPSYNC { live } else { s }
}

/// Takes the heads of the chosen warps out of the instruction buffer, reads guard, s and t, and informs all blocks
/// concerned.
#[derive(Clone)]
pub struct IssueStage;

impl Block for IssueStage {
    const NAME: &'static str = "issue_stage";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts"];
    const CLOCKED: bool = false;

    type Shape = SmShape;
    type In = IssueStageIn;
    type Out = IssueStageOut;
    type Probe = NoProbe<SmShape>;

    fn new(_: &SmShape) -> Self {
        Self
    }

    fn early(&self, _: &mut IssueStageOut) {}

    fn late(&mut self, inputs: &IssueStageIn, out: &mut IssueStageOut) {
        (out.operand_valid_o, out.stop_o, out.hold_valid_o, out.fault_valid_o) = (0, 0, 0, 0);
        for p in 0..MAX_PORTS {
            // A warp that does not exist has no head.
            let w = usize::from(inputs.issue_warp_i[p]).min(MAX_WARPS - 1);
            let (op, ctl, roles) = (inputs.head_op_i[w], inputs.head_ctl_i[w], Roles(inputs.head_roles_i[w]));
            let (goes_op, goes_roles) = if is_set(inputs.probe_i, w) { as_probe(op, roles) } else { (op, roles) };
            let (live, exec) = (inputs.live_i[w], inputs.mask_i[w] & inputs.guard_i[p]);
            (out.read_guard_o[p], out.read_s_o[p], out.read_t_o[p]) = (roles.guard(), roles.s(), roles.t());
            (out.warp_o[p], out.exec_o[p]) = (inputs.issue_warp_i[p], exec);
            let (s, t) = (first_source(op, inputs.s_i[p], live), inputs.t_i[p]);
            let pc = inputs.head_pc_i[w];
            out.instruction_o[p] = InstructionFields { pc, roles: goes_roles, t, s, ctl, op: goes_op }.into();
            (out.kind_o[p], out.target_o[p], out.join_o[p]) = (Kind::of(op) as u8, target(op), join(ctl));
            (out.fault_cause_o[p], out.fault_value_o[p]) = (0, 0);
            if !is_set(inputs.issue_valid_i, p) {
                continue;
            }
            out.stop_o |= roles.stop() << p;
            if let Some((cause, value)) = fault(op, ctl, roles, exec, live) {
                out.fault_valid_o |= 1 << p;
                (out.fault_cause_o[p], out.fault_value_o[p]) = (cause, value);
            } else if goes_to_operands(roles, exec) {
                out.operand_valid_o |= 1 << p;
                out.hold_valid_o |= u8::from(roles.unit() == unit::BARRIER) << p;
            }
        }
    }

    fn clock(&mut self, _: &IssueStageIn, _: &IssueStageOut) {}

    fn probe(&self, _: &IssueStageIn, _: &IssueStageOut, _: &mut NoProbe<SmShape>) {}
}

#[cfg(test)]
mod tests;
