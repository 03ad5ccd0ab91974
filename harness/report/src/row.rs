//! Rows of a report: a paper's claim beside the value measured here.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::estimate::{Estimate, Statistic};

/// The range of values that agrees with a paper's claim.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(into = "[f64; 2]")]
pub struct Band {
    /// The least value that agrees.
    pub low: f64,
    /// The greatest value that agrees.
    pub high: f64,
}

impl From<Band> for [f64; 2] {
    fn from(band: Band) -> Self {
        [band.low, band.high]
    }
}

impl Band {
    /// The band between two values.
    pub const fn range(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// The band of a printed value: everything that rounds to it. `unit` is the weight of its last digit.
    pub fn printed(value: f64, unit: f64) -> Self {
        Self { low: value - unit / 2.0, high: value + unit / 2.0 }
    }

    /// The band of "up to" or "only": from 0 to a value.
    pub const fn up_to(high: f64) -> Self {
        Self { low: 0.0, high }
    }

    /// Whether the band contains a value, with a tolerance for rounding errors.
    pub fn holds(&self, value: f64) -> bool {
        let slack = 1e-9;
        self.low - slack <= value && value <= self.high + slack
    }

    /// Whether the band overlaps an interval.
    fn overlaps(&self, [low, high]: [f64; 2]) -> bool {
        let slack = 1e-9;
        low <= self.high + slack && self.low - slack <= high
    }

    /// The distance of a value from the band; negative inside the band.
    fn distance(&self, value: f64) -> f64 {
        (self.low - value).max(value - self.high)
    }

    /// The verdict on a value with this interval.
    fn verdict(&self, value: f64, interval: Option<[f64; 2]>, unit: Unit) -> Verdict {
        if self.holds(value) {
            return Verdict::Agrees;
        }
        if !interval.is_some_and(|interval| self.overlaps(interval)) {
            return Verdict::Disagrees;
        }
        let off = self.distance(value);
        if off <= unit.resolution(*self, value) { Verdict::Agrees } else { Verdict::CannotTell }
    }
}

/// The unit of a row's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A fraction; shown in percent.
    Share,
    /// A factor.
    Ratio,
    /// A count.
    Count,
    /// Watts.
    Watts,
}

impl Unit {
    /// Formats a value.
    pub fn words(self, value: f64) -> String {
        match self {
            Self::Share => format!("{:.1} %", 100.0 * value),
            Self::Ratio => format!("{value:.3}"),
            Self::Count => format!("{value:.1}"),
            Self::Watts => format!("{value:.2} W"),
        }
    }

    /// Formats an interval, with the unit once.
    pub fn interval(self, [low, high]: [f64; 2]) -> String {
        match self {
            Self::Share => format!("{:.1} to {:.1} %", 100.0 * low, 100.0 * high),
            Self::Ratio => format!("{low:.3} to {high:.3}"),
            Self::Count => format!("{low:.1} to {high:.1}"),
            Self::Watts => format!("{low:.2} to {high:.2} W"),
        }
    }

    /// By how much our value may miss a band and still agree if its interval overlaps the band: the papers print whole percentages, and figures
    /// cannot be read more exactly.
    ///
    /// One percentage point for a share, or a tenth of a share below 10 %; 2 % for a ratio or watts; 1 for a count, or 2 % of a count above 50.
    fn resolution(self, band: Band, value: f64) -> f64 {
        let end = if value < band.low { band.low.abs() } else { band.high.abs() };
        match self {
            Self::Share => (0.1 * band.low.abs().max(band.high.abs())).min(0.01),
            Self::Ratio | Self::Watts => 0.02 * end,
            Self::Count => (0.02 * end).max(1.0),
        }
    }
}

/// The verdict on a claim.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Our value lies in the band, or outside by no more than the resolution of the paper's number while its interval overlaps the band.
    Agrees,
    /// Our value lies farther outside, but its interval overlaps the band: other kernels might agree.
    CannotTell,
    /// Our value lies outside, and its interval does not overlap the band, or it has none.
    Disagrees,
}

impl Verdict {
    /// All verdicts, in display order.
    pub const ALL: [Self; 3] = [Self::Agrees, Self::CannotTell, Self::Disagrees];

    /// The verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::CannotTell => "cannot tell",
            Self::Disagrees => "disagrees",
        }
    }
}

/// Whether it is known why a row does not agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// An experiment changes one thing, and then the row agrees.
    Experiment,
    /// The paper contradicts itself: `docs/errata.md`.
    Erratum,
    /// No experiment makes the row agree.
    NotKnown,
}

/// The reason of a row that does not agree, if no experiment was made.
pub const UNKNOWN: &str = "the cause is not known";

/// The end of a reason whose experiments do not explain the row.
const NOT_KNOWN: &str = ". The cause is not known";

/// The largest number of settings that a reason names, of those that bring a row into its band.
const NAMED: usize = 4;

/// Why a row does not agree.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reason {
    /// Experiments that change one thing each, with the row's value in each.
    pub experiments: Vec<(String, Option<f64>)>,
    /// The number of a contradiction of the paper in `docs/errata.md`.
    pub erratum: Option<u32>,
    /// The command that shows the experiments.
    pub command: String,
}

impl Reason {
    /// A reason without experiments: the cause is not known.
    pub fn unknown(command: String) -> Self {
        Self { command, ..Self::default() }
    }

    /// A reason with the results of experiments.
    pub fn found(experiments: Vec<(String, Option<f64>)>, command: String) -> Self {
        Self { experiments, command, ..Self::default() }
    }
}

/// The value of a row with one setting changed on all of its machines.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Tried {
    /// The setting, `key=value`.
    pub setting: String,
    /// The row's value with the setting; `None` if one of its runs did not complete.
    pub ours: Option<f64>,
}

/// A result of a paper, and our value.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The place in the paper.
    pub source: &'static str,
    /// The metric.
    pub metric: String,
    /// The values that agree with the paper; `None` if the paper has none.
    pub paper: Option<Band>,
    /// The measured value, over all kernels.
    pub ours: f64,
    /// Its 95 % interval over kernels, if it has one.
    pub interval: Option<[f64; 2]>,
    /// The kind of number.
    pub statistic: Statistic,
    /// The value of each kernel, where that is meaningful.
    pub per_kernel: BTreeMap<String, f64>,
    /// Whether our value lies in the paper's band; `None` if the paper has none.
    pub within: Option<bool>,
    /// The verdict; `None` if the paper has no band.
    pub verdict: Option<Verdict>,
    /// The row or other source that this row follows from; `None` for an independent row.
    pub derived_from: Option<String>,
    /// Whether the paper says only the direction of a change, not its size.
    pub sign_only: bool,
    /// Whether it is known why the row does not agree; `None` if it agrees.
    pub cause: Option<Known>,
    /// Why the row does not agree, by experiments.
    pub why: String,
    /// The command that shows the experiments.
    pub command: String,
    /// The user's settings that were tried one at a time, if the row does not agree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// The paper's own words.
    pub text: &'static str,
    /// The unit of the numbers.
    pub unit: Unit,
}

/// Values of kernels, by name.
pub type PerKernel = BTreeMap<String, f64>;

/// The arithmetic mean, which the papers use; 0 without kernels.
pub fn mean(values: &PerKernel) -> f64 {
    crate::ratio(values.values().sum(), values.len() as f64)
}

/// The geometric mean without its interval; 0 if a value is not positive, and without kernels.
pub fn geometric_mean(values: &PerKernel) -> f64 {
    if values.is_empty() || values.values().any(|&value| value <= 0.0) {
        return 0.0;
    }
    (values.values().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// A claim of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The place in the paper.
    pub source: &'static str,
    /// The paper's words.
    pub text: &'static str,
    /// The words as numbers; `None` if the paper has none.
    pub band: Option<Band>,
    /// The unit of the numbers.
    pub unit: Unit,
    /// Whether the words say only the direction of a change.
    pub sign_only: bool,
}

impl Claim {
    /// A claim about a fraction, from a table, a figure or a sentence.
    pub const fn share(source: &'static str, text: &'static str, low: f64, high: f64) -> Self {
        Self { source, text, band: Some(Band::range(low, high)), unit: Unit::Share, sign_only: false }
    }

    /// A share for which the paper has no number.
    pub const fn none(source: &'static str) -> Self {
        Self { source, text: "-", band: None, unit: Unit::Share, sign_only: false }
    }

    /// The same claim in another unit.
    pub const fn in_unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// The same claim as one that says only the direction of a change.
    pub const fn sign(mut self) -> Self {
        self.sign_only = true;
        self
    }

    /// The row that compares the mean over kernels.
    pub fn mean(self, metric: impl Into<String>, per_kernel: PerKernel) -> Row {
        self.row(metric, Estimate::mean(per_kernel))
    }

    /// The row that compares an estimate.
    pub fn row(self, metric: impl Into<String>, estimate: Estimate) -> Row {
        let Self { source, text, band, unit, sign_only } = self;
        let Estimate { value: ours, per_kernel, interval, statistic } = estimate;
        Row {
            source,
            metric: metric.into(),
            paper: band,
            ours,
            interval,
            statistic,
            per_kernel,
            within: band.map(|band| band.holds(ours)),
            verdict: band.map(|band| band.verdict(ours, interval, unit)),
            derived_from: None,
            sign_only,
            cause: None,
            why: String::new(),
            command: String::new(),
            tried: Vec::new(),
            text,
            unit,
        }
    }
}

impl Row {
    /// Whether the paper has a number, and our value does not agree with it.
    pub fn doubtful(&self) -> bool {
        self.verdict.is_some_and(|verdict| verdict != Verdict::Agrees)
    }

    /// Whether the row counts: the paper has a number, and the row is independent.
    pub fn independent(&self) -> bool {
        self.verdict.is_some() && !self.sign_only && self.derived_from.is_none()
    }

    /// Marks the row as derived from another row, or from what the paper prints, by arithmetic.
    pub fn derived(mut self, from: impl Into<String>) -> Self {
        self.derived_from = Some(from.into());
        self
    }

    /// Adds a reason to a row that does not agree.
    pub fn because(mut self, reason: impl FnOnce(&Self) -> Reason) -> Self {
        if !self.doubtful() {
            return self;
        }
        let Reason { experiments, erratum, command } = reason(&self);
        let explains = |value: f64| self.paper.is_some_and(|band| band.holds(value));
        let explained = experiments.iter().any(|(_, value)| value.is_some_and(explains));
        let cause = match (explained, erratum) {
            (_, Some(_)) => Known::Erratum,
            (true, None) => Known::Experiment,
            (false, None) => Known::NotKnown,
        };
        let say = |(words, value): &(String, Option<f64>)| match value {
            None => format!("{words} not known"),
            Some(value) => {
                let word = if explains(*value) { ", in the band" } else { "" };
                format!("{words} {}{word}", self.unit.words(*value))
            }
        };
        let mut said: Vec<String> = experiments.iter().map(say).collect();
        said.extend(erratum.map(|number| format!("the paper contradicts itself: docs/errata.md, {number}")));
        self.why = said.join("; ");
        if cause == Known::NotKnown {
            self.why.push_str(if said.is_empty() { UNKNOWN } else { NOT_KNOWN });
        }
        (self.cause, self.command) = (Some(cause), command);
        self
    }

    /// Adds the row's values with the user's settings, each changed alone, to its reason. Settings that bring the row into the band are experiments
    /// that explain it; of the others, the nearest is named. Settings that do not move the row are not mentioned.
    pub fn take_up(&mut self, tried: Vec<Tried>) {
        let Some(band) = self.paper.filter(|_| self.doubtful()) else { return };
        let moves = |value: &f64| (value - self.ours).abs() > 1e-9;
        let moved: Vec<(&str, f64)> =
            tried.iter().filter_map(|tried| Some((tried.setting.as_str(), tried.ours.filter(moves)?))).collect();
        let by_distance = |a: &&(&str, f64), b: &&(&str, f64)| band.distance(a.1).total_cmp(&band.distance(b.1));
        let Some(nearest) = moved.iter().min_by(by_distance) else { return };
        let with = |(setting, value): &(&str, f64)| format!("{setting} {}", self.unit.words(*value));
        let found: Vec<String> = moved.iter().filter(|(_, value)| band.holds(*value)).map(with).collect();
        let named = &found[..found.len().min(NAMED)];
        let others = match found.len() - named.len() {
            0 => String::new(),
            others => format!(", and with {others} others"),
        };
        let settings = match moved.len() {
            1 => "1 setting that moves it".to_owned(),
            count => format!("{count} settings that move it, one at a time"),
        };
        let mut said = if found.is_empty() {
            format!("of {settings}, none brings it into the band; nearest {}", with(nearest))
        } else {
            format!("of {settings}, in the band with {}{others}", named.join(", "))
        };
        let unknown = self.cause == Some(Known::NotKnown);
        let before = if unknown { self.why.trim_end_matches(NOT_KNOWN) } else { self.why.as_str() };
        if !before.is_empty() && before != UNKNOWN {
            said = format!("{before}; {said}");
        }
        if unknown && found.is_empty() {
            said.push_str(NOT_KNOWN);
        } else if unknown {
            self.cause = Some(Known::Experiment);
        }
        (self.why, self.tried) = (said, tried);
    }

    /// The kernels with the least and the greatest value.
    pub fn extremes(&self) -> Option<[(&str, f64); 2]> {
        let order = |a: &(&String, &f64), b: &(&String, &f64)| a.1.total_cmp(b.1);
        let least = self.per_kernel.iter().min_by(order)?;
        let most = self.per_kernel.iter().max_by(order)?;
        Some([least, most].map(|(name, value)| (name.as_str(), *value)))
    }
}

/// The number of independent rows with each verdict.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Summary {
    /// Rows that count: the paper has a number, and they are neither derived nor about a direction only.
    pub independent: usize,
    /// Independent rows that agree.
    pub agree: usize,
    /// Independent rows on which the kernels cannot tell.
    pub cannot_tell: usize,
    /// Independent rows that disagree.
    pub disagree: usize,
    /// Rows about a direction only, and rows derived from others.
    pub dependent: usize,
    /// Rows for which the papers have no number.
    pub silent: usize,
}

impl Summary {
    /// Counts rows.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut summary = Self::default();
        for row in rows {
            match row.verdict {
                None => summary.silent += 1,
                Some(_) if !row.independent() => summary.dependent += 1,
                Some(verdict) => {
                    summary.independent += 1;
                    *match verdict {
                        Verdict::Agrees => &mut summary.agree,
                        Verdict::CannotTell => &mut summary.cannot_tell,
                        Verdict::Disagrees => &mut summary.disagree,
                    } += 1;
                }
            }
        }
        summary
    }

    /// The number of independent rows with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        match verdict {
            Verdict::Agrees => self.agree,
            Verdict::CannotTell => self.cannot_tell,
            Verdict::Disagrees => self.disagree,
        }
    }

    /// The summary in words.
    pub fn words(&self) -> String {
        let Self { independent, agree, cannot_tell, disagree, .. } = self;
        format!("{agree} of {independent} independent rows agree, {cannot_tell} cannot tell, {disagree} disagree")
    }
}

/// A result that is not compared.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Absent {
    /// The place in the paper.
    pub source: &'static str,
    /// The paper's claim.
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
                "interval": [0.4, 0.5], "statistic": "mean", "per_kernel": {"a": 0.4, "b": 0.5}, "within": true,
                "verdict": "agrees", "derived_from": null, "sign_only": false, "cause": null, "why": "", "command": "",
                "text": "40-60 %", "unit": "share",
            })
        );
        assert_eq!(row.extremes(), Some([("a", 0.4), ("b", 0.5)]));
    }

    /// An estimate with this interval.
    fn with(value: f64, interval: Option<[f64; 2]>) -> Estimate {
        Estimate { interval, ..Estimate::number(value) }
    }

    #[test]
    fn a_verdict_takes_band_interval_and_resolution() {
        let verdict = |claim: Claim, value, interval| claim.row("m", with(value, interval)).verdict.unwrap();
        let claim = Claim::share("", "64 %", 0.635, 0.645);
        assert_eq!(verdict(claim, 0.64, None), Verdict::Agrees);
        // 64.6 % against 64 %.
        assert_eq!(verdict(claim, 0.646, Some([0.60, 0.69])), Verdict::Agrees);
        // Near, but the interval over kernels excludes the band.
        assert_eq!(verdict(claim, 0.646, Some([0.6455, 0.647])), Verdict::Disagrees);
        assert_eq!(verdict(claim, 0.646, None), Verdict::Disagrees);
        assert_eq!(verdict(claim, 0.68, Some([0.64, 0.72])), Verdict::CannotTell);
        assert_eq!(verdict(claim, 0.60, Some([0.55, 0.63])), Verdict::Disagrees);
        // A tenth of a small share: a whole percentage point beside 4.2 % would be another number.
        let small = Claim::share("", "only 4.2 %", 0.0, 0.0425);
        assert_eq!(verdict(small, 0.046, Some([0.03, 0.06])), Verdict::Agrees);
        assert_eq!(verdict(small, 0.048, Some([0.03, 0.06])), Verdict::CannotTell);
        // 2 % of a ratio, taken from the nearer end of the band.
        let ratio = Claim::share("", "0.98 or more", 0.98, 2.0).in_unit(Unit::Ratio);
        assert_eq!(verdict(ratio, 0.961, Some([0.95, 0.99])), Verdict::Agrees);
        assert_eq!(verdict(ratio, 0.959, Some([0.95, 0.99])), Verdict::CannotTell);
        // 1 of a count.
        let count = Claim::share("", "3", 3.0, 3.0).in_unit(Unit::Count);
        assert_eq!(verdict(count, 4.0, Some([3.0, 5.0])), Verdict::Agrees);
        assert_eq!(verdict(count, 5.0, Some([3.0, 5.0])), Verdict::CannotTell);
        let cycles = Claim::share("", "about 11000", 10_500.0, 11_500.0).in_unit(Unit::Count);
        assert_eq!(verdict(cycles, 11_700.0, Some([9_000.0, 13_000.0])), Verdict::Agrees);
    }

    #[test]
    fn only_a_row_that_does_not_agree_asks_for_experiments() {
        let experiments = |_: &Row| {
            Reason::found(
                vec![("with more", Some(0.5)), ("with less", Some(0.2))]
                    .into_iter()
                    .map(|(w, v)| (w.to_owned(), v))
                    .collect(),
                "gpurf".to_owned(),
            )
        };
        let inside = CLAIM.mean("m", values(&[("a", 0.5)])).because(experiments);
        assert_eq!((inside.cause, inside.why.as_str(), inside.command.as_str()), (None, "", ""));
        let outside = CLAIM.mean("m", values(&[("a", 0.1), ("b", 0.2)])).because(experiments);
        assert_eq!((outside.verdict, outside.cause), (Some(Verdict::Disagrees), Some(Known::Experiment)));
        assert_eq!(
            (&outside.why[..], &outside.command[..]),
            ("with more 50.0 %, in the band; with less 20.0 %", "gpurf")
        );
    }

    #[test]
    fn a_reason_that_no_experiment_gives_is_not_given() {
        let row = || CLAIM.mean("m", values(&[("a", 0.1), ("b", 0.2)]));
        let unknown = row().because(|_| Reason::unknown("gpurf".into()));
        assert_eq!((unknown.cause, &unknown.why[..]), (Some(Known::NotKnown), "the cause is not known"));
        let tried = row().because(|_| {
            Reason::found(vec![("with less".into(), Some(0.2)), ("with more".into(), None)], "gpurf".into())
        });
        assert_eq!(
            (tried.cause, &tried.why[..]),
            (Some(Known::NotKnown), "with less 20.0 %; with more not known. The cause is not known")
        );
        let erratum = row().because(|_| Reason { erratum: Some(3), command: "gpurf".into(), ..Reason::default() });
        assert_eq!(
            (erratum.cause, &erratum.why[..]),
            (Some(Known::Erratum), "the paper contradicts itself: docs/errata.md, 3")
        );
    }

    /// A row that does not agree, with settings tried.
    fn tried(experiments: &[(&str, f64)], settings: &[(&str, Option<f64>)]) -> Row {
        let experiments = experiments.iter().map(|&(words, value)| (words.to_owned(), Some(value))).collect();
        let mut row = CLAIM.mean("m", values(&[("a", 0.1), ("b", 0.2)]));
        row = row.because(|_| Reason::found(experiments, "gpurf".into()));
        row.take_up(settings.iter().map(|&(setting, ours)| Tried { setting: setting.to_owned(), ours }).collect());
        row
    }

    #[test]
    fn a_setting_that_brings_a_row_into_its_band_is_the_reason() {
        let both = [("a=1", Some(0.5)), ("b=1", Some(0.3)), ("c=1", Some(0.6)), ("d=1", None), ("e=1", Some(0.15))];
        let row = tried(&[], &both);
        // The last setting does not move the row, and the one before it has no value.
        assert_eq!(row.why, "of 3 settings that move it, one at a time, in the band with a=1 50.0 %, c=1 60.0 %");
        assert_eq!((row.cause, row.tried.len()), (Some(Known::Experiment), 5));
        let row = tried(&[("with less", 0.2)], &both[..1]);
        assert_eq!(row.why, "with less 20.0 %; of 1 setting that moves it, in the band with a=1 50.0 %");
        assert_eq!(row.cause, Some(Known::Experiment));
        let many: Vec<String> = (0..6).map(|setting| format!("a={setting}")).collect();
        let row = tried(&[], &many.iter().map(|setting| (setting.as_str(), Some(0.5))).collect::<Vec<_>>());
        let words = "a=0 50.0 %, a=1 50.0 %, a=2 50.0 %, a=3 50.0 %, and with 2 others";
        assert!(row.why.ends_with(&format!("in the band with {words}")) && row.tried.len() == 6, "{}", row.why);
        let json = serde_json::to_value(tried(&[], &both[..1])).unwrap();
        assert_eq!(json["tried"], serde_json::json!([{"setting": "a=1", "ours": 0.5}]));
    }

    #[test]
    fn settings_that_leave_a_row_outside_are_no_reason() {
        let row = tried(&[("with less", 0.2)], &[("a=1", Some(0.2)), ("b=1", Some(0.35)), ("c=1", Some(0.75))]);
        let said = "with less 20.0 %; of 3 settings that move it, one at a time, none brings it into the band; nearest";
        assert_eq!(row.why, format!("{said} b=1 35.0 %. The cause is not known"));
        assert_eq!(row.cause, Some(Known::NotKnown));
        // A row that is already explained stays so.
        let row = tried(&[("with more", 0.5)], &[("a=1", Some(0.2))]);
        assert!(row.why.ends_with("nearest a=1 20.0 %") && row.cause == Some(Known::Experiment), "{}", row.why);
        // No setting moves the row.
        let row = tried(&[], &[("a=1", Some(0.15)), ("b=1", None)]);
        assert_eq!((&row.why[..], row.tried.len()), (UNKNOWN, 0));
        // The row agrees, so there is nothing to explain.
        let mut inside = CLAIM.mean("m", values(&[("a", 0.5)]));
        inside.take_up(vec![Tried { setting: "a=1".into(), ours: Some(0.9) }]);
        assert!(inside.tried.is_empty() && inside.why.is_empty());
    }

    #[test]
    fn where_the_paper_is_silent_nothing_is_within_or_outside() {
        let row = Claim::none("not in the paper").mean("m", values(&[("a", 0.5)]));
        let row = row.because(|_| unreachable!("nothing to explain"));
        let json = serde_json::to_value(&row).unwrap();
        for field in ["paper", "within", "verdict", "cause"] {
            assert_eq!(json[field], serde_json::Value::Null, "{field}");
        }
        assert!(!row.doubtful() && !row.independent() && row.why.is_empty());
    }

    #[test]
    fn rows_that_follow_from_others_or_say_a_sign_do_not_count() {
        let row = |claim: Claim| claim.mean("m", values(&[("a", 0.5), ("b", 0.5)]));
        let no = Claim::share("", "10 %", 0.095, 0.105);
        let rows = [row(CLAIM), row(no), row(CLAIM).derived("another"), row(CLAIM.sign()), row(Claim::none("-"))];
        let summary = Summary::of(&rows);
        let expected = Summary { independent: 2, agree: 1, cannot_tell: 0, disagree: 1, dependent: 2, silent: 1 };
        assert_eq!(summary, expected);
        assert_eq!(summary.words(), "1 of 2 independent rows agree, 0 cannot tell, 1 disagree");
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
