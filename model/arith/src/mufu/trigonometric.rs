//! Sine and cosine. The arguments are not zero, their leading one is at bit 23.

use super::{Function, Reduced};
use crate::float::Finite;

/// `1 / (2 pi)` with [`TURN_PLACES`] binary places: 32 significant bits.
const TURNS_PER_RADIAN: u64 = 0xa2f9_836e;

/// Binary places of [`TURNS_PER_RADIAN`].
const TURN_PLACES: i32 = 34;

/// Bits of a quarter turn below the index.
const SIN_T: u32 = Function::Sin.t_bits();

/// Bits of a quarter turn: 6 of index, then `t`.
const QUARTER_BITS: u32 = 6 + SIN_T;

/// Below 2^-9 the sine is its argument, within 2^-29.
const SIN_SMALL: i32 = -9;

/// Below 2^-13 the cosine is 1, within 2^-27.
const COS_SMALL: i32 = -13;

/// `sin(x)`
pub(super) fn sin(x: Finite) -> Reduced {
    if x.exponent + 23 < SIN_SMALL {
        return Reduced { negative: x.negative, exponent: x.exponent, row: 0, t: x.significand as u32, direct: true };
    }
    quarter_wave(turns(x), x.negative)
}

/// `cos(x)`: the sine of the angle plus a quarter turn. `None` where it is 1.
pub(super) fn cos(x: Finite) -> Option<Reduced> {
    let small = x.exponent + 23 < COS_SMALL;
    (!small).then(|| quarter_wave(turns(x).wrapping_add(1 << QUARTER_BITS), false))
}

/// The angle in turns without its sign: two bits of quarter, then [`QUARTER_BITS`]; whole turns and bits below the last
/// place are dropped. The angle of a huge argument is 0, since it has no digits below a turn.
fn turns(x: Finite) -> u32 {
    let product = x.significand * TURNS_PER_RADIAN;
    let shift = x.exponent - TURN_PLACES + QUARTER_BITS as i32 + 2;
    if shift >= 0 { product.checked_shl(shift as u32).unwrap_or(0) as u32 } else { (product >> -shift) as u32 }
}

/// The sine of an angle in turns, of which the lowest [`QUARTER_BITS`] + 2 bits count.
fn quarter_wave(turns: u32, negative: bool) -> Reduced {
    let (falling, lower) = (turns >> QUARTER_BITS & 1 != 0, turns >> (QUARTER_BITS + 1) & 1 != 0);
    // In the falling quarters the angle is mirrored; the complement is one last place less than the mirrored angle.
    let angle = (if falling { !turns } else { turns }) & ((1 << QUARTER_BITS) - 1);
    Reduced {
        negative: negative != lower,
        exponent: -Function::Sin.places(),
        row: (angle >> SIN_T) as usize,
        t: angle & ((1 << SIN_T) - 1),
        direct: false,
    }
}
