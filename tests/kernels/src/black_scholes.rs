//! Prices of European options by the Black-Scholes formula.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (rate, volatility) = (case.f64(0, 5), case.f64(0, 6));
    let (price, strike, years) = (case.f64s("price"), case.f64s("strike"), case.f64s("years"));
    let (mut call, mut put) = (Vec::new(), Vec::new());
    for ((s, x), t) in price.iter().zip(&strike).zip(&years) {
        let root = t.sqrt();
        let d1 = ((s / x).ln() + (rate + 0.5 * volatility * volatility) * t) / (volatility * root);
        let (n1, n2) = (normal(d1), normal(d1 - volatility * root));
        let discounted = x * (-rate * t).exp();
        call.push(s * n1 - discounted * n2);
        put.push(discounted * (1.0 - n2) - s * (1.0 - n1));
    }
    vec![Output::f64("call", &call), Output::f64("put", &put)]
}

/// The cumulative normal distribution: Abramowitz and Stegun, 26.2.17.
fn normal(d: f64) -> f64 {
    let a = [1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153];
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let polynomial = a.iter().fold(0.0, |sum, a| (sum + a) * k);
    let upper = (-0.5 * d * d).exp() / std::f64::consts::TAU.sqrt() * polynomial;
    if d > 0.0 { 1.0 - upper } else { upper }
}
