//! Double precision in software against an independent implementation.

mod common;

use common::{Random, in_parallel, round_of};
use gpurf_arith::float::{Relation, flush};
use gpurf_arith::sequence::{self, Evaluate, Pair};
use gpurf_arith::{IntType, Mode, NAN, Rounding};
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, FloatConvert};

const NAN_64: u64 = 0xfff8_0000_0000_0000;
const SIGN_64: u64 = 1 << 63;
const FRACTION: u64 = (1 << 52) - 1;
const INFINITY: u64 = 0x7ff0_0000_0000_0000;

fn pair(value: u64) -> Pair<u32> {
    Pair { low: value as u32, high: (value >> 32) as u32 }
}

fn joined(pair: Pair<u32>) -> u64 {
    u64::from(pair.high) << 32 | u64::from(pair.low)
}

fn double(bits: u64) -> Double {
    Double::from_bits(bits.into())
}

fn bits(value: Double) -> u64 {
    if value.is_nan() { NAN_64 } else { value.to_bits() as u64 }
}

/// Values at which rules change, with both signs.
fn edges() -> Vec<u64> {
    let magnitudes = [
        0,
        1,
        2,
        3,
        0x0000_0000_ffff_ffff,
        0x0000_0001_0000_0000,
        0x0007_ffff_ffff_ffff,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x0010_0000_0000_0001,
        0x001f_ffff_ffff_ffff,
        0x0020_0000_0000_0000,
        0x0170_0000_0000_0000,
        0x0350_0000_0000_0001,
        0x1ff0_0000_0000_0000,
        0x3680_0000_0000_0001,
        0x3690_0000_0000_0000,
        0x3690_0000_0000_0001,
        0x36a0_0000_0000_0000,
        0x36a0_0000_0000_0001,
        0x380f_ffff_f000_0000,
        0x3bf9_21fb_5444_2d19,
        0x3ca0_0000_0000_0000,
        0x3ca0_0000_0000_0001,
        0x3fdf_ffff_ffff_ffff,
        0x3fe0_0000_0000_0000,
        0x3fe0_0000_0000_0001,
        0x3fef_ffff_ffff_ffff,
        0x3ff0_0000_0000_0000,
        0x3ff0_0000_0000_0001,
        0x3ff0_0000_ffff_ffff,
        0x3ff8_0000_0000_0000,
        0x3fff_ffff_ffff_ffff,
        0x4000_0000_0000_0000,
        0x4008_0000_0000_0000,
        0x405f_c000_0000_0000,
        0x405f_e000_0000_0000,
        0x4060_0000_0000_0000,
        0x406f_f000_0000_0000,
        0x41df_ffff_ffc0_0000,
        0x41df_ffff_ffe0_0000,
        0x41e0_0000_0000_0000,
        0x41e0_0000_0010_0000,
        0x41ef_ffff_ffe0_0000,
        0x41ef_ffff_fff0_0000,
        0x41f0_0000_0000_0000,
        0x432f_ffff_ffff_ffff,
        0x4330_0000_0000_0000,
        0x4330_0000_0000_0001,
        0x4340_0000_0000_0000,
        0x43df_ffff_ffff_ffff,
        0x43e0_0000_0000_0000,
        0x43ef_ffff_ffff_ffff,
        0x43f0_0000_0000_0000,
        0x47ef_ffff_e000_0000,
        0x47ef_ffff_f000_0000,
        0x7fd0_0000_0000_0000,
        0x7fd0_0000_0000_0001,
        0x7fdf_ffff_ffff_ffff,
        0x7fe0_0000_0000_0000,
        0x7fef_ffff_ffff_ffff,
        INFINITY,
        0x7ff0_0000_0000_0001,
        0x7ff8_0000_0000_0000,
        0x7fff_ffff_ffff_ffff,
    ];
    magnitudes.into_iter().flat_map(|x| [x, x | SIGN_64]).collect()
}

/// A number with any exponent; some have few significant bits, so that ties and exact results occur, or long runs of ones.
fn any(random: &mut Random) -> u64 {
    let (value, choice) = (random.next(), random.next());
    let few = u64::MAX << (choice >> 8 & 63);
    match choice & 7 {
        0 => value & (few | INFINITY | SIGN_64),
        1 => value | (!few & FRACTION),
        2 => value & (FRACTION | SIGN_64),
        _ => value,
    }
}

/// A number whose exponent is about this one.
fn near(random: &mut Random, field: i64, within: u64) -> u64 {
    let field = field + (random.next() % (2 * within + 1)) as i64 - within as i64;
    any(random) & !INFINITY | (field.clamp(0, 2046) as u64) << 52
}

fn field(x: u64) -> i64 {
    (x >> 52 & 2047) as i64
}

fn check_sum(a: u64, b: u64, rounding: Rounding) {
    let expected = bits(double(a).add_r(double(b), round_of(rounding)).value);
    let found = joined(sequence::double_add(&mut Evaluate, pair(a), pair(b), rounding));
    assert_eq!(found, expected, "{a:#018x} + {b:#018x} {rounding:?}: {found:#018x}, not {expected:#018x}");
}

fn check_product(a: u64, b: u64, rounding: Rounding) {
    let expected = bits(double(a).mul_r(double(b), round_of(rounding)).value);
    let found = joined(sequence::double_multiply(&mut Evaluate, pair(a), pair(b), rounding));
    assert_eq!(found, expected, "{a:#018x} * {b:#018x} {rounding:?}: {found:#018x}, not {expected:#018x}");
}

fn check_quotient(a: u64, b: u64, rounding: Rounding) {
    let expected = bits(double(a).div_r(double(b), round_of(rounding)).value);
    let found = joined(sequence::double_divide(&mut Evaluate, pair(a), pair(b), rounding));
    assert_eq!(found, expected, "{a:#018x} / {b:#018x} {rounding:?}: {found:#018x}, not {expected:#018x}");
}

fn check_fused(a: u64, b: u64, c: u64, rounding: Rounding) {
    let expected = bits(double(a).mul_add_r(double(b), double(c), round_of(rounding)).value);
    let found = joined(sequence::double_fma(&mut Evaluate, pair(a), pair(b), pair(c), rounding));
    let case = format!("{a:#018x} * {b:#018x} + {c:#018x} {rounding:?}");
    assert_eq!(found, expected, "{case}: {found:#018x}, not {expected:#018x}");
}

/// The root by integers: the value times an even power of two has 106 to 108 bits, and its root at least 53.
fn exact_root(a: u64, rounding: Rounding) -> u64 {
    if a & !SIGN_64 > INFINITY || a > SIGN_64 {
        return NAN_64;
    }
    if a & !SIGN_64 == 0 || a == INFINITY {
        return a;
    }
    let (mut significand, mut exponent) = match field(a) {
        0 => (u128::from(a), -1074),
        field => (u128::from(a & FRACTION | 1 << 52), field as i32 - 1075),
    };
    while significand < 1 << 104 || exponent % 2 != 0 {
        significand <<= 1;
        exponent -= 1;
    }
    let root = significand.isqrt();
    let rest = significand - root * root;
    let up = match rounding {
        // Above root + 1/2 if the rest is above root; never at it.
        Rounding::NearestEven => rest > root,
        Rounding::Up => rest > 0,
        Rounding::TowardZero | Rounding::Down => false,
    };
    let root = (root + u128::from(up)) as u64;
    root - (1 << 52) + (((exponent / 2 + 1075) as u64) << 52)
}

fn check_root(a: u64, rounding: Rounding) {
    let expected = exact_root(a, rounding);
    let found = joined(sequence::double_square_root(&mut Evaluate, pair(a), rounding));
    assert_eq!(found, expected, "sqrt {a:#018x} {rounding:?}: {found:#018x}, not {expected:#018x}");
    if rounding == Rounding::NearestEven {
        let host = f64::from_bits(a).sqrt();
        assert!(host.is_nan() || host.to_bits() == expected, "the host's sqrt {a:#018x}");
    }
}

fn check_narrowed(a: u64, rounding: Rounding) {
    let mut loses = false;
    let narrow: Single = double(a).convert_r(round_of(rounding), &mut loses).value;
    let expected = if narrow.is_nan() { NAN } else { narrow.to_bits() as u32 };
    for ftz in [false, true] {
        let found = sequence::float_from_double(&mut Evaluate, pair(a), Mode::new(rounding, ftz));
        assert_eq!(found, flush(expected, ftz), "{a:#018x} to single {rounding:?} ftz {ftz}");
    }
}

const INTEGERS: [(u8, bool); 8] =
    [(8, true), (8, false), (16, true), (16, false), (32, true), (32, false), (64, true), (64, false)];

fn check_to_integers(a: u64, rounding: Rounding) {
    let round = round_of(rounding);
    let mut exact = false;
    for (width, signed) in INTEGERS {
        let mask = u64::MAX >> (64 - width);
        let expected = match signed {
            _ if double(a).is_nan() => 1 << (width - 1),
            true => double(a).to_i128_r(width.into(), round, &mut exact).value as u64 & mask,
            false => double(a).to_u128_r(width.into(), round, &mut exact).value as u64,
        };
        let found = if width == 64 {
            joined(sequence::integer_64_from_double(&mut Evaluate, pair(a), signed, rounding))
        } else {
            let ty = IntType { bits: width, signed };
            let word = sequence::integer_from_double(&mut Evaluate, pair(a), ty, rounding);
            u64::from(word) & mask
        };
        let sign = if signed { 's' } else { 'u' };
        assert_eq!(found, expected, "{a:#018x} to {sign}{width} {rounding:?}: {found:#x}, not {expected:#x}");
    }
    let integral = bits(double(a).round_to_integral(round).value);
    let found = joined(sequence::double_integral(&mut Evaluate, pair(a), rounding));
    assert_eq!(found, integral, "{a:#018x} to integral {rounding:?}: {found:#018x}, not {integral:#018x}");
}

fn check_from_integers(a: u64, rounding: Rounding) {
    let (m, round) = (&mut Evaluate, round_of(rounding));
    let signed = bits(Double::from_i128_r(i128::from(a as i64), round).value);
    assert_eq!(joined(sequence::double_from_signed_64(m, pair(a), rounding)), signed, "{a:#x} {rounding:?}");
    let unsigned = bits(Double::from_u128_r(a.into(), round).value);
    assert_eq!(joined(sequence::double_from_unsigned_64(m, pair(a), rounding)), unsigned, "{a:#x} {rounding:?}");
    let word = a as u32;
    assert_eq!(joined(sequence::double_from_signed(m, word)), f64::from(word as i32).to_bits(), "{word:#x}");
    assert_eq!(joined(sequence::double_from_unsigned(m, word)), f64::from(word).to_bits(), "{word:#x}");
}

fn check_order(a: u64, b: u64) {
    use Relation::*;
    let m = &mut Evaluate;
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    let unordered = x.is_nan() || y.is_nan();
    for (relation, expected) in [
        (Equal, x == y),
        (NotEqual, x != y && !unordered),
        (Less, x < y),
        (LessEqual, x <= y),
        (Greater, x > y),
        (GreaterEqual, x >= y),
        (EqualUnordered, x == y || unordered),
        (NotEqualUnordered, x != y),
        (LessUnordered, x < y || unordered),
        (LessEqualUnordered, x <= y || unordered),
        (GreaterUnordered, x > y || unordered),
        (GreaterEqualUnordered, x >= y || unordered),
        (Ordered, !unordered),
        (Unordered, unordered),
    ] {
        let found = sequence::double_compare(m, relation, pair(a), pair(b));
        assert_eq!(found, expected, "{a:#018x} {relation:?} {b:#018x}");
    }
    let key = |x: u64| if x & SIGN_64 == 0 { i128::from(x) } else { -i128::from(x & !SIGN_64) - 1 };
    let (least, most) = match (x.is_nan(), y.is_nan()) {
        (true, true) => (NAN_64, NAN_64),
        (true, false) => (b, b),
        (false, true) => (a, a),
        (false, false) if key(a) < key(b) => (a, b),
        (false, false) => (b, a),
    };
    assert_eq!(joined(sequence::double_minimum(m, pair(a), pair(b))), least, "min {a:#018x} {b:#018x}");
    assert_eq!(joined(sequence::double_maximum(m, pair(a), pair(b))), most, "max {a:#018x} {b:#018x}");
}

fn check_saturated(a: u64) {
    let x = f64::from_bits(a);
    let expected = if x.is_nan() || x <= 0.0 { 0.0 } else { x.min(1.0) };
    let found = joined(sequence::double_saturated(&mut Evaluate, pair(a)));
    assert_eq!(found, expected.to_bits(), "{a:#018x} .sat");
}

/// The approximations have a lower word of zero and 20 correct bits.
fn check_approximate(a: u64) {
    let m = &mut Evaluate;
    let number = f64::from_bits(a);
    let upper = f64::from_bits(a >> 32 << 32);
    let flushed = if upper.is_subnormal() || field(a) == 0 { 0f64.copysign(upper) } else { upper };
    let inverse = sequence::double_reciprocal_approximate(m, pair(a));
    let root = sequence::double_reciprocal_root_approximate(m, pair(a));
    // 1 / sqrt(-0) is -infinity.
    let exact_root = if flushed == 0.0 { 1.0 / flushed } else { 1.0 / flushed.sqrt() };
    for (name, found, exact) in [("rcp", inverse, 1.0 / flushed), ("rsqrt", root, exact_root)] {
        assert_eq!(found.low, 0, "{name} {a:#018x}");
        let value = f64::from_bits(joined(found));
        if number.is_nan() || exact.is_nan() {
            assert_eq!(joined(found), NAN_64, "{name} {a:#018x}");
        } else if exact == 0.0 || exact.is_infinite() {
            assert_eq!(value.to_bits(), exact.to_bits(), "{name} {a:#018x}");
        } else if exact.is_subnormal() {
            assert_eq!(value.to_bits(), 0f64.copysign(exact).to_bits(), "{name} {a:#018x}");
        } else {
            let error = (value - exact).abs() / exact.abs();
            assert!(error < 2f64.powi(-20), "{name} {a:#018x}: {value:e}, not {exact:e}");
        }
    }
}

#[test]
fn awkward_values() {
    let edges = edges();
    for rounding in Rounding::ALL {
        for (n, &a) in edges.iter().enumerate() {
            check_root(a, rounding);
            check_narrowed(a, rounding);
            check_to_integers(a, rounding);
            check_from_integers(a, rounding);
            for &b in &edges {
                check_sum(a, b, rounding);
                check_product(a, b, rounding);
                check_quotient(a, b, rounding);
                // A third of all addends, another third for each a.
                for &c in edges.iter().skip(n % 3).step_by(3) {
                    check_fused(a, b, c, rounding);
                }
            }
        }
    }
    for &a in &edges {
        check_saturated(a);
        check_approximate(a);
        edges.iter().for_each(|&b| check_order(a, b));
    }
}

fn check_random(random: &mut Random, cases: u64) {
    for _ in 0..cases {
        let rounding = random.rounding();
        let (a, b, c) = (any(random), any(random), any(random));
        check_sum(a, b, rounding);
        check_product(a, b, rounding);
        check_quotient(a, b, rounding);
        check_fused(a, b, c, rounding);
        check_root(a, rounding);
        check_narrowed(a, rounding);
        check_to_integers(a, rounding);
        check_from_integers(random.integer(), rounding);
        check_order(a, b);
        check_order(a, a ^ (random.next() & 1));
        check_saturated(a);
        check_approximate(a);

        // Sums that cancel, or whose bits just overlap; results at the ends of the range.
        let close = near(random, field(a), 2);
        check_sum(a, close, rounding);
        check_sum(a, a ^ SIGN_64 ^ (random.next() & 3), rounding);
        let overlapping = near(random, field(a) - 53, 3);
        check_sum(a, overlapping, rounding);
        check_sum(overlapping, a, rounding);
        let other = near(random, 1023 - field(a), 2);
        check_product(a, other, rounding);
        let other = near(random, 3 * 1023 - field(a), 2);
        check_product(a, other, rounding);
        let other = near(random, field(a) + 1023, 60);
        check_quotient(a, other, rounding);
        let other = near(random, field(a) - 1023, 2);
        check_quotient(a, other, rounding);
        // A quotient that is a number or lies in the middle of two, or is next to one.
        let divisor = any(random);
        let product = f64::from_bits(a) * f64::from_bits(divisor);
        check_quotient(product.to_bits() ^ (random.next() & 1), divisor, rounding);
        let short = near(random, 1100, 50) & !((1 << 26) - 1);
        let square = (f64::from_bits(short) * f64::from_bits(short)).to_bits();
        check_root(square, rounding);
        check_root(square ^ 1, rounding);
        // Sums of products that cancel, whose bits just overlap, and that are subnormal.
        let sum = field(a) + field(b) - 1023;
        let shift = [0, 53, -53, 106, -106][(random.next() % 5) as usize];
        let addend = near(random, sum + shift, 3);
        check_fused(a, b, addend, rounding);
        let product = (f64::from_bits(a) * f64::from_bits(b)).to_bits() ^ SIGN_64 ^ (random.next() & 1);
        check_fused(a, b, product, rounding);
        let other = near(random, 1023 - field(a), 60);
        let tiny = near(random, 0, 60);
        check_fused(a, other, tiny, rounding);
        let around = near(random, 1023 + 32, 36);
        check_to_integers(around, rounding);
        let halves = (random.next() as i32 >> (random.next() & 31)) as f64 / 2.0;
        check_to_integers(halves.to_bits(), rounding);
        let single = near(random, 1023, 160) & (u64::MAX << (random.next() & 31));
        check_narrowed(single, rounding);
    }
}

#[test]
fn random_values() {
    check_random(&mut Random(5), 20_000);
}

#[test]
#[ignore = "long: two million cases of 29 checks each, minutes in release"]
fn many_random_values() {
    in_parallel("double precision (29 checks each)", 2_000_000, check_random);
}
