//! Half precision against an independent implementation.

mod common;

use common::{awkward, in_parallel, round_of};
use gpurf_arith::Rounding;
use gpurf_arith::sequence::{self, Evaluate};
use rustc_apfloat::ieee::{Half, Single};
use rustc_apfloat::{Float, FloatConvert};

fn half(bits: u32) -> Half {
    Half::from_bits(u128::from(bits & 0xffff))
}

fn bits(value: Half) -> u32 {
    if value.is_nan() { 0x7fff } else { value.to_bits() as u32 }
}

/// All values.
fn all() -> impl Iterator<Item = u32> {
    0..0x1_0000
}

/// Values at which the behaviour changes, of both signs.
fn edges() -> Vec<u32> {
    let magnitudes = [
        0, 1, 2, 3, 0x1ff, 0x200, 0x201, 0x3fe, 0x3ff, 0x400, 0x401, 0x7ff, 0x800, 0x13ff, 0x1400, 0x37ff, 0x3800,
        0x3bff, 0x3c00, 0x3c01, 0x3fff, 0x4000, 0x4200, 0x6400, 0x67ff, 0x77ff, 0x7800, 0x7bfe, 0x7bff, 0x7c00, 0x7c01,
        0x7e00, 0x7fff,
    ];
    magnitudes.into_iter().flat_map(|m| [m, m | 0x8000]).collect()
}

#[test]
fn halves_become_floats_and_come_back() {
    for h in all() {
        let mut loses = false;
        let wide: Single = half(h).convert(&mut loses).value;
        let expected = if wide.is_nan() { gpurf_arith::NAN } else { wide.to_bits() as u32 };
        // The upper bits of a source make no difference.
        for above in [0, 0xffff_0000, 0x5a5a_0000] {
            assert_eq!(sequence::float_from_half(&mut Evaluate, h | above), expected, "{h:#06x}");
        }
        for rounding in Rounding::ALL {
            assert_eq!(sequence::half_from_float(&mut Evaluate, expected, rounding), bits(half(h)), "{h:#06x}");
        }
    }
}

fn check_narrowed(float: u32) {
    for rounding in Rounding::ALL {
        let mut loses = false;
        let expected: Half = Single::from_bits(float.into()).convert_r(round_of(rounding), &mut loses).value;
        let found = sequence::half_from_float(&mut Evaluate, float, rounding);
        assert_eq!(found, bits(expected), "{float:#010x} {rounding:?}");
    }
}

#[test]
fn floats_become_halves() {
    awkward().into_iter().for_each(check_narrowed);
    // Around each half, and half way between two.
    for h in all() {
        let float = sequence::float_from_half(&mut Evaluate, h);
        for offset in [0xfff, 0x1000, 0x1001, 0x1fff, 1, 0u32.wrapping_sub(1)] {
            check_narrowed(float.wrapping_add(offset));
        }
    }
    in_parallel("to half", 400_000, |random, cases| {
        for _ in 0..cases {
            check_narrowed(random.float_near(0x3f00_0000));
        }
    });
}

fn check_pair(a: u32, b: u32) {
    let (x, y) = (half(a), half(b));
    assert_eq!(sequence::half_add(&mut Evaluate, a, b), bits((x + y).value), "{a:#06x} + {b:#06x}");
    assert_eq!(sequence::half_multiply(&mut Evaluate, a, b), bits((x * y).value), "{a:#06x} * {b:#06x}");
}

#[test]
fn sums_and_products() {
    for a in edges() {
        all().for_each(|b| check_pair(a, b));
    }
    in_parallel("half add, multiply", 1_000_000, |random, cases| {
        for _ in 0..cases {
            let both = random.next() as u32;
            check_pair(both & 0xffff, both >> 16);
        }
    });
}

fn check_fma(a: u32, b: u32, c: u32) {
    let expected = bits(half(a).mul_add(half(b), half(c)).value);
    assert_eq!(sequence::half_fma(&mut Evaluate, a, b, c), expected, "{a:#06x} * {b:#06x} + {c:#06x}");
}

#[test]
fn products_and_sums_are_rounded_once() {
    let edges = edges();
    for &a in &edges {
        for &b in &edges {
            edges.iter().for_each(|&c| check_fma(a, b, c));
        }
    }
    in_parallel("half fma", 1_000_000, |random, cases| {
        for _ in 0..cases {
            let (x, y) = (random.next(), random.next());
            let (a, b) = (x as u32 & 0xffff, (x >> 16) as u32 & 0xffff);
            check_fma(a, b, y as u32 & 0xffff);
            // Sums that cancel, and addends far below the product: cases in which rounding twice is wrong.
            let product = bits((half(a) * half(b)).value);
            check_fma(a, b, product ^ 0x8000 ^ (y as u32 & 3));
            check_fma(a, b, product.wrapping_sub((y as u32 % 26) << 10) & 0xffff);
        }
    });
}

/// A product close to half a place of the addend, but not that: single precision rounds it to half a place, and a second rounding would go to
/// the even neighbour.
#[test]
fn sums_close_to_half_way_are_rounded_once() {
    for i in 1..40 {
        // (1 + i / 1024) (1 - i / 1024) = 1 - i^2 / 2^20, and the second factor scaled down by 2^11.
        let (a, b) = (0x3c00 + i, 0x1000 - 2 * i);
        for power in 0..12 {
            for fraction in 0..0x400 {
                let c = 0x3c00 + power * 0x400 + fraction;
                for sign in [0, 0x8000] {
                    check_fma((a + power * 0x400) ^ sign, b, c);
                    check_fma(a + power * 0x400, b ^ sign, c ^ 0x8000);
                }
            }
        }
    }
}

#[test]
fn flushed_and_saturated() {
    for h in all() {
        let value = half(h);
        let flushed = if h & 0x7c00 == 0 { h & 0x8000 } else { h };
        assert_eq!(sequence::half_flushed(&mut Evaluate, h), flushed, "{h:#06x}");
        let zero = value.is_nan() || value.is_negative() || value.is_zero();
        let saturated = if zero { 0 } else { h.min(0x3c00) };
        assert_eq!(sequence::half_saturated(&mut Evaluate, h), saturated, "{h:#06x}");
    }
}
