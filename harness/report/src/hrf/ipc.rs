//! Performance: hybrid paper 6.2, figure 9.

use super::{
    NOT_SAID, by, command, event, gated, hybrid, kernels, lost, mean_of, original, percent, pure, short, sram,
};
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Row};
use crate::sweep::{Measured, Point, Results, SweepPlan};

pub const HYBRID: Claim = Claim::share("hybrid paper 6.2, figure 9", "only 4.2 %: 0-4.25 %", 0.0, 0.0425);
const PURE: Claim = Claim::share("hybrid paper 6.2, figure 9", "33 %", 0.325, 0.335);
const GATING: Claim = Claim::none(NOT_SAID);

pub fn plan(plan: &mut SweepPlan) {
    for point in [hybrid(), pure(), sram(), original()] {
        plan.point(short(point.clone()));
        plan.point(point);
    }
    plan.point(gated());
}

/// IPC that is lost against a baseline.
pub fn loss(results: &Results<'_>, point: &Point, baseline: &Point) -> Option<(f64, PerKernel)> {
    by(results, point, baseline, Measured::ipc).map(lost)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, what: &str, point: Point, baseline: Point, than: &str| {
        let (ours, each) = loss(results, &point, &baseline)?;
        let row = claim.row(format!("IPC lost by {what}, against {than}"), ours, each);
        Some(row.because(|_| why(results, &point, &baseline)))
    };
    let (same, own) = ("SRAM behind the same scheduler", "the paper's baseline: SRAM of 16 banks, round-robin");
    let rows = [
        row(HYBRID, "the hybrid file", hybrid(), sram(), same),
        row(PURE, "pure STT-RAM", pure(), sram(), same),
        row(HYBRID, "the hybrid file", hybrid(), original(), own),
        row(PURE, "pure STT-RAM", pure(), original(), own),
        row(GATING, "power gating", gated(), hybrid(), "the hybrid file without"),
    ];
    rows.into_iter().flatten().collect()
}

/// What is lost to the scheduler alone, what to the register file, for what the pipeline waits, and what a shorter ALU makes of it.
fn why(results: &Results<'_>, point: &Point, baseline: &Point) -> (String, String) {
    let loss_of = |a: &Point, b: &Point| loss(results, a, b).map(|(ours, _)| percent(ours));
    let cycles = |name: &'static str| mean_of(results, point, |run| run.a_cycle(name)).map(percent);
    let (Some(frozen), Some(switch), Some(read), Some(fast)) = (
        cycles(event::FROZEN),
        cycles(event::STALL_SWITCH),
        cycles(event::WAIT_READ),
        loss_of(&short(point.clone()), &short(baseline.clone())),
    ) else {
        return Default::default();
    };
    let scheduler = if *baseline == original() {
        let (Some(alone), Some(file)) = (loss_of(&sram(), baseline), loss_of(point, &sram())) else {
            return Default::default();
        };
        format!(
            "SRAM behind the scheduler that has one warp active loses {alone} of this baseline's by itself, and the file {file} of what that leaves. "
        )
    } else {
        String::new()
    };
    let why = format!(
        "{scheduler}Of all cycles the pipeline stands still in {frozen} as a bank writes, no warp is active in {switch} as the buffer of the next one is not empty, and operands wait for a write in {read}. \
         With an ALU of 2 cycles, where instructions that depend on each other issue closer together, {fast} are lost"
    );
    (why, command(results, "ipc"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = |baseline: Point, title: &str, also: Option<Point>| {
        let of = |point: &Point| by(results, point, &baseline, Measured::ipc);
        let mut series = vec![("hybrid file", of(&hybrid())?), ("pure STT-RAM", of(&pure())?)];
        if let Some(also) = also {
            series.push(("SRAM, the hybrid file's scheduler", of(&also)?));
        }
        Some(kernels(title, "ratio", series, Style::Bars, None))
    };
    let plots = [
        plot(sram(), "IPC by that of SRAM behind the same scheduler (figure 9)", None),
        plot(original(), "IPC by that of SRAM of 16 banks, round-robin (figure 9)", Some(sram())),
    ];
    plots.into_iter().flatten().collect()
}
