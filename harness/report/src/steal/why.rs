//! Experiments on rows that do not agree. Each changes one setting on every machine of a row.

use super::{COLLECTORS, REPORT, bank_utilisation, designs, gain, penalty, stealing, straight, strict, without};
use crate::experiments::{self, Experiment};
use crate::row::{Reason, mean};
use crate::sweep::{Measured, Point, Results, SweepPlan, mean_of};

const CHANGES: [Experiment; 3] = [
    ("with the design's 8 collectors and strict thefts (mrf.collectors=8, steal.eager=false)", designs),
    ("with many collectors (mrf.collectors=16)", many),
    ("with thefts only where they remove a conflict (steal.eager=false)", strict),
];

/// The same point with 16 collectors.
fn many(point: Point) -> Point {
    without(point, COLLECTORS).with("mrf.collectors=16")
}

/// The experiments that change a machine.
fn changes(point: &Point) -> impl Iterator<Item = Experiment> {
    let other = |(_, change): &Experiment| change(point.clone()).config().ok() != point.config().ok();
    CHANGES.into_iter().filter(other).collect::<Vec<_>>().into_iter()
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
    tried(results, "conflicts", &stealing(8), |change| part_saved(results, change, kind, without))
}

/// Experiments on the row about the part of the waits for `kind` that stealing saves more than of those for `other`.
pub fn more(results: &Results<'_>, kind: &str, other: &str) -> Reason {
    tried(results, "conflicts", &stealing(8), |change| {
        Some(part_saved(results, change, kind, &[])? - part_saved(results, change, other, &[])?)
    })
}

/// The part of the waits for `kind` that stealing saves on changed machines.
fn part_saved(results: &Results<'_>, change: fn(Point) -> Point, kind: &str, without: &[&str]) -> Option<f64> {
    let before = mean_of(results, &change(straight(8)), |run| penalty(run, &[kind]))?;
    let after = mean_of(results, &change(stealing(8)), |run| penalty(run, &[kind]) - penalty(run, without))?;
    Some(1.0 - crate::ratio(after, before))
}

/// Experiments on the row about the ratio of two utilisations.
pub fn factor(results: &Results<'_>) -> Reason {
    tried(results, "utilisation", &stealing(8), |change| {
        let used = |point: Point, banks| mean_of(results, &change(point), |run| bank_utilisation(run, banks));
        Some(crate::ratio(used(stealing(8), 8)?, used(straight(16), 16)?))
    })
}
