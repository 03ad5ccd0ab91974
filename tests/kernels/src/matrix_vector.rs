//! A matrix times a vector.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let x = case.f64s("x");
    let matrix = case.f64s("matrix");
    let y: Vec<f64> =
        matrix.chunks(case.size(0, 3)).map(|row| row.iter().zip(&x).map(|(factor, x)| factor * x).sum()).collect();
    vec![Output::f64("y", &y)]
}
