//! A convolution along the rows, then along the columns; beyond the edge the picture is zero.

use crate::case::widen;
use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (width, height) = (case.size(0, 2), case.size(0, 3));
    let filter = widen(&case.symbol_f32s("filter"));
    let mut rows = case.f64s("in");
    rows.chunks_mut(width).for_each(|row| row.copy_from_slice(&convolve(row, &filter)));
    let mut out = vec![0.0; rows.len()];
    for x in 0..width {
        let column: Vec<f64> = (0..height).map(|y| rows[y * width + x]).collect();
        for (y, value) in convolve(&column, &filter).into_iter().enumerate() {
            out[y * width + x] = value;
        }
    }
    vec![Output::f64("out", &out)]
}

fn convolve(line: &[f64], filter: &[f64]) -> Vec<f64> {
    let radius = filter.len() / 2;
    let at = |i: usize| i.checked_sub(radius).and_then(|i| line.get(i)).copied().unwrap_or(0.0);
    let sum = |i: usize| filter.iter().rev().enumerate().map(|(j, factor)| factor * at(i + j)).sum();
    (0..line.len()).map(sum).collect()
}
