//! Option values on a binomial tree, from the leaves to the root.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (steps, rate, volatility) = (case.size(0, 2), case.f64(0, 3), case.f64(0, 4));
    let options = case.f64s("options");
    let values: Vec<f64> = options.chunks(3).map(|o| value(o[0], o[1], o[2], steps, rate, volatility)).collect();
    vec![Output::f64("value", &values)]
}

fn value(price: f64, strike: f64, years: f64, steps: usize, rate: f64, volatility: f64) -> f64 {
    let dt = years / steps as f64;
    let up = (volatility * dt.sqrt()).exp();
    let p = ((rate * dt).exp() - 1.0 / up) / (up - 1.0 / up);
    let discount = (-rate * dt).exp();
    let leaf = |i: usize| (price * up.powi(2 * i as i32 - steps as i32) - strike).max(0.0);
    let mut row: Vec<f64> = (0..=steps).map(leaf).collect();
    while row.len() > 1 {
        row = row.windows(2).map(|pair| discount * (p * pair[1] + (1.0 - p) * pair[0])).collect();
    }
    row[0]
}
