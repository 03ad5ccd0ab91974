//! The headlines of the thesis's chapter 4. The presets already are its machine, so the parameter is ignored.

use super::{Of, baseline, cycles, fitted, greener, hints, plan_fit, savings, sleeping};
use crate::report::{HEADLINES, Machine};
use crate::row::Row;
use crate::sweep::{Results, SweepPlan};

pub fn plan(plan: &mut SweepPlan, _: Machine) {
    plan_fit(plan);
    plan.point(hints());
}

pub fn rows(results: &Results<'_>, _: Machine) -> Vec<Row> {
    let leakage = fitted(results);
    let energy = |leakage| {
        let what = (savings::COMPILER, "leakage energy saved by the compiler's states alone", HEADLINES);
        savings::row(results, what, &leakage, (&hints(), &baseline()), Of::Energy)
    };
    let rows = [
        leakage.and_then(energy),
        cycles::row(results, cycles::GREENER, "cycles that GREENER takes more", &greener(), HEADLINES),
        cycles::row(results, cycles::SLEEP, "cycles that Sleep-Reg takes more", &sleeping(), HEADLINES),
    ];
    rows.into_iter().flatten().collect()
}
