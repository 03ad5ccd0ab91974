//! One step of speckle-reducing anisotropic diffusion, and its halves.

use crate::{Case, Output};

/// Of each pixel the differences to its neighbours north, south, east and west; and the diffusion coefficients.
type First = (Vec<[f64; 4]>, Vec<f64>);

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (differences, coefficient) = first(case);
    let picture = second(case, 1, &differences, &coefficient);
    vec![Output::f64("picture", &picture), Output::f64("coefficient", &coefficient)]
}

pub(crate) fn reference_of_first(case: &Case) -> Vec<Output> {
    let (differences, coefficient) = first(case);
    let names = ["north", "south", "east", "west"].into_iter().enumerate();
    let of = |k: usize| differences.iter().map(|difference| difference[k]).collect::<Vec<_>>();
    let outputs = names.map(|(k, name)| Output::f64(name, &of(k)));
    outputs.chain([Output::f64("coefficient", &coefficient)]).collect()
}

pub(crate) fn reference_of_second(case: &Case) -> Vec<Output> {
    let [north, south, east, west] = ["north", "south", "east", "west"].map(|name| case.f64s(name));
    let differences: Vec<_> = (0..north.len()).map(|i| [north[i], south[i], east[i], west[i]]).collect();
    vec![Output::f64("picture", &second(case, 0, &differences, &case.f64s("coefficient")))]
}

/// A pixel; beyond the edge the last one is repeated.
fn at(values: &[f64], columns: usize, x: usize, y: usize) -> f64 {
    values[y.min(values.len() / columns - 1) * columns + x.min(columns - 1)]
}

fn first(case: &Case) -> First {
    let (columns, rows, q0_squared) = (case.size(0, 6), case.size(0, 7), case.f64(0, 8));
    let picture = case.f64s("picture");
    let mut differences = Vec::new();
    let mut coefficient = Vec::new();
    for y in 0..rows {
        for x in 0..columns {
            let j = at(&picture, columns, x, y);
            let neighbours = [(x, y.saturating_sub(1)), (x, y + 1), (x + 1, y), (x.saturating_sub(1), y)];
            let difference = neighbours.map(|(x, y)| at(&picture, columns, x, y) - j);
            let g2 = difference.iter().map(|d| d * d).sum::<f64>() / (j * j);
            let l = difference.iter().sum::<f64>() / j;
            let q_squared = (0.5 * g2 - l * l / 16.0) / (1.0 + 0.25 * l).powi(2);
            let c = 1.0 / (1.0 + (q_squared - q0_squared) / (q0_squared * (1.0 + q0_squared)));
            differences.push(difference);
            coefficient.push(c.clamp(0.0, 1.0));
        }
    }
    (differences, coefficient)
}

fn second(case: &Case, launch: usize, differences: &[[f64; 4]], coefficient: &[f64]) -> Vec<f64> {
    let (columns, rows, lambda) = (case.size(launch, 6), case.size(launch, 7), case.f64(launch, 8));
    let mut out = case.f64s("picture");
    for y in 0..rows {
        for x in 0..columns {
            let [north, south, east, west] = differences[y * columns + x];
            let here = at(coefficient, columns, x, y) * (north + west);
            let divergence =
                here + at(coefficient, columns, x, y + 1) * south + at(coefficient, columns, x + 1, y) * east;
            out[y * columns + x] += 0.25 * lambda * divergence;
        }
    }
    out
}
