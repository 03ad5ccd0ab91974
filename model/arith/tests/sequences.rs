//! The instruction sequences against an independent implementation.

mod common;

use common::{Random, awkward, in_parallel, round_of};
use gpurf_arith::float::flush;
use gpurf_arith::sequence::{self, Division, Evaluate, Pair};
use gpurf_arith::{INFINITY, IntType, Mode, NAN, ONE, Rounding, SIGN, convert};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::Single;

fn single(bits: u32) -> Single {
    Single::from_bits(bits.into())
}

fn bits(value: Single) -> u32 {
    if value.is_nan() { NAN } else { value.to_bits() as u32 }
}

fn pair(value: u64) -> Pair<u32> {
    Pair { low: value as u32, high: (value >> 32) as u32 }
}

fn joined(pair: Pair<u32>) -> u64 {
    u64::from(pair.high) << 32 | u64::from(pair.low)
}

fn check_divide(a: u32, b: u32, mode: Mode) {
    let [x, y] = [a, b].map(|x| single(flush(x, mode.ftz)));
    let expected = flush(bits(x.div_r(y, round_of(mode.rounding)).value), mode.ftz);
    assert_eq!(sequence::divide(&mut Evaluate, a, b, mode), expected, "{a:#010x} / {b:#010x} {mode:?}");
}

fn check_reciprocal(a: u32, mode: Mode) {
    let x = single(flush(a, mode.ftz));
    let expected = flush(bits(single(ONE).div_r(x, round_of(mode.rounding)).value), mode.ftz);
    assert_eq!(sequence::reciprocal(&mut Evaluate, a, mode), expected, "1 / {a:#010x} {mode:?}");
}

/// The root as an integer: the value times an even power of two is a 48-bit integer, its root has 24 bits.
fn exact_root(a: u32, mode: Mode) -> u32 {
    let a = flush(a, mode.ftz);
    if a & !SIGN > INFINITY || a > SIGN {
        return NAN;
    }
    if a & !SIGN == 0 || a == INFINITY {
        return a;
    }
    let (mut significand, mut exponent) = match a >> 23 {
        0 => (u64::from(a), -149),
        field => (u64::from(a & 0x007f_ffff | 0x0080_0000), field as i32 - 150),
    };
    while significand < 1 << 46 || exponent % 2 != 0 {
        significand <<= 1;
        exponent -= 1;
    }
    let root = significand.isqrt();
    let rest = significand - root * root;
    let up = match mode.rounding {
        // Above root + 1/2 if the rest is above root; never at it.
        Rounding::NearestEven => rest > root,
        Rounding::Up => rest > 0,
        Rounding::TowardZero | Rounding::Down => false,
    };
    let root = (root + u64::from(up)) as u32;
    root - 0x0080_0000 + ((exponent / 2 + 150) as u32) * 0x0080_0000
}

fn check_root(a: u32, mode: Mode) {
    assert_eq!(sequence::square_root(&mut Evaluate, a, mode), exact_root(a, mode), "sqrt {a:#010x} {mode:?}");
}

fn modes() -> impl Iterator<Item = Mode> {
    Rounding::ALL.into_iter().flat_map(|rounding| [Mode::rounded(rounding), Mode::new(rounding, true)])
}

#[test]
fn division_and_roots_of_awkward_values() {
    for mode in modes() {
        for a in awkward() {
            check_reciprocal(a, mode);
            check_root(a, mode);
            for b in awkward() {
                check_divide(a, b, mode);
            }
        }
    }
}

#[test]
fn saturated_division() {
    let sat = Mode { sat: true, ..Mode::IEEE };
    let five = 5f32.to_bits();
    assert_eq!(sequence::divide(&mut Evaluate, five, ONE, sat), ONE);
    assert_eq!(sequence::divide(&mut Evaluate, five | SIGN, ONE, sat), 0);
    assert_eq!(sequence::divide(&mut Evaluate, 0, 0, sat), 0);
}

/// A dividend and a divisor whose quotient lies as close to a number of `bits` + 1 bits as it can without being one:
/// close to the middle of two values for 24, to a value for 23.
fn hard_quotient(random: &mut Random, bits: u32) -> (u32, u32) {
    loop {
        // The reciprocal of a divisor of many ones is the hardest to round.
        let ones = if random.next() & 3 == 0 { 0x007f_ff00 } else { 0 };
        let divisor = random.next() as u32 & 0x007f_ffff | 0x0080_0001 | ones;
        // The inverse of the divisor modulo 2^32, by Newton.
        let mut inverse = divisor;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u32.wrapping_sub(divisor.wrapping_mul(inverse)));
        }
        // A quotient whose product with the divisor is that small remainder above a multiple of 2^shift: of 2^bits if
        // the dividend has the larger significand, else of twice that.
        let remainder = (random.next() & 15) as i64 - 8;
        let shift = bits + (random.next() & 1) as u32;
        let top = 1u64 << bits;
        let residue = u64::from(inverse.wrapping_mul(remainder as u32)) & ((1 << shift) - 1);
        let quotient = if shift == bits { residue | top } else { residue };
        let product = i128::from(divisor) * i128::from(quotient) - i128::from(remainder);
        let dividend = product >> shift;
        assert_eq!(dividend << shift, product);
        if quotient & top != 0 && dividend >> 23 == 1 && remainder != 0 {
            let fields = [random.next(), random.next()].map(|x| (60 + x as u32 % 130) << 23);
            return (dividend as u32 & 0x007f_ffff | fields[0], divisor & 0x007f_ffff | fields[1]);
        }
    }
}

fn check_random_division(random: &mut Random, cases: u64) {
    for _ in 0..cases {
        let a = random.float();
        let b = if random.next() & 1 == 0 { random.float_near(a) } else { random.float() };
        let mode = Mode::new(random.rounding(), random.next() & 3 == 0);
        check_divide(a, b, mode);
        let (a, b) = hard_quotient(random, 24);
        check_divide(a, b, mode);
        let (a, b) = hard_quotient(random, 23);
        check_divide(a, b, mode);
    }
}

#[test]
fn random_division() {
    check_random_division(&mut Random(0), 100_000);
    let mut random = Random(1);
    for _ in 0..100_000 {
        let mode = Mode::new(random.rounding(), random.next() & 3 == 0);
        let a = random.float();
        check_reciprocal(a, mode);
        check_root(a, mode);
    }
}

#[test]
#[ignore = "long: three hundred million quotients, minutes in release"]
fn many_random_divisions() {
    in_parallel("division (3 each)", 100_000_000, check_random_division);
}

/// Runs `check` on every input below `end`, on every core.
fn on_all_inputs(name: &str, end: u32, check: impl Fn(u32) + Sync) {
    let next = std::sync::atomic::AtomicU32::new(0);
    in_parallel(name, end.into(), |_, _| {
        loop {
            let first = next.fetch_add(1 << 20, std::sync::atomic::Ordering::Relaxed);
            if first >= end {
                break;
            }
            (first..first + (1 << 20)).for_each(&check);
        }
    });
}

/// One exponent suffices for all significands, two for the roots; so does one sign.
#[test]
#[ignore = "long: every significand in every rounding, minutes in release"]
fn every_significand() {
    for rounding in Rounding::ALL {
        on_all_inputs(&format!("reciprocal and root, {rounding:?}"), 1 << 24, |significand| {
            check_reciprocal(0x3f80_0000 + significand, Mode::rounded(rounding));
            check_root(0x3f80_0000 + significand, Mode::rounded(rounding));
        });
    }
}

/// The host's operations are those of IEEE-754. NaN inputs are left to the awkward values: the host's compiler may
/// take the root of a NaN for a number.
#[test]
#[ignore = "long: the reciprocal and the root of all positive finite inputs, minutes in release"]
fn every_reciprocal_and_root() {
    on_all_inputs("reciprocal and root, positive inputs", INFINITY, |a| {
        let x = f32::from_bits(a);
        let inverse = (1.0 / x).to_bits();
        assert_eq!(sequence::reciprocal(&mut Evaluate, a, Mode::IEEE), inverse, "1 / {a:#010x}");
        assert_eq!(sequence::square_root(&mut Evaluate, a, Mode::IEEE), x.sqrt().to_bits(), "sqrt {a:#010x}");
    });
}

/// The error of an approximate quotient in units of its last place.
fn error_in_places(value: u32, a: u32, b: u32) -> f64 {
    let exact = f64::from(f32::from_bits(a)) / f64::from(f32::from_bits(b));
    let place = exact.abs().log2().floor().max(-126.0) - 23.0;
    (f64::from(f32::from_bits(value)) - exact).abs() / place.exp2()
}

#[test]
fn approximate_division() {
    let mut random = Random(3);
    let mut worst = [0f64; 2];
    for _ in 0..500_000 {
        let a = random.float();
        let b = random.float_near(a);
        let exact = f64::from(f32::from_bits(a)) / f64::from(f32::from_bits(b));
        if !exact.is_finite() || exact.abs() > f64::from(f32::MAX) {
            continue;
        }
        let full = sequence::divide_full(&mut Evaluate, a, b, false);
        worst[0] = worst[0].max(error_in_places(full, a, b));
        if (1..=0x7e80_0000).contains(&(b & !SIGN)) {
            let approximate = sequence::divide_approximate(&mut Evaluate, a, b, false);
            worst[1] = worst[1].max(error_in_places(approximate, a, b));
        }
    }
    println!("last places: div.full {:.3}, div.approx {:.3} (bound 2)", worst[0], worst[1]);
    assert!(worst.iter().all(|&error| error <= 2.0), "{worst:?}");
    // Subnormal divisors.
    let three_halves = 0x3fc0_0000;
    for (a, b, quotient) in
        [(0x0018_0000, 0x0010_0000, three_halves), (0, 0x0010_0000, 0), (1, 1, ONE), (ONE, 1, INFINITY)]
    {
        assert_eq!(sequence::divide_approximate(&mut Evaluate, a, b, false), quotient);
        assert_eq!(sequence::divide_full(&mut Evaluate, a, b, false), quotient);
    }
    for ftz in [false, true] {
        let large = 0x7f00_0000;
        assert_eq!(sequence::divide_approximate(&mut Evaluate, ONE, large, ftz), 0);
        assert_eq!(sequence::divide_approximate(&mut Evaluate, INFINITY, large, ftz), NAN);
        for (a, b, quotient) in [
            (ONE, 0, INFINITY),
            (0, ONE, 0),
            (0, 0, NAN),
            (ONE, INFINITY, 0),
            (INFINITY, ONE, INFINITY),
            (INFINITY, INFINITY, NAN),
            (SIGN, ONE, SIGN),
        ] {
            assert_eq!(sequence::divide_full(&mut Evaluate, a, b, ftz), quotient);
            assert_eq!(sequence::divide_approximate(&mut Evaluate, a, b, ftz), quotient);
        }
    }
}

fn check_integer_division(a: u64, b: u64) {
    let (a32, b32) = (a as u32, b as u32);
    let expected =
        Division { quotient: a32.checked_div(b32).unwrap_or(u32::MAX), remainder: a32.checked_rem(b32).unwrap_or(a32) };
    assert_eq!(sequence::divide_unsigned(&mut Evaluate, a32, b32), expected, "{a32:#x} / {b32:#x}");
    let (x, y) = (a32 as i32, b32 as i32);
    let expected = if y == 0 { (-1, x) } else { (x.wrapping_div(y), x.wrapping_rem(y)) };
    let expected = Division { quotient: expected.0 as u32, remainder: expected.1 as u32 };
    assert_eq!(sequence::divide_signed(&mut Evaluate, a32, b32), expected, "{x} / {y}");

    let wide = |Division { quotient, remainder }: Division<Pair<u32>>| (joined(quotient), joined(remainder));
    let expected = (a.checked_div(b).unwrap_or(u64::MAX), a.checked_rem(b).unwrap_or(a));
    let actual = wide(sequence::divide_unsigned_64(&mut Evaluate, pair(a), pair(b)));
    assert_eq!(actual, expected, "{a:#x} / {b:#x}");
    let (x, y) = (a as i64, b as i64);
    let expected = if y == 0 { (-1, x) } else { (x.wrapping_div(y), x.wrapping_rem(y)) };
    let actual = wide(sequence::divide_signed_64(&mut Evaluate, pair(a), pair(b)));
    assert_eq!(actual, (expected.0 as u64, expected.1 as u64), "{x} / {y}");
}

/// Dividends at and around the multiples of the divisor, where a quotient that is off by one is detected.
fn check_random_integer_division(random: &mut Random, cases: u64) {
    for _ in 0..cases {
        let (a, b) = (random.integer(), random.integer());
        check_integer_division(a, b);
        let multiple = (a / b.max(1)).wrapping_mul(b);
        check_integer_division(multiple, b);
        check_integer_division(multiple.wrapping_sub(1), b);
        let multiple = u64::from(a as u32 / (b as u32).max(1)) * u64::from(b as u32);
        check_integer_division(multiple, b);
        check_integer_division(multiple.wrapping_sub(1), b);
    }
}

#[test]
fn integer_division() {
    let mut edges: Vec<u64> = (0..64).flat_map(|i| [(1u64 << i) - 1, 1 << i, (1 << i) + 1]).collect();
    edges.extend([u64::MAX, u64::MAX - 1, 10, 1000, 0xaaaa_aaaa_aaaa_aaab, 0x5555_5555]);
    for &a in &edges {
        for &b in &edges {
            check_integer_division(a, b);
            check_integer_division(a, b.wrapping_neg());
        }
    }
    check_random_integer_division(&mut Random(0), 100_000);
}

#[test]
#[ignore = "long: four hundred million integer divisions, minutes in release"]
fn many_integer_divisions() {
    in_parallel("integer division (20 each)", 20_000_000, check_random_integer_division);
    // Every divisor below 2^20, and all the largest dividends.
    for b in 1..1 << 20 {
        for a in [u32::MAX, u32::MAX / b * b, u32::MAX / b * b - 1] {
            let expected = Division { quotient: a / b, remainder: a % b };
            assert_eq!(sequence::divide_unsigned(&mut Evaluate, a, b), expected, "{a} / {b}");
        }
    }
}

fn check_wide(value: u64, float: u32, rounding: Rounding, ftz: bool) {
    let mode = Mode::rounded(rounding);
    let m = &mut Evaluate;
    let actual = sequence::float_from_unsigned_64(m, pair(value), rounding);
    assert_eq!(actual, convert::from_integer(value, IntType::U64, mode), "{value:#x} {rounding:?}");
    let actual = sequence::float_from_signed_64(m, pair(value), rounding);
    assert_eq!(actual, convert::from_integer(value, IntType::S64, mode), "{value:#x} {rounding:?}");
    let actual = joined(sequence::unsigned_64_from_float(m, float, rounding, ftz));
    assert_eq!(actual, convert::to_integer(float, IntType::U64, rounding, ftz), "{float:#010x} {rounding:?}");
    let actual = joined(sequence::signed_64_from_float(m, float, rounding, ftz));
    assert_eq!(actual, convert::to_integer(float, IntType::S64, rounding, ftz), "{float:#010x} {rounding:?}");
}

#[test]
fn conversions_of_64_bits() {
    let mut random = Random(4);
    for rounding in Rounding::ALL {
        for float in awkward() {
            check_wide(0, float, rounding, false);
            check_wide(0, float, rounding, true);
        }
        for _ in 0..100_000 {
            let near = random.float_near(0x5000_0000);
            check_wide(random.integer(), near, rounding, false);
        }
    }
}

/// The exact conversion of a float. A NaN keeps its payload, and becomes quiet.
fn check_widened(float: u32) {
    let m = &mut Evaluate;
    let value = f32::from_bits(float);
    let (sign, fraction) = (u64::from(float >> 31) << 63, u64::from(float & 0x007f_ffff));
    let expected =
        if value.is_nan() { sign | 0x7ff8_0000_0000_0000 | fraction << 29 } else { f64::from(value).to_bits() };
    assert_eq!(joined(sequence::double_from_float(m, float, false)), expected, "{float:#010x}");
    let flushed = if value.is_subnormal() { sign } else { expected };
    assert_eq!(joined(sequence::double_from_float(m, float, true)), flushed, "{float:#010x} .ftz");
}

#[test]
fn floats_become_doubles() {
    for float in awkward() {
        check_widened(float);
        check_widened(float ^ 1 << 31);
    }
    // Small steps, so that subnormals with every leading one occur; the other values are spread.
    for step in 0..1u32 << 18 {
        check_widened(step * 31);
        check_widened(step.wrapping_mul(16_411));
    }
}
