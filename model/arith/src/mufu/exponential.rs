//! Exponential and logarithm to base 2. The arguments are not zero, their leading one is at bit 23.

use super::algebraic::fraction;
use super::{Function, Reduced};
use crate::float::Finite;

/// Bits of the fraction below the exponential's index.
const EXP2_T: u32 = Function::Exp2.t_bits();

/// Binary places of the exponential's argument in fixed point: 6 of index, then `t`.
const EXP2_PLACES: u32 = 6 + EXP2_T;

/// `2^x`: the argument in fixed point, rounded down; its integer part is the exponent.
pub(super) fn exp2(x: Finite) -> Reduced {
    // From 2^8 on the result overflows, or is far below the smallest subnormal: the argument is clamped there.
    let shift = x.exponent + EXP2_PLACES as i32;
    let magnitude = if x.exponent + 23 >= 8 {
        1 << (8 + EXP2_PLACES)
    } else if shift >= 0 {
        (x.significand as i64) << shift
    } else {
        // Rounded down: toward zero here, or away from it for a negative argument.
        let places = (-shift).min(25);
        let carry = if x.negative { (1 << places) - 1 } else { 0 };
        (x.significand as i64 + carry) >> places
    };
    let fixed = if x.negative { -magnitude } else { magnitude };
    let fraction = fixed as u32 & ((1 << EXP2_PLACES) - 1);
    Reduced {
        exponent: (fixed >> EXP2_PLACES) as i32 - Function::Exp2.places(),
        row: (fraction >> EXP2_T) as usize,
        t: fraction & ((1 << EXP2_T) - 1),
        ..Reduced::default()
    }
}

/// `log2(x)`: the logarithm of the significand, to which the exponent is added. `x` is positive.
pub(super) fn log2(x: Finite) -> Reduced {
    Reduced { exponent: x.exponent + 23, ..fraction(Function::Log2, x) }
}

/// The exponent plus the logarithm of the significand, with the table's binary places.
pub(super) fn log2_sum(exponent: i32, value: i64) -> i64 {
    // The parabola may pass just below zero at 1.0, where the logarithm is zero.
    (i64::from(exponent) << Function::Log2.places()) + value.max(0)
}
