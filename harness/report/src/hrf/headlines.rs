//! The headlines of the hybrid paper, with all or some of its machine's resources.

use super::power::{Charged, LEFT, OTHERS, SAVED, relative};
use super::{REPORT, ipc, lost};
use crate::estimate::Estimate;
use crate::report::{HEADLINES, Machine};
use crate::row::{Claim, Reason, Row};
use crate::sweep::{Point, Results, SweepPlan};

/// Resources of table 3. The paper gives no latencies.
const RESOURCES: [&str; 1] = ["sm.warps=48"];

fn on(machine: Machine, preset: &'static str) -> Point {
    machine.of(Point::preset(preset), &[], &RESOURCES)
}

/// The paper's own baseline: 16 banks of SRAM, round-robin (table 3).
fn original(machine: Machine) -> Point {
    on(machine, "baseline").with("sm.scheduler=round_robin")
}

pub fn plan(plan: &mut SweepPlan, machine: Machine) {
    ["hrf", "hrf-pg", "hrf-sram"].into_iter().for_each(|preset| plan.point(on(machine, preset)));
    plan.point(original(machine));
}

pub fn rows(results: &Results<'_>, machine: Machine) -> Vec<Row> {
    let (hybrid, gated, sram, own) =
        (on(machine, "hrf"), on(machine, "hrf-pg"), on(machine, "hrf-sram"), original(machine));
    let command = || REPORT.command(results, HEADLINES);
    let loss = |claim: Claim, metric: &str, baseline: &Point| {
        let lost = ipc::loss(results, &hybrid, baseline)?;
        Some(claim.row(format!("IPC lost by the hybrid file, against {metric}"), lost).because(|_| {
            let against = |baseline: &Point| ipc::loss(results, &hybrid, baseline).map(|lost| lost.value);
            let same = ("with the baseline under the same scheduler, of one active warp".to_owned(), against(&sram));
            Reason::found(if *baseline == sram { Vec::new() } else { vec![same] }, command())
        }))
    };
    let power = |point: &Point| relative(results, point, &sram, Charged::AtOnce);
    let why_power = |point: &Point, value: fn(Estimate) -> f64| {
        let left = |charged| relative(results, point, &sram, charged).map(|left| value(Estimate::geometric(left)));
        let against = relative(results, point, &own, Charged::AtOnce).map(|left| value(Estimate::geometric(left)));
        let others = OTHERS.into_iter().filter(|(_, charged)| *charged != Charged::AtOnce);
        let others = others.map(|(words, charged)| (words.to_owned(), left(charged)));
        let first = ("by the power of the paper's baseline".to_owned(), against);
        Reason::found([first].into_iter().chain(others).collect(), command())
    };
    let saved = || {
        let saved = lost(power(&hybrid)?);
        let row = SAVED.row("power saved by the hybrid file, against SRAM under the same scheduler", saved);
        Some(row.because(|_| why_power(&hybrid, |left| left.one_less().value)))
    };
    let left = || {
        let left = Estimate::geometric(power(&gated)?);
        let metric = "power of the hybrid file with power gating, by that of SRAM under the same scheduler";
        Some(LEFT.row(metric, left).because(|_| why_power(&gated, |left| left.value)))
    };
    let rows = [
        loss(ipc::HYBRID, "the paper's baseline: SRAM of 16 banks, round-robin", &own),
        loss(ipc::HYBRID, "SRAM under the same scheduler", &sram)
            .map(|row| row.derived("the same claim: against the paper's baseline")),
        saved(),
        left(),
    ];
    rows.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::preset;

    use super::*;

    #[test]
    fn the_whole_machine_is_the_papers_preset_and_none_of_it_the_designs() {
        assert_eq!(on(Machine::PAPER, "hrf-pg").config().unwrap(), preset("hybrid-paper").unwrap().config);
        assert_eq!(on(Machine::DESIGN, "hrf-pg").config().unwrap(), preset("hrf-pg").unwrap().config);
    }
}
