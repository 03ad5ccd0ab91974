//! How long registers are idle, and how full the lookup table is: thesis 4.1.1, figure 4.2; 4.2.4.

use super::{NOT_SAID, REPORT, event, greener, sleeping};
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row, Unit};
use crate::shown::kernels;
use crate::sweep::{Point, Results, SweepPlan};

const ACCESSED: Claim = Claim::share("sharing thesis 4.1.1, figure 4.2", "less than 2 %: 0-2 %", 0.0, 0.02);
const ENTRIES: Claim =
    Claim::share("sharing thesis 4.2.4", "less than 2 entries a warp: 0-2", 0.0, 2.0).in_unit(Unit::Count);
const MORE: Claim = Claim::none(NOT_SAID);

/// A lookup table large enough that it is rarely full.
fn large() -> Point {
    greener().with("power.table_entries=4")
}

pub fn plan(plan: &mut SweepPlan) {
    [sleeping(), greener(), large()].into_iter().for_each(|point| plan.point(point));
}

/// The fraction of cycles in which an allocated register is read or written. With Sleep-Reg, all registers that are not OFF are allocated.
fn accessed(results: &Results<'_>) -> Option<PerKernel> {
    results.each(&sleeping(), |run| {
        let accesses = run.event(event::READ) + run.event(event::WRITE);
        crate::ratio(accesses as f64, (run.event(event::ON) + run.event(event::ASLEEP)) as f64)
    })
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let warps = results.config(&greener()).map_or(0.0, |config| config.sm.warps as f64);
    let entries = results.each(&large(), |run| run.a_cycle(event::USED) / warps);
    let full =
        results.each(&greener(), |run| crate::ratio(run.event(event::FULL) as f64, run.event(event::FETCH) as f64));
    let why = || Reason::unknown(REPORT.command(results, "idle"));
    let rows = [
        accessed(results)
            .map(|each| ACCESSED.mean("cycles in which an allocated register is accessed", each).because(|_| why())),
        entries.map(|each| {
            ENTRIES.mean("entries of the lookup table in use, of each warp, table of 4", each).because(|_| why())
        }),
        full.map(|each| MORE.mean("instructions that find no free entry, table of 2", each)),
    ];
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let series = vec![("allocated registers", accessed(results)?)];
        Some(kernels(
            "Cycles in which a register is accessed (figure 4.2)",
            "share",
            series,
            Style::Lines,
            Some([0.0, 0.02]),
        ))
    };
    plot().into_iter().collect()
}
