//! Experiments on a row that does not agree: one thing is changed on every machine of the row.

use crate::sweep::{Point, SweepPlan};

/// A change of a machine.
pub type Change = fn(Point) -> Point;

/// An experiment: its words, and its change of a machine.
pub type Experiment = (&'static str, Change);

/// The change that leaves a machine as it is.
pub const SAME: Change = |point| point;

/// Plans machines, and their variants in the experiments.
pub fn plan(plan: &mut SweepPlan, experiments: &[Experiment], points: impl IntoIterator<Item = Point>) {
    for point in points {
        experiments.iter().for_each(|(_, change)| plan.experiment(change(point.clone())));
        plan.point(point);
    }
}

/// The words of each experiment, with the value of a row in it.
pub fn values(experiments: &[Experiment], value: impl Fn(Change) -> Option<f64>) -> Vec<(String, Option<f64>)> {
    experiments.iter().map(|(words, change)| ((*words).to_owned(), value(*change))).collect()
}
