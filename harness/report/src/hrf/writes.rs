//! Writes that never reach the STT-RAM: hybrid paper 6.2, figure 8.

use super::{LEAST_SAVED, MOST_SAVED, and_others, by, command, event, hybrid, kernels, pure};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row, Unit, geometric_mean, mean};
use crate::sweep::{Measured, Point, Results, SweepPlan};

const ELIMINATED: Claim = Claim::share("hybrid paper 6.2, figure 8", "64 %", 0.635, 0.645);

const LEAST: Claim = Claim::share("hybrid paper 6.4, figure 8", "bfs and reduction: \"the least two\": 2", 2.0, 2.0)
    .in_unit(Unit::Count)
    .sign();
const MORE: Claim = Claim::share("hybrid paper 6.4, figure 8", "\"very high\": above 0", 1e-4, 1.0).sign();

pub fn plan(plan: &mut SweepPlan) {
    [hybrid(), pure()].into_iter().for_each(|point| plan.point(point));
}

/// Groups written to the STT-RAM, relative to those written without buffers.
pub fn left(results: &Results<'_>, point: &Point) -> Option<PerKernel> {
    by(results, point, &pure(), |run| run.event(event::WRITE) as f64)
}

/// The fraction of these writes that the buffers save.
pub fn eliminated(results: &Results<'_>, point: &Point) -> Option<PerKernel> {
    left(results, point).map(|left| left.into_iter().map(|(name, left)| (name, 1.0 - left)).collect())
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = || {
        let row = ELIMINATED.mean("writes of the STT-RAM that the buffers save", eliminated(results, &hybrid())?);
        Some(row.because(|_| why(results)))
    };
    let unknown = |row: Row| row.because(|_| Reason::unknown(command(results, "writes")));
    let least = || {
        let each = eliminated(results, &hybrid())?;
        let [named, _] = and_others(each.clone(), LEAST_SAVED)?;
        let least = named.values().filter(|&&saved| each.values().filter(|&&other| other < saved).count() < 2).count();
        let metric = "of bfs and reduction, kernels with one of the two smallest savings of writes";
        Some(unknown(LEAST.row(metric, Estimate::extreme(least as f64, PerKernel::new()))))
    };
    let more = || {
        let [named, others] = and_others(eliminated(results, &hybrid())?, MOST_SAVED)?;
        let metric =
            "writes of the STT-RAM that the buffers save more in quasirandomGenerator and sobolQRNG than in the others";
        Some(unknown(MORE.row(metric, Estimate::number(mean(&named) - mean(&others)))))
    };
    [row(), least(), more()].into_iter().flatten().collect()
}

/// Other ways to count: registers instead of groups of lanes, and with the entries of ended warps counted as written.
fn why(results: &Results<'_>) -> Reason {
    let written = |run: &Measured| run.event(event::WRITTEN) as f64;
    // Every entry that a period used is drained, or dropped when the warp ends.
    let dropped = |run: &Measured| run.event(event::ENTRIES).saturating_sub(run.event(event::DRAINED)) as f64;
    let registers = by(results, &hybrid(), &pure(), written);
    let all = results.both(&hybrid(), &pure(), |a, b| crate::ratio(written(a) + dropped(a), written(b)));
    let geometric = registers.as_ref().map(|left| 1.0 - geometric_mean(left));
    let experiments = vec![
        ("counted as registers, not as groups of four lanes,".to_owned(), registers.map(|left| 1.0 - mean(&left))),
        ("counted as registers, by the geometric mean of what is left,".to_owned(), geometric),
        (
            "counted as registers, if what ended warps have in their buffers were written,".to_owned(),
            all.map(|left| 1.0 - mean(&left)),
        ),
    ];
    Reason::found(experiments, command(results, "writes"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let title = "Writes of the STT-RAM by those without buffers (figure 8)";
    let plot = || {
        Some(kernels(title, "ratio", vec![("writes", left(results, &hybrid())?)], Style::Bars, Some([0.355, 0.365])))
    };
    plot().into_iter().collect()
}
