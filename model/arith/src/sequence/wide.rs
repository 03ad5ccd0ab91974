//! Conversions between 64-bit integers and single precision.

use super::float::flushed;
use super::integer::{negate_if_64, sign};
use super::{IntRelation, Machine, Pair};
use crate::float::Relation;
use crate::{Mode, Rounding, SIGN};

/// `cvt.<rounding>.f32.u64`
pub fn float_from_unsigned_64<M: Machine>(m: &mut M, a: Pair<M::Value>, rounding: Rounding) -> M::Value {
    let leading = Leading::new(m, a);
    leading.float(m, rounding)
}

/// `cvt.<rounding>.f32.s64`
pub fn float_from_signed_64<M: Machine>(m: &mut M, a: Pair<M::Value>, rounding: Rounding) -> M::Value {
    let zero = m.constant(0);
    let ones = sign(m, a.high);
    let magnitude = negate_if_64(m, a, ones);
    let leading = Leading::new(m, magnitude);
    let negative = m.iset(IntRelation::NotEqual, false, ones, zero);
    let value = match rounding {
        Rounding::NearestEven | Rounding::TowardZero => leading.float(m, rounding),
        // A magnitude is rounded down where a negative value is rounded up.
        Rounding::Down | Rounding::Up => {
            let (up, down) = (leading.float(m, Rounding::Up), leading.float(m, Rounding::Down));
            if rounding == Rounding::Up { m.select(negative, down, up) } else { m.select(negative, up, down) }
        }
    };
    let sign = m.constant(SIGN);
    let sign = m.and(ones, sign);
    m.or(value, sign)
}

/// A 64-bit integer shortened to the 32 bits from its leading one.
struct Leading<M: Machine> {
    /// The bits, the lowest of which is set if any bit below it was.
    bits: M::Value,
    /// The value that is added to the exponent field.
    scale: M::Value,
}

impl<M: Machine> Leading<M> {
    fn new(m: &mut M, a: Pair<M::Value>) -> Self {
        let Normalized { low, high, shift, is_zero } = Normalized::new(m, a);
        let (zero, one) = (m.constant(0), m.constant(1));
        let more = m.iset(IntRelation::NotEqual, false, low, zero);
        let sticky = m.select(more, one, zero);
        let bits = m.or(high, sticky);
        let places = m.constant(32);
        let places = m.isub(places, shift);
        let position = m.constant(23);
        let scale = m.shift_left(places, position);
        Self { bits, scale: m.select(is_zero, zero, scale) }
    }

    fn float(&self, m: &mut M, rounding: Rounding) -> M::Value {
        let value = m.int_to_float(self.bits, false, rounding);
        m.iadd(value, self.scale)
    }
}

/// A 64-bit integer shifted left until its highest bit is set.
pub(super) struct Normalized<M: Machine> {
    pub low: M::Value,
    pub high: M::Value,
    /// The number of places that it was shifted: 0 to 63, or 64 for zero.
    pub shift: M::Value,
    pub is_zero: M::Predicate,
}

impl<M: Machine> Normalized<M> {
    pub fn new(m: &mut M, a: Pair<M::Value>) -> Self {
        let zero = m.constant(0);
        let narrow = m.iset(IntRelation::Equal, false, a.high, zero);
        let upper = m.select(narrow, a.low, a.high);
        let lower = m.select(narrow, zero, a.low);
        let places = m.leading_zeros(upper);
        let word = m.constant(32);
        let more = m.iadd(places, word);
        Self {
            low: m.shift_left(lower, places),
            high: m.funnel_left(lower, upper, places),
            shift: m.select(narrow, more, places),
            is_zero: m.iset(IntRelation::Equal, false, upper, zero),
        }
    }
}

/// `cvt.<rounding>i.u64.f32`; a subnormal is a zero if `ftz`. NaN gives 2^63.
pub fn unsigned_64_from_float<M: Machine>(m: &mut M, a: M::Value, rounding: Rounding, ftz: bool) -> Pair<M::Value> {
    let a = flushed(m, a, Mode::new(rounding, ftz));
    let zero = m.constant(0);
    let small = m.float_to_int(a, false, rounding);
    let large = shifted_significand(m, a);
    let value = by_size(m, a, Pair { low: small, high: zero }, large);
    // From 2^64 on the largest value, and 0 for negative values (except NaN, whatever its sign).
    let (limit, ones) = (m.constant(0x5f80_0000), m.constant(u32::MAX));
    let too_large = m.fset(Relation::GreaterEqual, a, limit, false);
    let value = select_64(m, too_large, Pair { low: ones, high: ones }, value);
    let negative = m.fset(Relation::Less, a, zero, false);
    let value = select_64(m, negative, Pair { low: zero, high: zero }, value);
    or_nan(m, a, value)
}

/// `cvt.<rounding>i.s64.f32`; a subnormal is a zero if `ftz`. NaN gives 2^63.
pub fn signed_64_from_float<M: Machine>(m: &mut M, a: M::Value, rounding: Rounding, ftz: bool) -> Pair<M::Value> {
    let a = flushed(m, a, Mode::new(rounding, ftz));
    let small = m.float_to_int(a, true, rounding);
    let extension = sign(m, small);
    let ones = sign(m, a);
    let large = shifted_significand(m, a);
    let large = negate_if_64(m, large, ones);
    let value = by_size(m, a, Pair { low: small, high: extension }, large);
    // From 2^63 on, and from -2^63 down, the largest and the smallest value.
    let magnitude = m.absolute(a);
    let limit = m.constant(0x5f00_0000);
    let too_large = m.fset(Relation::GreaterEqual, magnitude, limit, false);
    let largest = m.constant(i32::MAX as u32);
    let limits = Pair { low: m.not(ones), high: m.xor(ones, largest) };
    let value = select_64(m, too_large, limits, value);
    or_nan(m, a, value)
}

/// The significand of a value of 2^24 and more, shifted to its position; meaningless below 2^24 or from 2^64 on.
fn shifted_significand<M: Machine>(m: &mut M, a: M::Value) -> Pair<M::Value> {
    let magnitude = m.absolute(a);
    let position = m.constant(23);
    let field = m.shift_right(magnitude, position, false);
    let (fraction, hidden) = (m.constant((1 << 23) - 1), m.constant(1 << 23));
    // a & fraction | hidden
    let significand = m.lop3(a, fraction, hidden, 0xea);
    let offset = m.constant(150u32.wrapping_neg());
    let shift = m.iadd(field, offset);
    let zero = m.constant(0);
    let low = m.shift_left(significand, shift);
    let within = m.funnel_left(significand, zero, shift);
    let word = m.constant(32u32.wrapping_neg());
    let further = m.iadd(shift, word);
    let beyond = m.shift_left(significand, further);
    let is_beyond = m.iset(IntRelation::GreaterEqual, true, further, zero);
    Pair { low, high: m.select(is_beyond, beyond, within) }
}

/// `small` for values below 2^24, else `large`.
fn by_size<M: Machine>(m: &mut M, a: M::Value, small: Pair<M::Value>, large: Pair<M::Value>) -> Pair<M::Value> {
    let magnitude = m.absolute(a);
    let limit = m.constant(0x4b80_0000);
    let is_small = m.fset(Relation::Less, magnitude, limit, false);
    select_64(m, is_small, small, large)
}

/// 2^63 if `a` is NaN, else `value`.
fn or_nan<M: Machine>(m: &mut M, a: M::Value, value: Pair<M::Value>) -> Pair<M::Value> {
    let is_nan = m.fset(Relation::Unordered, a, a, false);
    let indefinite = Pair { low: m.constant(0), high: m.constant(SIGN) };
    select_64(m, is_nan, indefinite, value)
}

/// `a` if the predicate is set, else `b`.
pub(super) fn select_64<M: Machine>(
    m: &mut M,
    predicate: M::Predicate,
    a: Pair<M::Value>,
    b: Pair<M::Value>,
) -> Pair<M::Value> {
    Pair { low: m.select(predicate, a.low, b.low), high: m.select(predicate, a.high, b.high) }
}
