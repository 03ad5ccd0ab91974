//! An instruction on its way through the SM: the fields of its words, and its roles (`docs/blocks/decode.md`).

use crate::{FieldValue, LANES, Layout, OPERANDS, Packed, REG_BITS, packed};

/// Width of an instruction's address.
pub const PC_BITS: u32 = 20;
/// The reconvergence point that is none.
pub const NO_PC: u32 = (1 << PC_BITS) - 1;
/// The register that is none: RZ.
pub const NO_REG: u8 = 255;
/// The predicate that is none, or true.
pub const NO_PRED: u8 = 7;

/// Units of an instruction.
pub mod unit {
    /// Branches, exits, traps: done with at issue.
    pub const CONTROL: u8 = 0;
    /// An ALU.
    pub const ALU: u8 = 1;
    /// The memory pipeline.
    pub const MEMORY: u8 = 2;
    /// The barrier unit.
    pub const BARRIER: u8 = 3;
    /// Nothing to do.
    pub const NOTHING: u8 = 4;
    /// A single precision unit.
    pub const FP: u8 = 5;
    /// The special function unit.
    pub const SFU: u8 = 6;
    /// The SM does not have it.
    pub const UNSUPPORTED: u8 = 7;
    /// The unit of constants and special registers.
    pub const CONSTANT: u8 = 8;
}

/// Causes of a fault (`docs/blocks/fault_unit.md`).
pub mod cause {
    /// TRAP.
    pub const TRAP: u8 = 1;
    /// An operation that the SM does not have.
    pub const UNSUPPORTED: u8 = 2;
    /// BAR with other lanes than the living ones.
    pub const BARRIER_DIVERGENCE: u8 = 3;
    /// Misaligned address.
    pub const MISALIGNED: u8 = 4;
    /// Past the end of shared, local or constant memory.
    pub const OUT_OF_BOUNDS: u8 = 5;
    /// Global address with an upper word.
    pub const WIDE_ADDRESS: u8 = 6;
    /// Constant space written.
    pub const CONSTANT_WRITTEN: u8 = 7;
    /// Atomic operation on local memory.
    pub const LOCAL_ATOMIC: u8 = 8;
    /// WARPSYNC with other lanes than its mask says.
    pub const WARP_DIVERGENCE: u8 = 10;
    /// No such place in global memory.
    pub const NO_SUCH_PLACE: u8 = 11;
    /// Thread count of a barrier.
    pub const BARRIER_COUNT: u8 = 12;
    /// Not one block fits.
    pub const DOES_NOT_FIT: u8 = 13;
    /// The common area of a pair's scratchpad memory, after the block has released it.
    pub const RELEASED: u8 = 14;
}

packed! {
    /// What an instruction reads, writes, and where it goes: `roles_t`.
    pub struct Roles(u64), RolesFields = "roles_t" {
        /// Unit.
        unit: u8 = 4,
        /// Source b is the constant.
        b_constant: u8 = 1,
        /// Predicate written; 7: none.
        p: u8 = 3,
        /// Predicate source t: inverted in bit 3, number.
        t: u8 = 4,
        /// Predicate source s, likewise.
        s: u8 = 4,
        /// Guard, likewise.
        guard: u8 = 4,
        /// Fetch stops after the instruction.
        stop: u8 = 1,
        /// Register written; 255: none.
        d: u8 = REG_BITS,
        /// Register source c; 255: none.
        c: u8 = REG_BITS,
        /// Register source b; 255: none.
        b: u8 = REG_BITS,
        /// Register source a; 255: none.
        a: u8 = REG_BITS,
    }
}

impl Roles {
    /// Register names of the sources; 255: none.
    #[inline]
    pub fn sources(self) -> [u8; OPERANDS] {
        [self.a(), self.b(), self.c()]
    }

    /// Without some of its registers: bits 0 to 2 for the sources, bit 3 for the one written. The lowest bytes are a, b, c, d.
    #[inline]
    pub fn without(self, registers: u8) -> Self {
        let byte = |k: u32| (u64::from(registers >> k & 1) * u64::from(NO_REG)) << (REG_BITS * k);
        Self(self.0 | byte(0) | byte(1) | byte(2) | byte(3))
    }

    /// Whether a register is among those read.
    #[inline]
    pub fn reads(self, reg: u8) -> bool {
        self.sources().contains(&reg)
    }
}

impl FieldValue for Roles {
    const INNER: Option<fn() -> Layout> = Some(Self::layout);

    #[inline]
    fn of_bits(bits: u64) -> Self {
        Self(bits)
    }

    #[inline]
    fn bits(self) -> u64 {
        self.0
    }
}

packed! {
    /// An instruction on its way from issue to its unit: `instruction_t`, what the operand stage keeps for it.
    pub struct Instruction([u32; 9]), InstructionFields = "instruction_t" {
        /// Address.
        pc: u32 = PC_BITS,
        /// Roles.
        roles: Roles = Roles::BITS,
        /// Predicate source t.
        t: u32 = LANES as u32,
        /// Predicate source s; for WARPSYNC the living lanes.
        s: u32 = LANES as u32,
        /// Control word.
        ctl: u64 = u64::BITS,
        /// Operation word.
        op: u64 = u64::BITS,
    }
}

/// An instruction on its way through the operand stage, with its warp and its lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Issued {
    /// The instruction.
    pub instruction: Instruction,
    /// Active lanes.
    pub mask: u32,
    /// Warp.
    pub warp: u8,
}

/// Opcode of an operation word.
#[inline]
pub const fn opcode(op: u64) -> u8 {
    op as u8 & 0x7f
}

/// The 16 bits of modifiers.
#[inline]
pub const fn modifiers(op: u64, ctl: u64) -> u32 {
    (op >> 28 & 0xf) as u32 | ((ctl >> 8 & 0xfff) as u32) << 4
}

/// The constant of an operation word.
#[inline]
pub const fn constant(op: u64) -> u32 {
    (op >> 32) as u32
}

/// Whether an instruction that writes register `d` is a long-latency operation: a load or an atomic operation outside shared memory, or a texture
/// fetch.
#[inline]
pub const fn long_latency(op: u64, d: u8) -> bool {
    uses_memory(op) && opcode(op) != 0x41 && d != NO_REG
}

/// Whether an instruction is a load, a store or an atomic operation outside shared memory, or a texture fetch.
#[inline]
pub const fn uses_memory(op: u64) -> bool {
    const SHARED: u64 = 1;
    opcode(op) == 0x46 || matches!(opcode(op), 0x40 | 0x41 | 0x43 | 0x44) && op >> 28 & 3 != SHARED
}

/// Whether an instruction that writes register `d` is a returning atomic operation outside shared memory.
#[inline]
pub const fn returning_atomic(op: u64, d: u8) -> bool {
    matches!(opcode(op), 0x43 | 0x44) && long_latency(op, d)
}

/// Opcodes of scratchpad sharing.
pub const RELSSP: u8 = 0x08;
/// No opcode of a program: an access that forms its addresses and performs nothing.
pub const PROBE: u8 = 0x45;

/// Whether an instruction releases shared scratchpad memory.
#[inline]
pub const fn is_release(op: u64) -> bool {
    opcode(op) == RELSSP
}

/// Whether an instruction may access scratchpad memory that blocks share: an access in shared or generic space that is not marked private.
#[inline]
pub const fn scratchpad_access(op: u64, ctl: u64) -> bool {
    const SHARED: u64 = 1;
    const GENERIC: u64 = 3;
    let space = op >> 28 & 3;
    let shared = match opcode(op) {
        0x40 | 0x41 | 0x43 => space == SHARED || space == GENERIC,
        0x44 => space == SHARED,
        _ => false,
    };
    shared && ctl >> marked::PRIVATE & 1 == 0
}

/// Bits of the control word that the compiler marks.
pub mod marked {
    /// Last read of source a; of b and c the next ones.
    pub const LAST_READ: u32 = 20;
    /// The warp may give its slot up.
    pub const DESCHEDULE: u32 = 23;
    /// The instruction ends its strand.
    pub const STRAND_END: u32 = 24;
    /// The result goes past the LRF above the register file cache.
    pub const LRF_BYPASS: u32 = 25;
    /// Width of a level.
    pub const LEVEL_BITS: u32 = 5;
    /// Level of source a; of b and c the next ones.
    pub const SOURCE_LEVEL: u32 = 27;
    /// Level of the result.
    pub const RESULT_LEVEL: u32 = 42;
    /// The result goes around the register file cache.
    pub const BYPASS: u32 = 26;
    /// Power states after the instruction: two bits each for first source, second source and result.
    pub const POWER_STATES: u32 = 47;
    /// A register that is dead after the instruction, inverted, eight bits; 0: none.
    pub const FREE_REGISTER: u32 = 53;
    /// The access lies in the private part of scratchpad memory.
    pub const PRIVATE: u32 = 61;
}
