//! The thesis's main claims on unified memory (1.4, 7.5).

use super::{energy, performance};
use crate::report::HEADLINES;
use crate::row::Row;
use crate::sweep::{Results, SweepPlan};

pub fn plan(plan: &mut SweepPlan) {
    performance::plan_headline(plan);
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    [performance::headline(results, HEADLINES), energy::headline(results, HEADLINES)].into_iter().flatten().collect()
}
