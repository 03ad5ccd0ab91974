//! Bytes that DRAM moves: hierarchy thesis 7.5.2, figure 7.7(b), and 7.1.

use super::{Best, Change, Fixed256, SAME, Unified384};
use super::{compared, count, event, of_case, plan_changed, row};
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

/// Bytes of a run.
pub fn bytes(run: &Measured) -> u64 {
    run.event(event::MEMORY_READ) + run.event(event::MEMORY_WRITTEN)
}

/// What the unified design saves of the baseline's.
fn saved(results: &Results<'_>, change: Change) -> Option<PerKernel> {
    let saved = |a: &Best<'_>, b: &Best<'_>| 1.0 - crate::ratio(bytes(a.run) as f64, bytes(b.run) as f64);
    compared(results, [Unified384, Fixed256], change, saved)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let counted = |claim, metric: &str, holds: fn(f64) -> bool| {
        row(results, PART, claim, metric, &|change| {
            let each = saved(results, change)?;
            Some((count(&each, holds), each))
        })
    };
    let rows = [
        counted(FEWER, "benchmarks of which 384 KB unified saves 10 to 25 % of the DRAM bytes", |saved| {
            (0.1..=0.25).contains(&saved)
        }),
        counted(AS_MANY, "benchmarks whose DRAM bytes stay the same with 384 KB unified", |saved| saved.abs() <= 0.01),
        row(results, PART, PCR, "DRAM bytes saved by 384 KB unified: pcr", &|change| {
            of_case(saved(results, change), "pcr")
        }),
    ];
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let series = saved(results, SAME).map(|each| vec![("384 KB unified", each)]);
    let title = "DRAM bytes saved over 256/64/64 KB (figure 7.7(b))";
    series.map(|series| kernels(title, "share", series, Style::Bars, Some([0.1, 0.25]))).into_iter().collect()
}
