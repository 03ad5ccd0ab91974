//! `halves`: sums, comparisons, conversions and counts.

use half::f16;

use crate::case::{Case, Output};

fn bits(value: f16) -> u16 {
    if value.is_nan() { 0x7fff } else { value.to_bits() }
}

/// Rounded once: double precision holds the product, and loses nothing that decides about the rounding of such sums.
fn fma(a: f16, b: f16, c: f16) -> f16 {
    f16::from_f64(a.to_f64().mul_add(b.to_f64(), c.to_f64()))
}

/// Rounds towards zero.
fn truncated(x: f32) -> f16 {
    let near = f16::from_f32(x);
    if near.to_f32().abs() > x.abs() { f16::from_bits(near.to_bits() - 1) } else { near }
}

pub fn reference(case: &Case) -> Vec<Output> {
    let numbers = |name: &str| case.u16s(name).into_iter().map(f16::from_bits).collect::<Vec<_>>();
    let (x, y) = (numbers("x"), numbers("y"));
    let a = f16::from_bits(48742);
    let mut z = vec![0; 540];
    for i in 0..180 {
        let sum = fma(a, x[i], y[i]);
        let difference = x[i] * y[i] - sum;
        let greater = sum > difference;
        let at = 6 * (i / 2) + i % 2;
        z[at] = bits(sum);
        z[at + 2] = if greater { 0x3c00 } else { 0 };
        z[at + 4] = bits(-sum + f16::from_f32(difference.to_f32().abs()));
    }

    let (floats, shorts) = (case.f32s("floats_in"), case.s16s("numbers"));
    let (mut halves, mut products, mut integers) = (Vec::new(), Vec::new(), Vec::new());
    for (&x, &n) in floats.iter().zip(&shorts) {
        let (h, zero, number) = (f16::from_f32(x), truncated(x), f16::from_f32(n.into()));
        let third = if h < number { h + number } else { f16::from_f32(h.to_f32().floor()) };
        halves.extend([h, zero, third].map(bits));
        products.push((h * zero).to_f32());
        let equal = i32::from(h == zero) * 4 + i32::from(zero >= h);
        integers.push(h.to_f32().round_ties_even() as i32 * 8 + equal);
    }

    let mut pairs = [0f32; 6];
    let mut single = [0f32; 6];
    for (i, x) in floats.iter().enumerate() {
        pairs[2 * (i % 3)] += x.trunc();
        pairs[2 * (i % 3) + 1] += 1.0;
        single[i % 5] += 2.0;
    }
    let whole = |values: &[f32]| values.iter().map(|&value| bits(f16::from_f32(value))).collect::<Vec<_>>();
    vec![
        Output::u16("z", &z),
        Output::u16("halves", &halves),
        Output::f32("floats", &products),
        Output::s32("integers", &integers),
        Output::u16("pairs", &whole(&pairs)),
        Output::u16("single", &whole(&single)),
    ]
}
