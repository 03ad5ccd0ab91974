//! Single precision operations.
//!
//! `gpurf-arith` defines their results. Addition, multiplication and fused multiply-add in the default mode (to nearest even, subnormals kept) are
//! those of IEEE-754, and the host computes them: the same bits, faster. So are conversions that keep subnormals. A test compares the two.

use gpurf_arith::float::Relation;
use gpurf_arith::{IntType, Mode, convert, float, mufu};
use gpurf_isa::Op;
use gpurf_isa::modifiers::{Extremum, FloatComparison, Function, Rounding};
use multiversion::multiversion;

use crate::lanes::{Lanes, Mask, lanes_of, map1, map2, map3, test2};

fn rounding(rounding: Rounding) -> gpurf_arith::Rounding {
    match rounding {
        Rounding::NearestEven => gpurf_arith::Rounding::NearestEven,
        Rounding::TowardZero => gpurf_arith::Rounding::TowardZero,
        Rounding::Down => gpurf_arith::Rounding::Down,
        Rounding::Up => gpurf_arith::Rounding::Up,
    }
}

fn mode(to: Rounding, ftz: bool, sat: bool) -> Mode {
    Mode { rounding: rounding(to), ftz, sat }
}

/// Whether the host's arithmetic implements this mode.
fn is_native(mode: Mode) -> bool {
    mode == Mode::IEEE
}

/// The bits of a result of the host's arithmetic; every NaN becomes the canonical one.
#[inline(always)]
fn bits(value: f32) -> u32 {
    if value.is_nan() { gpurf_arith::NAN } else { value.to_bits() }
}

/// A function of the values that are rounded to integral ones.
#[inline(always)]
fn integral(rounding: Rounding, a: &Lanes, f: impl Fn(f32) -> u32) -> Lanes {
    match rounding {
        Rounding::NearestEven => map1(a, |x| f(f32::from_bits(x).round_ties_even())),
        Rounding::TowardZero => map1(a, |x| f(f32::from_bits(x).trunc())),
        Rounding::Down => map1(a, |x| f(f32::from_bits(x).floor())),
        Rounding::Up => map1(a, |x| f(f32::from_bits(x).ceil())),
    }
}

fn sign(negate: bool) -> u32 {
    if negate { gpurf_arith::SIGN } else { 0 }
}

/// The result of an operation whose sources are general registers. Lanes outside the mask are undefined.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub fn compute(op: Op, a: &Lanes, b: &Lanes, c: &Lanes, mask: Mask) -> Lanes {
    // Expensive functions are computed in the active lanes only.
    let active = |f: &dyn Fn(usize) -> u32| {
        let mut values = Lanes::ZERO;
        for lane in lanes_of(mask) {
            values.0[lane] = f(lane);
        }
        values
    };
    match op {
        Op::Fadd { rounding, ftz, sat, neg_a, neg_b } => {
            let (mode, neg_a, neg_b) = (mode(rounding, ftz, sat), sign(neg_a), sign(neg_b));
            if is_native(mode) {
                return map2(a, b, |x, y| bits(f32::from_bits(x ^ neg_a) + f32::from_bits(y ^ neg_b)));
            }
            active(&|lane| float::add(a.0[lane] ^ neg_a, b.0[lane] ^ neg_b, mode))
        }
        Op::Fmul { rounding, ftz, sat, neg } => {
            let (mode, neg) = (mode(rounding, ftz, sat), sign(neg));
            if is_native(mode) {
                return map2(a, b, |x, y| bits(f32::from_bits(x ^ neg) * f32::from_bits(y)));
            }
            active(&|lane| float::mul(a.0[lane] ^ neg, b.0[lane], mode))
        }
        Op::Ffma { rounding, ftz, sat, neg, neg_c } => {
            let (mode, neg, neg_c) = (mode(rounding, ftz, sat), sign(neg), sign(neg_c));
            if is_native(mode) {
                let fused =
                    |x, y, z| bits(f32::from_bits(x ^ neg).mul_add(f32::from_bits(y), f32::from_bits(z ^ neg_c)));
                return map3(a, b, c, fused);
            }
            active(&|lane| float::fma(a.0[lane] ^ neg, b.0[lane], c.0[lane] ^ neg_c, mode))
        }
        Op::Fmnmx { which, ftz, nan } => match which {
            Extremum::Min => map2(a, b, |x, y| float::min(x, y, ftz, nan)),
            Extremum::Max => map2(a, b, |x, y| float::max(x, y, ftz, nan)),
        },
        Op::I2f { rounding, signed } => {
            let mode = mode(rounding, false, false);
            match (is_native(mode), signed) {
                (true, false) => map1(a, |x| (x as f32).to_bits()),
                (true, true) => map1(a, |x| (x as i32 as f32).to_bits()),
                _ => active(&|lane| convert::from_integer(a.0[lane].into(), integer(signed), mode)),
            }
        }
        Op::F2i { rounding: to, ftz: true, signed } => {
            active(&|lane| convert::to_integer(a.0[lane], integer(signed), rounding(to), true) as u32)
        }
        Op::F2i { rounding, ftz: false, signed: false } => integral(rounding, a, |x| x as u32),
        Op::F2i { rounding, ftz: false, signed: true } => integral(rounding, a, |x| x as i32 as u32),
        Op::Frnd { rounding, ftz: false, sat: false } => integral(rounding, a, bits),
        Op::Frnd { rounding, ftz, sat } => {
            let mode = mode(rounding, ftz, sat);
            active(&|lane| convert::round_to_integral(a.0[lane], mode))
        }
        Op::Mufu { function, ftz } => {
            let function = approximate(function);
            active(&|lane| mufu::approximate(function, a.0[lane], ftz))
        }
        _ => map1(a, |x| x),
    }
}

fn integer(signed: bool) -> IntType {
    if signed { IntType::S32 } else { IntType::U32 }
}

fn approximate(function: Function) -> mufu::Function {
    match function {
        Function::Rcp => mufu::Function::Reciprocal,
        Function::Rsq => mufu::Function::ReciprocalSquareRoot,
        Function::Sqrt => mufu::Function::SquareRoot,
        Function::Ex2 => mufu::Function::Exp2,
        Function::Lg2 => mufu::Function::Log2,
        Function::Sin => mufu::Function::Sin,
        Function::Cos => mufu::Function::Cos,
    }
}

/// The lanes in which a comparison holds.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub fn compare(comparison: FloatComparison, ftz: bool, a: &Lanes, b: &Lanes) -> Mask {
    let relation = match comparison {
        FloatComparison::Eq => Relation::Equal,
        FloatComparison::Ne => Relation::NotEqual,
        FloatComparison::Lt => Relation::Less,
        FloatComparison::Le => Relation::LessEqual,
        FloatComparison::Gt => Relation::Greater,
        FloatComparison::Ge => Relation::GreaterEqual,
        FloatComparison::Equ => Relation::EqualUnordered,
        FloatComparison::Neu => Relation::NotEqualUnordered,
        FloatComparison::Ltu => Relation::LessUnordered,
        FloatComparison::Leu => Relation::LessEqualUnordered,
        FloatComparison::Gtu => Relation::GreaterUnordered,
        FloatComparison::Geu => Relation::GreaterEqualUnordered,
        FloatComparison::Num => Relation::Ordered,
        FloatComparison::Nan => Relation::Unordered,
    };
    test2(a, b, |x, y| float::compare(relation, x, y, ftz))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_computes_what_the_arithmetic_defines() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let special = [0, 1, 0x7f_ffff, 0x80_0000, 0x3f80_0000, 0x7f7f_ffff, 0x7f80_0000, 0x7f80_0001, 0x7fc0_0000];
            let bits = (state >> 32) as u32;
            // One in four is a special value of either sign; one in four has an exponent near the others'.
            match bits >> 30 {
                0 => special[(bits >> 8) as usize % special.len()] | bits & 1 << 20 << 11,
                1 => bits & 0x81ff_ffff | 0x3e00_0000,
                _ => bits.rotate_left(7),
            }
        };
        for _ in 0..300_000 {
            let (x, y, z) = (next(), next(), next());
            let (a, b, c) = (f32::from_bits(x), f32::from_bits(y), f32::from_bits(z));
            assert_eq!(bits(a + b), float::add(x, y, Mode::IEEE), "{x:#x} + {y:#x}");
            assert_eq!(bits(a * b), float::mul(x, y, Mode::IEEE), "{x:#x} * {y:#x}");
            assert_eq!(bits(a.mul_add(b, c)), float::fma(x, y, z, Mode::IEEE), "{x:#x} * {y:#x} + {z:#x}");
        }
        for _ in 0..20_000 {
            let mut lanes = Lanes::ZERO;
            lanes.0.fill_with(&mut next);
            let compute = |op| compute(op, &lanes, &Lanes::ZERO, &Lanes::ZERO, Mask::MAX).0;
            for signed in [false, true] {
                let of = |x: &u32| convert::from_integer((*x).into(), integer(signed), Mode::IEEE);
                let op = Op::I2f { rounding: Rounding::NearestEven, signed };
                assert_eq!(compute(op).to_vec(), lanes.0.iter().map(of).collect::<Vec<u32>>());
            }
            for to in [Rounding::NearestEven, Rounding::TowardZero, Rounding::Down, Rounding::Up] {
                for signed in [false, true] {
                    let of = |x: &u32| convert::to_integer(*x, integer(signed), rounding(to), false) as u32;
                    let op = Op::F2i { rounding: to, ftz: false, signed };
                    assert_eq!(compute(op).to_vec(), lanes.0.iter().map(of).collect::<Vec<u32>>(), "{lanes:x?}");
                }
                let of = |x: &u32| convert::round_to_integral(*x, mode(to, false, false));
                let op = Op::Frnd { rounding: to, ftz: false, sat: false };
                assert_eq!(compute(op).to_vec(), lanes.0.iter().map(of).collect::<Vec<u32>>(), "{lanes:x?}");
            }
        }
    }
}
