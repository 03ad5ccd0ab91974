//! Sums and differences of neighbours, level by level.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let mut sums = case.f64s("signal");
    let mut details = vec![0.0; sums.len()];
    for _ in 0..case.size(0, 3) {
        let half = sums.len() / 2;
        for (detail, pair) in details[half..].iter_mut().zip(sums.chunks(2)) {
            *detail = (pair[0] - pair[1]) * FRAC_1_SQRT_2;
        }
        sums = sums.chunks(2).map(|pair| (pair[0] + pair[1]) * FRAC_1_SQRT_2).collect();
    }
    vec![Output::f64("details", &details), Output::f64("approximation", &sums)]
}
