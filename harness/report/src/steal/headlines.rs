//! The headlines of the stealing paper, with all or some of its machine's resources.

use super::{REPORT, banks, gain, machine, techniques, why, with_resources};
use crate::report::{HEADLINES, Machine};
use crate::row::{Claim, Reason, Row};
use crate::sweep::{Point, Results, SweepPlan};

/// A design's preset with the resources of `of`, in a file with room for all warps.
fn on(of: Machine, preset: &'static str) -> Point {
    with_resources(of, machine(preset))
}

pub fn plan(plan: &mut SweepPlan, machine: Machine) {
    let points = ["banks-8", "banks-16", "steal-read-8", "steal-write-8", "steal-8"].map(|preset| on(machine, preset));
    if machine == Machine::PAPER {
        why::plan(plan, points);
    } else {
        points.into_iter().for_each(|point| plan.point(point));
    }
}

pub fn rows(results: &Results<'_>, machine: Machine) -> Vec<Row> {
    let row = |claim: Claim, metric: &str, preset: &'static str, baseline: &'static str| {
        let (point, baseline) = (on(machine, preset), on(machine, baseline));
        let row = claim.mean(format!("IPC gained by {metric}"), gain(results, &point, &baseline)?);
        Some(row.because(|_| {
            if machine == Machine::PAPER {
                why::gain_of(results, HEADLINES, &point, &baseline)
            } else {
                Reason::unknown(REPORT.command(results, HEADLINES))
            }
        }))
    };
    let rows = [
        row(banks::EIGHT, "8 banks, over 16", "banks-8", "banks-16"),
        row(techniques::READ, "read stealing, 8 banks", "steal-read-8", "banks-8"),
        row(techniques::READ_16, "read stealing, 8 banks, over 16", "steal-read-8", "banks-16"),
        row(techniques::MORE, "write stealing, 8 banks", "steal-write-8", "banks-8"),
        row(banks::same(8), "read and write stealing, 8 banks", "steal-8", "banks-8"),
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
