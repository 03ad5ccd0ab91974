//! DXT1: blocks of 4 x 4 pixels with two end colours and two bits a pixel. All of it is in single precision with the kernel's
//! fused operations, as rounding decides which partition has the least error.

use crate::{Case, Output};

const SIDE: usize = 4;
const PIXELS: usize = SIDE * SIDE;
/// Steps towards the axis of the colours.
const ROUNDS: usize = 8;
/// The number of a colour of a block that has so many thirds of the first end.
const NUMBERS: [u32; 4] = [1, 3, 2, 0];
/// Bits of an end's channels.
const BITS: [u32; 3] = [5, 6, 5];

/// Thirds of the first end in the sixteen sorted pixels, two bits each, for each partition in four parts. The outer parts are not
/// empty.
pub fn partitions() -> Vec<u32> {
    let mut partitions = Vec::new();
    for first in 1..PIXELS {
        for second in first..PIXELS {
            for third in second..PIXELS {
                let weight = |i: usize| [first, second, third].into_iter().filter(|&end| i < end).count() as u32;
                partitions.push((0..PIXELS).fold(0, |bits, i| bits | weight(i) << (2 * i)));
            }
        }
    }
    partitions
}

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (picture, partitions, width) = (case.u32s("picture"), case.u32s("partitions"), case.size(0, 4));
    let partitions = &partitions[..case.size(0, 3)];
    let mut out = Vec::new();
    for top in (0..picture.len() / width).step_by(SIDE) {
        for left in (0..width).step_by(SIDE) {
            let pixels = std::array::from_fn(|i| {
                let bytes = picture[(top + i / SIDE) * width + left + i % SIDE].to_le_bytes();
                [0, 1, 2].map(|channel| f32::from(bytes[channel]) * (1.0 / 255.0))
            });
            out.extend(compress(&pixels, partitions));
        }
    }
    vec![Output::u32("out", &out)]
}

fn compress(pixels: &[[f32; 3]; PIXELS], partitions: &[u32]) -> [u32; 2] {
    let mean = [0, 1, 2].map(|channel| pixels.iter().map(|pixel| pixel[channel]).sum::<f32>() * (1.0 / 16.0));
    let axis = axis(pixels, mean);
    let place = pixels.map(|[red, green, blue]| red.mul_add(axis[0], green.mul_add(axis[1], blue * axis[2])));
    let mut order: [usize; PIXELS] = std::array::from_fn(|i| i);
    // Stable: pixels at the same place keep their order.
    order.sort_by(|&a, &b| place[a].partial_cmp(&place[b]).expect("places are numbers"));
    let sorted = order.map(|i| pixels[i]);

    let all = mean.map(|mean| 48.0 * mean);
    let mut best = (f32::INFINITY, 0, [0; 2]);
    for &partition in partitions {
        let (error, ends) = ends(&sorted, all, partition);
        if error < best.0 {
            best = (error, partition, ends);
        }
    }

    let (_, partition, [start, end]) = best;
    let mut bits = 0;
    for (rank, &pixel) in order.iter().enumerate() {
        let number = NUMBERS[(partition >> (2 * rank) & 3) as usize];
        bits |= if start < end { number ^ 1 } else { number } << (2 * pixel);
    }
    [start.max(end) | start.min(end) << 16, if start == end { 0 } else { bits }]
}

/// The direction in which the colours vary most.
fn axis(pixels: &[[f32; 3]; PIXELS], mean: [f32; 3]) -> [f32; 3] {
    let covariance = [0, 1, 2]
        .map(|a| [0, 1, 2].map(|b| pixels.iter().fold(0.0f32, |sum, p| (p[a] - mean[a]).mul_add(p[b] - mean[b], sum))));
    let mut axis = [1.0f32; 3];
    for _ in 0..ROUNDS {
        let next = covariance.map(|row| row[0].mul_add(axis[0], row[1].mul_add(axis[1], row[2] * axis[2])));
        let most = next.iter().map(|value| value.abs()).fold(0.0, f32::max);
        let scale = if most > 0.0 { 1.0 / most } else { 0.0 };
        axis = next.map(|value| value * scale);
    }
    axis
}

/// The ends that suit a partition best, rounded, and a measure of their error. `all`: three times the sum of the pixels.
fn ends(sorted: &[[f32; 3]; PIXELS], all: [f32; 3], partition: u32) -> (f32, [u32; 2]) {
    let weights: [i32; PIXELS] = std::array::from_fn(|i| (partition >> (2 * i) & 3) as i32);
    let products =
        |a: fn(i32) -> i32, b: fn(i32) -> i32| weights.iter().map(|&weight| a(weight) * b(weight)).sum::<i32>();
    let (aa, ab, bb) = (products(|w| w, |w| w), products(|w| w, |w| 3 - w), products(|w| 3 - w, |w| 3 - w));
    let scale = 3.0 / (aa * bb - ab * ab) as f32;
    let (aa, ab, bb) = (aa as f32, ab as f32, bb as f32);
    let (mut error, mut ends) = (0.0f32, [0; 2]);
    for channel in 0..3 {
        let a = sorted.iter().zip(weights).fold(0.0f32, |sum, (pixel, w)| (w as f32).mul_add(pixel[channel], sum));
        let b = all[channel] - a;
        let bits = BITS[channel];
        let rounded = |value: f32| (value.clamp(0.0, 1.0) * ((1 << bits) - 1) as f32).round_ties_even() as u32;
        let decoded = |value: u32| (value << (8 - bits) | value >> (2 * bits - 8)) as f32 * (1.0 / 255.0);
        let numbers = [rounded(a.mul_add(bb, -(b * ab)) * scale), rounded(b.mul_add(aa, -(a * ab)) * scale)];
        let [start, end] = numbers.map(decoded);
        let squares = (aa * start).mul_add(start, (bb * end).mul_add(end, 2.0 * ab * start * end));
        error += (-6.0f32).mul_add(a.mul_add(start, b * end), squares);
        ends = [0, 1].map(|n| ends[n] << bits | numbers[n]);
    }
    (error, ends)
}
