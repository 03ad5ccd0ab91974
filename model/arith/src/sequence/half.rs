//! Half precision by way of single precision, in which every step but one is exact.
//!
//! A half precision value is the low 16 bits of a word; the other bits of a source are ignored, and those of a result are zero, except that
//! [`half_flushed`] keeps them. NaN is 0x7fff.

use super::{IntRelation, Machine};
use crate::{INFINITY, Mode, NAN, ONE, Rounding, SIGN};

/// Infinity, and NaN.
const HALF_INFINITY: u32 = 0x7c00;
const HALF_NAN: u32 = 0x7fff;
const HALF_SIGN: u32 = 0x8000;

/// `cvt.f32.f16`, which is exact.
pub fn float_from_half<M: Machine>(m: &mut M, a: M::Value) -> M::Value {
    let (up, mask) = (m.constant(13), m.constant(0x7fff << 13));
    let raised = m.shift_left(a, up);
    let field_and_fraction = m.and(raised, mask);
    // In single precision the same exponent field means a value smaller by 2^112. A field of 0 is a subnormal number, which is scaled like the
    // others.
    let scale = m.constant((127 + 112) << 23);
    let scaled = m.fmul(field_and_fraction, scale, Mode::IEEE);
    let infinity = m.constant(HALF_INFINITY << 13);
    let not_finite = m.iset(IntRelation::GreaterEqual, false, field_and_fraction, infinity);
    let infinite = m.constant(INFINITY);
    let magnitude = m.select(not_finite, infinite, scaled);
    let (sixteen, sign_bit) = (m.constant(16), m.constant(SIGN));
    let high = m.shift_left(a, sixteen);
    // (high & sign) | magnitude
    let signed = m.lop3(high, sign_bit, magnitude, 0xea);
    let is_nan = m.iset(IntRelation::Greater, false, field_and_fraction, infinity);
    let nan = m.constant(NAN);
    m.select(is_nan, nan, signed)
}

/// `cvt.<rounding>.f16.f32`
pub fn half_from_float<M: Machine>(m: &mut M, a: M::Value, rounding: Rounding) -> M::Value {
    let (one, thirteen, sixteen) = (m.constant(1), m.constant(13), m.constant(16));
    let (sign_bit, zero) = (m.constant(SIGN), m.constant(0));
    let magnitude = m.absolute(a);
    let sign = m.and(a, sign_bit);
    // Whether rounding goes away from zero.
    let away = match rounding {
        Rounding::Up => Some(m.iset(IntRelation::Equal, false, sign, zero)),
        Rounding::Down => Some(m.iset(IntRelation::NotEqual, false, sign, zero)),
        Rounding::NearestEven | Rounding::TowardZero => None,
    };
    let below = m.constant(0x1fff);
    let raised = match (rounding, away) {
        (_, Some(away)) => {
            let added = m.select(away, below, zero);
            m.iadd(magnitude, added)
        }
        (Rounding::TowardZero, None) => magnitude,
        _ => {
            // Half a place, less one where the last place is even.
            let kept = m.shift_right(magnitude, thirteen, false);
            let last = m.and(kept, one);
            let almost_half = m.constant(0xfff);
            let added = m.iadd(last, almost_half);
            m.iadd(magnitude, added)
        }
    };
    let places = m.shift_right(raised, thirteen, false);
    let bias = m.constant(112 << 10);
    let normal = m.isub(places, bias);
    // Subnormal numbers have the same last place as single precision values at one half.
    let half = m.constant(0x3f00_0000);
    let signed_half = m.or(half, sign);
    let sum = m.fadd(a, signed_half, Mode::new(rounding, false));
    let sum = m.absolute(sum);
    let subnormal = m.isub(sum, half);
    let smallest_normal = m.constant((127 - 14) << 23);
    let is_small = m.iset(IntRelation::Less, false, magnitude, smallest_normal);
    let rounded = m.select(is_small, subnormal, normal);

    let (infinity, largest) = (m.constant(HALF_INFINITY), m.constant(HALF_INFINITY - 1));
    let limit = match (rounding, away) {
        (_, Some(away)) => m.select(away, infinity, largest),
        (Rounding::TowardZero, None) => largest,
        _ => infinity,
    };
    let overflows = m.iset(IntRelation::Greater, true, rounded, limit);
    let rounded = m.select(overflows, limit, rounded);
    let float_infinity = m.constant(INFINITY);
    let rounded = if rounding == Rounding::NearestEven {
        rounded
    } else {
        let is_infinite = m.iset(IntRelation::Equal, false, magnitude, float_infinity);
        m.select(is_infinite, infinity, rounded)
    };
    let low_sign = m.shift_right(sign, sixteen, false);
    let result = m.or(rounded, low_sign);
    let is_nan = m.iset(IntRelation::Greater, false, magnitude, float_infinity);
    let nan = m.constant(HALF_NAN);
    m.select(is_nan, nan, result)
}

/// `add.f16`. Single precision has more than twice the digits, so that rounding twice gives the same result as rounding once (Figueroa, 1995).
pub fn half_add<M: Machine>(m: &mut M, a: M::Value, b: M::Value) -> M::Value {
    let (x, y) = (float_from_half(m, a), float_from_half(m, b));
    let sum = m.fadd(x, y, Mode::IEEE);
    half_from_float(m, sum, Rounding::NearestEven)
}

/// `mul.f16`: the product is exact in single precision.
pub fn half_multiply<M: Machine>(m: &mut M, a: M::Value, b: M::Value) -> M::Value {
    let (x, y) = (float_from_half(m, a), float_from_half(m, b));
    let product = m.fmul(x, y, Mode::IEEE);
    half_from_float(m, product, Rounding::NearestEven)
}

/// `fma.rn.f16`. The sum in single precision is rounded to odd: its last bit tells whether any bits were lost, so that the second rounding takes the
/// first one into account (Boldo and Melquiond, 2008).
pub fn half_fma<M: Machine>(m: &mut M, a: M::Value, b: M::Value, c: M::Value) -> M::Value {
    let (x, y, z) = (float_from_half(m, a), float_from_half(m, b), float_from_half(m, c));
    let [nearest, down, up] = [Rounding::NearestEven, Rounding::Down, Rounding::Up]
        .map(|rounding| m.ffma(x, y, z, Mode::new(rounding, false)));
    let truncated = m.ffma(x, y, z, Mode::new(Rounding::TowardZero, false));
    let inexact = m.iset(IntRelation::NotEqual, false, down, up);
    let one = m.constant(1);
    let odd = m.or(truncated, one);
    // A zero sum has a different sign when it is rounded down; it is exact.
    let magnitude = m.absolute(nearest);
    let zero = m.constant(0);
    let not_zero = m.iset(IntRelation::NotEqual, false, magnitude, zero);
    let inexact = m.both(inexact, not_zero);
    let sum = m.select(inexact, odd, nearest);
    half_from_float(m, sum, Rounding::NearestEven)
}

/// A subnormal number becomes a zero of its sign.
pub fn half_flushed<M: Machine>(m: &mut M, a: M::Value) -> M::Value {
    let (field, sign_bit, zero) = (m.constant(HALF_INFINITY), m.constant(HALF_SIGN), m.constant(0));
    let exponent = m.and(a, field);
    let sign = m.and(a, sign_bit);
    let small = m.iset(IntRelation::Equal, false, exponent, zero);
    m.select(small, sign, a)
}

/// `a` clamped to 0 ..= 1; NaN becomes 0.
pub fn half_saturated<M: Machine>(m: &mut M, a: M::Value) -> M::Value {
    let x = float_from_half(m, a);
    let one = m.constant(ONE);
    let clamped = m.fmul(x, one, Mode { sat: true, ..Mode::IEEE });
    half_from_float(m, clamped, Rounding::NearestEven)
}
