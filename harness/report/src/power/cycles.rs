//! Cycles that wake-ups cost: thesis 4.3.2, figure 4.7.

use super::{REPORT, baseline, greener, hints, plan_fit, sleeping};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row};
use crate::shown::kernels;
use crate::sweep::{Point, Results, SweepPlan, by};

pub const GREENER: Claim = Claim::share("sharing thesis 4.3.2, figure 4.7", "0.53 %: 0-1.5 %", 0.0, 0.015);
pub const SLEEP: Claim = Claim::share("sharing thesis 4.3.2, figure 4.7", "1.48 %: 0.5-2.5 %", 0.005, 0.025);
const LESS: Claim =
    Claim::share("sharing thesis 4.3.2", "more than GREENER, but for BS, MR2, NN1: 18 of 21, 76-95 %", 0.76, 0.95);
const HINTS: Claim = Claim::none(super::NOT_SAID);

pub fn plan(plan: &mut SweepPlan) {
    plan_fit(plan);
    plan.point(hints());
}

/// Cycles relative to those of the baseline.
fn ratio(results: &Results<'_>, point: &Point) -> Option<PerKernel> {
    ratio_over(results, point, &baseline())
}

fn ratio_over(results: &Results<'_>, point: &Point, base: &Point) -> Option<PerKernel> {
    by(results, point, base, |run| run.cycles as f64)
}

/// The row on the additional cycles that a machine needs.
pub fn row(results: &Results<'_>, claim: Claim, metric: &str, point: &Point, part: &str) -> Option<Row> {
    row_over(results, claim, metric, (point, &baseline()), part)
}

/// The row on the additional cycles that a machine needs over any other machine.
pub fn row_over(
    results: &Results<'_>,
    claim: Claim,
    metric: &str,
    (point, base): (&Point, &Point),
    part: &str,
) -> Option<Row> {
    let more = Estimate::geometric(ratio_over(results, point, base)?).less_one();
    Some(claim.row(metric, more).because(|_| Reason::unknown(REPORT.command(results, part))))
}

/// The row on the kernels that take fewer cycles on the first machine than on the second one.
pub fn less(results: &Results<'_>, claim: Claim, metric: &str, [a, b]: [&Point; 2], part: &str) -> Option<Row> {
    let faster = results.both(a, b, |a, b| f64::from(u8::from(a.cycles < b.cycles)))?;
    Some(claim.mean(metric, faster).because(|_| Reason::unknown(REPORT.command(results, part))))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let rows = [
        row(results, GREENER, "cycles that GREENER takes more", &greener(), "cycles"),
        row(results, SLEEP, "cycles that Sleep-Reg takes more", &sleeping(), "cycles"),
        row(results, HINTS, "cycles that the compiler's states alone take more", &hints(), "cycles"),
        less(results, LESS, "kernels that GREENER slows down less than Sleep-Reg", [&greener(), &sleeping()], "cycles"),
    ];
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let series = vec![("Sleep-Reg", ratio(results, &sleeping())?), ("GREENER", ratio(results, &greener())?)];
        Some(kernels("Cycles by those of the baseline (figure 4.7)", "ratio", series, Style::Lines, None))
    };
    plot().into_iter().collect()
}
