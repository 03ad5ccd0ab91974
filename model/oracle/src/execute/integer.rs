//! Integer operations.

use gpurf_arith::integer::{
    FunnelMode, PermuteMode, bit_field_extract, bit_field_insert, dot_product_2, dot_product_4, funnel_left,
    funnel_right, permute, shift_left, shift_right,
};
use gpurf_isa::Op;
use gpurf_isa::modifiers::{Addition, Direction, Extremum, Half, IntegerComparison, ShiftRange};

use multiversion::multiversion;

use crate::lanes::{Lanes, Mask, WIDTH, map1, map2, map3, test2};

/// The masks that `a` and `b` are exclusive-ored with.
fn inversion(mode: Addition) -> (u32, u32) {
    match mode {
        Addition::Add => (0, 0),
        Addition::Subtract => (0, u32::MAX),
        Addition::ReverseSubtract => (u32::MAX, 0),
    }
}

/// `a + b + carry`, with at most one of `a` and `b` inverted.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub fn sum(mode: Addition, a: &Lanes, b: &Lanes, carries: Mask) -> Lanes {
    let (invert_a, invert_b) = inversion(mode);
    let add = |carry: u32| map2(a, b, |x, y| (x ^ invert_a).wrapping_add(y ^ invert_b).wrapping_add(carry));
    match carries {
        0 => add(0),
        Mask::MAX => add(1),
        _ => {
            let mut values = add(0);
            for lane in 0..WIDTH {
                values.0[lane] = values.0[lane].wrapping_add(carries >> lane & 1);
            }
            values
        }
    }
}

/// Like [`sum`], with the carries out.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub fn add(mode: Addition, a: &Lanes, b: &Lanes, carries: Mask) -> (Lanes, Mask) {
    let (invert_a, invert_b) = inversion(mode);
    let mut sums = Lanes::ZERO;
    let mut out = 0;
    for lane in 0..WIDTH {
        let (sum, carry) =
            gpurf_arith::integer::add_carry(a.0[lane] ^ invert_a, b.0[lane] ^ invert_b, carries >> lane & 1 == 1);
        sums.0[lane] = sum;
        out |= u32::from(carry) << lane;
    }
    (sums, out)
}

/// One half of the 64-bit product.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub fn product(half: Half, signed: bool, a: &Lanes, b: &Lanes) -> Lanes {
    match (half, signed) {
        (Half::Low, _) => map2(a, b, u32::wrapping_mul),
        (Half::High, false) => map2(a, b, gpurf_arith::integer::mul_hi_unsigned),
        (Half::High, true) => map2(a, b, gpurf_arith::integer::mul_hi_signed),
    }
}

/// Any function of three bits, given by its truth table; the functions that programs use most have their own loops.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub fn logic(table: u8, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    match table {
        0xc0 => map2(a, b, |x, y| x & y),
        0xfc => map2(a, b, |x, y| x | y),
        0x3c => map2(a, b, |x, y| x ^ y),
        _ => map3(a, b, c, |x, y, z| gpurf_arith::integer::lop3(x, y, z, table)),
    }
}

/// The smaller or the larger value.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub fn extremum(which: Extremum, signed: bool, a: &Lanes, b: &Lanes) -> Lanes {
    match (which, signed) {
        (Extremum::Min, false) => map2(a, b, u32::min),
        (Extremum::Max, false) => map2(a, b, u32::max),
        (Extremum::Min, true) => map2(a, b, |x, y| (x as i32).min(y as i32) as u32),
        (Extremum::Max, true) => map2(a, b, |x, y| (x as i32).max(y as i32) as u32),
    }
}

/// The lanes in which a comparison holds.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub fn compare(comparison: IntegerComparison, signed: bool, a: &Lanes, b: &Lanes) -> Mask {
    // Inverting the sign bit turns the signed order into the unsigned one.
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
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
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

/// The result of an operation on the bits or bytes of its sources.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub fn on_bits(op: Op, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    match op {
        Op::Shl {} => map2(a, b, shift_left),
        Op::Shr { signed: false } => map2(a, b, |x, y| shift_right(x, y, false)),
        Op::Shr { signed: true } => map2(a, b, |x, y| shift_right(x, y, true)),
        Op::Bfe { signed } => map2(a, b, |x, field| bit_field_extract(x, field & 0xff, field >> 8 & 0xff, signed)),
        Op::Bfi {} => map3(a, b, c, |x, field, base| bit_field_insert(x, base, field & 0xff, field >> 8 & 0xff)),
        Op::Prmt {} => map3(a, b, c, |x, selector, y| permute(x, y, selector, PermuteMode::Index)),
        Op::Popc {} => map1(a, u32::count_ones),
        Op::Clz {} => map1(a, u32::leading_zeros),
        Op::Brev {} => map1(a, u32::reverse_bits),
        Op::Dp4a { signed_a, signed_b } => map3(a, b, c, |x, y, z| dot_product_4(x, y, z, signed_a, signed_b)),
        Op::Dp2a { signed_a, signed_b, half } => {
            map3(a, b, c, |x, y, z| dot_product_2(x, y, z, signed_a, signed_b, half == Half::High))
        }
        other => unreachable!("the caller has dealt with {}", other.mnemonic()),
    }
}
