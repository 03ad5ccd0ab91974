//! Fused multiply-add.

use super::{Double, INFINITY_64, finished, nan_64};
use crate::sequence::integer::{multiply_high_64, multiply_low_64, sign};
use crate::sequence::wide::select_64;
use crate::sequence::{IntRelation, Machine, Pair};
use crate::{Rounding, SIGN};

/// Added to exponents, so that they are positive.
const OFFSET: u32 = 1 << 16;

/// `fma.f64`
pub fn double_fma<M: Machine>(
    m: &mut M,
    a: Pair<M::Value>,
    b: Pair<M::Value>,
    c: Pair<M::Value>,
    rounding: Rounding,
) -> Pair<M::Value> {
    let (zero, one) = (m.constant(0), m.constant(1));
    let sign_bit = m.constant(SIGN);
    let product_sign = m.xor(a.high, b.high);
    let signs = m.xor(product_sign, c.high);
    let ones = sign(m, signs);
    let subtracts = m.iset(IntRelation::Less, true, signs, zero);
    let (x, y) = (Double::new(m, a), Double::new(m, b));
    let product_is_zero = m.either(x.is_zero, y.is_zero);
    let product_is_infinite = m.either(x.is_infinite, y.is_infinite);
    let invalid = m.both(product_is_zero, product_is_infinite);
    let is_nan = m.either(x.is_nan, y.is_nan);
    let is_nan = m.either(is_nan, invalid);

    // The product of 128 bits, its leading one moved to bit 126. Its lowest 20 bits are zero.
    let half = halved(m, x.significand);
    let upper = multiply_high_64(m, half, y.significand);
    let lower = multiply_low_64(m, half, y.significand);
    let zeros = m.leading_zeros(upper.high);
    let shift = m.isub(zeros, one);
    let product = [
        m.shift_left(lower.low, shift),
        m.funnel_left(lower.low, lower.high, shift),
        m.funnel_left(lower.high, upper.low, shift),
        m.funnel_left(upper.low, upper.high, shift),
    ];
    let sum = m.iadd(x.exponent, y.exponent);
    let bias = m.constant(OFFSET - 1022);
    let exponent = m.iadd(sum, bias);
    let exponent = m.isub(exponent, shift);
    // Zeros have the smallest exponents.
    let product_exponent = m.select(product_is_zero, one, exponent);

    let z = Double::new(m, c);
    let invalid = m.both(product_is_infinite, z.is_infinite);
    let invalid_sum = m.both(invalid, subtracts);
    let is_nan = m.either(is_nan, z.is_nan);
    let is_nan = m.either(is_nan, invalid_sum);
    let addend = halved(m, z.significand);
    let offset = m.constant(OFFSET);
    let exponent = m.iadd(z.exponent, offset);
    let addend_exponent = m.select(z.is_zero, zero, exponent);

    // The larger of the two, the other one shifted to its place.
    let (_, carry) = m.isub_carry(product[2], addend.low, None);
    let (_, carry) = m.isub_carry(product[3], addend.high, Some(carry));
    let (_, ordered) = m.isub_carry(product_exponent, addend_exponent, Some(carry));
    let addend = [zero, zero, addend.low, addend.high];
    let larger: [_; 4] = std::array::from_fn(|n| m.select(ordered, product[n], addend[n]));
    let smaller: [_; 4] = std::array::from_fn(|n| m.select(ordered, addend[n], product[n]));
    let exponent = m.select(ordered, product_exponent, addend_exponent);
    let other = m.select(ordered, addend_exponent, product_exponent);
    let distance = m.isub(exponent, other);
    let aligned = shifted_right_128(m, smaller, distance);

    let mut carry = subtracts;
    let total: [_; 4] = std::array::from_fn(|n| {
        let word = m.xor(aligned[n], ones);
        let (word, next) = m.iadd_carry(larger[n], word, Some(carry));
        carry = next;
        word
    });
    let (bits, shift, is_zero) = normalized_128(m, total);
    let bias = m.constant((OFFSET - 1).wrapping_neg());
    let exponent = m.iadd(exponent, bias);
    let exponent = m.isub(exponent, shift);
    let exponent = m.select(is_zero, zero, exponent);

    // A difference of equal numbers is +0, or -0 if rounded down.
    let sign = m.select(ordered, product_sign, c.high);
    let sign = m.and(sign, sign_bit);
    let cancelled = m.both(is_zero, subtracts);
    let sign_of_zero = if rounding == Rounding::Down { sign_bit } else { zero };
    let sign = m.select(cancelled, sign_of_zero, sign);
    let result = finished(m, bits, exponent, sign, rounding);

    let result = select_64(m, z.is_infinite, c, result);
    let infinity = m.constant(INFINITY_64);
    // product_sign & sign_bit | infinity
    let infinite = m.lop3(product_sign, sign_bit, infinity, 0xea);
    let result = select_64(m, product_is_infinite, Pair { low: zero, high: infinite }, result);
    let nan = nan_64(m);
    select_64(m, is_nan, nan, result)
}

/// A significand with its leading one at bit 62 in place of 63. No bit is lost.
fn halved<M: Machine>(m: &mut M, x: Pair<M::Value>) -> Pair<M::Value> {
    let one = m.constant(1);
    Pair { low: m.funnel_right(x.low, x.high, one), high: m.shift_right(x.high, one, false) }
}

/// Shifts right by any number of places below 2^31; the lowest bit of the result is sticky.
fn shifted_right_128<M: Machine>(m: &mut M, x: [M::Value; 4], places: M::Value) -> [M::Value; 4] {
    let (zero, one) = (m.constant(0), m.constant(1));
    // By two words, by one word, and by the rest: of a distance of 128 and more, all 32 places of the last word.
    let limit = m.constant(64);
    let far = m.iset(IntRelation::GreaterEqual, false, places, limit);
    let rest = m.isub(places, limit);
    let places = m.select(far, rest, places);
    let words = m.or(x[0], x[1]);
    let dropped_words = m.select(far, words, zero);
    let x =
        [m.select(far, x[2], x[0]), m.select(far, x[3], x[1]), m.select(far, zero, x[2]), m.select(far, zero, x[3])];
    let limit = m.constant(32);
    let far = m.iset(IntRelation::GreaterEqual, false, places, limit);
    let rest = m.isub(places, limit);
    let places = m.select(far, rest, places);
    let dropped_word = m.select(far, x[0], zero);
    let x =
        [m.select(far, x[1], x[0]), m.select(far, x[2], x[1]), m.select(far, x[3], x[2]), m.select(far, zero, x[3])];
    let dropped_bits = m.funnel_right(zero, x[0], places);
    let dropped = m.lop3(dropped_words, dropped_word, dropped_bits, 0xfe);
    let more = m.iset(IntRelation::NotEqual, false, dropped, zero);
    let sticky = m.select(more, one, zero);
    let low = m.funnel_right(x[0], x[1], places);
    [
        m.or(low, sticky),
        m.funnel_right(x[1], x[2], places),
        m.funnel_right(x[2], x[3], places),
        m.shift_right(x[3], places, false),
    ]
}

/// Shifts left until the highest bit is set. Returns the upper 64 bits, of which the lowest is sticky, the number of places, and whether the value is
/// zero.
fn normalized_128<M: Machine>(m: &mut M, x: [M::Value; 4]) -> (Pair<M::Value>, M::Value, M::Predicate) {
    let (zero, one) = (m.constant(0), m.constant(1));
    let upper = m.or(x[2], x[3]);
    let narrow = m.iset(IntRelation::Equal, false, upper, zero);
    let two_words = m.constant(64);
    let shift = m.select(narrow, two_words, zero);
    let x = [
        m.select(narrow, zero, x[0]),
        m.select(narrow, zero, x[1]),
        m.select(narrow, x[0], x[2]),
        m.select(narrow, x[1], x[3]),
    ];
    let narrow = m.iset(IntRelation::Equal, false, x[3], zero);
    let word = m.constant(32);
    let further = m.iadd(shift, word);
    let shift = m.select(narrow, further, shift);
    let x = [
        m.select(narrow, zero, x[0]),
        m.select(narrow, x[0], x[1]),
        m.select(narrow, x[1], x[2]),
        m.select(narrow, x[2], x[3]),
    ];
    let is_zero = m.iset(IntRelation::Equal, false, x[3], zero);
    let places = m.leading_zeros(x[3]);
    let shift = m.iadd(shift, places);
    let high = m.funnel_left(x[2], x[3], places);
    let low = m.funnel_left(x[1], x[2], places);
    let rest = m.shift_left(x[1], places);
    let rest = m.or(rest, x[0]);
    let more = m.iset(IntRelation::NotEqual, false, rest, zero);
    let sticky = m.select(more, one, zero);
    (Pair { low: m.or(low, sticky), high }, shift, is_zero)
}
