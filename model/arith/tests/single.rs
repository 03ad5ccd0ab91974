//! Single precision against an independent implementation.

mod common;

use common::{Random, awkward, in_parallel, round_of};
use gpurf_arith::float::{Relation, abs, add, compare, copysign, flush, fma, max, min, mul, neg, saturate, sub};
use gpurf_arith::{IntType, Mode, NAN, Rounding, SIGN, convert};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::Single;

fn single(bits: u32) -> Single {
    Single::from_bits(bits.into())
}

fn bits(value: Single) -> u32 {
    if value.is_nan() { NAN } else { value.to_bits() as u32 }
}

/// Applies the flushing and clamping of `mode` to an operation that is right without them.
fn with_modifiers<const N: usize>(operands: [u32; N], mode: Mode, exact: impl Fn([u32; N]) -> u32) -> u32 {
    let result = flush(exact(operands.map(|x| flush(x, mode.ftz))), mode.ftz);
    if mode.sat { saturate(result) } else { result }
}

fn check_two(a: u32, b: u32, mode: Mode) {
    let round = round_of(mode.rounding);
    let expected = with_modifiers([a, b], mode, |[a, b]| bits(single(a).add_r(single(b), round).value));
    assert_eq!(add(a, b, mode), expected, "{a:#010x} + {b:#010x} {mode:?}");
    let expected = with_modifiers([a, b], mode, |[a, b]| bits(single(a).sub_r(single(b), round).value));
    assert_eq!(sub(a, b, mode), expected, "{a:#010x} - {b:#010x} {mode:?}");
    let expected = with_modifiers([a, b], mode, |[a, b]| bits(single(a).mul_r(single(b), round).value));
    assert_eq!(mul(a, b, mode), expected, "{a:#010x} * {b:#010x} {mode:?}");
}

fn check_fma(a: u32, b: u32, c: u32, mode: Mode) {
    let round = round_of(mode.rounding);
    let exact = |[a, b, c]: [u32; 3]| bits(single(a).mul_add_r(single(b), single(c), round).value);
    let expected = with_modifiers([a, b, c], mode, exact);
    assert_eq!(fma(a, b, c, mode), expected, "{a:#010x} * {b:#010x} + {c:#010x} {mode:?}");
}

fn modes() -> impl Iterator<Item = Mode> {
    Rounding::ALL.into_iter().flat_map(|rounding| {
        [(false, false), (true, false), (false, true), (true, true)].map(|(ftz, sat)| Mode { rounding, ftz, sat })
    })
}

#[test]
fn two_operands_on_awkward_values() {
    for mode in modes() {
        for a in awkward() {
            for b in awkward() {
                check_two(a, b, mode);
            }
        }
    }
}

#[test]
fn fma_on_awkward_values() {
    let values: Vec<_> = awkward().into_iter().step_by(3).collect();
    for rounding in Rounding::ALL {
        for &a in &values {
            for &b in &values {
                for &c in &values {
                    check_fma(a, b, c, Mode::rounded(rounding));
                    check_fma(a, b, c, Mode::new(rounding, true));
                }
            }
        }
    }
}

fn check_random(random: &mut Random, cases: u64) {
    for _ in 0..cases {
        let a = random.float();
        let near = random.float_near(a);
        let b = if random.next() & 1 == 0 { near } else { random.float() };
        // An addend near the product, so that they cancel.
        let c = match random.next() & 3 {
            0 => random.float(),
            1 => mul(a, b, Mode::IEEE) ^ SIGN,
            _ => random.float_near(mul(a, b, Mode::IEEE)),
        };
        let modifiers = random.next();
        let mode = Mode { rounding: random.rounding(), ftz: modifiers & 1 != 0, sat: modifiers & 6 == 0 };
        check_two(a, b, mode);
        check_fma(a, b, c, mode);
    }
}

#[test]
fn random_operands() {
    check_random(&mut Random(0), 300_000);
}

#[test]
#[ignore = "long: four hundred million operations, minutes in release"]
fn many_random_operands() {
    in_parallel("add, subtract, multiply, fused multiply-add", 100_000_000, check_random);
}

fn check_conversions(a: u32, mode: Mode) {
    let round = round_of(mode.rounding);
    let flushed = flush(a, mode.ftz);
    for to in IntType::ALL {
        let mut exact = false;
        let width = usize::from(to.bits);
        let expected = if single(a).is_nan() {
            if to.bits == 64 { 1 << 63 } else { 0 }
        } else if to.signed {
            single(flushed).to_i128_r(width, round, &mut exact).value as u64
        } else {
            single(flushed).to_u128_r(width, round, &mut exact).value as u64
        };
        assert_eq!(convert::to_integer(a, to, mode.rounding, mode.ftz), expected, "{a:#010x} to {to:?} {mode:?}");
    }
    let exact = |[a]: [u32; 1]| bits(single(a).round_to_integral(round).value);
    let expected = with_modifiers([a], mode, exact);
    assert_eq!(convert::round_to_integral(a, mode), expected, "{a:#010x} to an integral value {mode:?}");
    let expected = with_modifiers([a], mode, |[a]| bits(single(a)));
    assert_eq!(convert::float_to_float(a, mode), expected);
}

fn check_from_integer(value: u64, mode: Mode) {
    for from in IntType::ALL {
        let exact = from.value(value);
        let expected = bits(Single::from_i128_r(exact, round_of(mode.rounding)).value);
        let expected = if mode.sat { saturate(expected) } else { expected };
        assert_eq!(convert::from_integer(value, from, mode), expected, "{value:#x} from {from:?} {mode:?}");
    }
}

#[test]
fn conversions() {
    for mode in modes() {
        for a in awkward() {
            check_conversions(a, mode);
        }
        for place in 0..64 {
            for offset in [0, 1, u64::MAX, 1 << 7, 1 << 31] {
                check_from_integer((1u64 << place).wrapping_add(offset), mode);
                check_from_integer((1u64 << place).wrapping_add(offset).wrapping_neg(), mode);
            }
        }
    }
    check_random_conversions(&mut Random(0), 100_000);
}

fn check_random_conversions(random: &mut Random, cases: u64) {
    for _ in 0..cases {
        let mode = Mode { rounding: random.rounding(), ftz: random.next() & 1 != 0, sat: false };
        // Half of them with exponents of integers.
        let near = random.float_near(0x4b00_0000);
        let a = if random.next() & 1 == 0 { near } else { random.float() };
        check_conversions(a, mode);
        check_from_integer(random.integer(), mode);
    }
}

#[test]
#[ignore = "long: hundreds of millions of conversions, minutes in release"]
fn many_random_conversions() {
    in_parallel("conversions (17 each)", 20_000_000, check_random_conversions);
}

#[test]
fn integer_conversions_clamp() {
    assert_eq!(convert::integer_to_integer(300, IntType::S32, IntType::U8, true), 255);
    assert_eq!(convert::integer_to_integer(300, IntType::S32, IntType::U8, false), 44);
    assert_eq!(convert::integer_to_integer((-5i64) as u64, IntType::S64, IntType::U32, true), 0);
    assert_eq!(convert::integer_to_integer(0x80, IntType::S8, IntType::S32, false), (-128i64) as u64);
    assert_eq!(convert::integer_to_integer(u64::MAX, IntType::U64, IntType::S64, true), i64::MAX as u64);
}

#[test]
fn comparisons_minimum_and_maximum() {
    for a in awkward() {
        for b in awkward() {
            for ftz in [false, true] {
                let [x, y] = [a, b].map(|x| f32::from_bits(flush(x, ftz)));
                let unordered = x.is_nan() || y.is_nan();
                let expected = [
                    x == y,
                    x != y && !unordered,
                    x < y,
                    x <= y,
                    x > y,
                    x >= y,
                    x == y || unordered,
                    x != y,
                    x < y || unordered,
                    x <= y || unordered,
                    x > y || unordered,
                    x >= y || unordered,
                    !unordered,
                    unordered,
                ];
                for (relation, expected) in Relation::ALL.into_iter().zip(expected) {
                    assert_eq!(compare(relation, a, b, ftz), expected, "{a:#010x} {relation:?} {b:#010x}");
                }
                let [x, y] = [a, b].map(|x| single(flush(x, ftz)));
                assert_eq!(min(a, b, ftz, true), bits(x.minimum(y)));
                assert_eq!(max(a, b, ftz, true), bits(x.maximum(y)));
                let number = |propagated: Single| match (x.is_nan(), y.is_nan()) {
                    (true, false) => bits(y),
                    (false, true) => bits(x),
                    _ => bits(propagated),
                };
                assert_eq!(min(a, b, ftz, false), number(x.minimum(y)));
                assert_eq!(max(a, b, ftz, false), number(x.maximum(y)));
            }
        }
    }
}

#[test]
fn sign_operations_touch_the_sign_only() {
    assert_eq!(abs(0xffc0_1234, false), 0x7fc0_1234);
    assert_eq!(abs(0x8000_0001, true), 0);
    assert_eq!(neg(0x7fc0_1234, false), 0xffc0_1234);
    assert_eq!(neg(0x0000_0001, true), SIGN);
    assert_eq!(copysign(0x3f80_0000, 0x8000_0000), 0xbf80_0000);
    assert_eq!(copysign(0xbf80_0000, 0x7fff_ffff), 0x3f80_0000);
}

#[test]
#[ignore = "long: prints how fast the operations are, on one core"]
fn rates() {
    let mut random = Random(7);
    let operands: Vec<[u32; 3]> = (0..1 << 16).map(|_| [(); 3].map(|()| random.float_near(0x3f80_0000))).collect();
    let rate = |name: &str, operation: &dyn Fn([u32; 3]) -> u32| {
        let start = std::time::Instant::now();
        let mut sum = 0u32;
        for _ in 0..200 {
            sum = operands.iter().fold(sum, |sum, &x| sum.wrapping_add(operation(x)));
        }
        let count = 200.0 * operands.len() as f64;
        println!("{name}: {:.0} million a second (sum {sum:#x})", count / start.elapsed().as_secs_f64() / 1e6);
    };
    rate("add", &|[a, b, _]| add(a, b, Mode::IEEE));
    rate("multiply", &|[a, b, _]| mul(a, b, Mode::IEEE));
    rate("fused multiply-add", &|[a, b, c]| fma(a, b, c, Mode::IEEE));
    for function in gpurf_arith::mufu::Function::ALL {
        rate(&format!("{function:?}"), &|[a, _, _]| gpurf_arith::mufu::approximate(function, a, false));
    }
}
