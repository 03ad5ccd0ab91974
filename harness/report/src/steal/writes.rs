//! How results are written: stealing paper VI-B4, figure 14.

use super::{NOT_SAID, event, papers, results_written, stealing, why, writing};
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Row, Unit};
use crate::shown::kernels;
use crate::sweep::{Measured, Point, Results, SweepPlan};

const NOT_STOLEN: Claim = Claim::share("stealing paper VI-B4, figure 14", "83 %", 0.825, 0.835);
const CONFLICTING: Claim = Claim::share("stealing paper VI-B4, figure 14", "17 %", 0.165, 0.175);
const NEXT: Claim = Claim::share("stealing paper VI-B4, figure 14", "over 25 %: 25-35 %", 0.25, 0.35);
const LATER: Claim = Claim::share("stealing paper VI-B4, figure 14", "another 50 %: 45-55 %", 0.45, 0.55);
const STALL: Claim = Claim::share("stealing paper VI-B4, figure 14", "only 2.5 %", 0.0, 0.0255);
const MORE: Claim = Claim::none(NOT_SAID);
const CYCLES: Claim = Claim::none(NOT_SAID).in_unit(Unit::Count);

/// The file of 128 KB, where rows may be short, and the allocator has only hints of free places.
fn tight() -> Point {
    papers(Point::preset("steal-8"))
}

pub fn plan(plan: &mut SweepPlan) {
    why::plan(plan, [stealing(8), writing()]);
    plan.point(tight());
}

/// The sum of these events, relative to all results.
fn of_results(run: &Measured, names: &[&str]) -> f64 {
    crate::ratio(names.iter().map(|name| run.event(name)).sum::<u64>() as f64, results_written(run))
}

/// An event, relative to parked results.
fn of_parked(run: &Measured, name: &str) -> f64 {
    crate::ratio(run.event(name) as f64, run.event(event::PARK) as f64)
}

/// Average number of cycles that a value is parked.
fn time(run: &Measured) -> f64 {
    crate::ratio(run.event(event::PARKED) as f64, run.event(event::PARK) as f64)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, metric: &str, point: Point, value: &dyn Fn(&Measured) -> f64| {
        let row = claim.mean(metric, results.each(&point, value)?);
        Some(row.because(|_| why::mean_at(results, "writes", &point, value)))
    };
    let normal = "results written normally, without stealing";
    // The paper says it of "the baseline". Only a machine with write stealing counts these results, so it is the one without thefts of reads.
    let meets =
        row(CONFLICTING, "results that meet a read at their bank, without thefts of reads", writing(), &|run| {
            of_results(run, &[event::PARK, event::FORCED])
        });
    let mut rows = vec![
        row(NOT_STOLEN, normal, stealing(8), &|run| of_results(run, &[event::NORMAL])),
        meets.map(|row| row.derived(format!("the paper's complement: {normal}"))),
        row(NEXT, "parked values that return in the next cycle", stealing(8), &|run| of_parked(run, event::NEXT)),
        row(LATER, "parked values that return later", stealing(8), &|run| of_parked(run, event::LATER)),
        row(STALL, "results that stall others: without a place, or forced back", stealing(8), &|run| {
            of_results(run, &[event::FORCED, event::RETURN_FORCED])
        }),
        row(MORE, "parked values that are forced back", stealing(8), &|run| of_parked(run, event::RETURN_FORCED)),
        row(MORE, "results that meet a read and are not parked: not all lanes", stealing(8), &|run| {
            of_results(run, &[event::PARTIAL])
        }),
        row(CYCLES, "cycles that a value is parked", stealing(8), &time),
    ];
    for (name, point) in [("48 warps, 512 KB", stealing(8)), ("128 KB, the warps that fit", tight())] {
        let metric = format!("banks with a place to park in, {name}");
        rows.push(row(CYCLES, &metric, point, &|run| run.a_cycle(event::PLACES)));
    }
    rows.push(row(MORE, "results written normally, 128 KB, the warps that fit", tight(), &|run| {
        of_results(run, &[event::NORMAL])
    }));
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let of = |names: &[&str]| results.each(&stealing(8), |run| of_results(run, names));
        let series: Vec<(&str, PerKernel)> = vec![
            ("normal", of(&[event::NORMAL])?),
            ("parked, back in the next cycle", of(&[event::NEXT])?),
            ("parked, back later", of(&[event::LATER])?),
            ("parked, forced back", of(&[event::RETURN_FORCED])?),
            ("forced, no place", of(&[event::FORCED])?),
        ];
        Some(kernels("What becomes of results (figure 14)", "part of the results", series, Style::Stacked, None))
    };
    plot().into_iter().collect()
}
