//! Discrete cosine transforms of 8 x 8 tiles as products of matrices: in double precision, or in integers whose factors have twelve
//! bits after the point. Columns first.

use std::f64::consts::PI;
use std::ops::{AddAssign, Mul};

use crate::{Case, Output};

const N: usize = 8;

/// The orthonormal matrix: by frequency, then by place.
fn basis(frequency: usize, place: usize) -> f64 {
    let scale = if frequency == 0 { (1.0 / N as f64).sqrt() } else { (2.0 / N as f64).sqrt() };
    scale * ((2 * place + 1) as f64 * frequency as f64 * PI / (2 * N) as f64).cos()
}

pub(crate) fn forward(case: &Case) -> Vec<Output> {
    vec![Output::f64("out", &transformed(&case.f64s("in"), case.size(0, 2), basis, |sum| sum))]
}

pub(crate) fn inverse(case: &Case) -> Vec<Output> {
    let back = |place, frequency| basis(frequency, place);
    vec![Output::f64("out", &transformed(&case.f64s("in"), case.size(0, 2), back, |sum| sum))]
}

pub(crate) fn forward_short(case: &Case) -> Vec<Output> {
    short(case, basis)
}

pub(crate) fn inverse_short(case: &Case) -> Vec<Output> {
    short(case, |place, frequency| basis(frequency, place))
}

fn short(case: &Case, matrix: impl Fn(usize, usize) -> f64) -> Vec<Output> {
    let values: Vec<i32> = case.s16s("in").into_iter().map(i32::from).collect();
    let factor = |to, from| (matrix(to, from) * 4096.0).round() as i32;
    let out = transformed(&values, case.size(0, 2), factor, |sum| (sum + 2048) >> 12);
    let narrow = |value: i32| i16::try_from(value).expect("tiles do not overflow");
    vec![Output::s16("out", &out.into_iter().map(narrow).collect::<Vec<_>>())]
}

/// `scaled` is applied to every sum, of columns and of rows.
fn transformed<T: Copy + Default + AddAssign + Mul<Output = T>>(
    values: &[T],
    width: usize,
    matrix: impl Fn(usize, usize) -> T,
    scaled: impl Fn(T) -> T,
) -> Vec<T> {
    let matrix: [[T; N]; N] = std::array::from_fn(|to| std::array::from_fn(|from| matrix(to, from)));
    let sum = |to: usize, value: &dyn Fn(usize) -> T| {
        let mut sum = T::default();
        for (from, &factor) in matrix[to].iter().enumerate() {
            sum += factor * value(from);
        }
        scaled(sum)
    };
    let mut out = vec![T::default(); values.len()];
    for top in (0..values.len() / width).step_by(N) {
        for left in (0..width).step_by(N) {
            let place = |y: usize, x: usize| (top + y) * width + left + x;
            let half: [[T; N]; N] =
                std::array::from_fn(|y| std::array::from_fn(|x| sum(y, &|from| values[place(from, x)])));
            for (y, row) in half.iter().enumerate() {
                for x in 0..N {
                    out[place(y, x)] = sum(x, &|from| row[from]);
                }
            }
        }
    }
    out
}
