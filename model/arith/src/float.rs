//! Single precision: add, multiply, fused multiply-add, minimum, maximum, comparison, sign operations.
//!
//! NaN: every NaN input is treated alike, and a result that is NaN is [`NAN`]. The operations that only touch the sign
//! ([`abs`], [`neg`], [`copysign`]) are bit operations and give back what they got.

mod compare;
mod finite;

pub use compare::{Relation, compare, max, min};
pub(crate) use finite::{Class, Finite, classify, round, round_up};

use crate::{INFINITY, Mode, NAN, Rounding, SIGN};

/// `a + b`.
pub fn add(a: u32, b: u32, mode: Mode) -> u32 {
    match (classify(a, mode.ftz), classify(b, mode.ftz)) {
        (Class::Finite(a), Class::Finite(b)) => sum(a, b, mode),
        (Class::Nan, _) | (_, Class::Nan) => nan(mode),
        (Class::Infinite { negative: a }, Class::Infinite { negative: b }) if a != b => nan(mode),
        (Class::Infinite { negative }, _) | (_, Class::Infinite { negative }) => infinity(negative, mode),
    }
}

/// `a - b`.
pub fn sub(a: u32, b: u32, mode: Mode) -> u32 {
    add(a, b ^ SIGN, mode)
}

/// `a * b`.
pub fn mul(a: u32, b: u32, mode: Mode) -> u32 {
    let negative = (a ^ b) & SIGN != 0;
    match (classify(a, mode.ftz), classify(b, mode.ftz)) {
        (Class::Finite(a), Class::Finite(b)) => {
            let product = product(a, b);
            round(product.negative, product.significand, product.exponent, mode)
        }
        (Class::Nan, _) | (_, Class::Nan) => nan(mode),
        (Class::Finite(x), _) | (_, Class::Finite(x)) if x.significand == 0 => nan(mode),
        _ => infinity(negative, mode),
    }
}

/// `a * b + c`, rounded once.
pub fn fma(a: u32, b: u32, c: u32, mode: Mode) -> u32 {
    let negative = (a ^ b) & SIGN != 0;
    let addend = classify(c, mode.ftz);
    match (classify(a, mode.ftz), classify(b, mode.ftz)) {
        (Class::Finite(a), Class::Finite(b)) => match addend {
            Class::Finite(c) => sum(product(a, b), c, mode),
            Class::Infinite { negative } => infinity(negative, mode),
            Class::Nan => nan(mode),
        },
        (Class::Nan, _) | (_, Class::Nan) => nan(mode),
        (Class::Finite(x), _) | (_, Class::Finite(x)) if x.significand == 0 => nan(mode),
        _ => match addend {
            Class::Nan => nan(mode),
            Class::Infinite { negative: other } if other != negative => nan(mode),
            _ => infinity(negative, mode),
        },
    }
}

/// `|a|`; with `ftz` a subnormal becomes +0.
pub fn abs(a: u32, ftz: bool) -> u32 {
    flush(a, ftz) & !SIGN
}

/// `-a`; with `ftz` a subnormal becomes zero of the other sign.
pub fn neg(a: u32, ftz: bool) -> u32 {
    flush(a, ftz) ^ SIGN
}

/// The magnitude of `magnitude` with the sign of `sign`. PTX's `copysign a, b` is `copysign(b, a)`.
pub fn copysign(magnitude: u32, sign: u32) -> u32 {
    magnitude & !SIGN | sign & SIGN
}

/// `a` with a subnormal replaced by zero of its sign, if `ftz`.
pub fn flush(a: u32, ftz: bool) -> u32 {
    if ftz && a & INFINITY == 0 { a & SIGN } else { a }
}

/// True for every NaN.
pub fn is_nan(a: u32) -> bool {
    a & !SIGN > INFINITY
}

/// `.sat` applied to a result: clamped to 0.0 ..= 1.0; NaN, negative values and -0.0 become +0.0.
pub fn saturate(a: u32) -> u32 {
    if is_nan(a) || a & SIGN != 0 { 0 } else { a.min(crate::ONE) }
}

fn nan(mode: Mode) -> u32 {
    if mode.sat { 0 } else { NAN }
}

fn infinity(negative: bool, mode: Mode) -> u32 {
    let bits = INFINITY | if negative { SIGN } else { 0 };
    if mode.sat { saturate(bits) } else { bits }
}

/// The exact product, of up to 48 bits.
fn product(a: Finite, b: Finite) -> Finite {
    Finite {
        negative: a.negative != b.negative,
        significand: a.significand * b.significand,
        exponent: a.exponent + b.exponent,
    }
}

/// The rounded sum of two exact values of up to 48 bits.
fn sum(a: Finite, b: Finite, mode: Mode) -> u32 {
    if a.significand == 0 && b.significand == 0 {
        // Zeros of one sign keep it; of two signs give +0, or -0 when rounding down.
        let negative = if a.negative == b.negative { a.negative } else { mode.rounding == Rounding::Down };
        return round(negative, 0, 0, mode);
    }
    if a.significand == 0 {
        return round(b.negative, b.significand, b.exponent, mode);
    }
    if b.significand == 0 {
        return round(a.negative, a.significand, a.exponent, mode);
    }
    // Both with their leading one at bit 61: the sum cannot overflow, and at most one bit of cancellation can follow
    // an alignment that loses bits, so one sticky bit at the bottom is enough.
    let (a, b) = (a.normalized(61), b.normalized(61));
    let (high, low) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let aligned = finite::shift_right_sticky(low.significand, (high.exponent - low.exponent) as u32);
    let opposite = high.negative != low.negative;
    let (high_value, low_value) = (high.significand as i64, aligned as i64);
    let total = high_value + if opposite { -low_value } else { low_value };
    if total == 0 {
        return round(mode.rounding == Rounding::Down, 0, 0, mode);
    }
    // Negative only if both have the same exponent.
    round(high.negative != (total < 0), total.unsigned_abs(), high.exponent, mode)
}
