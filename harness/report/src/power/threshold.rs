//! The compiler's threshold: thesis 4.3.10, table 4.5.

use std::collections::BTreeMap;

use super::{Of, REPORT, baseline, fitted, greener, left, plan_fit};
use crate::estimate::Estimate;
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Reason, Row, Unit, geometric_mean};
use crate::shown::{Line, lines};
use crate::sweep::{Point, Results, SweepPlan};

/// Thresholds of table 4.5.
const THRESHOLDS: [u32; 11] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21];

const SOURCE: &str = "sharing thesis, table 4.5";
const BEST: Claim =
    Claim::share(SOURCE, "W = 3 for 6 of 21 kernels, more than any other: 19-38 %", 4.0 / 21.0, 8.0 / 21.0);

/// Means of table 4.5 over its 21 kernels, relative to those of W = 1.
const MEANS: [(u32, Claim); 3] = [
    (3, Claim::share(SOURCE, "0.996 of W = 1: 0.986-1.006", 0.986, 1.006).in_unit(Unit::Ratio)),
    (9, Claim::share(SOURCE, "0.988 of W = 1: 0.978-0.998", 0.978, 0.998).in_unit(Unit::Ratio)),
    (21, Claim::share(SOURCE, "0.996 of W = 1: 0.986-1.006", 0.986, 1.006).in_unit(Unit::Ratio)),
];

fn with(threshold: u32) -> Point {
    greener().with(format!("compiler.power_threshold={threshold}"))
}

pub fn plan(plan: &mut SweepPlan) {
    plan_fit(plan);
    THRESHOLDS.into_iter().for_each(|threshold| plan.point(with(threshold)));
}

/// Energy of each kernel at each threshold.
fn energies(results: &Results<'_>) -> Option<BTreeMap<u32, PerKernel>> {
    let leakage = fitted(results)?;
    let of = |threshold| Some((threshold, left(results, &leakage, &with(threshold), &baseline(), Of::Energy)?));
    THRESHOLDS.into_iter().map(of).collect()
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let Some(energies) = energies(results) else { return Vec::new() };
    let why = || Reason::unknown(REPORT.command(results, "threshold"));
    let least = |name: &String| energies.values().map(|each| each[name]).fold(f64::INFINITY, f64::min);
    let is_best = |(name, energy): (&String, &f64)| (name.clone(), f64::from(u8::from(*energy <= least(name))));
    let best = energies[&3].iter().map(is_best).collect();
    let mut rows = vec![BEST.mean("kernels whose energy is least with a threshold of 3", best).because(|_| why())];
    for (threshold, claim) in MEANS {
        let each: PerKernel =
            energies[&threshold].iter().map(|(name, energy)| (name.clone(), energy / energies[&1][name])).collect();
        let metric = format!("leakage energy with a threshold of {threshold}, by that with 1");
        rows.push(claim.row(metric, Estimate::geometric(each)).because(|_| why()));
    }
    rows
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let Some(energies) = energies(results) else { return Vec::new() };
    let of = |threshold: u32| Some(geometric_mean(&energies[&threshold]));
    let series: [Line<'_>; 1] = [("GREENER", &of)];
    let x = ("threshold, instructions", THRESHOLDS.as_slice());
    lines("Leakage energy by the baseline's (table 4.5)", x, "ratio", &series, None).into_iter().collect()
}
