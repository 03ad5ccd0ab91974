//! The report on bank stealing: the stealing paper, sections III and VI.

mod banks;
mod conflicts;
mod errata;
mod headlines;
mod sizes;
mod techniques;
mod times;
mod utilisation;
mod why;
mod writes;

use crate::code::Code;
use crate::energy::Prices;
use crate::kernels::STEALING_PAPER;
use crate::report::{Definition, Headlines, Machine, Part};
use crate::row::{Absent, PerKernel};
use crate::sweep::{Measured, Point, Results};

/// The reports of this design.
pub const REPORTS: &[Definition] = &[REPORT];

/// Prices of the file, whose parked values are in the banks too.
pub const PRICES: Prices = Prices::BANKS;

/// The report.
const REPORT: Definition = Definition {
    name: "stealing",
    title: "Bank stealing: idle banks for reads and for writes (stealing paper)",
    kernels: STEALING_PAPER,
    code: Code::PTX,
    orders: None,
    headlines: Headlines { plan: headlines::plan, rows: headlines::rows },
    settings: &["steal.unread=true", "steal.redirect=true", "steal.drop=true"],
    parts: &[
        Part { name: "conflicts", plan: conflicts::plan, rows: conflicts::rows, plots: conflicts::plots },
        Part { name: "utilisation", plan: utilisation::plan, rows: utilisation::rows, plots: utilisation::plots },
        Part { name: "banks", plan: banks::plan, rows: banks::rows, plots: banks::plots },
        Part { name: "techniques", plan: techniques::plan, rows: techniques::rows, plots: techniques::plots },
        Part { name: "writes", plan: writes::plan, rows: writes::rows, plots: writes::plots },
        Part { name: "times", plan: times::plan, rows: times::rows, plots: times::plots },
        Part { name: "sizes", plan: sizes::plan, rows: sizes::rows, plots: sizes::plots },
        Part { name: "errata", plan: |_| (), rows: errata::rows, plots: |_| Vec::new() },
    ],
    absent: ABSENT,
};

const ABSENT: &[Absent] = &[
    Absent {
        source: "stealing paper, figures 3, 11(b) to (d), 15, 16, tables II and III",
        text: "area, delay, power and energy of banks and crossbars, and what is divided by them",
        why: "the text does not print what the memory compiler gave; banks are RAM cells here, which a technology library replaces",
    },
    Absent {
        source: "stealing paper IV-D2",
        text: "the added arbitration is less than 1.2 % of the area of the register file",
        why: "no memory compiler; `make synth` prints what the file has more with stealing than without, in gates and flip-flops, and its share of these with a bit of RAM counted as a gate",
    },
    Absent {
        source: "stealing paper, figures 2 to 16",
        text: "the bars of each benchmark",
        why: "the text prints no numbers for them, but those that are compared; the plots show ours",
    },
];

/// The source of rows with results that the paper does not have.
const NOT_SAID: &str = "not in the paper";

/// A number of collectors for "the limited number of collectors" (II-B).
const COLLECTORS: &str = "mrf.collectors=4";
/// The reading of IV-B2 that steals every idle bank.
const EAGER: &str = "steal.eager=true";

/// A design's preset with the resources of `of`. The paper gives no latencies.
fn with_resources(of: Machine, point: Point) -> Point {
    let resources = [COLLECTORS, EAGER];
    let resources = if point.preset.starts_with("steal") { &resources[..] } else { &resources[..1] };
    of.of(point, &[], resources)
}

/// A design's preset with the resources of the paper's machine, `stealing-paper`.
fn papers(point: Point) -> Point {
    with_resources(Machine::PAPER, point)
}

/// The same point with the design's resources: 8 collectors, and thefts only where they remove a conflict.
fn designs(point: Point) -> Point {
    without(without(point, COLLECTORS), EAGER)
}

/// The same point with thefts of reads only where they remove a conflict.
fn strict(point: Point) -> Point {
    if matches!(point.preset, "steal-8" | "steal-read-8") { without(point, EAGER) } else { point }
}

/// The same point without a setting.
fn without(mut point: Point, setting: &str) -> Point {
    point.set.retain(|set| set != setting);
    point
}

/// A preset whose file has room for all of the paper's 48 warps with any number of banks, so that comparisons do not depend on the number of warps.
fn machine(preset: &'static str) -> Point {
    Point::preset(preset).with("mrf.kilobytes=512")
}

/// Numbers of banks in the figures.
const BANKS: [u32; 4] = [4, 8, 16, 32];

/// A point with `banks` banks, if its preset has `has` banks.
fn with_banks(point: Point, has: u32, banks: u32) -> Point {
    if banks == has { point } else { point.with(format!("mrf.banks={banks}")) }
}

/// The file without stealing.
fn straight(banks: u32) -> Point {
    if banks == 8 { papers(machine("banks-8")) } else { with_banks(papers(machine("banks-16")), 16, banks) }
}

/// The file with read and write stealing.
fn stealing(banks: u32) -> Point {
    with_banks(papers(machine("steal-8")), 8, banks)
}

/// Eight banks with read stealing alone.
fn reading() -> Point {
    papers(machine("steal-read-8"))
}

/// Eight banks with write stealing alone.
fn writing() -> Point {
    papers(machine("steal-write-8"))
}

/// The relative gain of IPC in one configuration over another.
fn gain(results: &Results<'_>, point: &Point, baseline: &Point) -> Option<PerKernel> {
    results.both(point, baseline, |a, b| crate::ratio(a.ipc(), b.ipc()) - 1.0)
}

/// Reads of operands: all reads except those that fetch parked values.
fn operands(run: &Measured) -> f64 {
    let fetched = event::RETURNS.iter().map(|name| run.event(name)).sum();
    run.event(event::READ).saturating_sub(fetched) as f64
}

/// Writes of instructions' results: all writes except those of parked values that return.
fn results_written(run: &Measured) -> f64 {
    run.event(event::WRITE).saturating_sub(run.event(event::LAND)) as f64
}

/// Average number of cycles that an operand waits because of these conflicts.
fn penalty(run: &Measured, conflicts: &[&str]) -> f64 {
    crate::ratio(conflicts.iter().map(|name| run.event(name)).sum::<u64>() as f64, operands(run))
}

/// The fraction of the accesses that `banks` banks could serve which they do serve.
fn bank_utilisation(run: &Measured, banks: u32) -> f64 {
    (run.a_cycle(event::READ) + run.a_cycle(event::WRITE)) / f64::from(banks)
}

/// Names of events: docs/blocks/steal.md, docs/blocks/mrf.md, docs/blocks/sm.md.
mod event {
    events! {
        READ = "read",
        WRITE = "write",
        INTRA = "conflict_intra",
        INTER = "conflict_inter",
        READ_WRITE = "conflict_read_write",
        NORMAL = "write_normal",
        FORCED = "write_forced",
        PARTIAL = "write_partial",
        PARK = "write_parked",
        NEXT = "return_next",
        LATER = "return_later",
        RETURN_FORCED = "return_forced",
        LAND = "land",
        WAIT_PARKED = "wait_parked",
        WAIT_RETURN = "wait_return",
        PARKED = "parked",
        PLACES = "places",
    }

    /// Events that count reads of parked values.
    pub const RETURNS: [&str; 3] = [NEXT, LATER, RETURN_FORCED];
}

#[cfg(test)]
mod tests;
