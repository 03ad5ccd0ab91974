//! Issue slots that are lost: thesis 2.5.1.5, figure 2.18(a).

use super::{REPORT, WHOLE, aged, baseline, event, gaining, of_sharing, plan_shares, sharing};
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Row};
use crate::shown::percent;
use crate::sweep::{Measured, Point, Results, SweepPlan};

const SOURCE: &str = "sharing thesis 2.5.1.5, figure 2.18(a)";
const FEWER_IDLE: Claim = Claim::share(SOURCE, "all but one of 8: 80-95 %", 0.8, 0.95);
const MOST_IDLE: Claim = Claim::share(SOURCE, "up to 99 %: 0-99.5 %", 0.0, 0.995);
const FEWER_STALLS: Claim = Claim::share(SOURCE, "5 of 8: 50-75 %", 0.5, 0.75);

/// What is lost: no warp is ready, or units are busy. Of each instruction, as a sample ends after so many.
type Lost = fn(&Measured) -> f64;

fn idle(run: &Measured) -> f64 {
    let lost = [event::EMPTY, event::BARRIER, event::FETCH, event::SCOREBOARD].map(|name| run.event(name));
    crate::ratio(lost.iter().sum::<u64>() as f64, run.event(event::ISSUE) as f64)
}

fn stalls(run: &Measured) -> f64 {
    let lost = [event::COLLECTOR, event::OTHER].map(|name| run.event(name));
    crate::ratio(lost.iter().sum::<u64>() as f64, run.event(event::ISSUE) as f64)
}

fn own() -> Point {
    aged().with(WHOLE)
}

pub fn plan(plan: &mut SweepPlan) {
    plan_shares(plan);
    [baseline(), aged(), own()].into_iter().for_each(|point| plan.point(point));
}

/// What fewer are lost than in the baseline, of those that are lost there.
fn fewer(results: &Results<'_>, point: &Point, lost: Lost) -> Option<PerKernel> {
    let fewer = results.both(point, &baseline(), |a, b| if lost(b) == 0.0 { 0.0 } else { 1.0 - lost(a) / lost(b) })?;
    of_sharing(results, &sharing(), fewer)
}

/// What the scheduler alone does, and what further blocks with registers of their own do.
fn why(results: &Results<'_>, lost: Lost, value: impl Fn(&PerKernel) -> f64) -> (String, String) {
    let of = |point: &Point| {
        fewer(results, point, lost).map_or_else(|| "not known".to_owned(), |each| percent(value(&each)))
    };
    let why = format!(
        "with the scheduler alone, nothing shared, it is {}; if the further blocks have all of their registers (a file of \
         256 KB), {}",
        of(&aged()),
        of(&own())
    );
    (why, REPORT.command(results, "idle"))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let counted = |claim: Claim, metric: &str, lost: Lost| {
        let row = claim.mean(metric, gaining(&fewer(results, &sharing(), lost)?));
        Some(row.because(|_| why(results, lost, |each| crate::mean(&gaining(each)))))
    };
    let most = || {
        let of = |each: &PerKernel| each.values().copied().fold(f64::NEG_INFINITY, f64::max);
        let each = fewer(results, &sharing(), idle)?;
        let row = MOST_IDLE.row("idle issue slots that sharing saves, over LRR, most of any kernel", of(&each), each);
        Some(row.because(|_| why(results, idle, of)))
    };
    let rows = [
        counted(FEWER_IDLE, "kernels with fewer idle issue slots than with LRR", idle),
        most(),
        counted(FEWER_STALLS, "kernels with fewer issue slots lost to busy units than with LRR", stalls),
    ];
    rows.into_iter().flatten().collect()
}

pub fn plots(_: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
