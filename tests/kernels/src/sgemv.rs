//! y = alpha A x + beta y, column-major.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (alpha, lda, beta) = (case.f64(0, 2), case.size(0, 4), case.f64(0, 6));
    let (a, x, mut y) = (case.f64s("a"), case.f64s("x"), case.f64s("y"));
    for (row, y) in y.iter_mut().enumerate() {
        let sum: f64 = x.iter().enumerate().map(|(column, x)| a[column * lda + row] * x).sum();
        *y = alpha * sum + beta * *y;
    }
    vec![Output::f64("y", &y)]
}
