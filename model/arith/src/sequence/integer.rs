//! Division of integers by way of the approximate reciprocal.
//!
//! With `X = 2^32 / b` (or `2^64 / b`): the reciprocal, rounded so that it is never too large, gives an integer
//! `r <= X` with `X - r <= 2^-20 X + 1`. A Newton step `r += floor(r (2^32 - b r) / 2^32)` keeps `r <= X` and squares
//! the relative error. So `floor(a r / 2^32)` is never above the quotient, and at most 2 below it: after the steps (one
//! for 32 bits, two for 64 bits) `X - r` is at most `1 + 2^-9`, rounding down loses less than one more, and where `X`
//! is below 2 the quotient itself is at most 1. Two corrections by the remainder follow.

use super::{IntRelation, Machine, Pair};
use crate::Rounding;
use crate::mufu::Function;

/// A quotient and its remainder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division<T> {
    /// `a / b`, rounded toward zero.
    pub quotient: T,
    /// `a - quotient * b`.
    pub remainder: T,
}

/// One step of an exponent field.
const EXPONENT: u32 = 1 << 23;

/// `a / b` and `a % b`, unsigned (`div.u32`, `rem.u32`). Division by zero: all ones, and `a`.
pub fn divide_unsigned<M: Machine>(m: &mut M, a: M::Value, b: M::Value) -> Division<M::Value> {
    let Division { quotient, remainder } = magnitudes(m, a, b);
    let quotient = ones_if_zero(m, b, quotient);
    Division { quotient, remainder }
}

/// `a / b` and `a % b`, signed; the remainder has the sign of `a` (`div.s32`, `rem.s32`). Division by zero: all ones,
/// and `a`. The smallest value divided by -1 is itself.
pub fn divide_signed<M: Machine>(m: &mut M, a: M::Value, b: M::Value) -> Division<M::Value> {
    let (sign_a, sign_b) = (sign(m, a), sign(m, b));
    let (magnitude_a, magnitude_b) = (negate_if(m, a, sign_a), negate_if(m, b, sign_b));
    let unsigned = magnitudes(m, magnitude_a, magnitude_b);
    let sign_quotient = m.xor(sign_a, sign_b);
    let quotient = negate_if(m, unsigned.quotient, sign_quotient);
    let quotient = ones_if_zero(m, b, quotient);
    let remainder = negate_if(m, unsigned.remainder, sign_a);
    Division { quotient, remainder }
}

/// `a / b` and `a % b`, unsigned (`div.u64`, `rem.u64`). Division by zero: all ones, and `a`.
pub fn divide_unsigned_64<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> Division<Pair<M::Value>> {
    let Division { quotient, remainder } = magnitudes_64(m, a, b);
    let quotient = ones_if_zero_64(m, b, quotient);
    Division { quotient, remainder }
}

/// `a / b` and `a % b`, signed; the remainder has the sign of `a` (`div.s64`, `rem.s64`). Division by zero: all ones,
/// and `a`. The smallest value divided by -1 is itself.
pub fn divide_signed_64<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> Division<Pair<M::Value>> {
    let (sign_a, sign_b) = (sign(m, a.high), sign(m, b.high));
    let (magnitude_a, magnitude_b) = (negate_if_64(m, a, sign_a), negate_if_64(m, b, sign_b));
    let unsigned = magnitudes_64(m, magnitude_a, magnitude_b);
    let sign_quotient = m.xor(sign_a, sign_b);
    let quotient = negate_if_64(m, unsigned.quotient, sign_quotient);
    let quotient = ones_if_zero_64(m, b, quotient);
    let remainder = negate_if_64(m, unsigned.remainder, sign_a);
    Division { quotient, remainder }
}

/// Division of 32 bits, unsigned; the quotient by zero is 2.
fn magnitudes<M: Machine>(m: &mut M, a: M::Value, b: M::Value) -> Division<M::Value> {
    // 2^32 / b, lowered by two places of the reciprocal: more than the errors of the reciprocal and of the conversion.
    let float = m.int_to_float(b, false, Rounding::Up);
    let inverse = m.mufu(Function::Reciprocal, float, false);
    let scale = m.constant(32 * EXPONENT - 2);
    let scaled = m.iadd(inverse, scale);
    let r = m.float_to_int(scaled, false, Rounding::TowardZero);

    let zero = m.constant(0);
    let minus_b = m.isub(zero, b);
    let error = m.imad(minus_b, r, zero);
    let r = m.imad_hi(r, error, r);
    let mut quotient = m.imul_hi(a, r);
    let mut remainder = m.imad(quotient, minus_b, a);
    for _ in 0..2 {
        let (less, fits) = m.isub_carry(remainder, b, None);
        remainder = m.select(fits, less, remainder);
        quotient = m.iadd_carry(quotient, zero, Some(fits)).0;
    }
    Division { quotient, remainder }
}

/// Division of 64 bits, unsigned; the quotient by zero is 2.
fn magnitudes_64<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> Division<Pair<M::Value>> {
    let r = reciprocal_64(m, b);
    let r = newton_64(m, b, r);
    let r = newton_64(m, b, r);
    let mut quotient = multiply_high_64(m, a, r);
    let product = multiply_low_64(m, quotient, b);
    let (low, carry) = m.isub_carry(a.low, product.low, None);
    let high = m.isub_carry(a.high, product.high, Some(carry)).0;
    let mut remainder = Pair { low, high };
    let zero = m.constant(0);
    for _ in 0..2 {
        let (low, carry) = m.isub_carry(remainder.low, b.low, None);
        let (high, fits) = m.isub_carry(remainder.high, b.high, Some(carry));
        remainder = Pair { low: m.select(fits, low, remainder.low), high: m.select(fits, high, remainder.high) };
        let (low, carry) = m.iadd_carry(quotient.low, zero, Some(fits));
        quotient = Pair { low, high: m.iadd_carry(quotient.high, zero, Some(carry)).0 };
    }
    Division { quotient, remainder }
}

/// `2^64 / b` from below, with 20 correct bits, or all bits if there are fewer.
fn reciprocal_64<M: Machine>(m: &mut M, b: Pair<M::Value>) -> Pair<M::Value> {
    let zero = m.constant(0);
    // The divisor's upper 32 bits from its leading one, and their position.
    let narrow = m.iset(IntRelation::Equal, false, b.high, zero);
    let upper = m.select(narrow, b.low, b.high);
    let lower = m.select(narrow, zero, b.low);
    let shift = m.leading_zeros(upper);
    let leading = m.funnel_left(lower, upper, shift);
    // 2^63 over those bits, lowered by five places, since bits below them were dropped too.
    let float = m.int_to_float(leading, false, Rounding::Up);
    let inverse = m.mufu(Function::Reciprocal, float, false);
    let scale = m.constant(63 * EXPONENT - 5);
    let scaled = m.iadd(inverse, scale);
    let fixed = m.float_to_int(scaled, false, Rounding::TowardZero);
    // Shifted back to the divisor's own position: its leading one was at bit 63 - shift, or 31 - shift.
    let back = m.constant(31);
    let back = m.isub(back, shift);
    let shifted = m.shift_right(fixed, back, false);
    let spread = m.funnel_right(zero, fixed, back);
    Pair { low: m.select(narrow, spread, shifted), high: m.select(narrow, shifted, zero) }
}

/// A Newton step of the reciprocal: `r + floor(r (2^64 - b r) / 2^64)`.
fn newton_64<M: Machine>(m: &mut M, b: Pair<M::Value>, r: Pair<M::Value>) -> Pair<M::Value> {
    let product = multiply_low_64(m, b, r);
    let zero = m.constant(0);
    let error = subtract_64(m, Pair { low: zero, high: zero }, product);
    let step = multiply_high_64(m, r, error);
    let (low, carry) = m.iadd_carry(r.low, step.low, None);
    Pair { low, high: m.iadd_carry(r.high, step.high, Some(carry)).0 }
}

/// The lower 64 bits of the product.
pub(super) fn multiply_low_64<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> Pair<M::Value> {
    let zero = m.constant(0);
    let low = m.imad(a.low, b.low, zero);
    let high = m.imul_hi(a.low, b.low);
    let high = m.imad(a.low, b.high, high);
    Pair { low, high: m.imad(a.high, b.low, high) }
}

/// The upper 64 bits of the unsigned product.
pub(super) fn multiply_high_64<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> Pair<M::Value> {
    let zero = m.constant(0);
    let carried = m.imul_hi(a.low, b.low);
    let (middle, carry) = m.imad_carry(false, a.low, b.high, carried, None);
    let (upper, _) = m.imad_carry(true, a.low, b.high, zero, Some(carry));
    let (_, carry) = m.imad_carry(false, a.high, b.low, middle, None);
    let (upper, overflow) = m.imad_carry(true, a.high, b.low, upper, Some(carry));
    let (low, carry) = m.imad_carry(false, a.high, b.high, upper, None);
    let (high, _) = m.imad_carry(true, a.high, b.high, zero, Some(carry));
    Pair { low, high: m.iadd_carry(high, zero, Some(overflow)).0 }
}

/// `a - b`
pub(super) fn subtract_64<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> Pair<M::Value> {
    let (low, carry) = m.isub_carry(a.low, b.low, None);
    Pair { low, high: m.isub_carry(a.high, b.high, Some(carry)).0 }
}

/// All ones for a negative value, else 0.
pub(super) fn sign<M: Machine>(m: &mut M, a: M::Value) -> M::Value {
    let places = m.constant(31);
    m.shift_right(a, places, true)
}

/// `-a` if `sign` is all ones, `a` if it is 0.
fn negate_if<M: Machine>(m: &mut M, a: M::Value, sign: M::Value) -> M::Value {
    let inverted = m.xor(a, sign);
    m.isub(inverted, sign)
}

/// As [`negate_if`], of 64 bits.
pub(super) fn negate_if_64<M: Machine>(m: &mut M, a: Pair<M::Value>, sign: M::Value) -> Pair<M::Value> {
    let inverted = Pair { low: m.xor(a.low, sign), high: m.xor(a.high, sign) };
    subtract_64(m, inverted, Pair { low: sign, high: sign })
}

fn ones_if_zero<M: Machine>(m: &mut M, divisor: M::Value, quotient: M::Value) -> M::Value {
    let (zero, ones) = (m.constant(0), m.constant(u32::MAX));
    let by_zero = m.iset(IntRelation::Equal, false, divisor, zero);
    m.select(by_zero, ones, quotient)
}

fn ones_if_zero_64<M: Machine>(m: &mut M, divisor: Pair<M::Value>, quotient: Pair<M::Value>) -> Pair<M::Value> {
    let (zero, ones) = (m.constant(0), m.constant(u32::MAX));
    let any = m.or(divisor.low, divisor.high);
    let by_zero = m.iset(IntRelation::Equal, false, any, zero);
    Pair { low: m.select(by_zero, ones, quotient.low), high: m.select(by_zero, ones, quotient.high) }
}
