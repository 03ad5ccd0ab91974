//! The transpose of a matrix.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (width, height) = (case.size(0, 2), case.size(0, 3));
    let values = case.f32s("in");
    let out: Vec<f32> = (0..width * height).map(|i| values[i % height * width + i / height]).collect();
    vec![Output::f32("out", &out)]
}
