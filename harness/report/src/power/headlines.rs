//! The headlines of the thesis's chapter 4, on its machine or on a part of it.

use gpurf_energy::leakage::TransitionOf;

use super::{Of, baseline, cycles, fitted, greener, hints, parameters, savings, sleeping};
use crate::report::{HEADLINES, Machine};
use crate::row::Row;
use crate::sweep::{Results, SweepPlan};

pub fn plan(plan: &mut SweepPlan, _: Machine) {
    [baseline(), sleeping(), hints(), greener()].into_iter().for_each(|point| plan.point(point));
}

pub fn rows(results: &Results<'_>, _: Machine) -> Vec<Row> {
    let leakage = fitted(results, parameters(TransitionOf::Bank));
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
