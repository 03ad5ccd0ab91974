//! The names an instruction can use: general registers, predicates, operands.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A general register of 32 bits a lane, `R0` to `R254`; [`Reg::ZERO`] reads as zero and ignores writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reg(pub u8);

impl Reg {
    /// `RZ`: zero.
    pub const ZERO: Self = Self(255);

    /// Whether this is `RZ`, which no register file holds.
    pub const fn is_zero(self) -> bool {
        self.0 == Self::ZERO.0
    }

    /// As an index into a warp's registers.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() { f.write_str("RZ") } else { write!(f, "R{}", self.0) }
    }
}

impl fmt::Debug for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A predicate register of one bit a lane, `P0` to `P6`; [`Predicate::TRUE`] reads as true and ignores writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Predicate(u8);

impl Predicate {
    /// `PT`: true.
    pub const TRUE: Self = Self(7);
    /// Number of predicates that hold a value.
    pub const COUNT: usize = 7;

    /// The predicate of this number: 0 to 6, or 7 for `PT`.
    pub const fn new(number: u8) -> Option<Self> {
        if number < 8 { Some(Self(number)) } else { None }
    }

    /// The number of the predicate.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Whether this is `PT`.
    pub const fn is_true(self) -> bool {
        self.0 == Self::TRUE.0
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_true() { f.write_str("PT") } else { write!(f, "P{}", self.0) }
    }
}

impl fmt::Debug for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A predicate as a source or as a guard: the register, or its inverse.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PredicateSource {
    /// The register.
    pub predicate: Predicate,
    /// Whether the source is the inverse of the register.
    pub negated: bool,
}

impl PredicateSource {
    /// `PT`: always true.
    pub const TRUE: Self = Self { predicate: Predicate::TRUE, negated: false };
    /// `!PT`: always false.
    pub const FALSE: Self = Self { predicate: Predicate::TRUE, negated: true };

    /// The register's value.
    pub const fn of(predicate: Predicate) -> Self {
        Self { predicate, negated: false }
    }

    /// The inverse of the register's value.
    pub const fn not(predicate: Predicate) -> Self {
        Self { predicate, negated: true }
    }
}

impl fmt::Display for PredicateSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.negated { "!" } else { "" }, self.predicate)
    }
}

impl fmt::Debug for PredicateSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Source b: a register, or a constant in the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// 32 bits, the same for all lanes.
    Imm(u32),
}

impl Operand {
    /// `RZ`.
    pub const ZERO: Self = Self::Reg(Reg::ZERO);

    /// The register; `None` for a constant.
    pub const fn register(self) -> Option<Reg> {
        match self {
            Self::Reg(register) => Some(register),
            Self::Imm(_) => None,
        }
    }

    /// The constant; `None` for a register.
    pub const fn immediate(self) -> Option<u32> {
        match self {
            Self::Reg(_) => None,
            Self::Imm(value) => Some(value),
        }
    }
}

impl From<Reg> for Operand {
    fn from(register: Reg) -> Self {
        Self::Reg(register)
    }
}

impl From<u32> for Operand {
    fn from(value: u32) -> Self {
        Self::Imm(value)
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reg(register) => write!(f, "{register}"),
            Self::Imm(value) => write!(f, "{value:#x}"),
        }
    }
}

impl fmt::Debug for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A byte offset of a memory access: signed, 24 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Offset(i32);

impl Offset {
    /// No offset.
    pub const ZERO: Self = Self(0);
    /// The smallest offset.
    pub const MIN: i32 = -(1 << 23);
    /// The largest offset.
    pub const MAX: i32 = (1 << 23) - 1;

    /// An offset of this many bytes, if it fits.
    pub const fn new(bytes: i32) -> Option<Self> {
        if bytes >= Self::MIN && bytes <= Self::MAX { Some(Self(bytes)) } else { None }
    }

    /// The offset in bytes.
    pub const fn bytes(self) -> i32 {
        self.0
    }
}

/// A program counter: the number of an instruction in its kernel, 20 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pc(u32);

impl Pc {
    /// The largest number of instructions in a kernel: one 20-bit number stands for "no reconvergence".
    pub const LIMIT: u32 = (1 << 20) - 1;

    /// The instruction with this number, if the number is below [`Pc::LIMIT`].
    pub const fn new(number: u32) -> Option<Self> {
        if number < Self::LIMIT { Some(Self(number)) } else { None }
    }

    /// The number of the instruction.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// As an index into the kernel's code.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Pc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for Pc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A general source slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Slot {
    /// The first source.
    A,
    /// The second, which may be a constant.
    B,
    /// The third.
    C,
}

impl Slot {
    /// All three.
    pub const ALL: [Self; 3] = [Self::A, Self::B, Self::C];

    /// The slot's index, 0 to 2.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The slot's letter: `a`, `b` or `c`.
    pub const fn letter(self) -> char {
        ['a', 'b', 'c'][self.index()]
    }
}
