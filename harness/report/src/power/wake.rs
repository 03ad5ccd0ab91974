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
const FASTER: Claim = Claim::share(
    "sharing thesis 4.3.6, figure 4.10",
    "\"most of the applications\", 11 of 21 or more: 52-100 %",
    0.52,
    1.0,
);
const COST: Claim = Claim::none(NOT_SAID);

/// Cycles from SLEEP to ON; a wake-up from OFF takes twice as long.
const LATENCIES: [u32; 5] = [1, 2, 3, 4, 7];

/// The greatest latency of the thesis's figures, which have 2, 3 and 4; 1 is that of its other results.
const GREATEST: u32 = 4;

/// The claim on a latency; the thesis makes none on latencies that it does not have.
fn claim(claim: Claim, latency: u32) -> Claim {
    if latency > GREATEST { Claim::none(NOT_SAID) } else { claim }
}

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
            Some(
                claim(MORE, latency).mean(metric, better).because(|_| Reason::unknown(REPORT.command(results, "wake"))),
            )
        };
        rows.push(better());
        // `cycles` has the latency of the thesis's other results.
        if latency > 1 {
            let metric = format!(
                "kernels that GREENER slows down less than Sleep-Reg, wake-ups of {latency} and {} cycles",
                2 * latency
            );
            rows.push(cycles::less(results, claim(FASTER, latency), &metric, [&a, &b], "wake"));
        }
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
