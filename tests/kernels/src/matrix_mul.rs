//! C = A B, row-major.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (inner, columns) = (case.size(0, 3), case.size(0, 4));
    let (a, b) = (case.f64s("a"), case.f64s("b"));
    let mut c = vec![0.0; case.len("c")];
    for (row, c) in c.chunks_mut(columns).enumerate() {
        for k in 0..inner {
            let factor = a[row * inner + k];
            for (c, b) in c.iter_mut().zip(&b[k * columns..]) {
                *c += factor * b;
            }
        }
    }
    vec![Output::f64("c", &c)]
}
