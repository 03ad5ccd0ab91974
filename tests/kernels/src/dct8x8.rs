//! The discrete cosine transform of 8 x 8 tiles, quantised, and back. Quantising rounds, so everything is computed in single precision, fused where
//! the kernel fuses.

use crate::{Case, Output};

const N: usize = 8;

/// JPEG's example table for luminance (ITU T.81, table K.1).
const QUANTUM: [i16; N * N] = [
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
    87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
    72, 92, 95, 98, 112, 100, 103, 99,
];

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let width = case.size(0, 2);
    let image = case.u8s("image");
    let basis = case.symbol_f32s("basis");
    let mut coefficients = vec![0; image.len()];
    let mut restored = vec![0; image.len()];
    for tile in 0..image.len() / (N * N) {
        let corner = tile / (width / N) * N * width + tile % (width / N) * N;
        let place = |i: usize| corner + i / N * width + i % N;

        let pixels = std::array::from_fn(|i| f32::from(image[place(i)]) - 128.0);
        // Rows of the basis are frequencies: forwards the first index is the frequency, backwards the second.
        let transformed = transform(&pixels, |frequency, i| basis[frequency * N + i]);
        let quantised: [i16; N * N] =
            std::array::from_fn(|i| (transformed[i] / f32::from(QUANTUM[i])).round_ties_even() as i16);

        let frequencies = std::array::from_fn(|i| (i32::from(quantised[i]) * i32::from(QUANTUM[i])) as f32);
        let levels = transform(&frequencies, |i, frequency| basis[frequency * N + i]);
        for i in 0..N * N {
            coefficients[place(i)] = quantised[i];
            restored[place(i)] = (levels[i].round_ties_even() as i32 + 128).clamp(0, 255) as u8;
        }
    }
    vec![Output::s16("coefficients", &coefficients), Output::u8("restored", restored)]
}

/// M T M^T for a tile T, columns first.
fn transform(tile: &[f32; N * N], matrix: impl Fn(usize, usize) -> f32) -> [f32; N * N] {
    let half: [f32; N * N] = std::array::from_fn(|at| {
        let (y, x) = (at / N, at % N);
        (0..N).fold(0.0, |sum, i| matrix(y, i).mul_add(tile[i * N + x], sum))
    });
    std::array::from_fn(|at| {
        let (y, x) = (at / N, at % N);
        (0..N).fold(0.0, |sum, i| half[y * N + i].mul_add(matrix(x, i), sum))
    })
}
