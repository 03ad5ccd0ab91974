//! Conversions to and from integers, and to integral values.

use super::{STEP_64, is_above_64, is_nan_64, nan_64};
use crate::sequence::integer::{negate_if_64, sign};
use crate::sequence::wide::select_64;
use crate::sequence::{IntRelation, Machine, Pair};
use crate::{IntType, Rounding, SIGN};

/// The upper words of 1/2 and 1.
const HALF_64: u32 = 0x3fe0_0000;
const ONE_64: u32 = 0x3ff0_0000;

/// `cvt.f64.u32`, which is exact.
pub fn double_from_unsigned<M: Machine>(m: &mut M, a: M::Value) -> Pair<M::Value> {
    let zero = m.constant(0);
    let shift = m.leading_zeros(a);
    let bits = m.shift_left(a, shift);
    let (down, up) = (m.constant(11), m.constant(21));
    let high = m.shift_right(bits, down, false);
    let low = m.shift_left(bits, up);
    // The leading one adds one to the field.
    let bias = m.constant(1023 + 31 - 1);
    let field = m.isub(bias, shift);
    let is_zero = m.iset(IntRelation::Equal, false, a, zero);
    let field = m.select(is_zero, zero, field);
    let step = m.constant(STEP_64);
    Pair { low, high: m.imad(field, step, high) }
}

/// `cvt.f64.s32`, which is exact.
pub fn double_from_signed<M: Machine>(m: &mut M, a: M::Value) -> Pair<M::Value> {
    let ones = sign(m, a);
    let inverted = m.xor(a, ones);
    let magnitude = m.isub(inverted, ones);
    let Pair { low, high } = double_from_unsigned(m, magnitude);
    let sign_bit = m.constant(SIGN);
    // ones & sign_bit | high
    Pair { low, high: m.lop3(ones, sign_bit, high, 0xea) }
}

/// `cvt.<rounding>i` to an integer of up to 32 bits: the nearest value of the type, in 32 bits; a NaN gives the upper bit of the type alone.
pub fn integer_from_double<M: Machine>(m: &mut M, a: Pair<M::Value>, to: IntType, rounding: Rounding) -> M::Value {
    let (zero, places) = (m.constant(0), m.constant(11));
    let Parts { magnitude, field, upper } = Parts::new(m, a, rounding);
    let ones = sign(m, a.high);
    let high = m.funnel_left(a.low, upper, places);
    let low = m.shift_left(a.low, places);
    let bias = m.constant(1023 + 31);
    let shift = m.isub(bias, field);
    let value = m.shift_right(high, shift, false);
    let fraction = |m: &mut M| {
        let fraction = Pair { low: m.funnel_right(zero, low, shift), high: m.funnel_right(low, high, shift) };
        small_fraction(m, fraction, shift, 32)
    };
    // A value of more than 32 bits has a negative shift, or it became one when it was rounded up.
    let mut too_large = m.iset(IntRelation::Less, true, shift, zero);
    let mut value = value;
    if let Some(up) = round_up(m, value, ones, rounding, fraction) {
        let (rounded, carry) = m.iadd_carry(value, zero, Some(up));
        value = rounded;
        too_large = m.either(too_large, carry);
    }
    let result = if to.signed {
        let limit = m.constant(to.max() as u32);
        // The smallest value is one further away from zero.
        let limit = m.isub(limit, ones);
        let result = limited(m, value, limit, too_large);
        let inverted = m.xor(result, ones);
        m.isub(inverted, ones)
    } else {
        let limit = m.constant(to.max() as u32);
        let result = limited(m, value, limit, too_large);
        let mask = m.not(ones);
        m.and(result, mask)
    };
    let is_nan = is_nan_64(m, a.low, magnitude);
    let indefinite = if to.signed { to.min() as u32 } else { 1 << (to.bits - 1) };
    let indefinite = m.constant(indefinite);
    m.select(is_nan, indefinite, result)
}

/// `value`, or `limit` if that is less or if the value is too large for 32 bits.
fn limited<M: Machine>(m: &mut M, value: M::Value, limit: M::Value, too_large: M::Predicate) -> M::Value {
    let above = m.iset(IntRelation::Greater, false, value, limit);
    let above = m.either(above, too_large);
    m.select(above, limit, value)
}

/// `cvt.<rounding>i` to an integer of 64 bits: the nearest value of the type; a NaN gives 2^63.
pub fn integer_64_from_double<M: Machine>(
    m: &mut M,
    a: Pair<M::Value>,
    signed: bool,
    rounding: Rounding,
) -> Pair<M::Value> {
    let (zero, places, word) = (m.constant(0), m.constant(11), m.constant(32));
    let Parts { magnitude, field, upper } = Parts::new(m, a, rounding);
    let ones = sign(m, a.high);
    let high = m.funnel_left(a.low, upper, places);
    let low = m.shift_left(a.low, places);
    let bias = m.constant(1023 + 63);
    let shift = m.isub(bias, field);
    // The value and its fraction have four words; they move by one word, then by the rest.
    let far = m.iset(IntRelation::GreaterEqual, true, shift, word);
    let rest = m.isub(shift, word);
    let places = m.select(far, rest, shift);
    let fraction = m.select(far, low, zero);
    let low = m.select(far, high, low);
    let high = m.select(far, zero, high);
    let value = Pair { low: m.funnel_right(low, high, places), high: m.shift_right(high, places, false) };
    let fraction = |m: &mut M| {
        let fraction =
            Pair { low: m.funnel_right(zero, fraction, places), high: m.funnel_right(fraction, low, places) };
        small_fraction(m, fraction, shift, 64)
    };
    let value = match round_up(m, value.low, ones, rounding, fraction) {
        Some(up) => {
            let (low, carry) = m.iadd_carry(value.low, zero, Some(up));
            Pair { low, high: m.iadd_carry(value.high, zero, Some(carry)).0 }
        }
        None => value,
    };
    let result = if signed {
        let value = negate_if_64(m, value, ones);
        // From 2^63 on, where the shift is 0 or less, the largest and the smallest value.
        let one = m.constant(1);
        let too_large = m.iset(IntRelation::Less, true, shift, one);
        let largest = m.constant(!SIGN);
        let limit = Pair { low: m.not(ones), high: m.xor(ones, largest) };
        select_64(m, too_large, limit, value)
    } else {
        let too_large = m.iset(IntRelation::Less, true, shift, zero);
        let all = m.constant(u32::MAX);
        let value = select_64(m, too_large, Pair { low: all, high: all }, value);
        let mask = m.not(ones);
        Pair { low: m.and(value.low, mask), high: m.and(value.high, mask) }
    };
    let is_nan = is_nan_64(m, a.low, magnitude);
    let indefinite = Pair { low: zero, high: m.constant(SIGN) };
    select_64(m, is_nan, indefinite, result)
}

/// The parts of a number that is converted to an integer.
struct Parts<M: Machine> {
    /// The upper word without the sign.
    magnitude: M::Value,
    field: M::Value,
    /// The upper word of the significand.
    upper: M::Value,
}

impl<M: Machine> Parts<M> {
    fn new(m: &mut M, a: Pair<M::Value>, rounding: Rounding) -> Self {
        let (position, hidden, fraction) = (m.constant(20), m.constant(STEP_64), m.constant(STEP_64 - 1));
        let magnitude = m.absolute(a.high);
        let field = m.shift_right(magnitude, position, false);
        // A zero needs no leading one where any fraction counts.
        let hidden = if matches!(rounding, Rounding::Down | Rounding::Up) {
            let zero = m.constant(0);
            let subnormal = m.iset(IntRelation::Equal, false, field, zero);
            m.select(subnormal, zero, hidden)
        } else {
            hidden
        };
        Self { magnitude, field, upper: m.lop3(a.high, fraction, hidden, 0xea) }
    }
}

/// A fraction of 64 bits that was shifted by at most `most` places. With more places it would be smaller: less than a half, and not zero unless it was.
fn small_fraction<M: Machine>(m: &mut M, fraction: Pair<M::Value>, shift: M::Value, most: u32) -> Pair<M::Value> {
    let (zero, one, most) = (m.constant(0), m.constant(1), m.constant(most));
    let small = m.iset(IntRelation::Greater, true, shift, most);
    let places = m.select(small, one, zero);
    Pair { low: fraction.low, high: m.shift_right(fraction.high, places, false) }
}

/// Whether the magnitude of a value with this lower word is rounded up; `None` if it never is. `ones` is all ones for a negative value.
fn round_up<M: Machine>(
    m: &mut M,
    low: M::Value,
    ones: M::Value,
    rounding: Rounding,
    fraction: impl FnOnce(&mut M) -> Pair<M::Value>,
) -> Option<M::Predicate> {
    let (zero, one) = (m.constant(0), m.constant(1));
    match rounding {
        Rounding::TowardZero => None,
        Rounding::NearestEven => {
            // fraction + last > 1/2, as fraction - 1/2 - 1 + last borrows nothing.
            let fraction = fraction(m);
            let last = m.and(low, one);
            let odd = m.iset(IntRelation::NotEqual, false, last, zero);
            let half = m.constant(SIGN);
            let (_, carry) = m.isub_carry(fraction.low, zero, Some(odd));
            Some(m.isub_carry(fraction.high, half, Some(carry)).1)
        }
        Rounding::Down | Rounding::Up => {
            let fraction = fraction(m);
            let dropped = m.or(fraction.low, fraction.high);
            let inexact = m.iset(IntRelation::NotEqual, false, dropped, zero);
            let relation = if rounding == Rounding::Down { IntRelation::NotEqual } else { IntRelation::Equal };
            Some(m.iset_and(relation, false, ones, zero, inexact))
        }
    }
}

/// `cvt.<rounding>i.f64.f64`: rounds to an integral value; a zero result has the operand's sign.
pub fn double_integral<M: Machine>(m: &mut M, a: Pair<M::Value>, rounding: Rounding) -> Pair<M::Value> {
    let (zero, one, position, word) = (m.constant(0), m.constant(1), m.constant(20), m.constant(32));
    let sign_bit = m.constant(SIGN);
    let sign = m.and(a.high, sign_bit);
    let magnitude = m.absolute(a.high);
    let field = m.shift_right(magnitude, position, false);
    // The unit has its place in the fraction, or above it for numbers below 1, which are handled at the end.
    let bias = m.constant(1023 + 52);
    let places = m.isub(bias, field);
    let further = m.isub(places, word);
    let unit = Pair { low: m.shift_left(one, places), high: m.shift_left(one, further) };
    let (low, carry) = m.isub_carry(unit.low, one, None);
    let mask = Pair { low, high: m.isub_carry(unit.high, zero, Some(carry)).0 };
    // What is added so that cutting off the fraction rounds, and what numbers below 1 become.
    let (added, of_small) = match rounding {
        Rounding::TowardZero => (None, zero),
        Rounding::NearestEven => {
            // Half a unit, less one place if the last digit is even.
            let half =
                Pair { low: m.funnel_right(mask.low, mask.high, one), high: m.shift_right(mask.high, one, false) };
            let last_low = m.and(a.low, unit.low);
            // a & unit | last_low
            let last = m.lop3(magnitude, unit.high, last_low, 0xea);
            let odd = m.iset(IntRelation::NotEqual, false, last, zero);
            let number = m.constant(ONE_64);
            let above = is_above_64(m, a.low, magnitude, HALF_64);
            (Some((half, Some(odd))), m.select(above, number, zero))
        }
        Rounding::Down | Rounding::Up => {
            let relation = if rounding == Rounding::Down { IntRelation::NotEqual } else { IntRelation::Equal };
            let away = m.iset(relation, false, sign, zero);
            let all = m.or(a.low, magnitude);
            let is_small = m.iset_and(IntRelation::NotEqual, false, all, zero, away);
            let number = m.constant(ONE_64);
            let of_small = m.select(is_small, number, zero);
            let mask = Pair { low: m.select(away, mask.low, zero), high: m.select(away, mask.high, zero) };
            (Some((mask, None)), of_small)
        }
    };
    let sum = match added {
        None => Pair { low: a.low, high: magnitude },
        Some((added, carry)) => {
            let (low, carry) = m.iadd_carry(a.low, added.low, carry);
            Pair { low, high: m.iadd_carry(magnitude, added.high, Some(carry)).0 }
        }
    };
    // a & !b
    let cut = Pair { low: m.lop3(sum.low, mask.low, zero, 0x30), high: m.lop3(sum.high, mask.high, zero, 0x30) };
    let below = m.constant(1023);
    let small = m.iset(IntRelation::Less, false, field, below);
    let result = select_64(m, small, Pair { low: zero, high: of_small }, cut);
    let integral = m.iset(IntRelation::LessEqual, true, places, zero);
    let result = select_64(m, integral, Pair { low: a.low, high: magnitude }, result);
    let is_nan = is_nan_64(m, a.low, magnitude);
    let result = Pair { low: result.low, high: m.or(result.high, sign) };
    let nan = nan_64(m);
    select_64(m, is_nan, nan, result)
}

/// `.sat`: the number clamped to 0 to 1; NaN, -0 and negative numbers give +0.
pub fn double_saturated<M: Machine>(m: &mut M, a: Pair<M::Value>) -> Pair<M::Value> {
    let zero = m.constant(0);
    let one = m.constant(ONE_64);
    let large = m.iset(IntRelation::GreaterEqual, true, a.high, one);
    let result = select_64(m, large, Pair { low: zero, high: one }, a);
    let magnitude = m.absolute(a.high);
    let negative = m.iset(IntRelation::Less, true, a.high, zero);
    let is_nan = is_nan_64(m, a.low, magnitude);
    let none = m.either(negative, is_nan);
    select_64(m, none, Pair { low: zero, high: zero }, result)
}
