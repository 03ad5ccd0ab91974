//! Eigenvalues of symmetric tridiagonal matrices, in ascending order: by bisection, each from the whole range.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    /// Halves the range until it is far narrower than a float's precision.
    const STEPS: usize = 40;
    let (n, lowest, highest) = (case.size(0, 3), case.f64(0, 4), case.f64(0, 5));
    let mut eigenvalues = Vec::new();
    for (diagonal, beside) in case.f64s("diagonal").chunks(n).zip(case.f64s("beside").chunks(n)) {
        for number in 0..n {
            let (mut left, mut right) = (lowest, highest);
            for _ in 0..STEPS {
                let middle = (left + right) / 2.0;
                if below(diagonal, beside, middle) > number { right = middle } else { left = middle }
            }
            eigenvalues.push(left);
        }
    }
    vec![Output::f64("eigenvalue", &eigenvalues)]
}

/// The number of eigenvalues below x, after Sylvester: of negative pivots. `beside[i]` is between rows i - 1 and i.
fn below(diagonal: &[f64], beside: &[f64], x: f64) -> usize {
    let mut pivot = diagonal[0] - x;
    let mut count = usize::from(pivot < 0.0);
    for (diagonal, beside) in diagonal.iter().zip(beside).skip(1) {
        pivot = diagonal - x - beside * beside / pivot;
        count += usize::from(pivot < 0.0);
    }
    count
}
