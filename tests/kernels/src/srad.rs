//! One step of speckle-reducing anisotropic diffusion.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (columns, rows, q0_squared) = (case.size(0, 6), case.size(0, 7), case.f64(0, 8));
    let lambda = case.f64(1, 8);
    let picture = case.f64s("picture");
    let at = |values: &[f64], x: usize, y: usize| values[y.min(rows - 1) * columns + x.min(columns - 1)];

    let mut differences = Vec::new();
    let mut coefficient = Vec::new();
    for y in 0..rows {
        for x in 0..columns {
            let j = at(&picture, x, y);
            let neighbours = [(x, y.saturating_sub(1)), (x, y + 1), (x + 1, y), (x.saturating_sub(1), y)];
            let difference = neighbours.map(|(x, y)| at(&picture, x, y) - j);
            let g2 = difference.iter().map(|d| d * d).sum::<f64>() / (j * j);
            let l = difference.iter().sum::<f64>() / j;
            let q_squared = (0.5 * g2 - l * l / 16.0) / (1.0 + 0.25 * l).powi(2);
            let c = 1.0 / (1.0 + (q_squared - q0_squared) / (q0_squared * (1.0 + q0_squared)));
            differences.push(difference);
            coefficient.push(c.clamp(0.0, 1.0));
        }
    }

    let mut out = picture;
    for y in 0..rows {
        for x in 0..columns {
            let [north, south, east, west] = differences[y * columns + x];
            let here = at(&coefficient, x, y) * (north + west);
            let divergence = here + at(&coefficient, x, y + 1) * south + at(&coefficient, x + 1, y) * east;
            out[y * columns + x] += 0.25 * lambda * divergence;
        }
    }
    vec![Output::f64("picture", &out), Output::f64("coefficient", &coefficient)]
}
