//! Kernels that cannot share: thesis 2.5.2, figure 2.22(a).

use super::{REPORT, aged, baseline, plan_shares, shares, sharing, sharing_aged, sharing_in_turn};
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Row, Unit};
use crate::sweep::{Point, Results, SweepPlan};

const SOURCE: &str = "sharing thesis 2.5.2, figure 2.22(a)";
const EXACT: Claim = Claim::share(SOURCE, "exactly the same: 0", 0.0, 0.0).in_unit(Unit::Count);
const SIMILAR: Claim = Claim::share(SOURCE, "similar to GTO: -1-1 %", -0.01, 0.01);

/// Scheduler, with and without sharing.
fn pairs() -> [(&'static str, Point, Point); 2] {
    [("LRR", sharing_in_turn(), baseline()), ("GTO", sharing_aged(), aged())]
}

pub fn plan(plan: &mut SweepPlan) {
    plan_shares(plan);
    pairs().into_iter().for_each(|(_, with, without)| [with, without].into_iter().for_each(|point| plan.point(point)));
}

/// The values of the kernels that do not share; nothing if all do.
fn of_others(results: &Results<'_>, values: PerKernel) -> Option<PerKernel> {
    let share = shares(results, &sharing())?;
    let values: PerKernel = values.into_iter().filter(|(name, _)| !share.contains(name)).collect();
    (!values.is_empty()).then_some(values)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let exact = |(name, with, without): (&str, Point, Point)| {
        let differ = results.both(&with, &without, |a, b| f64::from(u8::from(a.cycles != b.cycles)))?;
        let differ = of_others(results, differ)?;
        let metric = format!("kernels that share nothing whose cycles differ, {name}, of {}", differ.len());
        let named: Vec<&str> = differ.iter().filter(|(_, n)| **n > 0.0).map(|(name, _)| name.as_str()).collect();
        let why = format!("of {} with sharing and without it; the cause is not known", named.join(", "));
        let row = EXACT.row(metric, differ.values().sum(), differ);
        Some(row.because(|_| (why, REPORT.command(results, "others"))))
    };
    let similar = || {
        let ratios = of_others(results, crate::sweep::by(results, &sharing(), &aged(), crate::Measured::ipc)?)?;
        let gains = super::gained(ratios);
        let row = SIMILAR.row(
            "IPC gained by owners first over GTO, kernels that share nothing",
            super::mean_gain(&gains),
            gains,
        );
        Some(row.because(|_| ("the cause is not known".to_owned(), REPORT.command(results, "others"))))
    };
    pairs().into_iter().map(exact).chain([similar()]).flatten().collect()
}

pub fn plots(_: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
