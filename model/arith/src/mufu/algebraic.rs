//! Reciprocal, reciprocal square root and square root. The arguments are not zero, their leading one is at bit 23.

use super::{Function, Reduced};
use crate::float::Finite;

/// `1 / x`: the reciprocal of the significand, with the exponent negated.
pub(super) fn reciprocal(x: Finite) -> Reduced {
    let exponent = -(x.exponent + 23) - Function::Reciprocal.places();
    Reduced { negative: x.negative, exponent, ..fraction(Function::Reciprocal, x) }
}

/// `1 / sqrt(x)` and `sqrt(x)`: the significand is taken as 1..2 or 2..4, so that the exponent is even, and the
/// exponent is halved.
pub(super) fn root(function: Function, x: Finite) -> Reduced {
    let exponent = x.exponent + 23;
    let half = if function == Function::SquareRoot { exponent >> 1 } else { -(exponent >> 1) };
    let place = fraction(function, x);
    Reduced { exponent: half - function.places(), row: place.row | ((exponent & 1) as usize) << 6, ..place }
}

/// The fraction of the significand: row and `t`.
pub(super) fn fraction(function: Function, x: Finite) -> Reduced {
    let (fraction, bits) = (x.significand as u32 & 0x007f_ffff, function.t_bits());
    Reduced { row: (fraction >> bits) as usize, t: fraction & ((1 << bits) - 1), ..Reduced::default() }
}
