//! Rounding done with integer instructions, for the sequences whose results may be subnormal.

use super::{IntRelation, Machine};
use crate::{INFINITY, Mode, ONE, Rounding};

/// The single precision value of `sign`, an exponent field of any size, and `bits`: 24 bits of significand with the
/// leading one at bit `23 + extra`, then `extra` further bits, the last of which is sticky. `extra` is 2 to 6.
pub(super) fn round_float<M: Machine>(
    m: &mut M,
    sign: M::Value,
    bits: M::Value,
    extra: u32,
    exponent: M::Value,
    mode: Mode,
) -> M::Value {
    let (zero, one) = (m.constant(0), m.constant(1));
    // A subnormal loses more bits. From a shift of 31 on no bit is kept, and the dropped bits are less than half a
    // place.
    let normal = m.iset(IntRelation::GreaterEqual, true, exponent, one);
    let (few, most) = (m.constant(extra), m.constant(31));
    let least = m.constant(extra + 1);
    let shift = m.isub(least, exponent);
    let shift = m.select(normal, few, shift);
    let in_range = m.iset(IntRelation::Less, true, shift, most);
    let shift = m.select(in_range, shift, most);

    let kept = m.shift_right(bits, shift, false);
    let increment = match mode.rounding {
        Rounding::NearestEven => {
            // Up if the dropped bits are more than half a place, or half and the last kept bit is set.
            let unit = m.shift_left(one, shift);
            let mask = m.isub(unit, one);
            let dropped = m.and(bits, mask);
            let last = m.and(kept, one);
            let weight = m.iadd(dropped, last);
            let half = m.shift_right(unit, one, false);
            Some(m.iset(IntRelation::Greater, false, weight, half))
        }
        Rounding::TowardZero => None,
        Rounding::Down | Rounding::Up => {
            let back = m.shift_left(kept, shift);
            let inexact = m.iset(IntRelation::NotEqual, false, bits, back);
            let relation = if mode.rounding == Rounding::Down { IntRelation::NotEqual } else { IntRelation::Equal };
            Some(m.iset_and(relation, false, sign, zero, inexact))
        }
    };
    let rounded = match increment {
        Some(increment) => m.iadd_carry(kept, zero, Some(increment)).0,
        None => kept,
    };
    // The significand's leading one adds one to the field, and so does a carry out of the fraction.
    let minus_one = m.constant(u32::MAX);
    let field = m.iadd(exponent, minus_one);
    let field = m.select(normal, field, zero);
    let step = m.constant(1 << 23);
    let magnitude = m.imad(field, step, rounded);

    let infinite_field = m.constant(255);
    let overflows = m.iset(IntRelation::GreaterEqual, true, exponent, infinite_field);
    let (infinity, largest) = (m.constant(INFINITY), m.constant(INFINITY - 1));
    let limit = match mode.rounding {
        Rounding::NearestEven => infinity,
        Rounding::TowardZero => largest,
        Rounding::Down | Rounding::Up => {
            let relation = if mode.rounding == Rounding::Up { IntRelation::Equal } else { IntRelation::NotEqual };
            let away = m.iset(relation, false, sign, zero);
            m.select(away, infinity, largest)
        }
    };
    let magnitude = m.select(overflows, limit, magnitude);
    let result = m.or(magnitude, sign);
    if !mode.ftz {
        return result;
    }
    let one = m.constant(ONE);
    m.fmul(result, one, Mode::FTZ)
}
