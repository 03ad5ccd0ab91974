//! Other schedulers: thesis 4.3.8, figures 4.13 and 4.14.

use super::{Of, REPORT, baseline, fitted, greener, plan_fit, savings};
use crate::estimate::Estimate;
use crate::plot::Plot;
use crate::row::{Claim, Reason, Row};
use crate::sweep::{Results, SweepPlan, by};

const GREEDY: Claim = Claim::share("sharing thesis 4.3.8, figure 4.13", "46.96 %: 42-52 %", 0.42, 0.52);
const LEVELS: Claim = Claim::share("sharing thesis 4.3.8, figure 4.14", "47.54 %: 42.5-52.5 %", 0.425, 0.525);

const FASTER: Claim =
    Claim::share("sharing thesis 4.3.8", "*Baseline-GTO* \"performs better\": above 0", 0.0, 1.0).sign();

/// A scheduler's name, the thesis's claim, and the setting.
const SCHEDULERS: [(&str, Claim, &str); 2] = [
    ("greedy then oldest", GREEDY, "sm.scheduler=greedy_then_oldest"),
    ("two-level, 8 active warps", LEVELS, "sm.active_warps=8"),
];

pub fn plan(plan: &mut SweepPlan) {
    plan_fit(plan);
    for (_, _, setting) in SCHEDULERS {
        [baseline(), greener()].into_iter().for_each(|point| plan.point(point.with(setting)));
    }
}

/// The cycles that the first scheduler saves over the second one, without power states.
fn faster(results: &Results<'_>) -> Option<Row> {
    let [greedy, levels] = SCHEDULERS.map(|(_, _, setting)| baseline().with(setting));
    let fewer = Estimate::geometric(by(results, &greedy, &levels, |run| run.cycles as f64)?).one_less();
    let row = FASTER.row("cycles fewer by greedy then oldest, than with two levels, no power states", fewer);
    Some(row.because(|_| Reason::unknown(REPORT.command(results, "schedulers"))))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let faster = faster(results);
    let Some(leakage) = fitted(results) else { return faster.into_iter().collect() };
    let row = |(name, claim, setting): (&str, Claim, &str)| {
        let metric = format!("leakage energy saved by GREENER, {name}");
        let points = (&greener().with(setting), &baseline().with(setting));
        savings::row(results, (claim, &metric, "schedulers"), &leakage, points, Of::Energy)
    };
    SCHEDULERS.into_iter().filter_map(row).chain(faster).collect()
}

pub fn plots(_: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
