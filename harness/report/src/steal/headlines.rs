//! The headlines of the stealing paper, with all or some of its machine's resources.

use super::{REPORT, banks, gain, machine, techniques};
use crate::report::{HEADLINES, Machine};
use crate::row::{Claim, Reason, Row};
use crate::sweep::{Point, Results, SweepPlan};

/// II-B: few operand collectors.
const COLLECTORS: &str = "mrf.collectors=4";
/// The reading of IV-B2 that steals every idle bank.
const EAGER: &str = "steal.eager=true";

/// A design's preset with the resources of `of`. The paper gives no latencies.
fn on(of: Machine, preset: &'static str) -> Point {
    let steals = preset.starts_with("steal");
    let resources = [COLLECTORS, EAGER];
    of.of(machine(preset), &[], if steals { &resources } else { &resources[..1] })
}

/// A design's preset on the paper's machine.
pub fn papers(preset: &'static str) -> Point {
    on(Machine::PAPER, preset)
}

pub fn plan(plan: &mut SweepPlan, machine: Machine) {
    for preset in ["banks-8", "banks-16", "steal-read-8", "steal-write-8", "steal-8"] {
        plan.point(on(machine, preset));
    }
}

pub fn rows(results: &Results<'_>, machine: Machine) -> Vec<Row> {
    let row = |claim: Claim, metric: &str, preset: &'static str, baseline: &'static str| {
        let (point, baseline) = (on(machine, preset), on(machine, baseline));
        let row = claim.mean(format!("IPC gained by {metric}"), gain(results, &point, &baseline)?);
        Some(row.because(|_| Reason::unknown(REPORT.command(results, HEADLINES))))
    };
    let rows = [
        row(banks::EIGHT, "8 banks, over 16", "banks-8", "banks-16"),
        row(techniques::READ, "read stealing, 8 banks", "steal-read-8", "banks-8"),
        row(techniques::READ_16, "read stealing, 8 banks, over 16", "steal-read-8", "banks-16"),
        row(techniques::MORE, "write stealing, 8 banks", "steal-write-8", "banks-8"),
        row(banks::SAME, "read and write stealing, 8 banks", "steal-8", "banks-8"),
        row(techniques::BOTH_16, "read and write stealing, 8 banks, over 16", "steal-8", "banks-16"),
    ];
    rows.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_machine_is_the_papers_preset_and_none_of_it_the_designs() {
        assert_eq!(on(Machine::PAPER, "steal-8").config(), machine("stealing-paper").config());
        assert_eq!(on(Machine::DESIGN, "steal-8").config(), machine("steal-8").config());
    }
}
