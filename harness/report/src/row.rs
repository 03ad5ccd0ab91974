//! A report: what a paper says beside what was measured here.

use std::collections::BTreeMap;

use serde::Serialize;

/// What a paper says, as numbers.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(into = "[f64; 2]")]
pub struct Band {
    /// The least value that agrees with it.
    pub low: f64,
    /// The greatest.
    pub high: f64,
}

impl From<Band> for [f64; 2] {
    fn from(band: Band) -> Self {
        [band.low, band.high]
    }
}

impl Band {
    /// From one value to another.
    pub const fn range(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// A value as it is printed: everything that rounds to it. `unit` is the worth of its last digit.
    pub fn printed(value: f64, unit: f64) -> Self {
        Self { low: value - unit / 2.0, high: value + unit / 2.0 }
    }

    /// "Up to", "only": nothing to a value.
    pub const fn up_to(high: f64) -> Self {
        Self { low: 0.0, high }
    }

    /// Whether a value agrees with it; the last binary digits do not decide.
    pub fn holds(&self, value: f64) -> bool {
        let slack = 1e-9;
        self.low - slack <= value && value <= self.high + slack
    }
}

/// How to write a row's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A part of something; shown in percent.
    Share,
    /// A factor.
    Ratio,
    /// A number of things.
    Count,
    /// Watts.
    Watts,
}

impl Unit {
    /// A value in words.
    pub fn words(self, value: f64) -> String {
        match self {
            Self::Share => format!("{:.1} %", 100.0 * value),
            Self::Ratio => format!("{value:.3}"),
            Self::Count => format!("{value:.1}"),
            Self::Watts => format!("{value:.2} W"),
        }
    }
}

/// A result of a paper, and ours.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// Where the paper says it.
    pub source: &'static str,
    /// What it is about.
    pub metric: String,
    /// What the paper says; nothing where it says nothing.
    pub paper: Option<Band>,
    /// What was measured: over all kernels.
    pub ours: f64,
    /// The same of each kernel, where that means something.
    pub per_kernel: BTreeMap<String, f64>,
    /// Whether ours agrees with the paper's; nothing where it says nothing.
    pub within: Option<bool>,
    /// Why it does not: what an experiment shows.
    pub why: String,
    /// The experiment's command.
    pub command: String,
    /// The paper's own words.
    pub text: &'static str,
    /// What the numbers are.
    pub unit: Unit,
}

/// Values of kernels, by name.
pub type PerKernel = BTreeMap<String, f64>;

/// The arithmetic mean, the papers' kind; 0 of nothing.
pub fn mean(values: &PerKernel) -> f64 {
    crate::ratio(values.values().sum(), values.len() as f64)
}

/// The mean of these kernels' values.
pub fn mean_over<'a>(values: &PerKernel, kernels: impl IntoIterator<Item = &'a str>) -> f64 {
    mean(&kernels.into_iter().filter_map(|name| Some((name.to_owned(), *values.get(name)?))).collect())
}

/// The means of the values of the half of the kernels where another value is least, and of the others.
pub fn halves(by: &PerKernel, values: &PerKernel) -> [f64; 2] {
    let mut names: Vec<&str> = by.keys().map(String::as_str).collect();
    names.sort_by(|a, b| by[*a].total_cmp(&by[*b]));
    let (least, most) = names.split_at(names.len() / 2);
    [least, most].map(|names| mean_over(values, names.iter().copied()))
}

/// The geometric mean, the hybrid paper's kind; 0 where a value is not positive, and of nothing.
pub fn geometric_mean(values: &PerKernel) -> f64 {
    if values.is_empty() || values.values().any(|&value| value <= 0.0) {
        return 0.0;
    }
    (values.values().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// What a paper says.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Where.
    pub source: &'static str,
    /// Its words.
    pub text: &'static str,
    /// The words as numbers; nothing where it says nothing.
    pub band: Option<Band>,
    /// What the numbers are.
    pub unit: Unit,
}

impl Claim {
    /// A part of something, from a table, a figure or a sentence.
    pub const fn share(source: &'static str, text: &'static str, low: f64, high: f64) -> Self {
        Self { source, text, band: Some(Band::range(low, high)), unit: Unit::Share }
    }

    /// A share of which the paper says nothing.
    pub const fn none(source: &'static str) -> Self {
        Self { source, text: "-", band: None, unit: Unit::Share }
    }

    /// With numbers of another kind.
    pub const fn in_unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// The row in which the mean over kernels is compared.
    pub fn mean(self, metric: impl Into<String>, per_kernel: PerKernel) -> Row {
        let ours = mean(&per_kernel);
        self.row(metric, ours, per_kernel)
    }

    /// The row in which this is compared.
    pub fn row(self, metric: impl Into<String>, ours: f64, per_kernel: PerKernel) -> Row {
        let Self { source, text, band, unit } = self;
        let (why, command) = (String::new(), String::new());
        let within = band.map(|band| band.holds(ours));
        Row { source, metric: metric.into(), paper: band, ours, per_kernel, within, why, command, text, unit }
    }
}

impl Row {
    /// Whether the paper says something else.
    pub fn outside(&self) -> bool {
        self.within == Some(false)
    }

    /// If it lies outside: why, and the command that shows it.
    pub fn because(mut self, experiment: impl FnOnce(&Self) -> (String, String)) -> Self {
        if self.outside() {
            (self.why, self.command) = experiment(&self);
        }
        self
    }

    /// The kernels with the least and the greatest value.
    pub fn extremes(&self) -> Option<[(&str, f64); 2]> {
        let order = |a: &(&String, &f64), b: &(&String, &f64)| a.1.total_cmp(b.1);
        let least = self.per_kernel.iter().min_by(order)?;
        let most = self.per_kernel.iter().max_by(order)?;
        Some([least, most].map(|(name, value)| (name.as_str(), *value)))
    }
}

/// A result that is not compared.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Absent {
    /// Where the paper says it.
    pub source: &'static str,
    /// What it says.
    pub text: &'static str,
    /// Why it is not compared.
    pub why: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIM: Claim = Claim::share("RFC paper, figure 11", "40-60 %", 0.4, 0.6);

    fn values(pairs: &[(&str, f64)]) -> PerKernel {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
    }

    #[test]
    fn bands_have_ends_and_forgive_the_last_bits() {
        assert!(Band::range(0.4, 0.6).holds(0.4) && Band::range(0.4, 0.6).holds(0.6));
        assert!(!Band::range(0.4, 0.6).holds(0.601));
        assert!(Band::printed(0.76, 0.01).holds(0.755) && !Band::printed(0.76, 0.01).holds(0.766));
        assert!(Band::range(0.3, 0.3).holds(0.1 + 0.2));
        assert!(Band::up_to(0.4).holds(0.0) && !Band::up_to(0.4).holds(0.41));
        assert!(!Band::up_to(0.4).holds(f64::NAN));
    }

    #[test]
    fn a_row_as_json() {
        let row = CLAIM.mean("MRF reads avoided", values(&[("a", 0.4), ("b", 0.5)]));
        let json = serde_json::to_value(&row).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "source": "RFC paper, figure 11", "metric": "MRF reads avoided", "paper": [0.4, 0.6], "ours": 0.45,
                "per_kernel": {"a": 0.4, "b": 0.5}, "within": true, "why": "", "command": "", "text": "40-60 %", "unit": "share",
            })
        );
        assert_eq!(row.extremes(), Some([("a", 0.4), ("b", 0.5)]));
    }

    #[test]
    fn only_a_row_outside_asks_for_an_experiment() {
        let experiment = |row: &Row| (format!("{} is little", row.unit.words(row.ours)), "gpurf run a.toml".to_owned());
        let inside = CLAIM.mean("m", values(&[("a", 0.5)])).because(experiment);
        assert_eq!((inside.within, inside.why.as_str(), inside.command.as_str()), (Some(true), "", ""));
        let outside = CLAIM.mean("m", values(&[("a", 0.1), ("b", 0.2)])).because(experiment);
        assert_eq!((outside.within, outside.why.as_str()), (Some(false), "15.0 % is little"));
        assert_eq!(outside.command, "gpurf run a.toml");
    }

    #[test]
    fn where_the_paper_is_silent_nothing_is_within_or_outside() {
        let row = Claim::none("not in the paper").mean("m", values(&[("a", 0.5)]));
        let row = row.because(|_| unreachable!("nothing to explain"));
        let json = serde_json::to_value(&row).unwrap();
        assert_eq!((&json["paper"], &json["within"]), (&serde_json::Value::Null, &serde_json::Value::Null));
        assert!(!row.outside() && row.why.is_empty());
    }

    #[test]
    fn geometric_means() {
        assert!((geometric_mean(&values(&[("a", 0.5), ("b", 2.0), ("c", 8.0)])) - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&values(&[("a", 0.0), ("b", 2.0)])), 0.0);
    }

    #[test]
    fn nothing_has_no_mean() {
        assert_eq!((mean(&PerKernel::new()), geometric_mean(&PerKernel::new())), (0.0, 0.0));
        assert_eq!(CLAIM.mean("m", PerKernel::new()).extremes(), None);
    }
}
