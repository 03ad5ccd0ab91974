//! Relaxation of planes by lines: each line's tridiagonal system, by elimination from its first equation to its last.

use crate::{Case, Output};

/// Unknowns of a line.
const SIZE: usize = 128;

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (lines, steps, weight) = (case.size(0, 5), case.size(0, 6), case.f64(0, 7));
    let [lower, middle, upper, right] = ["lower", "middle", "upper", "right"].map(|buffer| case.f64s(buffer));
    let mut u = case.f64s("u");
    for plane in 0..u.len() / (lines * SIZE) {
        for step in 0..steps {
            let line = step % lines;
            let at = (plane * lines + line) * SIZE;
            let own = at..at + SIZE;
            let mut sums = right[own.clone()].to_vec();
            for (i, sum) in sums.iter_mut().enumerate() {
                let above = if line > 0 { u[at - SIZE + i] } else { 0.0 };
                let below = if line + 1 < lines { u[at + SIZE + i] } else { 0.0 };
                *sum += weight * (above + below);
            }
            solve(&lower[own.clone()], &middle[own.clone()], &upper[own.clone()], &mut sums);
            u[own].copy_from_slice(&sums);
        }
    }
    vec![Output::f64("u", &u)]
}

/// Puts the unknowns in the place of the right-hand side. The first equation has no lower element, the last no upper one.
fn solve(lower: &[f64], middle: &[f64], upper: &[f64], right: &mut [f64]) {
    let mut rest = vec![0.0; right.len()];
    for i in 0..right.len() {
        let (factor, before) = if i > 0 { (lower[i] * rest[i - 1], lower[i] * right[i - 1]) } else { (0.0, 0.0) };
        let pivot = middle[i] - factor;
        rest[i] = upper[i] / pivot;
        right[i] = (right[i] - before) / pivot;
    }
    for i in (0..right.len() - 1).rev() {
        right[i] -= rest[i] * right[i + 1];
    }
}
