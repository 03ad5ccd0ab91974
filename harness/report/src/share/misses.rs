//! Misses of the L1 cache: thesis 2.5.1.2 to 2.5.1.5, 3.4.1.2, 3.4.1.7.

use super::{NOT_SAID, Registers, Release, Scratchpad, Shared, cache_event, experiments, plan_changed};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, Reason, Row};
use crate::shown::kernels;
use crate::sweep::{Measured, Point, Results, SweepPlan};

const MORE: Claim = Claim::none(NOT_SAID);

/// A kernel that has more misses on a machine than on another one, and the thesis's claim.
struct More {
    kernel: &'static str,
    metric: &'static str,
    claim: Claim,
    point: Point,
    over: Point,
}

/// The thesis's claims on single kernels. It has no numbers of misses.
fn claims(of: Shared) -> Vec<More> {
    let more = |kernel, metric, source, point, over| {
        let claim = Claim::share(source, "more L1 misses: above 0", 1e-4, 10.0).sign();
        More { kernel, metric, claim, point, over }
    };
    const LRR: &str = "L1 misses more by sharing, than with LRR";
    const GTO: &str = "L1 misses more by sharing, than with GTO";
    const NO_OPTIMISATION: &str = "L1 misses more by sharing with LRR, than with LRR";
    const CLASSES: &str = "L1 misses more by owners first, than by sharing with LRR";
    let [all, baseline, aged, in_turn] = [of.complete(), of.baseline(), of.aged(), of.in_turn()];
    match of {
        Registers => vec![
            more("mri-q", LRR, "sharing thesis 2.5.1.2, 2.5.1.5", all.clone(), baseline.clone()),
            more("MUM", NO_OPTIMISATION, "sharing thesis 2.5.1.3", in_turn, baseline),
            more("backprop", GTO, "sharing thesis 2.5.1.4", all, aged),
        ],
        Scratchpad => vec![
            more("CONV1", LRR, "sharing thesis 2.5.1.5", all.clone(), baseline),
            more("CONV1", CLASSES, "sharing thesis 2.5.1.3", all.clone(), in_turn.clone()),
            more("SRAD2", CLASSES, "sharing thesis 2.5.1.3", all, in_turn),
        ],
        Release => vec![
            more("FDTD3d", LRR, "sharing thesis 3.4.1.2", all.clone(), baseline),
            more("FDTD3d", GTO, "sharing thesis 3.4.1.7", all.clone(), aged.clone()),
            more("histogram", GTO, "sharing thesis 3.4.1.7", all, aged),
        ],
    }
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    of.plan(plan);
    for More { point, over, .. } in claims(of) {
        plan_changed(plan, [point, over]);
    }
    [of.complete(), of.baseline()].into_iter().for_each(|point| plan.point(point));
}

/// Load requests that go to memory, for the whole launch: counts of a sample are scaled up.
fn misses(run: &Measured) -> f64 {
    run.event(cache_event::MISS) as f64
}

/// The fraction of load requests that go to memory.
fn rate(run: &Measured) -> f64 {
    let [hits, merged, misses] =
        [cache_event::HIT, cache_event::MERGE, cache_event::MISS].map(|name| run.event(name) as f64);
    crate::ratio(misses, hits + merged + misses)
}

/// By what fraction a kernel has more misses; `None` if it does not share, or has no misses on one of the machines.
fn more(of: Shared, results: &Results<'_>, kernel: &str, point: &Point, over: &Point) -> Option<f64> {
    let more = results.both(point, over, |a, b| crate::ratio(misses(a), misses(b)) - 1.0)?;
    let more = of.of_sharing(results, more)?.get(kernel).copied()?;
    (more > -1.0).then_some(more)
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, point) in [("LRR", of.baseline()), ("sharing", of.complete())] {
        let rates = results.each(&point, rate).and_then(|each| of.of_sharing(results, each));
        rows.extend(rates.map(|each| MORE.mean(format!("L1 misses, of the requests of loads, {name}"), each)));
    }
    for More { kernel, metric, claim, point, over } in claims(of) {
        let value = |a: &Point, b: &Point| more(of, results, kernel, a, b);
        let Some(ours) = value(&point, &over) else { continue };
        let row = claim.row(format!("{metric}: {kernel}"), Estimate::number(ours));
        let tried = || experiments(|change| value(&change(point.clone()), &change(over.clone())));
        rows.push(row.because(|_| Reason::found(tried(), of.command(results, "misses"))));
    }
    rows
}

pub fn plots(of: Shared, results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let rates = |point: Point| results.each(&point, rate).and_then(|each| of.of_sharing(results, each));
        let series = vec![("LRR", rates(of.baseline())?), ("sharing", rates(of.complete())?)];
        Some(kernels("L1 misses, of the requests of loads", "share", series, Style::Lines, None))
    };
    plot().into_iter().collect()
}
