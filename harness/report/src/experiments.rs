//! Experiments on a row that does not agree: one thing is changed on every machine of the row.

use crate::sweep::{Point, SweepPlan};

/// What is changed of a machine.
pub type Change = fn(Point) -> Point;

/// An experiment in words, and what it changes.
pub type Experiment = (&'static str, Change);

/// Nothing changed.
pub const SAME: Change = |point| point;

/// Plans machines, and what the experiments make of them.
pub fn plan(plan: &mut SweepPlan, experiments: &[Experiment], points: impl IntoIterator<Item = Point>) {
    for point in points {
        experiments.iter().for_each(|(_, change)| plan.experiment(change(point.clone())));
        plan.point(point);
    }
}

/// Experiments in words, with the value of a row in each.
pub fn values(experiments: &[Experiment], value: impl Fn(Change) -> Option<f64>) -> Vec<(String, Option<f64>)> {
    experiments.iter().map(|(words, change)| ((*words).to_owned(), value(*change))).collect()
}
