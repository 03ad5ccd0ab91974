//! Convolutions along rows or columns, each on the result of the previous one; the picture's edge is repeated.

use crate::case::widen;
use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (width, height) = (case.size(0, 2), case.size(0, 3));
    let filter = widen(&case.symbol_f32s("filter"));
    let mut picture = case.f64s("picture");
    for launch in 0..case.launches() {
        let along_rows = case.launch(launch).kernel == "convolutionRows";
        let source = picture.clone();
        for (i, pixel) in picture.iter_mut().enumerate() {
            let (x, y) = (i % width, i / width);
            let texel = |by: usize| {
                let (x, y) = if along_rows { (beside(x, by, width), y) } else { (x, beside(y, by, height)) };
                source[y * width + x]
            };
            *pixel = filter.iter().rev().enumerate().map(|(tap, factor)| factor * texel(tap)).sum();
        }
    }
    vec![Output::f64("out", &picture)]
}

/// The place of a tap of the filter, of `n` places.
fn beside(at: usize, tap: usize, n: usize) -> usize {
    const RADIUS: usize = 8;
    (at + tap).saturating_sub(RADIUS).min(n - 1)
}
