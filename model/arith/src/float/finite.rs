//! Unpacked finite values, and the one place where results are rounded.

use crate::{INFINITY, Mode, Rounding, SIGN};

/// The value `(-1)^negative * significand * 2^exponent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Finite {
    /// Sign; a zero has one too.
    pub negative: bool,
    /// Magnitude without its scale.
    pub significand: u64,
    /// Scale.
    pub exponent: i32,
}

impl Finite {
    /// Zero of this sign.
    pub(crate) const fn zero(negative: bool) -> Self {
        Self { negative, significand: 0, exponent: 0 }
    }

    /// The same value with the leading one of its significand at bit `top`. The significand is not zero and has no
    /// bit above `top`.
    pub fn normalized(self, top: u32) -> Self {
        let shift = top - (63 - self.significand.leading_zeros());
        Self { significand: self.significand << shift, exponent: self.exponent - shift as i32, ..self }
    }
}

/// The value that a bit pattern stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A number: zero, subnormal or normal.
    Finite(Finite),
    /// An infinity.
    Infinite {
        /// Its sign.
        negative: bool,
    },
    /// Any NaN.
    Nan,
}

/// Unpacks `bits`: with exponent field e and fraction f, the significand is f + 2^23 and the exponent e - 150; for e =
/// 0 they are f (with `ftz` 0, a zero of its sign) and -149.
#[inline(always)]
pub fn classify(bits: u32, ftz: bool) -> Class {
    let negative = bits & SIGN != 0;
    let biased = (bits >> 23 & 0xff) as i32;
    let fraction = u64::from(bits & 0x007f_ffff);
    match biased {
        0xff if fraction == 0 => Class::Infinite { negative },
        0xff => Class::Nan,
        0 => Class::Finite(Finite { negative, significand: if ftz { 0 } else { fraction }, exponent: -149 }),
        _ => Class::Finite(Finite { negative, significand: fraction | 0x0080_0000, exponent: biased - 150 }),
    }
}

/// `value >> shift`, with bit 0 set if any bit that was shifted out was.
pub(crate) fn shift_right_sticky(value: u64, shift: u32) -> u64 {
    if shift == 0 {
        value
    } else if shift < 64 {
        value >> shift | u64::from(value << (64 - shift) != 0)
    } else {
        u64::from(value != 0)
    }
}

/// Whether the last kept bit is incremented: `last` is that bit, `half` the first dropped bit, and `sticky` tells
/// whether any later bit is set.
pub(crate) fn round_up(rounding: Rounding, negative: bool, last: bool, half: bool, sticky: bool) -> bool {
    match rounding {
        Rounding::NearestEven => half && (sticky || last),
        Rounding::TowardZero => false,
        Rounding::Down => negative && (half || sticky),
        Rounding::Up => !negative && (half || sticky),
    }
}

/// The exact product, of up to 48 bits for significands of 24.
#[inline(always)]
pub fn product(a: Finite, b: Finite) -> Finite {
    Finite {
        negative: a.negative != b.negative,
        significand: a.significand * b.significand,
        exponent: a.exponent + b.exponent,
    }
}

/// The sum of two values of up to 48 bits, in 63 bits of which the lowest may be a sticky bit, so that rounding it
/// equals rounding the exact sum. The sign of a zero sum depends on the rounding.
#[inline(always)]
pub fn sum(a: Finite, b: Finite, rounding: Rounding) -> Finite {
    let cancelled = Finite::zero(rounding == Rounding::Down);
    match (a.significand, b.significand) {
        // Zeros of one sign keep it; of two signs give +0, or -0 when rounding down.
        (0, 0) if a.negative == b.negative => return Finite::zero(a.negative),
        (0, 0) => return cancelled,
        (0, _) => return b,
        (_, 0) => return a,
        _ => {}
    }
    // Both with their leading one at bit 61: the sum cannot overflow, and at most one bit of cancellation can follow
    // an alignment that loses bits, so one sticky bit at the bottom is enough.
    let (a, b) = (a.normalized(61), b.normalized(61));
    let (high, low) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let aligned = shift_right_sticky(low.significand, (high.exponent - low.exponent) as u32);
    let opposite = high.negative != low.negative;
    let (high_value, low_value) = (high.significand as i64, aligned as i64);
    let total = high_value + if opposite { -low_value } else { low_value };
    if total == 0 {
        return cancelled;
    }
    // Negative only if both have the same exponent.
    Finite { negative: high.negative != (total < 0), significand: total.unsigned_abs(), exponent: high.exponent }
}

/// The single precision value of `x`, rounded once, flushed and clamped as `mode` says.
/// Bit 0 of the significand may be a sticky bit, if there are at least two bits between it and the last kept one.
#[inline(always)]
pub fn round(x: Finite, mode: Mode) -> u32 {
    round_parts(x.negative, x.significand, x.exponent, mode)
}

/// [`round`] with its value in separate arguments, so that they are passed in registers.
fn round_parts(negative: bool, significand: u64, exponent: i32, mode: Mode) -> u32 {
    let sign = if negative { SIGN } else { 0 };
    if significand == 0 {
        return if mode.sat { 0 } else { sign };
    }
    // Leading one at bit 63; `biased` is the exponent field that a normal result would have.
    let shift = significand.leading_zeros();
    let mut aligned = significand << shift;
    let mut biased = exponent - shift as i32 + 63 + 127;
    if biased >= 0xff {
        let result = sign | overflow(mode.rounding, negative);
        return if mode.sat { super::saturate(result) } else { result };
    }
    if biased < 1 {
        // Subnormal: the leading one moves below the position of the hidden one.
        aligned = shift_right_sticky(aligned, (1 - biased) as u32);
        biased = 0;
    }
    let kept = (aligned >> 40) as u32;
    let half = aligned >> 39 & 1 != 0;
    let sticky = aligned << 25 != 0;
    let increment = u32::from(round_up(mode.rounding, negative, kept & 1 != 0, half, sticky));
    // The hidden one adds one to the exponent field of a normal value, and a carry out of the fraction does so too.
    let magnitude = kept + increment + if biased > 0 { ((biased - 1) as u32) << 23 } else { 0 };
    let result = if magnitude >= INFINITY {
        sign | overflow(mode.rounding, negative)
    } else if mode.ftz && magnitude < 0x0080_0000 {
        sign
    } else {
        sign | magnitude
    };
    if mode.sat { super::saturate(result) } else { result }
}

/// The magnitude of a result that is too large: infinity, or the largest finite value if the rounding mode says so.
fn overflow(rounding: Rounding, negative: bool) -> u32 {
    let to_infinity = match rounding {
        Rounding::NearestEven => true,
        Rounding::TowardZero => false,
        Rounding::Down => negative,
        Rounding::Up => !negative,
    };
    if to_infinity { INFINITY } else { INFINITY - 1 }
}
