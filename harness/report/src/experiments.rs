//! Experiments on a row that lies outside its band: one thing is changed on every machine of the row.

use crate::row::Row;
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
        experiments.iter().for_each(|(_, change)| plan.point(change(point.clone())));
        plan.point(point);
    }
}

/// Experiments in words, with the value of a row in each.
pub fn values(experiments: &[Experiment], value: impl Fn(Change) -> Option<f64>) -> Vec<(String, Option<f64>)> {
    experiments.iter().map(|(words, change)| ((*words).to_owned(), value(*change))).collect()
}

/// What experiments find about a row that lies outside: its value in each of them, and whether one brings it into its band.
pub fn found(row: &Row, experiments: &[(String, Option<f64>)]) -> String {
    let within = |value: f64| row.paper.is_some_and(|band| band.holds(value));
    let say = |(words, value): &(String, Option<f64>)| match value {
        None => format!("{words} not known"),
        Some(value) => {
            let verdict = if within(*value) { ", in the band" } else { "" };
            format!("{words} {}{verdict}", row.unit.words(*value))
        }
    };
    let said: Vec<String> = experiments.iter().map(say).collect();
    let explained = experiments.iter().any(|(_, value)| value.is_some_and(within));
    let cause = if explained { "" } else { ". The cause is not known" };
    format!("{}{cause}", said.join("; "))
}
