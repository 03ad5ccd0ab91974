//! Slower wake-ups: thesis 4.3.6, figures 4.10 and 4.11.

use gpurf_energy::leakage::TransitionOf;

use super::{
    NOT_SAID, Of, REPORT, baseline, cycles, event, fitted, greener, left, parameters, registers, saved, sleeping,
};
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Row};
use crate::shown::{Line, lines, percent};
use crate::sweep::{Point, Results, SweepPlan};

const MORE: Claim = Claim::share(
    "sharing thesis 4.3.6, figure 4.11",
    "more than Sleep-Reg for all latencies, all kernels: 95-100 %",
    0.95,
    1.0,
);
const COST: Claim = Claim::none(NOT_SAID);

/// Cycles from SLEEP to ON; from OFF it takes twice as long.
const LATENCIES: [u32; 5] = [1, 2, 3, 4, 7];

/// A machine with this latency.
fn slow(point: Point, latency: u32) -> Point {
    point.with(format!("power.wake_sleep={latency}")).with(format!("power.wake_off={}", 2 * latency))
}

pub fn plan(plan: &mut SweepPlan) {
    [baseline(), sleeping(), greener()].into_iter().for_each(|point| plan.point(point));
    for latency in LATENCIES {
        [greener(), sleeping()].into_iter().for_each(|point| plan.point(slow(point, latency)));
    }
}

/// Kernels that are not among those of a row, and where their registers are, in words.
fn exceptions(results: &Results<'_>, row: &Row) -> String {
    let all = registers(&greener()) as f64;
    let on = |point: &Point| results.each(point, |run| run.a_cycle(event::ON) / all).unwrap_or_default();
    let (awake, asleep) = (on(&greener()), on(&sleeping()));
    let but = row.per_kernel.iter().filter(|(_, better)| **better == 0.0).map(|(name, _)| {
        let of = |each: &PerKernel| percent(each.get(name).copied().unwrap_or(0.0));
        format!(
            "not {name}: of the file's registers {} are ON with GREENER, {} with Sleep-Reg",
            of(&awake),
            of(&asleep)
        )
    });
    but.collect::<Vec<_>>().join("; ")
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let Some(leakage) = fitted(results, parameters(TransitionOf::Bank)) else { return Vec::new() };
    let mut rows = Vec::new();
    for latency in LATENCIES {
        let [a, b] = [greener(), sleeping()].map(|point| slow(point, latency));
        let better = || {
            let energy = |point: &Point| left(results, &leakage, point, &baseline(), Of::Energy);
            let (a, b) = (energy(&a)?, energy(&b)?);
            let better = a.iter().map(|(name, left)| (name.clone(), f64::from(u8::from(*left < b[name])))).collect();
            let metric = format!(
                "kernels in which GREENER saves more energy than Sleep-Reg, wake-ups of {latency} and {} cycles",
                2 * latency
            );
            Some(MORE.mean(metric, better).because(|row| (exceptions(results, row), REPORT.command(results, "wake"))))
        };
        rows.push(better());
        for (name, point) in [("GREENER", &a), ("Sleep-Reg", &b)] {
            let metric = format!("cycles that {name} takes more, wake-ups of {latency} and {} cycles", 2 * latency);
            rows.push(cycles::row(results, COST, &metric, point, "wake"));
        }
    }
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let Some(leakage) = fitted(results, parameters(TransitionOf::Bank)) else { return Vec::new() };
    let of = |point: fn() -> Point| {
        let leakage = &leakage;
        move |latency: u32| Some(saved(left(results, leakage, &slow(point(), latency), &baseline(), Of::Energy)?).0)
    };
    let (a, b) = (of(greener), of(sleeping));
    let series: [Line<'_>; 2] = [("GREENER", &a), ("Sleep-Reg", &b)];
    let x = ("cycles from SLEEP to ON; twice as many from OFF", LATENCIES.as_slice());
    lines("Leakage energy saved (figure 4.11)", x, "share", &series, None).into_iter().collect()
}
