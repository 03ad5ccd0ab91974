//! Double precision with integer instructions. Every operation is complete: it accepts any operands, including subnormals and NaN, and rounds once.
//!
//! An arithmetic result that is NaN is 0xfff8000000000000, whatever the operands are.

mod add;
mod compare;
mod convert;
mod divide;
mod fused;

pub use add::double_add;
pub use compare::{double_compare, double_maximum, double_minimum};
pub use convert::{
    double_from_signed, double_from_unsigned, double_integral, double_saturated, integer_64_from_double,
    integer_from_double,
};
pub use divide::{
    double_divide, double_reciprocal_approximate, double_reciprocal_root_approximate, double_square_root,
};
pub use fused::double_fma;

use super::integer::{multiply_high_64, multiply_low_64, negate_if_64, sign};
use super::round::round_float;
use super::wide::{Normalized, select_64};
use super::{IntRelation, Machine, Pair};
use crate::{INFINITY, Mode, NAN, Rounding, SIGN};

/// The upper word of infinity.
const INFINITY_64: u32 = 0x7ff0_0000;

/// The upper word of the NaN that results from invalid operands; the lower is zero.
const NAN_64: u32 = 0xfff8_0000;

/// The lowest bit of the exponent field, in the upper word.
const STEP_64: u32 = 0x0010_0000;

/// `cvt.<rounding>.f64.s64`
pub fn double_from_signed_64<M: Machine>(m: &mut M, a: Pair<M::Value>, rounding: Rounding) -> Pair<M::Value> {
    let ones = sign(m, a.high);
    let magnitude = negate_if_64(m, a, ones);
    let Normalized { low, high, shift, is_zero } = Normalized::new(m, magnitude);
    // The leading one stands for 2^(63 - shift).
    let bias = m.constant(1023 + 63);
    let exponent = m.isub(bias, shift);
    let Pair { low, high } = round_double(m, Pair { low, high }, exponent, ones, rounding);
    let sign_bit = m.constant(SIGN);
    // high | ones & sign_bit
    let high = m.lop3(ones, sign_bit, high, 0xea);
    let zero = m.constant(0);
    select_64(m, is_zero, Pair { low: zero, high: zero }, Pair { low, high })
}

/// `cvt.<rounding>.f64.u64`
pub fn double_from_unsigned_64<M: Machine>(m: &mut M, a: Pair<M::Value>, rounding: Rounding) -> Pair<M::Value> {
    let zero = m.constant(0);
    let Normalized { low, high, shift, is_zero } = Normalized::new(m, a);
    let bias = m.constant(1023 + 63);
    let exponent = m.isub(bias, shift);
    let rounded = round_double(m, Pair { low, high }, exponent, zero, rounding);
    select_64(m, is_zero, Pair { low: zero, high: zero }, rounded)
}

/// `mul.f64`
pub fn double_multiply<M: Machine>(
    m: &mut M,
    a: Pair<M::Value>,
    b: Pair<M::Value>,
    rounding: Rounding,
) -> Pair<M::Value> {
    let (sign_bit, zero, one) = (m.constant(SIGN), m.constant(0), m.constant(1));
    let signs = m.xor(a.high, b.high);
    let sign = m.and(signs, sign_bit);
    let (a, b) = (Double::new(m, a), Double::new(m, b));

    // The product's upper 64 bits, the lowest of them sticky, and its leading one moved to bit 63.
    let upper = multiply_high_64(m, a.significand, b.significand);
    let lower = multiply_low_64(m, a.significand, b.significand);
    let shift = m.leading_zeros(upper.high);
    let high = m.funnel_left(upper.low, upper.high, shift);
    let low = m.funnel_left(lower.high, upper.low, shift);
    let dropped = m.or(lower.high, lower.low);
    let more = m.iset(IntRelation::NotEqual, false, dropped, zero);
    let sticky = m.select(more, one, zero);
    let low = m.or(low, sticky);
    let sum = m.iadd(a.exponent, b.exponent);
    let bias = m.constant(1022u32.wrapping_neg());
    let exponent = m.iadd(sum, bias);
    let exponent = m.isub(exponent, shift);

    let (bits, exponent) = denormalized(m, Pair { low, high }, exponent);
    let rounded = round_double(m, bits, exponent, sign, rounding);
    let (infinity, limit) = (Pair { low: zero, high: m.constant(INFINITY_64) }, m.constant(2047));
    let mut overflows = m.iset(IntRelation::GreaterEqual, true, exponent, limit);
    let mut result = rounded;
    if rounding != Rounding::NearestEven {
        let largest = overflow_64(m, sign, rounding);
        result = select_64(m, overflows, largest, rounded);
        overflows = a.is_infinite;
    } else {
        overflows = m.either(overflows, a.is_infinite);
    }
    let overflows = m.either(overflows, b.is_infinite);
    let result = select_64(m, overflows, infinity, result);
    let is_zero = m.either(a.is_zero, b.is_zero);
    let result = select_64(m, is_zero, Pair { low: zero, high: zero }, result);
    let result = Pair { low: result.low, high: m.or(result.high, sign) };

    let is_infinite = m.either(a.is_infinite, b.is_infinite);
    let invalid = m.both(is_zero, is_infinite);
    let is_nan = m.either(a.is_nan, b.is_nan);
    let is_nan = m.either(is_nan, invalid);
    let nan = nan_64(m);
    select_64(m, is_nan, nan, result)
}

/// `cvt.<rounding>.f32.f64`; a subnormal result is a zero if the mode says so. A NaN is 0x7fffffff.
pub fn float_from_double<M: Machine>(m: &mut M, a: Pair<M::Value>, mode: Mode) -> M::Value {
    let (zero, one) = (m.constant(0), m.constant(1));
    let sign_bit = m.constant(SIGN);
    let sign = m.and(a.high, sign_bit);
    let magnitude = m.absolute(a.high);
    let position = m.constant(20);
    let field = m.shift_right(magnitude, position, false);
    // 30 bits of significand from the hidden one, the lowest sticky. A subnormal is treated as a normal value, which is far too small for single
    // precision as well; where any number but zero is rounded up, it has no hidden one.
    let (fraction, mut hidden) = (m.constant(STEP_64 - 1), m.constant(STEP_64));
    if matches!(mode.rounding, Rounding::Down | Rounding::Up) {
        let subnormal = m.iset(IntRelation::Equal, false, field, zero);
        hidden = m.select(subnormal, zero, hidden);
    }
    let upper = m.lop3(a.high, fraction, hidden, 0xea);
    let places = m.constant(9);
    let bits = m.funnel_left(a.low, upper, places);
    let rest = m.shift_left(a.low, places);
    let more = m.iset(IntRelation::NotEqual, false, rest, zero);
    let sticky = m.select(more, one, zero);
    let bits = m.or(bits, sticky);
    let bias = m.constant((1023u32 - 127).wrapping_neg());
    let exponent = m.iadd(field, bias);
    let mut rounded = round_float(m, sign, bits, 6, exponent, mode);
    // To nearest, infinity overflows already; a NaN is any magnitude above infinity's.
    let infinity = m.constant(INFINITY_64);
    let tail = m.iset(IntRelation::NotEqual, false, a.low, zero);
    let tail = m.select(tail, one, zero);
    let key = m.or(magnitude, tail);
    if mode.rounding != Rounding::NearestEven {
        let is_infinite = m.iset(IntRelation::Equal, false, key, infinity);
        let infinite = m.constant(INFINITY);
        let infinite = m.or(infinite, sign);
        rounded = m.select(is_infinite, infinite, rounded);
    }
    let is_nan = m.iset(IntRelation::Greater, false, key, infinity);
    let nan = m.constant(NAN);
    m.select(is_nan, nan, rounded)
}

/// `cvt.f64.f32`, which is exact; a subnormal operand is a zero if `ftz`. A NaN keeps its sign and payload and becomes quiet.
pub fn double_from_float<M: Machine>(m: &mut M, a: M::Value, ftz: bool) -> Pair<M::Value> {
    let (zero, sign_bit) = (m.constant(0), m.constant(SIGN));
    let magnitude = m.absolute(a);
    let sign = m.and(a, sign_bit);
    // The significand of a subnormal is shifted up until its leading one is at bit 23.
    let leading = m.leading_zeros(magnitude);
    let eight = m.constant(8);
    let shift = m.isub(leading, eight);
    let raised = m.shift_left(magnitude, shift);
    let smallest_normal = m.constant(0x0080_0000);
    let subnormal = m.iset(IntRelation::Less, false, magnitude, smallest_normal);
    let fraction = m.select(subnormal, raised, magnitude);
    let (places, up) = (m.constant(3), m.constant(29));
    let low = m.shift_left(fraction, up);
    let high = m.shift_right(fraction, places, false);
    // The exponent fields of normal numbers increase by 1023 - 127, that of infinity by twice as much. The leading one of a shifted significand adds
    // one to its field.
    let step = m.constant(STEP_64);
    let field_of_subnormal = m.constant(1023 - 127);
    let field_of_subnormal = m.isub(field_of_subnormal, shift);
    let normal = m.constant((1023 - 127) << 20);
    let of_subnormal = m.imad(field_of_subnormal, step, zero);
    let infinity = m.constant(0x7f80_0000);
    let not_finite = m.iset(IntRelation::GreaterEqual, false, magnitude, infinity);
    let special = m.constant(2 * ((1023 - 127) << 20));
    let added = m.select(not_finite, special, normal);
    let added = m.select(subnormal, of_subnormal, added);
    let high = m.iadd(high, added);
    let is_nan = m.iset(IntRelation::Greater, false, magnitude, infinity);
    let quiet = m.constant(0x0008_0000);
    let quiet = m.select(is_nan, quiet, zero);
    let high = m.lop3(high, quiet, sign, 0xfe);
    let none = if ftz { subnormal } else { m.iset(IntRelation::Equal, false, magnitude, zero) };
    select_64(m, none, Pair { low: zero, high: sign }, Pair { low, high })
}

/// An unpacked double precision operand.
struct Double<M: Machine> {
    /// The significand with its leading one at bit 63.
    significand: Pair<M::Value>,
    /// The exponent field, negative or zero for subnormals.
    exponent: M::Value,
    is_zero: M::Predicate,
    is_infinite: M::Predicate,
    is_nan: M::Predicate,
}

impl<M: Machine> Double<M> {
    fn new(m: &mut M, x: Pair<M::Value>) -> Self {
        let (zero, one) = (m.constant(0), m.constant(1));
        let magnitude = m.absolute(x.high);
        let position = m.constant(20);
        let field = m.shift_right(magnitude, position, false);
        let subnormal = m.iset(IntRelation::Equal, false, field, zero);
        let hidden = m.constant(STEP_64);
        let hidden = m.select(subnormal, zero, hidden);
        let fraction = m.constant(STEP_64 - 1);
        let upper = m.lop3(x.high, fraction, hidden, 0xea);
        let Normalized { low, high, shift, is_zero } = Normalized::new(m, Pair { low: x.low, high: upper });
        // A normal significand is shifted by 11 places.
        let field_or_one = m.select(subnormal, one, field);
        let normal_shift = m.constant(11);
        let exponent = m.iadd(field_or_one, normal_shift);
        let exponent = m.isub(exponent, shift);

        let infinity = m.constant(INFINITY_64);
        let tail = m.iset(IntRelation::NotEqual, false, x.low, zero);
        let tail = m.select(tail, one, zero);
        let key = m.or(magnitude, tail);
        let is_infinite = m.iset(IntRelation::Equal, false, key, infinity);
        let is_nan = m.iset(IntRelation::Greater, false, key, infinity);
        Self { significand: Pair { low, high }, exponent, is_zero, is_infinite, is_nan }
    }
}

/// Shifts a result with an exponent field below 1 to the position of subnormals, with field 0; leaves others unchanged. The lowest bit is sticky.
fn denormalized<M: Machine>(m: &mut M, bits: Pair<M::Value>, exponent: M::Value) -> (Pair<M::Value>, M::Value) {
    let (zero, one) = (m.constant(0), m.constant(1));
    let normal = m.iset(IntRelation::GreaterEqual, true, exponent, one);
    let shift = m.isub(one, exponent);
    let shift = m.select(normal, zero, shift);
    let bits = shifted_right(m, bits, shift);
    (bits, m.select(normal, exponent, zero))
}

/// Shifts right by any number of places; the lowest bit of the result is sticky.
fn shifted_right<M: Machine>(m: &mut M, bits: Pair<M::Value>, shift: M::Value) -> Pair<M::Value> {
    let (zero, one) = (m.constant(0), m.constant(1));
    // Shifted by a whole word first, if it is that far; beyond two words only the sticky bit remains.
    let word = m.constant(32);
    let rest = m.isub(shift, word);
    let far = m.iset(IntRelation::GreaterEqual, true, rest, zero);
    let places = m.select(far, rest, shift);
    let dropped_word = m.select(far, bits.low, zero);
    let low = m.select(far, bits.high, bits.low);
    let high = m.select(far, zero, bits.high);
    let clamped = m.iset(IntRelation::Less, true, places, word);
    let places = m.select(clamped, places, word);
    let back = m.isub(word, places);
    let dropped_bits = m.shift_left(low, back);
    let low = m.funnel_right(low, high, places);
    let high = m.shift_right(high, places, false);
    let dropped = m.or(dropped_word, dropped_bits);
    let more = m.iset(IntRelation::NotEqual, false, dropped, zero);
    let sticky = m.select(more, one, zero);
    let low = m.or(low, sticky);
    Pair { low, high }
}

/// The magnitude of a significand of 64 bits, rounded at bit 11, with this exponent field: the leading one is at bit 63, or the field is 0. `sign` is 0
/// for a positive number.
fn round_double<M: Machine>(
    m: &mut M,
    bits: Pair<M::Value>,
    exponent: M::Value,
    sign: M::Value,
    rounding: Rounding,
) -> Pair<M::Value> {
    let (rounded, carry) = rounded_bits(m, bits, sign, rounding);
    // The leading one adds one to the field.
    let (zero, minus_one) = (m.constant(0), m.constant(u32::MAX));
    let field = m.iadd(exponent, minus_one);
    let subnormal = m.iset(IntRelation::Equal, false, exponent, zero);
    let field = m.select(subnormal, zero, field);
    with_field(m, rounded, carry, field)
}

/// The upper 53 bits of 64, with the rounded lower word and the carry into the upper one, if there may be one.
fn rounded_bits<M: Machine>(
    m: &mut M,
    bits: Pair<M::Value>,
    sign: M::Value,
    rounding: Rounding,
) -> (Pair<M::Value>, Option<M::Predicate>) {
    let (zero, one, places) = (m.constant(0), m.constant(1), m.constant(11));
    let low = m.funnel_right(bits.low, bits.high, places);
    let high = m.shift_right(bits.high, places, false);
    if rounding == Rounding::TowardZero {
        return (Pair { low, high }, None);
    }
    let mask = m.constant(0x7ff);
    let dropped = m.and(bits.low, mask);
    let up = if rounding == Rounding::NearestEven {
        let last = m.and(low, one);
        let weight = m.iadd(dropped, last);
        let half = m.constant(0x400);
        m.iset(IntRelation::Greater, false, weight, half)
    } else {
        let inexact = m.iset(IntRelation::NotEqual, false, dropped, zero);
        let relation = if rounding == Rounding::Down { IntRelation::NotEqual } else { IntRelation::Equal };
        m.iset_and(relation, false, sign, zero, inexact)
    };
    let (low, carry) = m.iadd_carry(low, zero, Some(up));
    (Pair { low, high }, Some(carry))
}

/// Adds an exponent field to a rounded significand.
fn with_field<M: Machine>(
    m: &mut M,
    bits: Pair<M::Value>,
    carry: Option<M::Predicate>,
    field: M::Value,
) -> Pair<M::Value> {
    let (zero, step) = (m.constant(0), m.constant(STEP_64));
    let shifted = m.imad(field, step, bits.high);
    let high = if carry.is_some() { m.iadd_carry(shifted, zero, carry).0 } else { shifted };
    Pair { low: bits.low, high }
}

/// The magnitude of a result that is too large: infinity or the largest number. `sign` is 0 for a positive number.
fn overflow_64<M: Machine>(m: &mut M, sign: M::Value, rounding: Rounding) -> Pair<M::Value> {
    let (zero, ones) = (m.constant(0), m.constant(u32::MAX));
    let (infinity, largest) = (m.constant(INFINITY_64), m.constant(INFINITY_64 - 1));
    let (infinity, largest) = (Pair { low: zero, high: infinity }, Pair { low: ones, high: largest });
    match rounding {
        Rounding::NearestEven => infinity,
        Rounding::TowardZero => largest,
        Rounding::Down | Rounding::Up => {
            let relation = if rounding == Rounding::Up { IntRelation::Equal } else { IntRelation::NotEqual };
            let away = m.iset(relation, false, sign, zero);
            select_64(m, away, infinity, largest)
        }
    }
}

/// A number from a significand with its leading one at bit 63, of which the lowest bit is sticky, and an exponent field of any size. `sign` is a sign
/// bit; the result has it.
fn finished<M: Machine>(
    m: &mut M,
    bits: Pair<M::Value>,
    exponent: M::Value,
    sign: M::Value,
    rounding: Rounding,
) -> Pair<M::Value> {
    let (bits, exponent) = denormalized(m, bits, exponent);
    let rounded = round_double(m, bits, exponent, sign, rounding);
    let limit = m.constant(2047);
    let overflows = m.iset(IntRelation::GreaterEqual, true, exponent, limit);
    let largest = overflow_64(m, sign, rounding);
    let Pair { low, high } = select_64(m, overflows, largest, rounded);
    Pair { low, high: m.or(high, sign) }
}

/// The NaN of arithmetic results.
fn nan_64<M: Machine>(m: &mut M) -> Pair<M::Value> {
    Pair { low: m.constant(0), high: m.constant(NAN_64) }
}

/// Whether a number is NaN; `magnitude` is its upper word without the sign.
fn is_nan_64<M: Machine>(m: &mut M, low: M::Value, magnitude: M::Value) -> M::Predicate {
    is_above_64(m, low, magnitude, INFINITY_64)
}

/// Whether a magnitude is above the number with this upper word, and 0 as lower word.
fn is_above_64<M: Machine>(m: &mut M, low: M::Value, magnitude: M::Value, limit: u32) -> M::Predicate {
    let (one, limit) = (m.constant(1), m.constant(limit));
    let (_, carry) = m.isub_carry(low, one, None);
    m.isub_carry(magnitude, limit, Some(carry)).1
}
