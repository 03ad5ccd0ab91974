//! Paths of forward rates, the value of a portfolio of swaptions on each, and its derivative with respect to the last rate, which is computed forward
//! with every number, not backward along the path.

use std::ops::{Add, Div, Mul, Sub};

use crate::case::widen;
use crate::{Case, Output};

const INTERVAL: Dual = Dual { value: 0.25, slope: 0.0 };
const ZERO: Dual = Dual { value: 0.0, slope: 0.0 };
const ONE: Dual = Dual { value: 1.0, slope: 0.0 };

/// A number and its derivative.
#[derive(Clone, Copy)]
struct Dual {
    value: f64,
    slope: f64,
}

impl From<f64> for Dual {
    fn from(value: f64) -> Self {
        Self { value, slope: 0.0 }
    }
}

impl Add for Dual {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Sub for Dual {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl Mul for Dual {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self { value: self.value * other.value, slope: self.slope * other.value + self.value * other.slope }
    }
}

impl Div for Dual {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self { value, slope: (self.slope - value * other.slope) / other.value }
    }
}

impl Dual {
    fn exp(self) -> Self {
        let value = self.value.exp();
        Self { value, slope: self.slope * value }
    }
}

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let first = Dual::from(case.f64(0, 3));
    let (paths, rates, steps, options) = (case.size(0, 4), case.size(0, 5), case.size(0, 6), case.size(0, 7));
    let volatility = widen(&case.symbol_f32s("volatility"));
    let maturity = case.symbol_s32s("maturity").into_iter().map(|intervals| intervals as usize);
    let swaptions = maturity.zip(widen(&case.symbol_f32s("swapRate")).into_iter().map(Dual::from)).take(options);
    let swaptions: Vec<(usize, Dual)> = swaptions.collect();
    let random = case.f64s("random");

    let value = |path: usize| {
        let mut rate = vec![first; rates];
        rate[rates - 1].slope = 1.0;
        for n in 0..steps {
            let z = INTERVAL.value.sqrt() * random[n * paths + path];
            let mut drift = ZERO;
            for (rate, sigma) in rate[n + 1..].iter_mut().zip(&volatility) {
                let step = INTERVAL * Dual::from(*sigma);
                drift = drift + step * *rate / (ONE + INTERVAL * *rate);
                *rate = *rate * (step * drift + Dual::from(sigma * (z - 0.5 * step.value))).exp();
            }
        }

        let growth = |rate: &Dual| ONE + INTERVAL * *rate;
        let discount = rate[..steps].iter().fold(ONE, |discount, rate| discount / growth(rate));
        let (mut bond, mut annuity) = (ONE, ZERO);
        let mut sum = ZERO;
        for (interval, rate) in rate[steps..].iter().enumerate() {
            bond = bond / growth(rate);
            annuity = annuity + INTERVAL * bond;
            for (_, swap_rate) in swaptions.iter().filter(|(maturity, _)| *maturity == interval + 1) {
                let swap = bond + *swap_rate * annuity - ONE;
                if swap.value < 0.0 {
                    sum = sum - Dual::from(100.0) * swap;
                }
            }
        }
        sum * discount
    };
    let (value, delta): (Vec<f64>, Vec<f64>) = (0..paths).map(value).map(|dual| (dual.value, dual.slope)).unzip();
    vec![Output::f64("value", &value), Output::f64("delta", &delta)]
}
