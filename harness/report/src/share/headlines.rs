//! The headlines of the thesis's chapters 2 and 3.

use super::gained::{headline, over_aged, over_baseline};
use super::{Release, Shared};
use crate::report::HEADLINES;
use crate::row::Row;
use crate::sweep::{Results, SweepPlan};

/// Whether the headlines have owners first, which is chapter 2's scheduler.
fn with_aged(of: Shared) -> bool {
    of != Release
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    over_baseline(of, HEADLINES).plan(plan);
    if with_aged(of) {
        over_aged(of, HEADLINES).plan(plan);
    }
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let [over, alone] = headline(of);
    let rows = [
        over_baseline(of, HEADLINES).mean(results, over),
        with_aged(of).then(|| over_aged(of, HEADLINES).mean(results, alone)).flatten(),
    ];
    rows.into_iter().flatten().collect()
}
