//! Other schedulers: thesis 4.3.8, figures 4.13 and 4.14.

use super::{Of, baseline, fitted, greener, plan_fit, savings};
use crate::plot::Plot;
use crate::row::{Claim, Row};
use crate::sweep::{Results, SweepPlan};

const GREEDY: Claim = Claim::share("sharing thesis 4.3.8, figure 4.13", "46.96 %: 42-52 %", 0.42, 0.52);
const LEVELS: Claim = Claim::share("sharing thesis 4.3.8, figure 4.14", "47.54 %: 42.5-52.5 %", 0.425, 0.525);

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

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let Some(leakage) = fitted(results) else { return Vec::new() };
    let row = |(name, claim, setting): (&str, Claim, &str)| {
        let metric = format!("leakage energy saved by GREENER, {name}");
        let points = (&greener().with(setting), &baseline().with(setting));
        savings::row(results, (claim, &metric, "schedulers"), &leakage, points, Of::Energy)
    };
    SCHEDULERS.into_iter().filter_map(row).collect()
}

pub fn plots(_: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
