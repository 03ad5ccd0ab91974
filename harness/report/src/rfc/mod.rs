//! The report on the register file cache and the two-level scheduler: the RFC paper, chapter 5 of the hierarchy thesis, and the LRF above the cache
//! from chapter 6.

mod cache;
mod combined;
mod energy;
mod errata;
mod headlines;
mod levels;
mod reads;
mod two_level;
mod values;

use gpurf_compiler::{AddressBits, Schedule};

use crate::cached::{self, ACTIVE, machine};
use crate::code::Code;
use crate::energy::Prices;
use crate::kernels::RFC_PAPER;
use crate::report::{Definition, Headlines, Orders, Part};
use crate::row::{Absent, Reason, mean};
use crate::shown::{kernels, lines};
use crate::sweep::{Point, Results};

/// The reports of this design.
pub const REPORTS: &[Definition] = &[REPORT];

/// Prices of the cache, which is the level above the main register file.
pub const PRICES: Prices =
    Prices { entries: |config| config.rfc.entries, traffic: |run| Some(cached::of_cache(run)), leaking: |_, _| None };

/// The code that the paper ran: compiled by a production compiler (RFC paper 5.1), with addresses as in the thesis's chapter 6, whose benchmarks are
/// from the same suites.
const CODE: Code = Code { schedule: Schedule::Latency, address_bits: AddressBits::Narrow };

/// The report.
const REPORT: Definition = Definition {
    name: "rfc",
    title: "The register file cache and the two-level scheduler (RFC paper; hierarchy thesis, chapter 5 and 6.5.2)",
    kernels: RFC_PAPER,
    code: CODE,
    orders: Some(ORDERS),
    headlines: Headlines { plan: headlines::plan, rows: headlines::rows },
    settings: &[
        "rfc.replacement=lru",
        "rfc.live=true",
        "rfc.bypass=true",
        "rfc.loads=true",
        "rfc.reads=true",
        "rfc.release=true",
        "rfc.prompt=true",
    ],
    parts: &[
        Part { name: "values", plan: values::plan, rows: values::rows, plots: values::plots },
        Part { name: "cache", plan: cache::plan, rows: cache::rows, plots: cache::plots },
        Part { name: "two-level", plan: two_level::plan, rows: two_level::rows, plots: two_level::plots },
        Part { name: "combined", plan: combined::plan, rows: combined::rows, plots: combined::plots },
        Part { name: "energy", plan: energy::plan, rows: energy::rows, plots: energy::plots },
        Part { name: "levels", plan: levels::plan, rows: levels::rows, plots: levels::plots },
        Part { name: "reads", plan: reads::plan, rows: reads::rows, plots: reads::plots },
        Part { name: "errata", plan: |_| (), rows: errata::rows, plots: |_| Vec::new() },
    ],
    absent: ABSENT,
};

/// The headlines with other instruction orders: the PTX's own order, and expression-tree order.
const ORDERS: Orders = Orders {
    plan: |plan| {
        plan.usage();
        [
            cache::all_warps(ENTRIES),
            cache::live(ENTRIES),
            combined::cache(ENTRIES, ACTIVE),
            combined::live(ENTRIES, ACTIVE),
        ]
        .into_iter()
        .for_each(|point| plan.point(point));
        [8, 32].into_iter().for_each(|warps| plan.point(two_level::active(warps)));
        combined::SIZES.into_iter().for_each(|entries| plan.point(combined::live(entries, ACTIVE)));
    },
    metrics: &[
        "values read once, within 3 instructions",
        "MRF reads avoided, 6 entries, mean of all workloads",
        "MRF writes avoided, 6 entries, mean of all workloads",
        "MRF writes avoided, 6 entries, last-read bits, mean of all workloads",
        "IPC of 8 active warps, greedy, by that of all 32",
        "MRF reads avoided, 6 entries, 8 active warps",
        "MRF writes avoided, 6 entries, 8 active warps, last-read bits",
        "register file energy saved with wires, 6 entries, 8 active warps",
        "register file energy saved, the thesis's energies, 6 entries, 8 active warps",
        "entries with the least energy, 8 active warps",
    ],
};

const NO_SHADERS: &str = "there are no shaders among the kernels";

const ABSENT: &[Absent] = &[
    Absent {
        source: "RFC paper 5.3",
        text: "a replacement that first evicts what is not read before the next long-latency operation",
        why: "not built; the rows on bypassing are without it",
    },
    Absent {
        source: "RFC paper, figure 8; hierarchy thesis, figures 5.6 and 5.11",
        text: "across all shaders at least 35 % of reads and 40 % of writes are avoided",
        why: NO_SHADERS,
    },
    Absent { source: "RFC paper 5.2, figure 9", text: "6 active warps lose 5 % on graphics shaders", why: NO_SHADERS },
    Absent { source: "RFC paper, table 5", text: "the column of shaders", why: NO_SHADERS },
    Absent {
        source: "RFC paper 2.2, figures 2, 6, 11; hierarchy thesis, figure 5.12",
        text: "categories of traces: video, simulation, image processing, HPC, of which 40 % of values are read again",
        why: "the kernels have no such categories, and none was scheduled by hand as the HPC traces were",
    },
    Absent {
        source: "RFC paper 5.1; hierarchy thesis 5.4.1, figure 5.4",
        text: "the knee of the curve is about 6 entries",
        why: "a knee is no number that a row can have; the plot of figure 6 shows it",
    },
    Absent {
        source: "RFC paper, figures 7, 9 and 10; hierarchy thesis, figures 5.5 and 5.10",
        text: "the points of each trace, and their spread",
        why: "the text prints no numbers for them; the plots show ours",
    },
];

/// Number of entries in most of the paper's results.
const ENTRIES: u32 = 6;

/// The command that repeats a part of the report on all kernels: its output has every mean that a reason quotes.
fn part_command(results: &Results<'_>, part: &str) -> String {
    REPORT.command(results, part)
}

/// The reason of a row whose cause is not known, with the command that shows the row.
fn unknown(results: &Results<'_>, part: &str) -> Reason {
    Reason::unknown(part_command(results, part))
}

/// The mean over kernels of a value in a configuration.
fn mean_of(results: &Results<'_>, point: &Point, value: impl Fn(&crate::Measured) -> f64) -> Option<f64> {
    results.each(point, value).map(|values| mean(&values))
}

#[cfg(test)]
mod tests;
