//! GREENER below ORF and LRF, and below a register file cache: only accesses of the main register file count. No paper combines them.

use super::cached::{self, cached};
use super::{Of, baseline, cycles, fitted, greener, plan_fit, savings};
use crate::plot::Plot;
use crate::row::{Claim, Row};
use crate::sweep::{Point, Results, SweepPlan};

pub(super) const OURS: Claim = Claim::none("not in a paper: the combination is ours");

/// The machine with GREENER, ORF and LRF.
fn below() -> Point {
    Point::preset("greener-hierarchy")
}

/// The same machine without power states.
pub(super) fn all_on(point: Point) -> Point {
    point.with("power.present=false").with("compiler.power_threshold=0")
}

/// GREENER with the same active warps and nothing above the main register file.
fn two_level() -> Point {
    greener().with("sm.active_warps=8")
}

pub fn plan(plan: &mut SweepPlan) {
    plan_fit(plan);
    let points = [below(), all_on(below()), cached(), all_on(cached()), two_level()];
    points.into_iter().for_each(|point| plan.point(point));
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let Some(leakage) = fitted(results) else { return Vec::new() };
    let saving = |metric, point: &Point, all_on: &Point| {
        savings::row(results, (OURS, metric, "levels"), &leakage, (point, all_on), Of::Energy)
    };
    let rows = [
        saving("leakage energy of the main register file saved by GREENER with LRF/ORF", &below(), &all_on(below())),
        saving(
            "leakage energy of the main register file saved by GREENER with LRF/ORF, over the baseline without",
            &below(),
            &baseline(),
        ),
        saving("leakage energy saved by GREENER without LRF/ORF, 8 active warps", &two_level(), &baseline()),
        cycles::row_over(
            results,
            OURS,
            "cycles that GREENER with LRF/ORF takes more",
            (&below(), &all_on(below())),
            "levels",
        ),
    ];
    rows.into_iter().chain(cached::rows(results, &leakage)).flatten().collect()
}

pub fn plots(_: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
