//! C = alpha A B^T + beta C, column-major.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (lda, ldb, ldc, inner) = (case.size(0, 1), case.size(0, 3), case.size(0, 5), case.size(0, 6));
    let (alpha, beta) = (case.f64(0, 7), case.f64(0, 8));
    let (a, b, mut c) = (case.f64s("a"), case.f64s("b"), case.f64s("c"));
    for (column, c) in c.chunks_mut(ldc).enumerate() {
        for (row, c) in c.iter_mut().enumerate() {
            let sum: f64 = (0..inner).map(|k| a[k * lda + row] * b[k * ldb + column]).sum();
            *c = beta * *c + alpha * sum;
        }
    }
    vec![Output::f64("c", &c)]
}
