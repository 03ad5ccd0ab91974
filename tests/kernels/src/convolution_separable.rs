//! Convolutions along rows or columns, each on the result of the previous one; beyond the edge the picture is zero.

use crate::case::widen;
use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (width, height) = (case.size(0, 2), case.size(0, 3));
    let filter = widen(&case.symbol_f32s("filter"));
    let mut picture = case.f64s("in");
    for launch in 0..case.launches() {
        if case.launch(launch).kernel == "convolutionRows" {
            picture.chunks_mut(width).for_each(|row| row.copy_from_slice(&convolve(row, &filter)));
        } else {
            for x in 0..width {
                let column: Vec<f64> = (0..height).map(|y| picture[y * width + x]).collect();
                for (y, value) in convolve(&column, &filter).into_iter().enumerate() {
                    picture[y * width + x] = value;
                }
            }
        }
    }
    vec![Output::f64("out", &picture)]
}

fn convolve(line: &[f64], filter: &[f64]) -> Vec<f64> {
    let radius = filter.len() / 2;
    let at = |i: usize| i.checked_sub(radius).and_then(|i| line.get(i)).copied().unwrap_or(0.0);
    let sum = |i: usize| filter.iter().rev().enumerate().map(|(j, factor)| factor * at(i + j)).sum();
    (0..line.len()).map(sum).collect()
}
