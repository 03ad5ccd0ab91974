//! Division and square root.
//!
//! Both compute 55 or 56 bits of the result from below, correct them by the exact remainder, and use the remainder as sticky bit. Estimates are made so
//! that they are never too large: `docs/arithmetic.md` has the bounds.

use super::{Double, INFINITY_64, NAN_64, finished, nan_64, round_double};
use crate::mufu::Function;
use crate::sequence::integer::{multiply_high_64, multiply_low_64, subtract_64};
use crate::sequence::wide::select_64;
use crate::sequence::{IntRelation, Machine, Pair};
use crate::{Rounding, SIGN};

/// One step of an exponent field of single precision.
const STEP_32: u32 = 1 << 23;

/// `div.f64`, and with 1 as dividend `rcp.f64`.
pub fn double_divide<M: Machine>(
    m: &mut M,
    a: Pair<M::Value>,
    b: Pair<M::Value>,
    rounding: Rounding,
) -> Pair<M::Value> {
    let (zero, sign_bit) = (m.constant(0), m.constant(SIGN));
    let signs = m.xor(a.high, b.high);
    let sign = m.and(signs, sign_bit);
    let (x, y) = (Double::new(m, a), Double::new(m, b));
    let invalid = m.both(x.is_zero, y.is_zero);
    let is_nan = m.either(x.is_nan, y.is_nan);
    let is_nan = m.either(is_nan, invalid);
    let invalid = m.both(x.is_infinite, y.is_infinite);
    let is_nan = m.either(is_nan, invalid);
    let is_infinite = m.either(x.is_infinite, y.is_zero);
    let is_zero = m.either(x.is_zero, y.is_infinite);

    let inverse = reciprocal(m, y.significand);
    let estimate = multiply_high_64(m, x.significand, inverse);
    let quotient = shifted_down(m, estimate, 8);
    // dividend * 2^55 - quotient * divisor, of which 64 bits suffice: it is below twice the divisor.
    let divisor = shifted_down(m, y.significand, 11);
    let product = multiply_low_64(m, quotient, divisor);
    // The lowest 11 bits of a significand are 0.
    let places = m.constant(12);
    let dividend = m.shift_left(x.significand.low, places);
    let remainder = subtract_64(m, Pair { low: zero, high: dividend }, product);
    let bits = corrected(m, quotient, remainder, divisor);

    let shift = m.leading_zeros(bits.high);
    let bits = Pair { low: m.shift_left(bits.low, shift), high: m.funnel_left(bits.low, bits.high, shift) };
    let bias = m.constant(1023);
    let difference = m.isub(x.exponent, y.exponent);
    let exponent = m.iadd(difference, bias);
    let exponent = m.isub(exponent, shift);
    let result = finished(m, bits, exponent, sign, rounding);

    let result = select_64(m, is_zero, Pair { low: zero, high: sign }, result);
    let infinity = m.constant(INFINITY_64);
    let infinity = m.or(infinity, sign);
    let result = select_64(m, is_infinite, Pair { low: zero, high: infinity }, result);
    let nan = nan_64(m);
    select_64(m, is_nan, nan, result)
}

/// `sqrt.f64`
pub fn double_square_root<M: Machine>(m: &mut M, a: Pair<M::Value>, rounding: Rounding) -> Pair<M::Value> {
    let (zero, one) = (m.constant(0), m.constant(1));
    let x = Double::new(m, a);
    // The radicand, from 1 to below 4, has its units at bit 62.
    let odd = m.and(x.exponent, one);
    let radicand = Pair {
        low: m.funnel_right(x.significand.low, x.significand.high, odd),
        high: m.shift_right(x.significand.high, odd, false),
    };
    let bias = m.constant(1023);
    let doubled = m.iadd(x.exponent, bias);
    let exponent = m.shift_right(doubled, one, true);

    // The inverse of the root times 2^32, lowered by more than its error.
    let float = m.int_to_float(radicand.high, false, Rounding::Up);
    let inverse = m.mufu(Function::ReciprocalSquareRoot, float, false);
    let scale = m.constant(47 * STEP_32 - 4);
    let scaled = m.iadd(inverse, scale);
    let inverse = m.float_to_int(scaled, false, Rounding::TowardZero);
    // The root times 2^31, with 20 correct bits; then 40 and 60 bits, by half of (radicand - root^2) * inverse.
    let root = m.imul_hi(radicand.high, inverse);
    let root = m.shift_left(root, one);
    let square = Pair { low: m.imad(root, root, zero), high: m.imul_hi(root, root) };
    let rest = subtract_64(m, radicand, square);
    let carried = m.imul_hi(rest.low, inverse);
    let (low, carry) = m.imad_carry(false, rest.high, inverse, carried, None);
    let (high, _) = m.imad_carry(true, rest.high, inverse, root, Some(carry));
    let root = Pair { low, high };
    let square = multiply_high_64(m, root, root);
    // One less than the difference, as the square is rounded down.
    let inverted = m.not(square.low);
    let rest = m.iadd(radicand.low, inverted);
    let step = m.imul_hi(rest, inverse);
    let (low, carry) = m.iadd_carry(root.low, step, None);
    let high = m.iadd_carry(root.high, zero, Some(carry)).0;

    let root = shifted_down(m, Pair { low, high }, 8);
    let square = multiply_low_64(m, root, root);
    let places = m.constant(16);
    let shifted = m.shift_left(radicand.low, places);
    let remainder = subtract_64(m, Pair { low: zero, high: shifted }, square);
    // (root + 1)^2 - root^2
    let high = m.funnel_left(root.low, root.high, one);
    let low = m.shift_left(root.low, one);
    let step = Pair { low: m.or(low, one), high };
    let bits = corrected(m, root, remainder, step);
    let result = round_double(m, bits, exponent, zero, rounding);

    let infinity = m.constant(INFINITY_64);
    let positive = m.iset(IntRelation::GreaterEqual, true, a.high, zero);
    let is_infinite = m.both(x.is_infinite, positive);
    let result = select_64(m, is_infinite, Pair { low: zero, high: infinity }, result);
    let negative = m.iset(IntRelation::Less, true, a.high, zero);
    let is_nan = m.either(x.is_nan, negative);
    let nan = nan_64(m);
    let result = select_64(m, is_nan, nan, result);
    select_64(m, x.is_zero, a, result)
}

/// `rcp.approx.ftz.f64`: the upper word of the reciprocal of the upper word; the lower word is zero.
pub fn double_reciprocal_approximate<M: Machine>(m: &mut M, a: Pair<M::Value>) -> Pair<M::Value> {
    let (zero, sign_bit) = (m.constant(0), m.constant(SIGN));
    let Upper { magnitude, field, fraction } = Upper::new(m, a);
    let float = m.constant(127 * STEP_32);
    let float = m.or(fraction, float);
    let inverse = m.mufu(Function::Reciprocal, float, false);
    let bias = m.constant(2 * 1023);
    let exponent = m.isub(bias, field);
    let high = rounded_upper(m, inverse, exponent);
    // A result below the normal numbers is a zero, and the reciprocal of a subnormal is infinite.
    let limit = m.constant(2045 << 20);
    let small = m.iset(IntRelation::Greater, false, magnitude, limit);
    let high = m.select(small, zero, high);
    let subnormal = m.iset(IntRelation::Equal, false, field, zero);
    let infinity = m.constant(INFINITY_64);
    let high = m.select(subnormal, infinity, high);
    let sign = m.and(a.high, sign_bit);
    let high = m.or(high, sign);
    let is_nan = super::is_nan_64(m, a.low, magnitude);
    let nan = m.constant(NAN_64);
    Pair { low: zero, high: m.select(is_nan, nan, high) }
}

/// `rsqrt.approx.ftz.f64`: the upper word of the reciprocal square root of the upper word; the lower word is zero.
pub fn double_reciprocal_root_approximate<M: Machine>(m: &mut M, a: Pair<M::Value>) -> Pair<M::Value> {
    let (zero, one, sign_bit) = (m.constant(0), m.constant(1), m.constant(SIGN));
    let Upper { magnitude, field, fraction } = Upper::new(m, a);
    // The fraction as a number from 1 to below 4: an even field has an odd exponent.
    let odd = m.and(field, one);
    let step = m.constant(STEP_32.wrapping_neg());
    let base = m.constant(128 * STEP_32);
    let base = m.imad(odd, step, base);
    let float = m.or(fraction, base);
    let inverse = m.mufu(Function::ReciprocalSquareRoot, float, false);
    let bias = m.constant(3 * 1023 + 1);
    let doubled = m.isub(bias, field);
    let exponent = m.shift_right(doubled, one, false);
    let high = rounded_upper(m, inverse, exponent);
    let infinity = m.constant(INFINITY_64);
    let is_infinite = m.iset(IntRelation::GreaterEqual, false, magnitude, infinity);
    let high = m.select(is_infinite, zero, high);
    let is_nan = super::is_nan_64(m, a.low, magnitude);
    let negative = m.iset(IntRelation::Less, true, a.high, zero);
    let is_nan = m.either(is_nan, negative);
    let nan = m.constant(NAN_64);
    let high = m.select(is_nan, nan, high);
    let subnormal = m.iset(IntRelation::Equal, false, field, zero);
    let sign = m.and(a.high, sign_bit);
    let infinite = m.or(infinity, sign);
    Pair { low: zero, high: m.select(subnormal, infinite, high) }
}

/// The upper word of a number.
struct Upper<M: Machine> {
    magnitude: M::Value,
    field: M::Value,
    /// The upper 20 bits of the fraction, at their place in single precision.
    fraction: M::Value,
}

impl<M: Machine> Upper<M> {
    fn new(m: &mut M, a: Pair<M::Value>) -> Self {
        let (position, mask, places) = (m.constant(20), m.constant(super::STEP_64 - 1), m.constant(3));
        let magnitude = m.absolute(a.high);
        let field = m.shift_right(magnitude, position, false);
        let fraction = m.and(magnitude, mask);
        Self { magnitude, field, fraction: m.shift_left(fraction, places) }
    }
}

/// The upper word of a single precision number from 1/2 to 1, rounded, times 2 to the power of `exponent` less 1023.
fn rounded_upper<M: Machine>(m: &mut M, float: M::Value, exponent: M::Value) -> M::Value {
    let (half, places, step) = (m.constant(4), m.constant(3), m.constant(super::STEP_64));
    let raised = m.iadd(float, half);
    let upper = m.shift_right(raised, places, false);
    let bias = m.constant(127u32.wrapping_neg());
    let exponent = m.iadd(exponent, bias);
    m.imad(exponent, step, upper)
}

/// 2^127 divided by a significand with its leading one at bit 63: at most 5 too small, and never too large.
fn reciprocal<M: Machine>(m: &mut M, b: Pair<M::Value>) -> Pair<M::Value> {
    let (zero, one) = (m.constant(0), m.constant(1));
    // 32 bits, lowered by five places, as the lower word is dropped too: 20 of them are correct.
    let float = m.int_to_float(b.high, false, Rounding::Up);
    let inverse = m.mufu(Function::Reciprocal, float, false);
    let scale = m.constant(63 * STEP_32 - 5);
    let scaled = m.iadd(inverse, scale);
    let r = m.float_to_int(scaled, false, Rounding::TowardZero);
    // A Newton step: 40 bits. The error is 2^63 - floor(b r / 2^32).
    let carried = m.imul_hi(b.low, r);
    let (low, carry) = m.imad_carry(false, b.high, r, carried, None);
    let (high, _) = m.imad_carry(true, b.high, r, zero, Some(carry));
    let top = m.constant(SIGN);
    let error = subtract_64(m, Pair { low: zero, high: top }, Pair { low, high });
    let carried = m.imul_hi(error.low, r);
    let (low, carry) = m.imad_carry(false, error.high, r, carried, None);
    let (high, _) = m.imad_carry(true, error.high, r, zero, Some(carry));
    let upper = m.funnel_left(low, high, one);
    let r = Pair { low: m.shift_left(low, one), high: m.iadd(r, upper) };
    // Another one: the error has few bits, and is made one smaller, as the product is rounded down.
    let product = multiply_high_64(m, b, r);
    let error = m.not(product.low);
    let (low, high) = (m.imad(r.high, error, zero), m.imul_hi(r.high, error));
    let places = m.constant(31);
    let step = m.funnel_right(low, high, places);
    let (low, carry) = m.iadd_carry(r.low, step, None);
    Pair { low, high: m.iadd_carry(r.high, zero, Some(carry)).0 }
}

/// Adds one to a result of 56 bits if `remainder` is at least `step`, and returns it with 8 more bits, the lowest of which is set if a remainder is left.
fn corrected<M: Machine>(
    m: &mut M,
    result: Pair<M::Value>,
    remainder: Pair<M::Value>,
    step: Pair<M::Value>,
) -> Pair<M::Value> {
    let (zero, one, places) = (m.constant(0), m.constant(1), m.constant(8));
    let (low, carry) = m.isub_carry(remainder.low, step.low, None);
    let (high, fits) = m.isub_carry(remainder.high, step.high, Some(carry));
    let less = m.or(low, high);
    let left = m.or(remainder.low, remainder.high);
    let left = m.select(fits, less, left);
    let (low, carry) = m.iadd_carry(result.low, zero, Some(fits));
    let high = m.iadd_carry(result.high, zero, Some(carry)).0;
    let more = m.iset(IntRelation::NotEqual, false, left, zero);
    let sticky = m.select(more, one, zero);
    let upper = m.funnel_left(low, high, places);
    let lower = m.shift_left(low, places);
    Pair { low: m.or(lower, sticky), high: upper }
}

fn shifted_down<M: Machine>(m: &mut M, x: Pair<M::Value>, places: u32) -> Pair<M::Value> {
    let places = m.constant(places);
    Pair { low: m.funnel_right(x.low, x.high, places), high: m.shift_right(x.high, places, false) }
}
