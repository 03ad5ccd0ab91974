//! Normally distributed samples, and option prices averaged over them.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (n, mut state) = (case.size(0, 1), case.u64(0, 2));
    let (rate, volatility) = (case.f64(1, 6), case.f64(1, 7));
    let mut samples = Vec::with_capacity(n);
    for _ in 0..n {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        samples.push(inverse_normal(((state >> 41) as f64 + 0.5) / 8388608.0));
    }

    let (price, strike, years) = (case.f64s("price"), case.f64s("strike"), case.f64s("years"));
    let mut result = Vec::new();
    for ((s, x), t) in price.iter().zip(&strike).zip(&years) {
        let drift = (rate - 0.5 * volatility * volatility) * t;
        let payoff = |sample: &f64| (s * (drift + volatility * t.sqrt() * sample).exp() - x).max(0.0);
        let payoffs: Vec<f64> = samples.iter().map(payoff).collect();
        let mean = payoffs.iter().sum::<f64>() / n as f64;
        let variance = payoffs.iter().map(|payoff| (payoff - mean).powi(2)).sum::<f64>() / n as f64;
        let discount = (-rate * t).exp();
        result.push(discount * mean);
        result.push(discount * 1.96 * (variance / n as f64).sqrt());
    }
    vec![Output::f64("samples", &samples), Output::f64("result", &result)]
}

/// Moro's approximation of the inverse of the cumulative normal distribution (1995).
fn inverse_normal(p: f64) -> f64 {
    let y = p - 0.5;
    if y.abs() < 0.42 {
        let z = y * y;
        let above = horner(z, &[2.50662823884, -18.61500062529, 41.39119773534, -25.44106049637]);
        let below = horner(z, &[1.0, -8.4735109309, 23.08336743743, -21.06224101826, 3.13082909833]);
        return y * above / below;
    }
    let tail = if y > 0.0 { 1.0 - p } else { p };
    let z = horner(
        (-tail.ln()).ln(),
        &[
            0.3374754822726147,
            0.9761690190917186,
            0.1607979714918209,
            0.0276438810333863,
            0.0038405729373609,
            0.0003951896511919,
            0.0000321767881768,
            0.0000002888167364,
            0.0000003960315187,
        ],
    );
    if y > 0.0 { z } else { -z }
}

fn horner(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}
