//! Integer and single precision arithmetic, bit for bit as the hardware does it.
//!
//! Every function takes and returns bit patterns (`u32`, `u64`) and is a pure function: the same bits on every machine.
//! All computations are integer arithmetic of bounded width, in the order in which a pipeline would do them, so that
//! the RTL can be compared with them signal by signal. The host's floating point is used nowhere but in tests, and in
//! the compile-time procedure that makes the tables of [`mufu`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`float`] | add, multiply, fused multiply-add, minimum, maximum, comparison, sign operations |
//! | [`convert`] | integers of 8 to 64 bits to and from single precision, rounding to an integral value |
//! | [`integer`] | what PTX's integer instructions compute beyond Rust's own operators |
//! | [`mufu`] | the approximate functions: reciprocal, square roots, exponential, logarithm, sine, cosine |
//! | [`sequence`] | what takes several instructions: exact division and square root, integer division, 64-bit conversions |
//!
//! The page `docs/arithmetic.md` has the decisions, the tables' sizes and the measured errors.

pub mod convert;
pub mod float;
pub mod integer;
pub mod mufu;
pub mod sequence;

/// The canonical NaN: the result of every operation whose result is NaN (PTX ISA, "Floating Point Instructions").
pub const NAN: u32 = 0x7fff_ffff;

/// Positive infinity.
pub const INFINITY: u32 = 0x7f80_0000;

/// The sign bit.
pub const SIGN: u32 = 0x8000_0000;

/// 1.0.
pub const ONE: u32 = 0x3f80_0000;

/// How an inexact result is rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rounding {
    /// To the nearest value; of two equally near ones to the even one (`.rn`, `.rni`).
    #[default]
    NearestEven,
    /// Toward zero (`.rz`, `.rzi`).
    TowardZero,
    /// Toward negative infinity (`.rm`, `.rmi`).
    Down,
    /// Toward positive infinity (`.rp`, `.rpi`).
    Up,
}

impl Rounding {
    /// All four, in the order of the declaration.
    pub const ALL: [Self; 4] = [Self::NearestEven, Self::TowardZero, Self::Down, Self::Up];
}

/// The modifiers of a single precision operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mode {
    /// Rounding of an inexact result.
    pub rounding: Rounding,
    /// Subnormal inputs and results become zero, their sign kept (`.ftz`). A result that rounds up to the smallest
    /// normal value is kept.
    pub ftz: bool,
    /// The result is clamped to 0.0 ..= 1.0, and NaN becomes +0.0 (`.sat`). There is no negative zero in that range.
    pub sat: bool,
}

impl Mode {
    /// IEEE-754's default: nearest even, subnormals kept, no clamping.
    pub const IEEE: Self = Self::rounded(Rounding::NearestEven);

    /// Nearest even with subnormals flushed.
    pub const FTZ: Self = Self { rounding: Rounding::NearestEven, ftz: true, sat: false };

    /// This rounding, subnormals kept, no clamping.
    pub const fn rounded(rounding: Rounding) -> Self {
        Self { rounding, ftz: false, sat: false }
    }

    /// This rounding and flushing, no clamping.
    pub const fn new(rounding: Rounding, ftz: bool) -> Self {
        Self { rounding, ftz, sat: false }
    }
}

/// An integer type of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IntType {
    /// Width in bits: 8, 16, 32 or 64.
    pub bits: u8,
    /// Two's complement (`.s32`) or unsigned (`.u32`).
    pub signed: bool,
}

impl IntType {
    /// `.u8`
    pub const U8: Self = Self { bits: 8, signed: false };
    /// `.s8`
    pub const S8: Self = Self { bits: 8, signed: true };
    /// `.u16`
    pub const U16: Self = Self { bits: 16, signed: false };
    /// `.s16`
    pub const S16: Self = Self { bits: 16, signed: true };
    /// `.u32`
    pub const U32: Self = Self { bits: 32, signed: false };
    /// `.s32`
    pub const S32: Self = Self { bits: 32, signed: true };
    /// `.u64`
    pub const U64: Self = Self { bits: 64, signed: false };
    /// `.s64`
    pub const S64: Self = Self { bits: 64, signed: true };

    /// All eight.
    pub const ALL: [Self; 8] = [Self::U8, Self::S8, Self::U16, Self::S16, Self::U32, Self::S32, Self::U64, Self::S64];

    /// The value that the low bits of `bits` have in this type. Bits above the type's width are ignored.
    pub const fn value(self, bits: u64) -> i128 {
        let unused = 64 - self.bits as u32;
        if self.signed { (((bits << unused) as i64) >> unused) as i128 } else { ((bits << unused) >> unused) as i128 }
    }

    /// The largest value.
    pub const fn max(self) -> i128 {
        (1i128 << (self.bits as u32 - self.signed as u32)) - 1
    }

    /// The smallest value.
    pub const fn min(self) -> i128 {
        if self.signed { -(1i128 << (self.bits as u32 - 1)) } else { 0 }
    }
}
