//! An instruction on its way through the SM: the fields of its words, and its roles (`docs/blocks/decode.md`).

use crate::Decode;

/// Width of an instruction's address.
pub const PC_BITS: u32 = 20;
/// The reconvergence point that is none.
pub const NO_PC: u32 = (1 << PC_BITS) - 1;
/// Width of [`Roles`].
pub const ROLES_BITS: u32 = 52;
/// The register that is none: RZ.
pub const NO_REG: u8 = 255;
/// The predicate that is none, or true.
pub const NO_PRED: u8 = 7;

/// Fields of `roles_t`, most significant first.
pub const ROLES: &[(&str, u32)] = &[
    ("unit", 3),
    ("b_constant", 1),
    ("p", 3),
    ("t", 4),
    ("s", 4),
    ("guard", 4),
    ("stop", 1),
    ("d", 8),
    ("c", 8),
    ("b", 8),
    ("a", 8),
];
/// How roles are shown.
pub const SHOW_ROLES: Decode = Decode::Packed(ROLES);

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
}

/// What an instruction reads, writes, and where it goes: `roles_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct Roles(pub u64);

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident: $low:literal, $bits:literal;)+) => {
        impl Roles {
            $($(#[$doc])*
            #[inline]
            pub const fn $name(self) -> u8 {
                (self.0 >> $low) as u8 & ((1u16 << $bits) - 1) as u8
            })+
        }
    };
}

fields! {
    /// Register source a; 255: none.
    a: 0, 8;
    /// Register source b; 255: none.
    b: 8, 8;
    /// Register source c; 255: none.
    c: 16, 8;
    /// Register written; 255: none.
    d: 24, 8;
    /// Fetch waits behind it.
    stop: 32, 1;
    /// Guard: inverted in bit 3, number.
    guard: 33, 4;
    /// Predicate source s, likewise.
    s: 37, 4;
    /// Predicate source t, likewise.
    t: 41, 4;
    /// Predicate written; 7: none.
    p: 45, 3;
    /// Source b is the constant.
    b_constant: 48, 1;
    /// Unit.
    unit: 49, 3;
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

/// Whether an instruction that writes register `d` is a long-latency operation: a load or an atomic operation outside shared memory.
#[inline]
pub const fn long_latency(op: u64, d: u8) -> bool {
    const SHARED: u64 = 1;
    matches!(opcode(op), 0x40 | 0x43 | 0x44) && op >> 28 & 3 != SHARED && d != NO_REG
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
    /// A register that is dead behind the instruction, inverted, eight bits; 0: none.
    pub const FREE_REGISTER: u32 = 53;
}
