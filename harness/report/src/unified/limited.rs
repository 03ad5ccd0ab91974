//! A separate register file, and two ways to divide the other memory into scratchpad memory and cache: hierarchy thesis 7.2, 7.5.1, figures 7.4 and
//! 7.7.

use super::{Design, Fixed128, Fixed256, Limited, Limited16, Limited48};
use super::{best, cases, count, ends, gains, of_case, plan_changed, row};
use crate::estimate::{Estimate, each};
use crate::row::{Claim, PerKernel, Reason, Row, Unit};
use crate::sweep::{Results, SweepPlan};

const PART: &str = "limited";
const SOURCE: &str = "hierarchy thesis 7.5.1, figure 7.7(a)";
const FIGURE: &str = "hierarchy thesis 7.2, figure 7.4";
const FASTER: Claim = Claim::share(SOURCE, "all benchmarks: 100 %", 1.0, 1.0);
const MATCHES: Claim = Claim::share(SOURCE, "matches for 4 (1 % to either side)", 4.0, 4.0).in_unit(Unit::Count);
const NEEDLE: Claim = Claim::share(SOURCE, "a performance loss: below -1 %", -1.0, -0.01).sign();
const BFS: Claim = Claim::share(SOURCE, "a slight performance loss: -5-0 %", -0.05, -1e-6).sign();
const LARGE: Claim = Claim::share(FIGURE, "\"can be large\": 10 % or more", 0.1, 10.0);
const NO_ROOM: Claim = Claim::share(FIGURE, "DGEMM requires more than 16 KB of shared memory to execute: 1", 1.0, 1.0)
    .in_unit(Unit::Count);

pub fn plan(plan: &mut SweepPlan) {
    plan_changed(plan, &[Fixed128, Fixed256, Limited]);
}

/// A difference of at most 1 % counts as "matched".
fn matches(gain: f64) -> bool {
    gain.abs() <= 0.01
}

/// 1 for each benchmark that fits a design, 0 for the others.
fn fitting(results: &Results<'_>, design: Design) -> Option<PerKernel> {
    let fits = |case: super::Case<'_>| {
        let fits = best(results, &case, design, super::SAME)?.is_some();
        Some((case.name, f64::from(u8::from(fits))))
    };
    cases(results).into_iter().map(fits).collect()
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let small = |change| gains(results, [Limited, Fixed128], change);
    let large = |change| gains(results, [Limited, Fixed256], change);
    let choices = |change| gains(results, [Limited48, Limited16], change);
    let mut rows = Vec::new();
    rows.push(row(
        results,
        PART,
        FASTER,
        "benchmarks that 256/64 KB limited runs faster than 128/32/32 KB",
        &|change| Some(Estimate::mean(each(&small(change)?, |gain| f64::from(u8::from(gain > 0.0))))),
    ));
    rows.push(row(
        results,
        PART,
        MATCHES,
        "benchmarks that 256/64 KB limited runs as fast as 256/64/64 KB",
        &|change| {
            let each = large(change)?;
            Some(Estimate::extreme(count(&each, matches), each))
        },
    ));
    for (claim, name) in [(NEEDLE, "needle"), (BFS, "bfs")] {
        let metric = format!("performance gained by 256/64 KB limited, over 256/64/64 KB: {name}");
        rows.push(row(results, PART, claim, &metric, &|change| of_case(large(change), name)));
    }
    let metric = "greatest difference of performance, 48 KB of cache and 16 of scratchpad memory by 16 and 48";
    rows.push(row(results, PART, LARGE, metric, &|change| {
        let each = choices(change)?;
        let [least, most] = ends(&each)?;
        // The ratio of the faster run to the slower one.
        Some(Estimate::extreme(most.max(1.0 / (1.0 + least) - 1.0), each))
    }));
    rows.push(no_room(results));
    rows.into_iter().flatten().collect()
}

/// The row on a benchmark whose blocks do not fit the smallest scratchpad memory.
fn no_room(results: &Results<'_>) -> Option<Row> {
    let lacks_room = 1.0 - fitting(results, Limited48)?.get("cgemm")?;
    let row = NO_ROOM.row("cgemm has no room in 16 KB of scratchpad memory", Estimate::number(lacks_room));
    Some(row.because(|_| Reason::unknown(super::REPORT.command(results, PART))))
}
