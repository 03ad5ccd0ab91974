//! How far warps of non-owners get: thesis 2.5.1.6, figure 2.19(a).

use super::{NOT_SAID, REPORT, event, of_sharing, plan_shares, sharing};
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Row};
use crate::shown::{kernels, percent};
use crate::sweep::{Measured, Point, Results, SweepPlan};

const SOURCE: &str = "sharing thesis 2.5.1.6, figure 2.19(a)";
const MOST: Claim = Claim::share(SOURCE, "up to 56 %: 0-56.5 %", 0.0, 0.565);
const LITTLE: Claim = Claim::share(SOURCE, "\"very less progress\": 0-10 %", 0.0, 0.1);
const EACH: [&str; 2] = ["sgemm", "stencil"];
const MORE: Claim = Claim::none(NOT_SAID);

/// A larger private part.
fn half_private() -> Point {
    sharing().with("share.private=5")
}

pub fn plan(plan: &mut SweepPlan) {
    plan_shares(plan);
    plan.point(half_private());
}

/// The part of the cycles of non-owners' warps in which no lock holds them back.
fn active(run: &Measured) -> f64 {
    let warps = run.event(event::NON_OWNERS) as f64;
    1.0 - crate::ratio((run.event(event::WAIT_LOCK) + run.event(event::WAIT_HOLD)) as f64, warps).min(1.0)
}

/// Of the kernels that share at a point.
fn each(results: &Results<'_>, point: &Point) -> Option<PerKernel> {
    of_sharing(results, point, results.each(point, active)?)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let Some(all) = each(results, &sharing()) else { return Vec::new() };
    let why = |value: &dyn Fn(&PerKernel) -> Option<f64>| {
        let half = each(results, &half_private()).and_then(|each| value(&each));
        let why = half.map_or_else(
            || "with half of the registers private there is no room for guests".to_owned(),
            |half| format!("with half of the registers private it is {}", percent(half)),
        );
        (why, REPORT.command(results, "progress"))
    };
    let most = |each: &PerKernel| each.values().copied().reduce(f64::max);
    let metric = "cycles in which warps of non-owners do not wait for a lock";
    let mut rows = vec![
        MOST.row(format!("{metric}, most of any kernel"), most(&all).unwrap_or(0.0), all.clone())
            .because(|_| why(&most)),
        MORE.mean(metric, all.clone()),
    ];
    for kernel in EACH {
        let Some(&active) = all.get(kernel) else { continue };
        let row = LITTLE.row(format!("{metric}: {kernel}"), active, PerKernel::new());
        rows.push(row.because(|_| why(&|each: &PerKernel| each.get(kernel).copied())));
    }
    let issued =
        |run: &Measured| crate::ratio(run.event(event::NON_OWNER_ISSUE) as f64, run.event(event::ISSUE) as f64);
    let issued = results.each(&sharing(), issued).and_then(|each| of_sharing(results, &sharing(), each));
    rows.extend(issued.map(|each| MORE.mean("instructions that warps of non-owners issue, of all", each)));
    rows
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let series =
            vec![("10 % private", each(results, &sharing())?), ("50 % private", each(results, &half_private())?)];
        Some(kernels(
            "Cycles in which non-owners do not wait for a lock (figure 2.19(a))",
            "share",
            series,
            Style::Lines,
            None,
        ))
    };
    plot().into_iter().collect()
}
