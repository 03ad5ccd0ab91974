//! One dot product for each pair of vectors.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let elements = case.size(0, 4);
    let (a, b) = (case.f64s("a"), case.f64s("b"));
    let pairs = a.chunks(elements).zip(b.chunks(elements));
    let products: Vec<f64> = pairs.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum()).collect();
    vec![Output::f64("product", &products)]
}
