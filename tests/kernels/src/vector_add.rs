//! c = a + b.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let n = case.size(0, 3);
    let (a, b) = (case.f64s("a"), case.f64s("b"));
    let mut c = vec![0.0; case.len("c")];
    for i in 0..n {
        c[i] = a[i] + b[i];
    }
    vec![Output::f64("c", &c)]
}
