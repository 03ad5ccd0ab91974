//! Experiments on rows that do not agree. Each changes one setting on every machine of a row.

use super::{REPORT, bank_utilisation, eager, gain, penalty, stealing, straight};
use crate::experiments::{self, Experiment};
use crate::row::{Reason, mean};
use crate::sweep::{Measured, Point, Results, SweepPlan, mean_of};

/// Numbers of collectors; the presets have 8. The paper has "few" (II-B).
const FEW: &str = "mrf.collectors=4";
const MANY: &str = "mrf.collectors=16";

const CHANGES: [Experiment; 3] = [
    ("with few collectors (mrf.collectors=4)", |point| point.with(FEW)),
    ("with many collectors (mrf.collectors=16)", |point| point.with(MANY)),
    ("with every idle bank stolen (steal.eager=true)", eager_if_it_steals),
];

/// Eager stealing, if the preset has read stealing; the same machine otherwise.
fn eager_if_it_steals(point: Point) -> Point {
    if matches!(point.preset, "steal-8" | "steal-read-8") { eager(point) } else { point }
}

/// The experiments that change a machine.
fn changes(point: &Point) -> impl Iterator<Item = Experiment> {
    let other = |(_, change): &Experiment| change(point.clone()).config().ok() != point.config().ok();
    CHANGES.into_iter().filter(other).collect::<Vec<_>>().into_iter()
}

/// Number of banks of a point's file.
fn banks_of(point: &Point) -> u32 {
    let set = point.set.iter().find_map(|setting| setting.strip_prefix("mrf.banks=")?.parse().ok());
    set.unwrap_or(if point.preset == "banks-16" { 16 } else { 8 })
}

/// Describes a point in the words of rows.
pub fn name(point: &Point) -> String {
    let kind = match point.preset {
        "steal-8" => " with stealing",
        "steal-read-8" => " with read stealing",
        "steal-write-8" => " with write stealing",
        _ => "",
    };
    let apart = |setting: &&String| !setting.starts_with("mrf.banks=") && !setting.starts_with("mrf.kilobytes=");
    let settings: Vec<&str> = point.set.iter().filter(apart).map(String::as_str).collect();
    let settings = if settings.is_empty() { String::new() } else { format!(" ({})", settings.join(", ")) };
    format!("{} banks{kind}{settings}", banks_of(point))
}

/// Plans points, and their variants in the experiments.
pub fn plan(plan: &mut SweepPlan, points: impl IntoIterator<Item = Point>) {
    experiments::plan(plan, &CHANGES, points);
}

/// The experiments that change a machine of a row, with the row's value in each. A change applies to all of the row's machines.
pub fn tried(
    results: &Results<'_>,
    part: &str,
    point: &Point,
    value: impl Fn(fn(Point) -> Point) -> Option<f64>,
) -> Reason {
    let tried = changes(point).map(|(words, change)| (words.to_owned(), value(change))).collect();
    Reason::found(tried, REPORT.command(results, part))
}

/// Experiments on a row about a gain of IPC.
pub fn gain_of(results: &Results<'_>, part: &str, point: &Point, baseline: &Point) -> Reason {
    tried(results, part, point, |change| {
        gain(results, &change(point.clone()), &change(baseline.clone())).map(|gains| mean(&gains))
    })
}

/// Experiments on a row about a mean on one machine.
pub fn mean_at(results: &Results<'_>, part: &str, point: &Point, value: &dyn Fn(&Measured) -> f64) -> Reason {
    tried(results, part, point, |change| mean_of(results, &change(point.clone()), value))
}

/// Experiments on the row about waits with half as many banks.
pub fn doubled(results: &Results<'_>, kinds: &[&str]) -> Reason {
    tried(results, "conflicts", &straight(8), |change| {
        let waits = |banks| mean_of(results, &change(straight(banks)), |run| penalty(run, kinds));
        Some(crate::ratio(waits(8)?, waits(16)?))
    })
}

/// Experiments on a row about waits that stealing saves, not counting the events in `without`.
pub fn saved(results: &Results<'_>, kind: &str, without: &[&str]) -> Reason {
    tried(results, "conflicts", &stealing(8), |change| {
        let before = mean_of(results, &change(straight(8)), |run| penalty(run, &[kind]))?;
        let after = mean_of(results, &change(stealing(8)), |run| penalty(run, &[kind]) - penalty(run, without))?;
        Some(1.0 - crate::ratio(after, before))
    })
}

/// Experiments on the row about the ratio of two utilisations.
pub fn factor(results: &Results<'_>) -> Reason {
    tried(results, "utilisation", &stealing(8), |change| {
        let used = |point: Point, banks| mean_of(results, &change(point), |run| bank_utilisation(run, banks));
        Some(crate::ratio(used(stealing(8), 8)?, used(straight(16), 16)?))
    })
}
