//! Lost issue slots: thesis 2.5.1.5, figure 2.18.

use super::{Change, Registers, SAME, Scratchpad, Shared, event, experiments, gaining, plan_changed};
use crate::estimate::Estimate;
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Reason, Row};
use crate::sweep::{Measured, Point, Results, SweepPlan};

const SOURCE: &str = "sharing thesis 2.5.1.5, figure 2.18(a)";
/// One kernel has more in one of the two figures, and the thesis does not say in which.
const FEWER_IDLE: Claim = Claim::share(SOURCE, "all of 8, or all but one: 80-100 %", 0.8, 1.0);
const MOST_IDLE: Claim = Claim::share(SOURCE, "up to 99 %: 0-99.5 %", 0.0, 0.995);
const FEWER_STALLS: Claim = Claim::share(SOURCE, "5 of 8: 50-75 %", 0.5, 0.75);
const SOURCE_B: &str = "sharing thesis 2.5.1.5, figure 2.18(b)";
const FEWER_IDLE_B: Claim = Claim::share(SOURCE_B, "all of 7, or all but one: 85-100 %", 0.85, 1.0);
const MOST_IDLE_B: Claim = Claim::share(SOURCE_B, "up to 99 %: 0-99.5 %", 0.0, 0.995);
const FEWER_STALLS_B: Claim = Claim::share(SOURCE_B, "5 of 7: 57-86 %", 0.57, 0.86);

const LAVAMD: Claim =
    Claim::share("sharing thesis, figure 2.18(b), caption", "lavaMD 49.5 %: 44.5-54.5 %", 0.445, 0.545);

/// Lost issue slots per issued instruction: no warp is ready, or units are busy. Counts are per instruction because a sample ends after only some of
/// them.
type Lost = fn(&Measured) -> f64;

fn idle(run: &Measured) -> f64 {
    let lost = [event::EMPTY, event::BARRIER, event::FETCH, event::SCOREBOARD].map(|name| run.event(name));
    crate::ratio(lost.iter().sum::<u64>() as f64, run.event(event::ISSUE) as f64)
}

fn stalls(run: &Measured) -> f64 {
    let lost = [event::COLLECTOR, event::OTHER].map(|name| run.event(name));
    crate::ratio(lost.iter().sum::<u64>() as f64, run.event(event::ISSUE) as f64)
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    of.plan(plan);
    [of.aged(), of.own()].into_iter().for_each(|point| plan.point(point));
    plan_changed(plan, [of.baseline(), of.complete()]);
}

/// The fraction of the baseline's lost slots that are saved.
fn fewer(of: Shared, results: &Results<'_>, point: Point, change: Change, lost: Lost) -> Option<PerKernel> {
    let (point, baseline) = (change(point), change(of.baseline()));
    let fewer = results.both(&point, &baseline, |a, b| if lost(b) == 0.0 { 0.0 } else { 1.0 - lost(a) / lost(b) })?;
    of.of_sharing(results, fewer)
}

/// Experiments: the scheduler alone, additional blocks with all of the resources that they request, and those of all rows.
fn why(of: Shared, results: &Results<'_>, lost: Lost, value: impl Fn(&PerKernel) -> Option<f64>) -> Reason {
    let known = |point, change| value(&fewer(of, results, point, change, lost)?);
    let mut all = vec![
        ("with the scheduler alone, nothing shared,".to_owned(), known(of.aged(), SAME)),
        (of.own_words(), known(of.own(), SAME)),
    ];
    all.extend(experiments(|change| known(of.complete(), change)));
    Reason::found(all, of.command(results, "idle"))
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let [fewer_idle, most_idle, fewer_stalls] = match of {
        Registers => [FEWER_IDLE, MOST_IDLE, FEWER_STALLS],
        _ => [FEWER_IDLE_B, MOST_IDLE_B, FEWER_STALLS_B],
    };
    let counted = |claim: Claim, metric: &str, lost: Lost| {
        let row = claim.mean(metric, gaining(&fewer(of, results, of.complete(), SAME, lost)?));
        Some(row.because(|_| why(of, results, lost, |each| Some(crate::mean(&gaining(each))))))
    };
    let most = || {
        let most_of = |each: &PerKernel| each.values().copied().reduce(f64::max);
        let each = fewer(of, results, of.complete(), SAME, idle)?;
        let row = most_idle.row(
            "idle issue slots that sharing saves, over LRR, most of any kernel",
            Estimate::extreme(most_of(&each)?, each),
        );
        Some(row.because(|_| why(of, results, idle, most_of)))
    };
    let single = || {
        let of_kernel = |each: &PerKernel| each.get("lavaMD").copied();
        let ours = of_kernel(&fewer(of, results, of.complete(), SAME, idle)?)?;
        let row = LAVAMD.row("idle issue slots that sharing saves, over LRR: lavaMD", Estimate::number(ours));
        Some(row.because(|_| why(of, results, idle, of_kernel)))
    };
    let rows = [
        counted(fewer_idle, "kernels with fewer idle issue slots than with LRR", idle),
        most(),
        (of == Scratchpad).then(single).flatten(),
        counted(fewer_stalls, "kernels with fewer issue slots lost to busy units than with LRR", stalls),
    ];
    rows.into_iter().flatten().collect()
}

pub fn plots(_: Shared, _: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
