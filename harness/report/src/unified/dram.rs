//! Bytes that DRAM transfers: hierarchy thesis 7.5.2, figure 7.7(b), and 7.1.

use super::{Best, Change, Fixed256, SAME, Unified384};
use super::{compared, compared_at, count, event, of_case, plan_changed, row_with};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Row, Unit};
use crate::shown::kernels;
use crate::sweep::{Measured, Results, SweepPlan};

const PART: &str = "dram";
const SOURCE: &str = "hierarchy thesis 7.5.2, figure 7.7(b)";
const FEWER: Claim = Claim::share(SOURCE, "3 of 6 by 10 to 25 %", 3.0, 3.0).in_unit(Unit::Count);
const AS_MANY: Claim = Claim::share(SOURCE, "3 of 6 (1 % to either side)", 3.0, 3.0).in_unit(Unit::Count);
const PCR: Claim = Claim::share("hierarchy thesis 7.5.2, 7.5.3", "significant; 10 to 25 %", 0.1, 0.25);

pub fn plan(plan: &mut SweepPlan) {
    plan_changed(plan, &[Fixed256, Unified384]);
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
    compared_at(results, [Unified384.points().split_off(1), Fixed256.points()], fewer)
}

const LARGEST: &str =
    "with a cache of 256 KB in every benchmark, whether it is faster so or not (launch.cache_kilobytes=256)";

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let counted = |claim, metric: &str, holds: fn(f64) -> bool| {
        let value = |change| {
            let each = saved(results, change)?;
            Some(Estimate::extreme(count(&each, holds), each))
        };
        let largest = || vec![(LARGEST.to_owned(), saved_with_largest(results).map(|each| count(&each, holds)))];
        row_with(results, PART, claim, metric, &value, largest)
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
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let series = saved(results, SAME).map(|each| vec![("384 KB unified", each)]);
    let title = "DRAM bytes saved over 256/64/64 KB (figure 7.7(b))";
    series.map(|series| kernels(title, "share", series, Style::Bars, Some([0.1, 0.25]))).into_iter().collect()
}
