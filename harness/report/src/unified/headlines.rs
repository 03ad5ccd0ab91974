//! What the thesis claims first of unified memory (1.4, 7.5).

use super::{Fixed256, Unified384, energy, performance, plan_changed};
use crate::report::HEADLINES;
use crate::row::Row;
use crate::sweep::{Results, SweepPlan};

pub fn plan(plan: &mut SweepPlan) {
    plan_changed(plan, &[Fixed256, Unified384]);
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    [performance::headline(results, HEADLINES), energy::headline(results, HEADLINES)].into_iter().flatten().collect()
}
