//! Bytes that DRAM transfers: hierarchy thesis 7.5.2, figure 7.7(b), and 7.1.

use super::best::{best, cases};
use super::{Best, Change, Design, Fixed256, SAME, Unified384};
use super::{NOT_SAID, compared, compared_at, count, event, of_case, on_data, plan_compared, row_with};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Row, Unit};
use crate::shown::kernels;
use crate::sweep::{Measured, Point, Results, SweepPlan};

const PART: &str = "dram";
const SOURCE: &str = "hierarchy thesis 7.5.2, figure 7.7(b)";
const FEWER: Claim = Claim::share(SOURCE, "3 of 6 by 10 to 25 %", 3.0, 3.0).in_unit(Unit::Count);
const AS_MANY: Claim = Claim::share(SOURCE, "3 of 6 (1 % to either side)", 3.0, 3.0).in_unit(Unit::Count);
const PCR: Claim = Claim::share("hierarchy thesis 7.5.2, 7.5.3", "significant; 10 to 25 %", 0.1, 0.25);

const BUSY: Claim = Claim::none(NOT_SAID);

pub fn plan(plan: &mut SweepPlan) {
    plan_compared(plan);
}

/// DRAM bytes of a run.
pub fn bytes(run: &Measured) -> u64 {
    run.event(event::MEMORY_READ) + run.event(event::MEMORY_WRITTEN)
}

/// The fraction of the DRAM bytes of run `b` that run `a` saves.
fn fewer(a: &Best<'_>, b: &Best<'_>) -> f64 {
    1.0 - crate::ratio(bytes(a.run) as f64, bytes(b.run) as f64)
}

/// The fraction of the baseline's DRAM bytes that the unified design saves, for each benchmark.
fn saved(results: &Results<'_>, change: Change) -> Option<PerKernel> {
    compared(results, [Unified384, Fixed256], change, fewer)
}

/// The same with a cache of 256 KB in the unified design, even where another cache is faster.
fn saved_with_largest(results: &Results<'_>) -> Option<PerKernel> {
    let largest = |point: &Point| point.set.iter().any(|set| set == "launch.cache_kilobytes=256");
    compared_at(results, [Unified384.points().into_iter().filter(largest).collect(), Fixed256.points()], fewer)
}

/// The fraction of a benchmark's cycles in which DRAM transfers bytes of requests. Where it is small, a larger cache cannot save time by bandwidth.
fn busy(results: &Results<'_>, design: Design) -> Option<PerKernel> {
    let mut all = PerKernel::new();
    for case in cases(results) {
        if let Some(best) = best(results, &case, design, SAME)? {
            let bandwidth = best.config.memory.bandwidth as f64;
            all.insert(case.name, crate::ratio(bytes(best.run) as f64 / bandwidth, best.run.cycles as f64));
        }
    }
    (!all.is_empty()).then_some(all)
}

const LARGEST: &str =
    "with a cache of 256 KB in every benchmark, whether it is faster so or not (launch.cache_kilobytes=256)";

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let counted = |claim, metric: &str, holds: fn(f64) -> bool| {
        let value = |change| {
            let each = saved(results, change)?;
            Some(Estimate::extreme(count(&each, holds), each))
        };
        let more = || {
            let largest = (LARGEST.to_owned(), saved_with_largest(results).map(|each| count(&each, holds)));
            [vec![largest], on_data(results, None, &value)].concat()
        };
        row_with(results, PART, claim, metric, &value, more)
    };
    let pcr = |change| of_case(saved(results, change), "pcr");
    let largest = || vec![(LARGEST.to_owned(), of_case(saved_with_largest(results), "pcr").map(|saved| saved.value))];
    let rows = [
        counted(FEWER, "benchmarks of which 384 KB unified saves 10 to 25 % of the DRAM bytes", |saved| {
            (0.1..=0.25).contains(&saved)
        }),
        counted(AS_MANY, "benchmarks whose DRAM bytes stay the same with 384 KB unified", |saved| saved.abs() <= 0.01),
        row_with(results, PART, PCR, "DRAM bytes saved by 384 KB unified: pcr", &pcr, largest),
    ];
    let shown = [Fixed256, Unified384].map(|design| {
        let metric = format!("cycles in which DRAM transfers, {}, mean", design.name());
        busy(results, design).map(|each| BUSY.mean(metric, each))
    });
    rows.into_iter().chain(shown).flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let series = saved(results, SAME).map(|each| vec![("384 KB unified", each)]);
    let title = "DRAM bytes saved over 256/64/64 KB (figure 7.7(b))";
    series.map(|series| kernels(title, "share", series, Style::Bars, Some([0.1, 0.25]))).into_iter().collect()
}
