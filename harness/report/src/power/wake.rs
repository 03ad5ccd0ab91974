//! Slower wake-ups: thesis 4.3.6, figures 4.10 and 4.11.

use super::{NOT_SAID, Of, REPORT, baseline, cycles, fitted, greener, left, plan_fit, saved, sleeping};
use crate::plot::Plot;
use crate::row::{Claim, Reason, Row};
use crate::shown::{Line, lines};
use crate::sweep::{Point, Results, SweepPlan};

const MORE: Claim = Claim::share(
    "sharing thesis 4.3.6, figure 4.11",
    "more than Sleep-Reg for all latencies, all kernels: 95-100 %",
    0.95,
    1.0,
);
const COST: Claim = Claim::none(NOT_SAID);

/// Cycles from SLEEP to ON; a wake-up from OFF takes twice as long.
const LATENCIES: [u32; 5] = [1, 2, 3, 4, 7];

/// A machine with this wake-up latency.
fn slow(point: Point, latency: u32) -> Point {
    point.with(format!("power.wake_sleep={latency}")).with(format!("power.wake_off={}", 2 * latency))
}

pub fn plan(plan: &mut SweepPlan) {
    plan_fit(plan);
    for latency in LATENCIES {
        [greener(), sleeping()].into_iter().for_each(|point| plan.point(slow(point, latency)));
    }
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let Some(leakage) = fitted(results) else { return Vec::new() };
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
            Some(MORE.mean(metric, better).because(|_| Reason::unknown(REPORT.command(results, "wake"))))
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
    let Some(leakage) = fitted(results) else { return Vec::new() };
    let of = |point: fn() -> Point| {
        let leakage = &leakage;
        move |latency: u32| Some(saved(left(results, leakage, &slow(point(), latency), &baseline(), Of::Energy)?).value)
    };
    let (a, b) = (of(greener), of(sleeping));
    let series: [Line<'_>; 2] = [("GREENER", &a), ("Sleep-Reg", &b)];
    let x = ("cycles from SLEEP to ON; twice as many from OFF", LATENCIES.as_slice());
    lines("Leakage energy saved (figure 4.11)", x, "share", &series, None).into_iter().collect()
}
