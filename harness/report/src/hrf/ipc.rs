//! Performance: hybrid paper 6.2, figure 9.

use super::{
    LEAST_SAVED, NOT_SAID, and_others, by, command, gated, hybrid, kernels, lost, original, pure, pure_round_robin,
    short, sram,
};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, Reason, Row, geometric_mean};
use crate::sweep::{Measured, Point, Results, SweepPlan};

pub const HYBRID: Claim = Claim::share("hybrid paper 6.2, figure 9", "only 4.2 %: 0-4.25 %", 0.0, 0.0425);
const PURE: Claim = Claim::share("hybrid paper 6.2, figure 9", "33 %", 0.325, 0.335);
const SLOWER: Claim =
    Claim::share("hybrid paper 6.4, figure 9", "\"comparatively low performance\": above 0", 1e-4, 1.0).sign();
const GATING: Claim = Claim::none(NOT_SAID);

pub fn plan(plan: &mut SweepPlan) {
    for point in [hybrid(), pure(), pure_round_robin(), sram(), original()] {
        plan.experiment(short(point.clone()));
        plan.point(point);
    }
    plan.point(gated());
}

/// The part of a baseline's IPC that is lost.
pub fn loss(results: &Results<'_>, point: &Point, baseline: &Point) -> Option<Estimate> {
    by(results, point, baseline, Measured::ipc).map(lost)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, what: &str, point: Point, baseline: Point, than: &str| {
        let row = claim.row(format!("IPC lost by {what}, against {than}"), loss(results, &point, &baseline)?);
        Some(row.because(|_| why(results, &point, &baseline)))
    };
    let (same, own) = ("SRAM under the same scheduler", "the paper's baseline: SRAM of 16 banks, round-robin");
    // "The original SRAM-based RF in Fermi GPU is the baseline in our comparison" (6.1), with table 3's round-robin.
    let again = |row: Option<Row>| row.map(|row| row.derived("the same claim: against the paper's baseline"));
    let slower = || {
        let left = by(results, &hybrid(), &original(), Measured::ipc)?;
        let [named, others] = and_others(left, LEAST_SAVED)?;
        let lost = Estimate::number(geometric_mean(&others) - geometric_mean(&named));
        let row =
            SLOWER.row("IPC that bfs and reduction lose more than the others, by that of the paper's baseline", lost);
        Some(row.because(|_| Reason::unknown(command(results, "ipc"))))
    };
    let rows = [
        row(HYBRID, "the hybrid file", hybrid(), original(), own),
        row(PURE, "pure STT-RAM", pure_round_robin(), original(), own),
        again(row(HYBRID, "the hybrid file", hybrid(), sram(), same)),
        again(row(PURE, "pure STT-RAM", pure(), sram(), same)),
        slower(),
        row(GATING, "power gating", gated(), hybrid(), "the hybrid file without"),
    ];
    rows.into_iter().flatten().collect()
}

/// Experiments: a shorter ALU on both sides; and, if the baseline is the paper's own, the same scheduler on both sides.
fn why(results: &Results<'_>, point: &Point, baseline: &Point) -> Reason {
    let value = |a: &Point, b: &Point| loss(results, a, b).map(|lost| lost.value);
    let mut experiments = vec![(
        "with an ALU of 2 cycles (sm.alu_latency=2)".to_owned(),
        value(&short(point.clone()), &short(baseline.clone())),
    )];
    if *baseline == original() {
        let buffers = *point == hybrid();
        let (words, point) = if buffers {
            ("with the baseline under the same scheduler, of one active warp", hybrid())
        } else {
            ("with both under the hybrid file's scheduler, of one active warp", pure())
        };
        experiments.insert(0, (words.to_owned(), value(&point, &sram())));
    }
    Reason::found(experiments, command(results, "ipc"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = |baseline: Point, pure: Point, title: &str, also: Option<Point>| {
        let of = |point: &Point| by(results, point, &baseline, Measured::ipc);
        let mut series = vec![("hybrid file", of(&hybrid())?), ("pure STT-RAM", of(&pure)?)];
        if let Some(also) = also {
            series.push(("SRAM, the hybrid file's scheduler", of(&also)?));
        }
        Some(kernels(title, "ratio", series, Style::Bars, None))
    };
    let plots = [
        plot(sram(), pure(), "IPC by that of SRAM under the same scheduler (figure 9)", None),
        plot(original(), pure_round_robin(), "IPC by that of SRAM of 16 banks, round-robin (figure 9)", Some(sram())),
    ];
    plots.into_iter().flatten().collect()
}
