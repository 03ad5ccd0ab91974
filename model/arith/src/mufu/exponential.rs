//! Exponential and logarithm to base 2. The arguments are not zero, their leading one is at bit 23.

use super::tables::{EXP2, FRACTION_BITS, LOG2};
use crate::Mode;
use crate::float::{Finite, round};

/// Bits of the fraction below the exponential's index.
const EXP2_T: u32 = 19;

/// Binary places of the exponential's argument in fixed point: 6 of index, then `t`.
const EXP2_PLACES: u32 = 6 + EXP2_T;

/// Bits of the fraction below the logarithm's index.
const LOG2_T: u32 = 16;

/// `2^x`: the argument in fixed point, rounded down; its integer part is the exponent.
pub(super) fn exp2(x: Finite, mode: Mode) -> u32 {
    // From 2^8 on the result overflows, or is far below the smallest subnormal: the argument is cut off there.
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
    let row = EXP2[(fraction >> EXP2_T) as usize];
    let value = row.value(fraction & ((1 << EXP2_T) - 1), EXP2_T);
    let exponent = (fixed >> EXP2_PLACES) as i32 - (FRACTION_BITS + EXP2_T) as i32;
    round(false, value as u64, exponent, mode)
}

/// `log2(x)`: the exponent plus the logarithm of the significand. `x` is positive.
pub(super) fn log2(x: Finite, mode: Mode) -> u32 {
    let places = FRACTION_BITS + LOG2_T;
    let fraction = x.significand as u32 & 0x007f_ffff;
    let row = LOG2[(fraction >> LOG2_T) as usize];
    // The parabola may pass just below zero at 1.0, where the logarithm is zero.
    let value = row.value(fraction & ((1 << LOG2_T) - 1), LOG2_T).max(0);
    let sum = (i64::from(x.exponent + 23) << places) + value;
    round(sum < 0, sum.unsigned_abs(), -(places as i32), mode)
}
