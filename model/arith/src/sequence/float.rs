//! Single precision division, reciprocal and square root.
//!
//! The usual path is Newton's and Markstein's: an approximation of the reciprocal (or of the root's reciprocal) is
//! refined with fused multiply-adds until its last place is right or off by one; a fused multiply-add gives the exact
//! remainder, and a last one rounds once: correctly, in any rounding (P. Markstein, "Computation of elementary
//! functions on the IBM RISC System/6000 processor", 1990). No intermediate value may be subnormal or overflow, which
//! the exponents tell beforehand. The rare path works on the significands alone and rounds as an integer.

use super::round::round_float;
use super::{IntRelation, Machine};
use crate::float::Relation;
use crate::mufu::Function;
use crate::{INFINITY, Mode, ONE, Rounding, SIGN};

/// One step of an exponent field.
const EXPONENT: u32 = 1 << 23;

/// The bits of the fraction.
const FRACTION: u32 = EXPONENT - 1;

/// `a / b`, correctly rounded (`div.rn.f32` and the other roundings).
pub fn divide<M: Machine>(m: &mut M, a: M::Value, b: M::Value, mode: Mode) -> M::Value {
    let field = m.constant(INFINITY);
    let (field_a, field_b) = (m.and(a, field), m.and(b, field));
    let difference = m.isub(field_a, field_b);
    // The dividend and the quotient are far enough from the subnormals for the remainders to be exact, and the
    // divisor's reciprocal is normal.
    let usual = fields_within(m, field_a, 26, 254, None);
    let usual = fields_within(m, field_b, 1, 252, Some(usual));
    let offset = m.constant(124 * EXPONENT);
    let quotient_field = m.iadd(difference, offset);
    let usual = fields_within(m, quotient_field, 0, 250, Some(usual));
    let [quotient] = m.branch(
        usual,
        |m| {
            let y = refined_reciprocal(m, b);
            [refined_quotient(m, a, b, y, mode.rounding)]
        },
        |m| [divide_any(m, a, b, mode)],
    );
    saturated(m, quotient, mode)
}

/// `1 / a`, correctly rounded (`rcp.rn.f32` and the other roundings).
pub fn reciprocal<M: Machine>(m: &mut M, a: M::Value, mode: Mode) -> M::Value {
    let field = m.constant(INFINITY);
    let field = m.and(a, field);
    let usual = fields_within(m, field, 1, 252, None);
    let [quotient] = m.branch(
        usual,
        |m| {
            let y = refined_reciprocal(m, a);
            let one = m.constant(ONE);
            let error = m.fnma(a, y, one, Mode::IEEE);
            [m.ffma(error, y, y, Mode::rounded(mode.rounding))]
        },
        |m| {
            let one = m.constant(ONE);
            [divide_any(m, one, a, mode)]
        },
    );
    saturated(m, quotient, mode)
}

/// `sqrt(a)`, correctly rounded (`sqrt.rn.f32` and the other roundings).
pub fn square_root<M: Machine>(m: &mut M, a: M::Value, mode: Mode) -> M::Value {
    // A value below 2^-101 would have a subnormal remainder.
    let usual = fields_within(m, a, 26, 254, None);
    let [root] = m.branch(
        usual,
        |m| [refined_root(m, a, mode.rounding)],
        |m| {
            let a = flushed(m, a, mode);
            let scale = m.constant(0x5f80_0000);
            let scaled = m.fmul(a, scale, Mode::IEEE);
            let root = refined_root(m, scaled, mode.rounding);
            let scale = m.constant(0x2f80_0000);
            let root = m.fmul(root, scale, Mode::IEEE);
            // Zero, infinity, NaN and negative values: the approximate function is exact.
            let special = m.mufu(Function::SquareRoot, a, mode.ftz);
            let (one, limit) = (m.constant(1), m.constant(26 * EXPONENT - 1));
            let less = m.isub(a, one);
            let small = m.iset(IntRelation::Less, false, less, limit);
            [m.select(small, root, special)]
        },
    );
    saturated(m, root, mode)
}

/// `a / b` within 2 units in the last place over the full range (`div.full.f32`).
pub fn divide_full<M: Machine>(m: &mut M, a: M::Value, b: M::Value, ftz: bool) -> M::Value {
    let mode = Mode::new(Rounding::NearestEven, ftz);
    // Divisors with a subnormal or overflowing reciprocal are scaled, and the dividend with them.
    let magnitude = m.absolute(b);
    let (large, small) = (m.constant(0x7e80_0000), m.constant(EXPONENT));
    let is_large = m.fset(Relation::Greater, magnitude, large, ftz);
    let is_small = m.fset(Relation::Less, magnitude, small, ftz);
    let (one, quarter, sixteen_million) = (m.constant(ONE), m.constant(0x3e80_0000), m.constant(0x4b80_0000));
    let scale = m.select(is_large, quarter, one);
    let scale = m.select(is_small, sixteen_million, scale);
    let (a, b) = (m.fmul(a, scale, mode), m.fmul(b, scale, mode));
    let inverse = m.mufu(Function::Reciprocal, b, ftz);
    m.fmul(a, inverse, mode)
}

/// `a * (1 / b)` (`div.approx.f32`): within 2 units in the last place for `|b|` up to 2^126. Beyond 2^126 the reciprocal is
/// zero.
///
/// PTX bounds the error from 2^-126 on, but CUDA's `fmodf`, which is exact, divides by subnormal values too.
pub fn divide_approximate<M: Machine>(m: &mut M, a: M::Value, b: M::Value, ftz: bool) -> M::Value {
    if ftz {
        let inverse = m.mufu(Function::Reciprocal, b, true);
        return m.fmul(a, inverse, Mode::FTZ);
    }
    // The reciprocal of a subnormal divisor would overflow.
    let (exponent, zero) = (m.constant(255 * EXPONENT), m.constant(0));
    let exponent = m.and(b, exponent);
    let usual = m.iset(IntRelation::NotEqual, false, exponent, zero);
    let [a, inverse] = m.branch(
        usual,
        |m| [a, m.mufu(Function::Reciprocal, b, false)],
        |m| {
            let scale = m.constant(0x4b80_0000);
            let (a, b) = (m.fmul(a, scale, Mode::IEEE), m.fmul(b, scale, Mode::IEEE));
            [a, m.mufu(Function::Reciprocal, b, false)]
        },
    );
    let one = m.constant(ONE);
    let inverse = m.fmul(inverse, one, Mode::FTZ);
    m.fmul(a, inverse, Mode::IEEE)
}

/// Whether the exponent field of `bits` lies in `first ..= last`, and `and`. A set sign bit makes it false.
fn fields_within<M: Machine>(
    m: &mut M,
    bits: M::Value,
    first: u32,
    last: u32,
    and: Option<M::Predicate>,
) -> M::Predicate {
    let shifted = if first == 0 {
        bits
    } else {
        let offset = m.constant((first * EXPONENT).wrapping_neg());
        m.iadd(bits, offset)
    };
    let count = m.constant((last - first + 1) * EXPONENT);
    match and {
        None => m.iset(IntRelation::Less, false, shifted, count),
        Some(and) => m.iset_and(IntRelation::Less, false, shifted, count, and),
    }
}

/// `1 / b`, rounded to nearest even. A significand of all ones needs an approximation from above, which MUFU's table
/// provides.
fn refined_reciprocal<M: Machine>(m: &mut M, b: M::Value) -> M::Value {
    let y = m.mufu(Function::Reciprocal, b, false);
    let one = m.constant(ONE);
    let error = m.fnma(b, y, one, Mode::IEEE);
    m.ffma(error, y, y, Mode::IEEE)
}

/// `a / b`, rounded once; `y` is close to `1 / b`.
fn refined_quotient<M: Machine>(m: &mut M, a: M::Value, b: M::Value, y: M::Value, rounding: Rounding) -> M::Value {
    let q = m.fmul(a, y, Mode::IEEE);
    let remainder = m.fnma(b, q, a, Mode::IEEE);
    let q = m.ffma(remainder, y, q, Mode::IEEE);
    let remainder = m.fnma(b, q, a, Mode::IEEE);
    m.ffma(remainder, y, q, Mode::rounded(rounding))
}

/// `sqrt(a)`, rounded once.
fn refined_root<M: Machine>(m: &mut M, a: M::Value, rounding: Rounding) -> M::Value {
    let y = m.mufu(Function::ReciprocalSquareRoot, a, false);
    let half = m.constant(0x3f00_0000);
    let half_y = m.fmul(y, half, Mode::IEEE);
    let root = m.fmul(a, y, Mode::IEEE);
    let remainder = m.fnma(root, root, a, Mode::IEEE);
    let root = m.ffma(remainder, half_y, root, Mode::IEEE);
    let remainder = m.fnma(root, root, a, Mode::IEEE);
    m.ffma(remainder, half_y, root, Mode::rounded(rounding))
}

/// `a / b` for any operands.
fn divide_any<M: Machine>(m: &mut M, a: M::Value, b: M::Value, mode: Mode) -> M::Value {
    let (a, b) = (flushed(m, a, mode), flushed(m, b, mode));
    let (a, b) = (Scaled::new(m, a), Scaled::new(m, b));
    let sign = m.constant(SIGN);
    let signs = m.xor(a.value, b.value);
    let sign = m.and(signs, sign);

    // The dividend's significand in 1..4, so that the quotient lies in 1..2.
    let below = m.fset(Relation::Less, a.significand, b.significand, false);
    let step = m.constant(EXPONENT);
    let doubled = m.iadd(a.significand, step);
    let dividend = m.select(below, doubled, a.significand);
    let (one, zero) = (m.constant(1), m.constant(0));
    let borrow = m.select(below, one, zero);

    // 24 bits of quotient, then the bit that follows, and whether any later bit is set.
    let y = refined_reciprocal(m, b.significand);
    let quotient = refined_quotient(m, dividend, b.significand, y, Rounding::TowardZero);
    let remainder = m.fnma(b.significand, quotient, dividend, Mode::IEEE);
    let scale = m.constant(0x4b80_0000);
    let remainder = m.fmul(remainder, scale, Mode::IEEE);
    let is_half = m.fset(Relation::GreaterEqual, remainder, b.significand, false);
    let float_zero = m.constant(0);
    let more = m.fset(Relation::NotEqual, remainder, float_zero, false);
    let not_half = m.fset(Relation::NotEqual, remainder, b.significand, false);
    let more = m.both(more, not_half);
    let (fraction, hidden) = (m.constant(FRACTION), m.constant(EXPONENT));
    // fraction & quotient | hidden
    let bits = m.lop3(quotient, fraction, hidden, 0xea);
    let (two, four) = (m.constant(2), m.constant(4));
    let half = m.select(is_half, two, zero);
    let more = m.select(more, one, zero);
    let bits = m.imad(bits, four, half);
    let bits = m.or(bits, more);

    let bias = m.constant(127);
    let exponent = m.isub(a.field, b.field);
    let exponent = m.iadd(exponent, bias);
    let exponent = m.isub(exponent, borrow);
    let rounded = round_float(m, sign, bits, 2, exponent, mode);

    // Zero, infinity and NaN: the product with the approximate reciprocal is exact.
    let inverse = m.mufu(Function::Reciprocal, b.value, false);
    let special = m.fmul(a.value, inverse, Mode::IEEE);
    let is_special = m.either(a.special, b.special);
    m.select(is_special, special, rounded)
}

/// An operand with its subnormals scaled by 2^24.
struct Scaled<M: Machine> {
    /// The operand, or if it is subnormal, 2^24 times it.
    value: M::Value,
    /// Its exponent field, less 24 if it was subnormal.
    field: M::Value,
    /// Its significand, as a value in 1..2; meaningless if it is special.
    significand: M::Value,
    /// Zero, infinity or NaN.
    special: M::Predicate,
}

impl<M: Machine> Scaled<M> {
    fn new(m: &mut M, x: M::Value) -> Self {
        let magnitude = m.absolute(x);
        let (normal, scale) = (m.constant(EXPONENT), m.constant(0x4b80_0000));
        let subnormal = m.iset(IntRelation::Less, false, magnitude, normal);
        let product = m.fmul(x, scale, Mode::IEEE);
        let value = m.select(subnormal, product, x);
        let magnitude = m.absolute(value);
        let places = m.constant(23);
        let field = m.shift_right(magnitude, places, false);
        let (minus_one, count) = (m.constant(u32::MAX), m.constant(254));
        let offset = m.iadd(field, minus_one);
        let special = m.iset(IntRelation::GreaterEqual, false, offset, count);
        let less = m.constant(24u32.wrapping_neg());
        let reduced = m.iadd(field, less);
        let field = m.select(subnormal, reduced, field);
        let (fraction, one) = (m.constant(FRACTION), m.constant(ONE));
        // value & fraction | one
        let significand = m.lop3(value, fraction, one, 0xea);
        Self { value, field, significand, special }
    }
}

/// `x` with a subnormal replaced by zero, if the mode says so.
pub(super) fn flushed<M: Machine>(m: &mut M, x: M::Value, mode: Mode) -> M::Value {
    if !mode.ftz {
        return x;
    }
    let one = m.constant(ONE);
    m.fmul(x, one, Mode::FTZ)
}

/// The result clamped to 0.0 ..= 1.0, if the mode says so.
fn saturated<M: Machine>(m: &mut M, x: M::Value, mode: Mode) -> M::Value {
    if !mode.sat {
        return x;
    }
    let one = m.constant(ONE);
    m.fmul(x, one, Mode { sat: true, ..Mode::IEEE })
}
