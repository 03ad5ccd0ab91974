//! Integer operations.

use gpurf_arith::integer::{FunnelMode, funnel_left, funnel_right};
use gpurf_isa::modifiers::{Addition, Direction, Extremum, Half, IntegerComparison, ShiftRange};

use crate::lanes::{Lanes, Mask, WIDTH, map2, map3, test2};

/// `a + b + carry`, with one of them inverted or none, and the carries out.
pub fn add(mode: Addition, a: &Lanes, b: &Lanes, carries: Mask) -> (Lanes, Mask) {
    let (invert_a, invert_b) = match mode {
        Addition::Add => (0, 0),
        Addition::Subtract => (0, u32::MAX),
        Addition::ReverseSubtract => (u32::MAX, 0),
    };
    let mut sums = Lanes::ZERO;
    let mut out = 0;
    for lane in 0..WIDTH {
        let (x, y) = (a.0[lane] ^ invert_a, b.0[lane] ^ invert_b);
        let sum = u64::from(x) + u64::from(y) + u64::from(carries >> lane & 1);
        sums.0[lane] = sum as u32;
        out |= ((sum >> 32) as u32) << lane;
    }
    (sums, out)
}

/// A half of `a * b`, plus `c`, plus carry, and the carries out of the two additions.
pub fn multiply_add(half: Half, signed: bool, a: &Lanes, b: &Lanes, c: &Lanes, carries: Mask) -> (Lanes, Mask) {
    let product = |x: u32, y: u32| match (half, signed) {
        (Half::Low, _) => x.wrapping_mul(y),
        (Half::High, false) => gpurf_arith::integer::mul_hi_unsigned(x, y),
        (Half::High, true) => gpurf_arith::integer::mul_hi_signed(x, y),
    };
    add(Addition::Add, &map2(a, b, product), c, carries)
}

/// The smaller or the larger value.
pub fn extremum(which: Extremum, signed: bool, a: &Lanes, b: &Lanes) -> Lanes {
    match (which, signed) {
        (Extremum::Min, false) => map2(a, b, u32::min),
        (Extremum::Max, false) => map2(a, b, u32::max),
        (Extremum::Min, true) => map2(a, b, |x, y| (x as i32).min(y as i32) as u32),
        (Extremum::Max, true) => map2(a, b, |x, y| (x as i32).max(y as i32) as u32),
    }
}

/// The lanes in which a comparison holds.
pub fn compare(comparison: IntegerComparison, signed: bool, a: &Lanes, b: &Lanes) -> Mask {
    // Moving the sign bit's weight turns the signed order into the unsigned one.
    let bias = if signed { 1 << 31 } else { 0 };
    match comparison {
        IntegerComparison::Eq => test2(a, b, |x, y| x == y),
        IntegerComparison::Ne => test2(a, b, |x, y| x != y),
        IntegerComparison::Lt => test2(a, b, |x, y| x ^ bias < y ^ bias),
        IntegerComparison::Le => test2(a, b, |x, y| x ^ bias <= y ^ bias),
        IntegerComparison::Gt => test2(a, b, |x, y| x ^ bias > y ^ bias),
        IntegerComparison::Ge => test2(a, b, |x, y| x ^ bias >= y ^ bias),
    }
}

/// A word of `c:a` shifted by `b`.
pub fn funnel(direction: Direction, range: ShiftRange, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    let mode = match range {
        ShiftRange::Clamp => FunnelMode::Clamp,
        ShiftRange::Wrap => FunnelMode::Wrap,
    };
    match direction {
        Direction::Left => map3(a, b, c, |low, amount, high| funnel_left(low, high, amount, mode)),
        Direction::Right => map3(a, b, c, |low, amount, high| funnel_right(low, high, amount, mode)),
    }
}
