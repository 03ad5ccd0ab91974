//! Times of single results, and the number of warps that may issue: stealing paper IV-A, IV-C1.

use std::collections::BTreeMap;

use gpurf_machine::measures::{FIRST_READ, PARKED_CYCLES, PARKED_FIRST_READ, READY_WARPS};

use super::{NOT_SAID, stealing, straight, why};
use crate::plot::Plot;
use crate::row::{Claim, Row, Unit, mean};
use crate::shown::lines;
use crate::sweep::{Measured, Point, Results, SweepPlan};

const READY: Claim =
    Claim::share("stealing paper IV-A", "14 out of 48 warps: 13.5-14.5", 13.5, 14.5).in_unit(Unit::Count);
const LATER: Claim = Claim::share("stealing paper IV-C1", "60 % chance: 55-65 %", 0.55, 0.65);
const WITHIN: Claim = Claim::share("stealing paper IV-C1", "the majority: 50-100 %", 0.5, 1.0);
const MORE: Claim = Claim::none(NOT_SAID);
const CYCLES: Claim = MORE.in_unit(Unit::Count);

/// The paper's limit in "more than three cycles later" and "within three cycles".
const THREE: u64 = 3;

/// Numbers of cycles on the plot's x axis.
const SHOWN: [u32; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128];

/// Machines without stealing and with it.
fn points() -> [Point; 2] {
    [straight(16), stealing(8)].map(Point::measured)
}

pub fn plan(plan: &mut SweepPlan) {
    why::plan(plan, points());
}

/// The fraction of a distribution's values that are at most `most`.
fn up_to(spread: &BTreeMap<u64, u64>, most: u64) -> f64 {
    let some: u64 = spread.range(..=most).map(|(_, count)| count).sum();
    crate::ratio(some as f64, spread.values().sum::<u64>() as f64)
}

/// The mean of a distribution.
fn middle(spread: &BTreeMap<u64, u64>) -> f64 {
    let sum: u64 = spread.iter().map(|(value, count)| value * count).sum();
    crate::ratio(sum as f64, spread.values().sum::<u64>() as f64)
}

fn ready(run: &Measured) -> f64 {
    run.a_cycle(READY_WARPS)
}

/// The fraction of a distribution's values that are greater than three cycles.
fn later(name: &'static str) -> impl Fn(&Measured) -> f64 {
    move |run| {
        let spread = run.spread(name);
        if spread.is_empty() { 0.0 } else { 1.0 - up_to(&spread, THREE) }
    }
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let [straight, stealing] = points();
    let (straight, stealing) = (("16 banks", straight), ("8 banks with stealing", stealing));
    let row = |claim: Claim, metric: &str, machine: &(&str, Point), value: &dyn Fn(&Measured) -> f64| {
        let (name, point) = machine;
        let row = claim.mean(format!("{metric}, {name}"), results.each(point, value)?);
        Some(row.because(|_| why::mean_at(results, "times", point, value)))
    };
    let mut rows = Vec::new();
    for (machine, ready_claim, later_claim) in [(&straight, READY, LATER), (&stealing, CYCLES, MORE)] {
        rows.push(row(ready_claim, "warps that may issue", machine, &ready));
        let metric = "results whose first read comes more than three cycles later";
        rows.push(row(later_claim, metric, machine, &later(FIRST_READ)));
        let metric = "cycles until the first read of a result";
        rows.push(row(CYCLES, metric, machine, &|run| middle(&run.spread(FIRST_READ))));
    }
    let metric = "parked results whose first read comes more than three cycles later";
    rows.push(row(MORE, metric, &stealing, &later(PARKED_FIRST_READ)));
    let metric = "parked values that return within three cycles";
    rows.push(row(WITHIN, metric, &stealing, &|run| up_to(&run.spread(PARKED_CYCLES), THREE)));
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let [straight, stealing] = points();
    let part = |point: &Point, name: &'static str, most: u32| {
        results.each(point, |run| up_to(&run.spread(name), most.into())).map(|parts| mean(&parts))
    };
    let plot = lines(
        "Results by the cycles until their first read, and parked values by the cycles until they return",
        ("cycles at most", &SHOWN),
        "part",
        &[
            ("first read, 16 banks", &|most| part(&straight, FIRST_READ, most)),
            ("first read, 8 banks with stealing", &|most| part(&stealing, FIRST_READ, most)),
            ("first read, parked results", &|most| part(&stealing, PARKED_FIRST_READ, most)),
            ("return of parked values", &|most| part(&stealing, PARKED_CYCLES, most)),
        ],
        None,
    );
    plot.into_iter().collect()
}
