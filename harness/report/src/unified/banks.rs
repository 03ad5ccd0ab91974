//! Costs and possible gains of the unified banks: conflicts of registers with memory, the gather rule, and stores that allocate in the cache.
//! Hierarchy thesis 7.3.2, 7.5.5.

use super::best::{cases, faster};
use super::{CHANGES, Change, NOT_SAID, SAME};
use super::{common_points, compared_at, gain, of_case, row};
use crate::estimate::Estimate;
use crate::experiments;
use crate::row::{Claim, PerKernel, Row};
use crate::sweep::{Point, Results, SweepPlan};

const PART: &str = "banks";
const CONFLICTS: Claim = Claim::share("hierarchy thesis 7.5.5", "0.31 % on average: -0.19-0.81 %", -0.0019, 0.0081);
const GATHER: Claim = Claim::share("hierarchy thesis 7.3.2", "0.5 % on average: 0-1 %", 0.0, 0.01);
const WIDTH: Claim = Claim::share("hierarchy thesis 7.5.5", "0.02 % on average: -0.48-0.52 %", -0.0048, 0.0052);
const WIDTH_CGEMM: Claim = Claim::share("hierarchy thesis 7.5.5", "DGEMM, 1.5 %: 1-2 %", 0.01, 0.02);
const MORE: Claim = Claim::none(NOT_SAID);

/// Registers and memory have separate ports.
const SEPARATE: Change = |point| point.with("unified.ports=separate");
/// A cluster gathers from several of its banks.
const AGGRESSIVE: Change = |point| point.with("unified.gather=aggressive");
/// Stores of whole lines allocate a line.
const FULL_STORES: Change = |point| point.with("cache.full_stores=true");

/// Benchmarks that use scratchpad memory, with the sizes of a partitioned machine that holds as many blocks and as large a cache as 384 KB unified
/// with all threads. The others have no access whose banks differ.
const ALIKE: [(&str, [&str; 3]); 4] = [
    ("cgemm", ["sm.shared_kilobytes=128", "cache.kilobytes=32", "sm.blocks=4"]),
    ("hotspot", ["sm.shared_kilobytes=64", "cache.kilobytes=128", "sm.blocks=4"]),
    ("needle64", ["sm.shared_kilobytes=512", "cache.kilobytes=8", "sm.blocks=10"]),
    ("pcr", ["sm.shared_kilobytes=64", "cache.kilobytes=128", "sm.blocks=8"]),
];

/// The machines that differ in the width of the scratchpad's banks: 16 bytes, and 4 bytes.
pub(super) fn widths() -> impl Iterator<Item = [Point; 2]> {
    ALIKE.into_iter().map(|(name, sizes)| {
        let narrow = sizes.into_iter().fold(Point::preset("fixed-256"), Point::with);
        [SEPARATE(Point::preset("unified-384")), narrow].map(|point| point.fitting().only(name))
    })
}

/// The performance that banks of 16 bytes lose, without conflicts with registers.
fn lost_to_width(results: &Results<'_>, change: Change) -> Option<PerKernel> {
    let mut all: PerKernel = cases(results).into_iter().map(|case| (case.name, 0.0)).collect();
    for machines in widths() {
        let [wide, narrow] = machines.map(change);
        if results.kernels.iter().any(|kernel| results.runs(&wide, kernel)) {
            all.extend(compared_at(results, [vec![wide], vec![narrow]], |wide, narrow| 1.0 - faster(wide, narrow))?);
        }
    }
    Some(all)
}

/// The machine of the thesis with a change.
fn points(change: Change) -> impl Iterator<Item = Point> {
    common_points().into_iter().map(change)
}

pub fn plan(plan: &mut SweepPlan) {
    for compared in [SAME, SEPARATE, AGGRESSIVE] {
        experiments::plan(plan, &CHANGES, points(compared));
    }
    points(FULL_STORES).for_each(|point| plan.point(point));
    experiments::plan(plan, &CHANGES, widths().flatten());
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
    let widths = [
        row(results, PART, WIDTH, "performance lost to banks of 16 bytes, mean", &|change| {
            lost_to_width(results, change).map(Estimate::mean)
        }),
        row(results, PART, WIDTH_CGEMM, "performance lost to banks of 16 bytes: cgemm", &|change| {
            of_case(lost_to_width(results, change), "cgemm")
        }),
    ];
    let stores = gained(results, FULL_STORES, SAME);
    let stores =
        stores.map(|gain| MORE.row("performance gained by stores of whole lines that take a place, mean", gain));
    compared.into_iter().chain(widths).flatten().chain(stores).collect()
}
