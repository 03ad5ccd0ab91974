//! Writes that never reach the STT-RAM: hybrid paper 6.2, figure 8.

use super::{by, command, event, hybrid, kernels, mean_of, percent, pure};
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Row, geometric_mean, mean};
use crate::sweep::{Measured, Point, Results, SweepPlan};

const ELIMINATED: Claim = Claim::share("hybrid paper 6.2, figure 8", "64 %", 0.635, 0.645);

pub fn plan(plan: &mut SweepPlan) {
    [hybrid(), pure()].into_iter().for_each(|point| plan.point(point));
}

/// Groups written to the STT-RAM by those without buffers.
pub fn left(results: &Results<'_>, point: &Point) -> Option<PerKernel> {
    by(results, point, &pure(), |run| run.event(event::WRITE) as f64)
}

/// The part of them that is not written.
pub fn eliminated(results: &Results<'_>, point: &Point) -> Option<PerKernel> {
    left(results, point).map(|left| left.into_iter().map(|(name, left)| (name, 1.0 - left)).collect())
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = || {
        let row = ELIMINATED.mean("writes of the STT-RAM that the buffers save", eliminated(results, &hybrid())?);
        Some(row.because(|row| why(results, row)))
    };
    row().into_iter().collect()
}

/// Where the writes come from, and what they would be if ended warps' entries were written too.
fn why(results: &Results<'_>, row: &Row) -> (String, String) {
    let of_writes = |name: &'static str| {
        mean_of(results, &hybrid(), |run| crate::ratio(run.event(name) as f64, run.event(event::WRITE) as f64))
    };
    let written = |run: &Measured| run.event(event::WRITTEN) as f64;
    // Every entry that a period used is drained, or dropped as the warp ends.
    let dropped = |run: &Measured| run.event(event::ENTRIES).saturating_sub(run.event(event::DRAINED)) as f64;
    let (Some(drained), Some(loads), Some(registers), Some(all)) = (
        of_writes(event::DRAIN),
        of_writes(event::LOAD),
        by(results, &hybrid(), &pure(), written),
        results.both(&hybrid(), &pure(), |a, b| crate::ratio(written(a) + dropped(a), written(b))),
    ) else {
        return Default::default();
    };
    let none = row.per_kernel.values().filter(|&&saved| saved >= 1.0).count();
    let why = format!(
        "of these writes {} come out of buffers and {} are loads for warps that are not active. Counted as registers instead of groups of four lanes, {} are saved. What ended warps have in their \
         buffers is not written ({none} of {} kernels write nothing at all); if it were, {} of the registers would be saved, {} by the geometric mean of what is left",
        percent(drained),
        percent(loads),
        percent(1.0 - mean(&registers)),
        row.per_kernel.len(),
        percent(1.0 - mean(&all)),
        percent(1.0 - geometric_mean(&all)),
    );
    (why, command(results, "writes"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let title = "Writes of the STT-RAM by those without buffers (figure 8)";
    let plot = || {
        Some(kernels(title, "ratio", vec![("writes", left(results, &hybrid())?)], Style::Bars, Some([0.355, 0.365])))
    };
    plot().into_iter().collect()
}
