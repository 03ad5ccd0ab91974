//! The headlines of the thesis's chapter 2, on its machine or on a part of it.

use super::registers::{ALONE, MEAN, over_aged, over_baseline};
use crate::report::{HEADLINES, Machine};
use crate::row::Row;
use crate::sweep::{Results, SweepPlan};

/// The presets are the thesis's machine as far as it is known: there is nothing to take off.
pub fn plan(plan: &mut SweepPlan, _: Machine) {
    [over_baseline(HEADLINES), over_aged(HEADLINES)].iter().for_each(|gain| gain.plan(plan));
}

pub fn rows(results: &Results<'_>, _: Machine) -> Vec<Row> {
    let rows = [over_baseline(HEADLINES).mean(results, MEAN), over_aged(HEADLINES).mean(results, ALONE)];
    rows.into_iter().flatten().collect()
}
