//! Steps of Gaussian elimination.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let size = case.size(0, 2);
    let (mut a, mut b, mut factor) = (case.f64s("a"), case.f64s("b"), case.f64s("factor"));
    for launch in (0..case.launches()).step_by(2) {
        let step = case.size(launch, 3);
        for row in step + 1..size {
            let f = a[row * size + step] / a[step * size + step];
            factor[row * size + step] = f;
            for column in step..size {
                a[row * size + column] -= f * a[step * size + column];
            }
            b[row] -= f * b[step];
        }
    }
    vec![Output::f64("a", &a), Output::f64("b", &b), Output::f64("factor", &factor)]
}
