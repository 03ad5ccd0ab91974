//! The report on the software-managed register hierarchy: LRF, ORF and MRF, chapter 6 of the hierarchy thesis.
//!
//! Accesses under software control are counted on the functional oracle, as the thesis counted them on a simulator of PTX. The hardware-managed cache
//! and LRF run on the model of the SM.

mod bandwidth;
mod cached;
mod energy;
mod errata;
mod headlines;
mod levels;
mod limits;
mod steps;
mod values;
mod variable;

use cached::{levels as cached_levels, two as cached_two, unmarked};
use gpurf_compiler::hierarchy::HierarchyOptions;
use gpurf_compiler::{AddressBits, Schedule};
use gpurf_isa::LastResultFile;
use gpurf_oracle::levels::LevelCounts;

use crate::code::Code;
use crate::energy::Prices;
use crate::estimate::Estimate;
use crate::follow::{Flushed, FollowedCache};
use crate::kernels::HIERARCHY_THESIS;
use crate::report::{Definition, Headlines, Orders, Part};
use crate::row::{Absent, PerKernel, Reason, mean};
use crate::shown::{kernels, lines};
use crate::sweep::{Results, SweepPlan};

/// The reports of this design.
pub const REPORTS: &[Definition] = &[REPORT];

/// Prices of the hierarchy: the ORF is the level above the main register file.
pub const PRICES: Prices =
    Prices { entries: |config| config.orf.entries, traffic: |run| Some(energy::of_run(run)), leaking: |_, _| None };

/// The code that the thesis ran: PTX, unchanged (6.1), in which few values are wide (6.2.2).
const CODE: Code = Code { schedule: Schedule::Tree, address_bits: AddressBits::Narrow };

/// The report.
const REPORT: Definition = Definition {
    name: "hierarchy",
    title: "The software-managed register hierarchy: LRF, ORF and MRF (hierarchy thesis, chapter 6)",
    kernels: HIERARCHY_THESIS,
    code: CODE,
    orders: Some(ORDERS),
    headlines: Headlines { plan: headlines::plan, rows: headlines::rows },
    settings: &[],
    parts: &[
        Part { name: "values", plan: values::plan, rows: values::rows, plots: values::plots },
        Part { name: "levels", plan: levels::plan, rows: levels::rows, plots: levels::plots },
        Part { name: "energy", plan: energy::plan, rows: energy::rows, plots: energy::plots },
        Part { name: "steps", plan: steps::plan, rows: steps::rows, plots: steps::plots },
        Part { name: "bandwidth", plan: bandwidth::plan, rows: bandwidth::rows, plots: bandwidth::plots },
        Part { name: "limits", plan: limits::plan, rows: limits::rows, plots: limits::plots },
        Part { name: "errata", plan: |_| (), rows: errata::rows, plots: |_| Vec::new() },
    ],
    absent: ABSENT,
};

/// The headlines with other instruction orders: the PTX's own order, and scheduling by latency.
const ORDERS: Orders = Orders {
    plan: |plan| {
        plan.usage();
        for entries in SIZES {
            [two(entries), unified(entries), split(entries)].into_iter().for_each(|options| plan.levels(options));
        }
        plan.point(cached_two(ENTRIES));
    },
    metrics: &[
        "values read once, by the next instruction",
        "register file energy saved, hardware cache with last-read bits, 3 entries, 8 active warps",
        "register file energy saved, software, two levels, 3 entries, 8 active warps",
        "register file energy saved, software, three levels, split LRF, 3 entries, 8 active warps",
        "reads that the LRF serves, split LRF, 3 entries, 8 active warps",
        "entries with the least energy, software, two levels",
        "entries with the least energy, software, split LRF",
    ],
};

const NO_DGEMM: &str =
    "double precision is not in the instruction set, and dgemm in integer instructions would be another kernel";

const ABSENT: &[Absent] = &[
    Absent {
        source: "hierarchy thesis 6.5.4, figure 6.16",
        text: "dgemm saves 56 % of register file energy",
        why: NO_DGEMM,
    },
    Absent {
        source: "hierarchy thesis 6.2.2",
        text: "7 ORF entries instead of 3 increase what dgemm saves from 56 % to 60 %",
        why: NO_DGEMM,
    },
    Absent {
        source: "hierarchy thesis 6.1",
        text: "5 % of the values of HPC traces are read once, by the next instruction",
        why: "there are no HPC traces, which were scheduled by hand",
    },
    Absent {
        source: "hierarchy thesis 6.3",
        text: "strands that end as a merge is uncertain are rare",
        why: "accesses are counted by strand, and not by what ends it; the compiler says it of each place (`gpurf compile --annotate`)",
    },
    Absent {
        source: "hierarchy thesis 6.4.5",
        text: "almost all values of the LRF live for 1 or 2 instructions and are read once",
        why: "not counted: a strand's counts do not say for how long a value was there",
    },
    Absent {
        source: "hierarchy thesis 6.4.5",
        text: "a value in both LRF and ORF rarely saves energy",
        why: "the compiler puts a value in one of them, as the thesis's does",
    },
    Absent {
        source: "hierarchy thesis 6.5.5, figure 6.17",
        text: "levels as ranges of the register names, which take no bits",
        why: "not built: an instruction has the level beside the name, and the rows on bits have what that costs",
    },
];

/// Numbers of entries in the figures.
const SIZES: [u32; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// Entries of the most efficient designs.
const ENTRIES: u32 = 3;

/// Number of active warps.
const ACTIVE: u32 = 8;

/// The design's size, in the words of rows.
const SIZE: &str = "3 entries, 8 active warps";

/// A hierarchy of ORF and MRF.
fn two(entries: u32) -> HierarchyOptions {
    HierarchyOptions { orf_entries: entries as u8, active_warps: ACTIVE as u8, ..HierarchyOptions::NONE }
}

/// The same with an LRF of one bank.
fn unified(entries: u32) -> HierarchyOptions {
    HierarchyOptions { lrf: LastResultFile::Unified, ..two(entries) }
}

/// The same with an LRF of one bank for each source.
fn split(entries: u32) -> HierarchyOptions {
    HierarchyOptions { lrf: LastResultFile::Split, ..two(entries) }
}

/// Without the optimisations: "our most basic software-managed ORF".
fn basic(options: HierarchyOptions) -> HierarchyOptions {
    HierarchyOptions { forward_branches: false, read_operands: false, partial_ranges: false, ..options }
}

/// The levels keep their contents where a warp is descheduled.
fn kept(options: HierarchyOptions) -> HierarchyOptions {
    HierarchyOptions { keep_when_descheduled: true, ..options }
}

/// A hierarchy with `entries` entries at the price of its present number.
fn larger(options: HierarchyOptions, entries: u32) -> HierarchyOptions {
    HierarchyOptions { orf_entries: entries as u8, priced_as: options.orf_entries, ..options }
}

/// The experiment without last-read bits, in the words of rows.
const UNMARKED: &str = "without last-read bits";

/// The hardware cache with last-read bits, simulated in program order, and flushed as `flushed` says.
fn cache(entries: u32, flushed: Flushed) -> FollowedCache {
    FollowedCache { entries: entries as usize, live: true, flushed }
}

/// Entries in experiments with more room.
const MANY: u32 = 8;

/// Plans a design, and the counts that experiments of rows about it need.
fn plan_with_experiments(plan: &mut SweepPlan, options: HierarchyOptions) {
    [options, kept(options), larger(options, MANY)].into_iter().for_each(|options| plan.levels(options));
}

/// Energy relative to that of an MRF alone.
fn normalised(results: &Results<'_>, options: &HierarchyOptions) -> Option<PerKernel> {
    results.levels(options, |counts| crate::levels::energy(counts, options))
}

/// The saved part of the energy of an MRF alone.
fn saved(results: &Results<'_>, options: &HierarchyOptions) -> Option<PerKernel> {
    normalised(results, options).map(|energy| each(energy, |energy| 1.0 - energy))
}

/// Applies a function to each kernel's value.
fn each(values: PerKernel, change: impl Fn(f64) -> f64) -> PerKernel {
    values.into_iter().map(|(name, value)| (name, change(value))).collect()
}

/// By what fraction `a` is more than `b`: the ratio of their means, and of each kernel's values, less one.
fn more(a: &PerKernel, b: &PerKernel) -> Estimate {
    let mut more = Estimate::ratio_of_means(a, b).less_one();
    // An increase from 0 counts as 0.
    more.per_kernel.iter_mut().filter(|(name, _)| b[*name] == 0.0).for_each(|(_, more)| *more = 0.0);
    if mean(b) == 0.0 { Estimate { value: 0.0, interval: None, ..more } } else { more }
}

/// By what fraction `a` is less than `b`.
fn less(a: &PerKernel, b: &PerKernel) -> Estimate {
    more(a, b).scaled(-1.0, 0.0)
}

/// Number of operands.
fn operands(counts: &LevelCounts) -> f64 {
    counts.flat.reads() as f64
}

/// Number of results.
fn results_of(counts: &LevelCounts) -> f64 {
    counts.flat.writes() as f64
}

/// The metric of a row, for each kernel with a design; `None` if it was not counted.
type Value<'a> = &'a dyn Fn(&HierarchyOptions) -> Option<PerKernel>;

/// Experiments for a row about a design: the same metric if contents are kept where warps are descheduled, and with more entries at the same price.
fn why(results: &Results<'_>, part: &str, options: &HierarchyOptions, value: Value<'_>) -> Reason {
    let of = |options: HierarchyOptions| value(&options).map(|values| mean(&values));
    Reason::found(changed(options, of), command(results, part))
}

/// The ratio of two means over kernels, each of a design's counts.
fn ratio(
    results: &Results<'_>,
    options: &HierarchyOptions,
    part: fn(&LevelCounts) -> f64,
    of: fn(&LevelCounts) -> f64,
) -> Option<Estimate> {
    Some(Estimate::ratio_of_means(&results.levels(options, part)?, &results.levels(options, of)?))
}

/// The two experiments on a hierarchy, with the value of a row in each.
fn changed(options: &HierarchyOptions, of: impl Fn(HierarchyOptions) -> Option<f64>) -> Vec<(String, Option<f64>)> {
    let experiments = [
        ("if contents stayed where a warp is descheduled,", kept(*options)),
        ("with 8 entries at the same price", larger(*options, MANY)),
    ];
    experiments.into_iter().map(|(words, options)| (words.to_owned(), of(options))).collect()
}

/// The reason of a row whose cause is not known, with the command that shows the row.
fn unknown(results: &Results<'_>, part: &str) -> Reason {
    Reason::unknown(command(results, part))
}

/// The command that repeats a part on all kernels: its output has every mean that a reason quotes.
fn command(results: &Results<'_>, part: &str) -> String {
    REPORT.command(results, part)
}

#[cfg(test)]
mod tests;
