//! Reciprocal, reciprocal square root and square root. The arguments are not zero, their leading one is at bit 23.

use super::tables::{FRACTION_BITS, RECIPROCAL, RECIPROCAL_SQUARE_ROOT, Row, SQUARE_ROOT};
use crate::Mode;
use crate::float::{Finite, round};

/// Bits of the fraction below a reciprocal's index.
const RECIPROCAL_T: u32 = 16;

/// Bits of the fraction below a root's index.
const ROOT_T: u32 = 17;

/// `1 / x`: the reciprocal of the significand, with the exponent negated.
pub(super) fn reciprocal(x: Finite, mode: Mode) -> u32 {
    let fraction = x.significand as u32 & 0x007f_ffff;
    let row = RECIPROCAL[(fraction >> RECIPROCAL_T) as usize];
    let value = row.value(fraction & ((1 << RECIPROCAL_T) - 1), RECIPROCAL_T);
    let exponent = -(x.exponent + 23) - places(RECIPROCAL_T);
    round(x.negative, value as u64, exponent, mode)
}

/// `1 / sqrt(x)`: half the exponent, negated.
pub(super) fn reciprocal_square_root(x: Finite, mode: Mode) -> u32 {
    let (value, half) = root(x, &RECIPROCAL_SQUARE_ROOT);
    round(false, value, -half - places(ROOT_T), mode)
}

/// `sqrt(x)`: half the exponent.
pub(super) fn square_root(x: Finite, mode: Mode) -> u32 {
    let (value, half) = root(x, &SQUARE_ROOT);
    round(false, value, half - places(ROOT_T), mode)
}

/// The table's value for the significand, taken as 1..2 or 2..4 so that the exponent is even, and half of that.
fn root(x: Finite, table: &[Row; 128]) -> (u64, i32) {
    let exponent = x.exponent + 23;
    let fraction = x.significand as u32 & 0x007f_ffff;
    let row = table[((exponent & 1) as usize) << 6 | (fraction >> ROOT_T) as usize];
    (row.value(fraction & ((1 << ROOT_T) - 1), ROOT_T) as u64, exponent >> 1)
}

fn places(t: u32) -> i32 {
    (FRACTION_BITS + t) as i32
}
