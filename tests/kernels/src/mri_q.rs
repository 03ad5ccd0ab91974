//! The matrix Q: a sum of cosines and of sines over all samples.

use crate::case::widen;
use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (real, imaginary) = (case.f64s("real"), case.f64s("imaginary"));
    let (x, y, z) = (case.f64s("x"), case.f64s("y"), case.f64s("z"));
    let sample = widen(&case.symbol_f32s("sample"));
    let (mut q_real, mut q_imaginary) = (case.f64s("qReal"), case.f64s("qImaginary"));
    for point in 0..x.len() {
        for ((sample, real), imaginary) in sample.chunks(4).zip(&real).zip(&imaginary) {
            let dot = sample[0] * x[point] + sample[1] * y[point] + sample[2] * z[point];
            let size = sample[3] * (real * real + imaginary * imaginary);
            q_real[point] += size * (std::f64::consts::TAU * dot).cos();
            q_imaginary[point] += size * (std::f64::consts::TAU * dot).sin();
        }
    }
    vec![Output::f64("qReal", &q_real), Output::f64("qImaginary", &q_imaginary)]
}
