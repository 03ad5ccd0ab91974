//! A number over kernels, and how far it can be trusted: its 95 % interval.
//!
//! The central idea: every number of a row is a function of means over kernels (a mean, a ratio of two means, the exponential of a mean of
//! logarithms, the index of the smallest of several means). So one resampling (bootstrap) serves them all: kernels are drawn with replacement, the
//! means are taken over the drawn kernels, and the function of these means is the number of that draw. The interval ranges from the 2.5th to the
//! 97.5th percentile of the draws. All values of a kernel are drawn together.

use gpurf_lockstep::Rng;
use serde::Serialize;

use crate::row::PerKernel;

/// Number of draws.
pub const RESAMPLES: usize = 2000;
/// A constant seed: every report draws the same kernels.
const SEED: u64 = 1;

/// What kind of number an estimate is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The arithmetic mean over kernels.
    Mean,
    /// The geometric mean over kernels.
    GeometricMean,
    /// The ratio of two arithmetic means.
    RatioOfMeans,
    /// Another function of means over kernels, such as the size with the least energy.
    FunctionOfMeans,
    /// The least or the greatest value of any kernel, or a number of kernels. Resampling says nothing about it, so it has no interval.
    Extreme,
    /// A number that is not about kernels, or about a single one: it has no interval.
    Number,
}

/// A number over kernels.
#[derive(Clone, PartialEq, Debug)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The number of each kernel, where that is meaningful.
    pub per_kernel: PerKernel,
    /// Its 95 % interval; `None` for a number without kernels, of one kernel, or of an extreme.
    pub interval: Option<[f64; 2]>,
    /// The kind of number.
    pub statistic: Statistic,
}

impl Estimate {
    /// The arithmetic mean, which the papers use; 0 without kernels.
    pub fn mean(per_kernel: PerKernel) -> Self {
        Self::of_means(Statistic::Mean, &[&per_kernel], per_kernel.clone(), |means| means[0])
    }

    /// The geometric mean; 0 if a value is not positive, and without kernels.
    pub fn geometric(per_kernel: PerKernel) -> Self {
        let kind = Statistic::GeometricMean;
        if per_kernel.is_empty() || per_kernel.values().any(|&value| value <= 0.0) {
            return Self { value: 0.0, per_kernel, interval: None, statistic: kind };
        }
        let logarithms: PerKernel = per_kernel.iter().map(|(name, value)| (name.clone(), value.ln())).collect();
        Self::of_means(kind, &[&logarithms], per_kernel, |means| means[0].exp())
    }

    /// The mean of gains: the geometric mean of the ratios `1 + gain`, less one.
    pub fn gain(gains: &PerKernel) -> Self {
        Self::geometric(each(gains, |gain| gain + 1.0)).less_one()
    }

    /// The ratio of two arithmetic means, and of each kernel's values. A ratio with denominator 0 is 0.
    pub fn ratio_of_means(numerators: &PerKernel, denominators: &PerKernel) -> Self {
        let of = |name: &String| denominators.get(name).copied().unwrap_or(0.0);
        let ratios = numerators.iter().map(|(name, value)| (name.clone(), crate::ratio(*value, of(name)))).collect();
        Self::of_means(Statistic::RatioOfMeans, &[numerators, denominators], ratios, |means| {
            crate::ratio(means[0], means[1])
        })
    }

    /// A function of the means of several values of each kernel. The kernels are those of the first column.
    pub fn of_means(
        statistic: Statistic,
        columns: &[&PerKernel],
        per_kernel: PerKernel,
        function: impl Fn(&[f64]) -> f64,
    ) -> Self {
        let names: Vec<&String> = columns.first().map(|first| first.keys().collect()).unwrap_or_default();
        let of = |column: &&PerKernel| names.iter().map(|name| column.get(*name).copied().unwrap_or(0.0)).collect();
        let columns: Vec<Vec<f64>> = columns.iter().map(of).collect();
        let all: Vec<usize> = (0..names.len()).collect();
        let value = function(&means(&columns, &all));
        Self { value, per_kernel, interval: interval(&columns, names.len(), function), statistic }
    }

    /// The size with the least mean, of values of each kernel at several sizes. Another draw of kernels may have another best size, so it has an
    /// interval.
    pub fn least(sizes: &[u32], values: &[PerKernel]) -> Self {
        let place = |means: &[f64]| {
            let least = means.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).map(|(place, _)| place);
            least.and_then(|place| sizes.get(place)).map_or(0.0, |&size| f64::from(size))
        };
        let columns: Vec<&PerKernel> = values.iter().collect();
        Self::of_means(Statistic::FunctionOfMeans, &columns, PerKernel::new(), place)
    }

    /// A number that is not about kernels.
    pub fn number(value: f64) -> Self {
        Self { value, per_kernel: PerKernel::new(), interval: None, statistic: Statistic::Number }
    }

    /// The least or the greatest value of any kernel, or a number of kernels.
    pub fn extreme(value: f64, per_kernel: PerKernel) -> Self {
        Self { value, per_kernel, interval: None, statistic: Statistic::Extreme }
    }

    /// One minus this: the saving that belongs to a remainder.
    pub fn one_less(self) -> Self {
        self.scaled(-1.0, 1.0)
    }

    /// This minus one: the gain that belongs to a ratio.
    pub fn less_one(self) -> Self {
        self.scaled(1.0, -1.0)
    }

    /// `factor` times this number, plus a constant. The interval is transformed in the same way.
    pub fn scaled(self, factor: f64, constant: f64) -> Self {
        let change = |value: f64| factor * value + constant;
        let interval = self.interval.map(|ends| {
            let [a, b] = ends.map(change);
            [a.min(b), a.max(b)]
        });
        Self { value: change(self.value), per_kernel: each(&self.per_kernel, change), interval, ..self }
    }

    /// Without the values of each kernel, if another row already has them.
    pub fn alone(self) -> Self {
        Self { per_kernel: PerKernel::new(), ..self }
    }
}

/// Applies a function to each kernel's value.
pub fn each(values: &PerKernel, change: impl Fn(f64) -> f64) -> PerKernel {
    values.iter().map(|(name, value)| (name.clone(), change(*value))).collect()
}

/// The means of columns over the drawn kernels.
fn means(columns: &[Vec<f64>], drawn: &[usize]) -> Vec<f64> {
    let mean = |column: &Vec<f64>| crate::ratio(drawn.iter().map(|&kernel| column[kernel]).sum(), drawn.len() as f64);
    columns.iter().map(mean).collect()
}

/// The 95 % interval of a function of means: percentiles of its values for kernels drawn with replacement.
fn interval(columns: &[Vec<f64>], kernels: usize, function: impl Fn(&[f64]) -> f64) -> Option<[f64; 2]> {
    if kernels < 2 {
        return None;
    }
    let mut random = Rng::new(SEED, "kernels of a report");
    let mut draw = || {
        let drawn: Vec<usize> = (0..kernels).map(|_| random.below(kernels as u64) as usize).collect();
        function(&means(columns, &drawn))
    };
    let mut values: Vec<f64> = (0..RESAMPLES).map(|_| draw()).collect();
    values.sort_by(f64::total_cmp);
    let ends = [values[RESAMPLES / 40], values[RESAMPLES - 1 - RESAMPLES / 40]];
    ends.iter().all(|end| end.is_finite()).then_some(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(numbers: &[f64]) -> PerKernel {
        numbers.iter().enumerate().map(|(index, number)| (format!("k{index:02}"), *number)).collect()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} instead of {b}");
    }

    #[test]
    fn the_interval_of_a_mean_is_about_two_standard_errors_to_either_side() {
        let numbers: Vec<f64> = (0..26).map(f64::from).collect();
        let estimate = Estimate::mean(values(&numbers));
        near(estimate.value, 12.5);
        // The standard deviation of 0 to 25 is 7.5, that of their mean 1.471.
        let [low, high] = estimate.interval.unwrap();
        assert!(
            (low - (12.5 - 1.96 * 1.471)).abs() < 0.3 && (high - (12.5 + 1.96 * 1.471)).abs() < 0.3,
            "{low} {high}"
        );
        // Kernels are drawn the same way each time.
        assert_eq!(Estimate::mean(values(&numbers)), estimate);
    }

    #[test]
    fn kernels_are_drawn_with_all_of_their_values() {
        // Each kernel's ratio is 2, however large its values are: as they are drawn together, the ratio has no uncertainty.
        let (small, large) = (values(&[1.0, 10.0, 100.0]), values(&[2.0, 20.0, 200.0]));
        let estimate = Estimate::ratio_of_means(&large, &small);
        near(estimate.value, 2.0);
        let [low, high] = estimate.interval.unwrap();
        near(low, 2.0);
        near(high, 2.0);
        assert_eq!(estimate.per_kernel, values(&[2.0, 2.0, 2.0]));
        // A ratio of means: 30 by 20 is not the mean of 3 and 1.
        near(Estimate::ratio_of_means(&values(&[30.0, 30.0]), &values(&[10.0, 30.0])).value, 1.5);
    }

    #[test]
    fn a_geometric_mean_and_a_gain() {
        near(Estimate::geometric(values(&[0.5, 2.0, 8.0])).value, 2.0);
        near(Estimate::gain(&values(&[-0.5, 1.0, 7.0])).value, 1.0);
        let nothing = Estimate::geometric(values(&[0.0, 2.0]));
        assert_eq!((nothing.value, nothing.interval), (0.0, None));
        assert_eq!(Estimate::mean(PerKernel::new()).value, 0.0);
    }

    #[test]
    fn the_interval_turns_round_with_the_number() {
        let estimate = Estimate::mean(values(&[0.2, 0.4, 0.9]));
        let [low, high] = estimate.interval.unwrap();
        let saved = estimate.clone().one_less();
        near(saved.value, 0.5);
        assert_eq!(saved.interval, Some([1.0 - high, 1.0 - low]));
        near(saved.per_kernel["k00"], 0.8);
        assert_eq!(estimate.less_one().interval, Some([low - 1.0, high - 1.0]));
    }

    #[test]
    fn the_place_of_the_least_mean_has_an_interval_too() {
        // Two sizes that nearly tie: which one is best depends on the kernels.
        let (a, b) = (values(&[1.0, 2.0, 3.0, 4.0]), values(&[4.0, 3.0, 2.0, 1.1]));
        let estimate = Estimate::least(&[3, 6], &[a, b]);
        assert_eq!((estimate.value, estimate.interval), (3.0, Some([3.0, 6.0])));
    }

    #[test]
    fn one_kernel_an_extreme_and_a_number_have_no_interval() {
        assert_eq!(Estimate::mean(values(&[0.5])).interval, None);
        assert_eq!(Estimate::extreme(0.9, values(&[0.1, 0.9])).interval, None);
        assert_eq!(Estimate::number(3.0).one_less(), Estimate::number(-2.0));
    }
}
