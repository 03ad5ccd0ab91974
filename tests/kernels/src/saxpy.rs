//! y = a x + y.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (n, a) = (case.size(0, 0), case.f64(0, 1));
    let (x, mut y) = (case.f64s("x"), case.f64s("y"));
    for (y, x) in y.iter_mut().zip(&x).take(n) {
        *y += a * x;
    }
    vec![Output::f64("y", &y)]
}
