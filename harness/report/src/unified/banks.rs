//! Costs and possible gains of the unified banks: conflicts of registers with memory, the gather rule, and stores that allocate in the cache.
//! Hierarchy thesis 7.3.2, 7.5.5.

use super::best::faster;
use super::{CHANGES, Change, NOT_SAID, SAME, Unified384};
use super::{compared_at, gain, row};
use crate::estimate::Estimate;
use crate::experiments;
use crate::row::{Claim, Row};
use crate::sweep::{Point, Results, SweepPlan};

const PART: &str = "banks";
const CONFLICTS: Claim = Claim::share("hierarchy thesis 7.5.5", "0.31 % on average: -0.19-0.81 %", -0.0019, 0.0081);
const GATHER: Claim = Claim::share("hierarchy thesis 7.3.2", "0.5 % on average: 0-1 %", 0.0, 0.01);
const MORE: Claim = Claim::none(NOT_SAID);

/// Registers and memory have separate ports.
const SEPARATE: Change = |point| point.with("unified.ports=separate");
/// A cluster gathers from several of its banks.
const AGGRESSIVE: Change = |point| point.with("unified.gather=aggressive");
/// Stores of whole lines allocate a line.
const FULL_STORES: Change = |point| point.with("cache.full_stores=true");

/// The machine of the thesis with a change.
fn points(change: Change) -> impl Iterator<Item = Point> {
    Unified384.points().into_iter().map(change)
}

pub fn plan(plan: &mut SweepPlan) {
    for compared in [SAME, SEPARATE, AGGRESSIVE] {
        experiments::plan(plan, &CHANGES, points(compared));
    }
    points(FULL_STORES).for_each(|point| plan.point(point));
}

/// The cost of conflicts: the fraction of the performance with separate ports that is lost.
fn lost(results: &Results<'_>, change: Change) -> Option<Estimate> {
    let shared = points(change).collect();
    let apart = points(SEPARATE).map(change).collect();
    compared_at(results, [shared, apart], |shared, apart| 1.0 - faster(shared, apart)).map(Estimate::mean)
}

/// The performance that a change gains.
fn gained(results: &Results<'_>, from: Change, change: Change) -> Option<Estimate> {
    compared_at(results, [points(from).map(change).collect(), points(change).collect()], gain).map(Estimate::mean)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let compared = [
        row(results, PART, CONFLICTS, "performance lost to arbitration conflicts, mean", &|change| {
            lost(results, change)
        }),
        row(
            results,
            PART,
            GATHER,
            "performance gained by gathering from several banks of a cluster, mean",
            &|change| gained(results, AGGRESSIVE, change),
        ),
    ];
    let stores = gained(results, FULL_STORES, SAME);
    let stores =
        stores.map(|gain| MORE.row("performance gained by stores of whole lines that take a place, mean", gain));
    compared.into_iter().flatten().chain(stores).collect()
}
