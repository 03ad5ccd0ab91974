//! The headlines of the thesis's chapter 4: the cycles that its machines take more. The energy that GREENER saves is fitted, and what the compiler's
//! states save alone follows from it. The presets already are the thesis's machine, so the parameter is ignored.

use super::{baseline, cycles, greener, sleeping};
use crate::report::{HEADLINES, Machine};
use crate::row::Row;
use crate::sweep::{Results, SweepPlan};

pub fn plan(plan: &mut SweepPlan, _: Machine) {
    [baseline(), sleeping(), greener()].into_iter().for_each(|point| plan.point(point));
}

pub fn rows(results: &Results<'_>, _: Machine) -> Vec<Row> {
    let rows = [
        cycles::row(results, cycles::GREENER, "cycles that GREENER takes more", &greener(), HEADLINES),
        cycles::row(results, cycles::SLEEP, "cycles that Sleep-Reg takes more", &sleeping(), HEADLINES),
    ];
    rows.into_iter().flatten().collect()
}
