//! A box blur of RGBA pictures, rows then columns; the picture's edge is repeated. The mean is cut to an integer, so its
//! scale is in single precision as in the kernel.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (width, height, radius) = (case.size(0, 2), case.size(0, 3), case.size(0, 4));
    let mut pixels = case.u32s("in");
    for picture in pixels.chunks_mut(width * height) {
        let source = picture.to_vec();
        let rows: Vec<u32> =
            (0..width * height).map(|i| blur(i % width, width, radius, |x| source[i / width * width + x])).collect();
        for (i, pixel) in picture.iter_mut().enumerate() {
            *pixel = blur(i / width, height, radius, |y| rows[y * width + i % width]);
        }
    }
    vec![Output::u32("out", &pixels)]
}

fn blur(at: usize, n: usize, radius: usize, pixel: impl Fn(usize) -> u32) -> u32 {
    let scale = 1.0 / (2 * radius + 1) as f32;
    let mut sums = [0; 4];
    for i in at..=at + 2 * radius {
        let colour = pixel(i.saturating_sub(radius).min(n - 1)).to_le_bytes();
        for (sum, colour) in sums.iter_mut().zip(colour) {
            *sum += u32::from(colour);
        }
    }
    u32::from_le_bytes(sums.map(|sum| (sum as f32 * scale) as u8))
}
