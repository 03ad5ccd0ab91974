//! Addition.

use super::{INFINITY_64, is_nan_64, nan_64, overflow_64, rounded_bits, shifted_right, with_field};
use crate::sequence::integer::sign;
use crate::sequence::wide::select_64;
use crate::sequence::{IntRelation, Machine, Pair};
use crate::{Rounding, SIGN};

/// `add.f64`
pub fn double_add<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>, rounding: Rounding) -> Pair<M::Value> {
    let (zero, word) = (m.constant(0), m.constant(32));
    // x has the larger magnitude.
    let (size_a, size_b) = (m.absolute(a.high), m.absolute(b.high));
    let (_, carry) = m.isub_carry(a.low, b.low, None);
    let (_, ordered) = m.isub_carry(size_a, size_b, Some(carry));
    let (x, y) = (select_64(m, ordered, a, b), select_64(m, ordered, b, a));
    let signs = m.xor(a.high, b.high);
    let ones = sign(m, signs);
    let subtracts = m.iset(IntRelation::Less, true, signs, zero);

    // The larger significand has its leading one at bit 62. The bits that the other one loses to the right are below the place of rounding, also after
    // a subtraction: if that shortens the result by more than one bit, no more than one bit was lost.
    let (larger, smaller) = (Term::new(m, x), Term::new(m, y));
    let distance = m.isub(larger.exponent, smaller.exponent);
    let aligned = shifted_right(m, smaller.significand, distance);
    let added = Pair { low: m.xor(aligned.low, ones), high: m.xor(aligned.high, ones) };
    let (low, carry) = m.iadd_carry(larger.significand.low, added.low, Some(subtracts));
    let (high, _) = m.iadd_carry(larger.significand.high, added.high, Some(carry));

    // The leading one moves to bit 63, but no further than the exponent allows: then it stays below, and the field becomes 0.
    let narrow = m.iset(IntRelation::Equal, false, high, zero);
    let upper = m.select(narrow, low, high);
    let is_zero = m.iset(IntRelation::Equal, false, upper, zero);
    let places = m.leading_zeros(upper);
    let more = m.iadd(places, word);
    let places = m.select(narrow, more, places);
    let fits = m.iset(IntRelation::Less, false, places, larger.exponent);
    let shift = m.select(fits, places, larger.exponent);
    let rest = m.isub(shift, word);
    let far = m.iset(IntRelation::GreaterEqual, true, rest, zero);
    let places = m.select(far, rest, shift);
    let upper = m.select(far, low, high);
    let lower = m.select(far, zero, low);
    let bits = Pair { low: m.shift_left(lower, places), high: m.funnel_left(lower, upper, places) };
    let field = m.isub(larger.exponent, shift);
    let field = m.select(is_zero, zero, field);

    // A difference of equal numbers is +0, or -0 if rounded down.
    let sign_bit = m.constant(SIGN);
    let sign = m.and(x.high, sign_bit);
    let cancelled = m.both(is_zero, subtracts);
    let sign_of_zero = if rounding == Rounding::Down { sign_bit } else { zero };
    let sign = m.select(cancelled, sign_of_zero, sign);

    let (rounded, carry) = rounded_bits(m, bits, sign, rounding);
    let result = with_field(m, rounded, carry, field);
    let infinity = m.constant(INFINITY_64);
    let overflows = m.iset(IntRelation::GreaterEqual, false, result.high, infinity);
    let largest = overflow_64(m, sign, rounding);
    let Pair { low, high } = select_64(m, overflows, largest, result);
    let result = Pair { low, high: m.or(high, sign) };

    // If one operand is NaN or infinite, x is.
    let special = m.constant(2047);
    let both_special = m.iset(IntRelation::Equal, false, smaller.exponent, special);
    let invalid = m.both(both_special, subtracts);
    let size = m.absolute(x.high);
    let is_nan = is_nan_64(m, x.low, size);
    let is_nan = m.either(is_nan, invalid);
    let nan = nan_64(m);
    let value = select_64(m, is_nan, nan, x);
    let is_special = m.iset(IntRelation::Equal, false, larger.exponent, special);
    select_64(m, is_special, value, result)
}

/// An operand of an addition.
struct Term<M: Machine> {
    /// The significand, with the leading one of a normal number at bit 62.
    significand: Pair<M::Value>,
    /// The exponent field, 1 for subnormals.
    exponent: M::Value,
}

impl<M: Machine> Term<M> {
    fn new(m: &mut M, x: Pair<M::Value>) -> Self {
        let (zero, one, position, places) = (m.constant(0), m.constant(1), m.constant(20), m.constant(10));
        let (hidden, fraction) = (m.constant(super::STEP_64), m.constant(super::STEP_64 - 1));
        let magnitude = m.absolute(x.high);
        let field = m.shift_right(magnitude, position, false);
        let subnormal = m.iset(IntRelation::Equal, false, field, zero);
        let hidden = m.select(subnormal, zero, hidden);
        let upper = m.lop3(x.high, fraction, hidden, 0xea);
        let exponent = m.select(subnormal, one, field);
        let significand = Pair { low: m.shift_left(x.low, places), high: m.funnel_left(x.low, upper, places) };
        Self { significand, exponent }
    }
}
