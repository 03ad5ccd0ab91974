//! The number of blocks that reside in the SM: thesis 2.5.1.1, figure 2.12, tables 2.1, 2.2, 2.6 and 2.8; 3.4.1.1, figure 3.8.

use gpurf_blocks::config::Config;
use gpurf_isa::image::Kernel as Code;
use gpurf_machine::demand;
use gpurf_oracle::Geometry;
use gpurf_oracle::host::named;
use gpurf_sm::residency::{Residency, Room, Sharing};

use super::{NOT_SAID, Registers, Release, Scratchpad, Shared, event};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row, Unit};
use crate::shown::kernels;
use crate::sweep::{Kernel, Point, Results, SweepPlan};

const WARPS: Claim = Claim::none(NOT_SAID).in_unit(Unit::Count);

/// A kernel of the thesis: our name, threads of a block, registers of a thread or bytes of a block, and its cells in the table.
type Thesis = (&'static str, u32, u32, &'static [u32]);

/// A table of the thesis with numbers of blocks.
struct Table {
    source: &'static str,
    /// The metric on its cells, and the claim about them.
    cells: (&'static str, Claim),
    /// The claim on its kernels: 90 % shared by 0 %.
    more: Claim,
    /// The number of private tenths in each of its columns; `None`: no sharing.
    columns: &'static [Option<u32>],
    rows: &'static [Thesis],
}

/// The columns of tables 2.6 and 2.8.
const COLUMNS: [Option<u32>; 6] = [None, Some(9), Some(7), Some(5), Some(3), Some(1)];

const SOURCE: &str = "sharing thesis 2.5.1.1, table 2.6";
const REGISTERS: Table = Table {
    source: SOURCE,
    cells: (
        "cells of table 2.6 that come out with the thesis's registers and threads",
        Claim::share(SOURCE, "its cells: 100 %", 1.0, 1.0),
    ),
    more: Claim::share(SOURCE, "1.54: 1.3-1.8", 1.3, 1.8).in_unit(Unit::Ratio),
    columns: &COLUMNS,
    rows: &[
        ("backprop", 256, 24, &[5, 5, 5, 5, 6, 6]),
        ("bPlusTree", 508, 24, &[2, 2, 2, 3, 3, 3]),
        ("hotspot", 256, 36, &[3, 3, 3, 4, 4, 6]),
        ("LIB", 192, 36, &[4, 4, 5, 5, 6, 8]),
        ("MUM", 256, 28, &[4, 4, 4, 5, 5, 6]),
        ("mri-q", 256, 24, &[5, 5, 5, 5, 6, 6]),
        ("sgemm", 128, 48, &[5, 5, 5, 5, 6, 8]),
        ("stencil", 512, 28, &[2, 2, 2, 2, 2, 3]),
    ],
};

const SOURCE_B: &str = "sharing thesis 2.5.1.1, table 2.8";
const SCRATCHPAD: Table = Table {
    source: SOURCE_B,
    cells: (
        "cells of table 2.8 that come out with the thesis's bytes and threads",
        Claim::share(SOURCE_B, "its cells: 100 %", 1.0, 1.0),
    ),
    more: Claim::share(SOURCE_B, "1.48: 1.23-1.73", 1.23, 1.73).in_unit(Unit::Ratio),
    columns: &COLUMNS,
    rows: &[
        ("CONV1", 64, 2560, &[6, 6, 6, 6, 7, 8]),
        ("CONV2", 128, 5184, &[3, 3, 3, 3, 3, 4]),
        ("lavaMD", 128, 7200, &[2, 2, 2, 2, 2, 4]),
        ("NW1", 16, 2180, &[7, 7, 7, 8, 8, 8]),
        ("NW2", 16, 2180, &[7, 7, 7, 8, 8, 8]),
        ("SRAD1", 256, 6144, &[2, 2, 2, 3, 4, 4]),
        ("SRAD2", 256, 5120, &[3, 3, 3, 3, 3, 5]),
    ],
};

/// Bytes and threads, if they are known (tests/kernels/README.md); FDTD3d has half of the thesis's threads.
const SOURCE_3: &str = "sharing thesis 3.4.1.1, figure 3.8";
const RELEASE: Table = Table {
    source: SOURCE_3,
    cells: ("blocks of 3.4.1.1 that come out", Claim::share(SOURCE_3, "all: 100 %", 1.0, 1.0)),
    more: Claim::share(SOURCE_3, "1.92: 1.67-2.17", 1.67, 2.17).in_unit(Unit::Ratio),
    columns: &[None, Some(1)],
    rows: &[
        ("backprop", 256, 9408, &[1, 2]),
        ("DCT1", 64, 2112, &[7, 14]),
        ("DCT2", 64, 2112, &[7, 14]),
        ("DCT3", 128, 2176, &[7, 12]),
        ("DCT4", 128, 2176, &[7, 12]),
        ("NQU", 64, 10496, &[1, 2]),
        ("SRAD1", 576, 13824, &[1, 2]),
        ("SRAD2", 576, 11520, &[1, 2]),
        ("FDTD3d", 256, 3840, &[4, 6]),
        ("heartwall", 512, 11872, &[1, 2]),
        ("histogram", 192, 9216, &[1, 2]),
        ("MC1", 32, 9216, &[1, 2]),
    ],
};

fn table(of: Shared) -> &'static Table {
    match of {
        Registers => &REGISTERS,
        Scratchpad => &SCRATCHPAD,
        Release => &RELEASE,
    }
}

/// A cell of a table.
#[cfg(test)]
pub(super) struct Cell {
    pub kernel: &'static str,
    pub threads: u32,
    /// Registers of a thread, or bytes of a block.
    pub amount: u32,
    /// Private tenths; `None`: no sharing.
    pub private: Option<u32>,
    pub blocks: u32,
}

/// The cells of a table.
#[cfg(test)]
pub(super) fn cells_of(of: Shared) -> Vec<Cell> {
    let Table { columns, rows, .. } = table(of);
    let row = |&(kernel, threads, amount, blocks): &Thesis| {
        let cell = move |(&private, &blocks)| Cell { kernel, threads, amount, private, blocks };
        columns.iter().zip(blocks).map(cell)
    };
    rows.iter().flat_map(row).collect()
}

/// The machine for a column of a table.
fn column(of: Shared, private: Option<u32>) -> Point {
    private.map_or_else(|| of.baseline(), |private| of.sharing().with(format!("share.private={private}")))
}

/// The blocks of a launch that reside in the SM; `None` if no block fits.
pub(super) fn residency(config: &Config, code: &Code, geometry: Geometry) -> Option<Residency> {
    let residency = Room::of(config).residency(&demand(code, &geometry), Sharing::of(config));
    (residency.hosts > 0).then_some(residency)
}

/// The resident blocks of each launch of a kernel on a machine.
fn launches(results: &Results<'_>, kernel: &Kernel, point: &Point) -> Option<Vec<Residency>> {
    let config = results.config(point)?;
    let of = |launch: &gpurf_launch::Launch| {
        let code = named("kernel", &launch.kernel, &kernel.image.kernels, |code: &Code| &code.name).ok()?;
        let geometry = Geometry { grid: launch.grid, block: launch.block, dynamic_shared: launch.dynamic_shared };
        residency(&config, code, geometry)
    };
    kernel.manifest.launches.iter().map(of).collect()
}

/// Resident blocks of each kernel on a machine: the mean over its launches.
fn blocks(results: &Results<'_>, point: &Point) -> Option<PerKernel> {
    let of = |kernel: &Kernel| {
        let all = launches(results, kernel, point)?;
        Some((
            kernel.name.clone(),
            crate::ratio(all.iter().map(|residency| f64::from(residency.blocks())).sum(), all.len() as f64),
        ))
    };
    results.kernels.iter().map(of).collect()
}

/// Resident blocks of a kernel with these sizes: threads, registers of a thread, bytes of a block.
fn of_sizes(point: &Point, threads: u32, registers: u16, bytes: u32) -> Option<u32> {
    let code = Code { registers, static_shared: bytes, ..Code::default() };
    let geometry = Geometry { grid: [1; 3], block: [threads, 1, 1], dynamic_shared: 0 };
    Some(residency(&point.config().ok()?, &code, geometry)?.blocks())
}

/// Resident blocks with this amount of the shared resource. With shared scratchpad memory, a thread has `registers` registers.
fn of_amount(of: Shared, private: Option<u32>, threads: u32, amount: u32, registers: u16) -> u32 {
    let (registers, bytes) = if of == Registers { (amount as u16, 0) } else { (registers, amount) };
    of_sizes(&column(of, private), threads, registers, bytes).unwrap_or(0)
}

/// The number of cells of a row that our residency model reproduces for the thesis's kernel.
fn cells(of: Shared, &(_, threads, amount, expected): &Thesis) -> usize {
    let same = |&(&private, &expected): &(&Option<u32>, &u32)| of_amount(of, private, threads, amount, 1) == expected;
    table(of).columns.iter().zip(expected).filter(same).count()
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    of.plan(plan);
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let command = || of.command(results, "residency");
    let table = table(of);
    let right: usize = table.rows.iter().map(|row| cells(of, row)).sum();
    let (metric, claim) = table.cells;
    let right = crate::ratio(right as f64, (table.rows.len() * table.columns.len()) as f64);
    let row = claim.row(metric, Estimate::number(right)).derived("the launcher's model alone");
    let mut rows = vec![row.because(|_| Reason::unknown(command()))];
    for (owners, event) in [("non-owners", event::NON_OWNERS), ("owners", event::OWNERS)] {
        let warps = results.each(&of.sharing(), |run| run.a_cycle(event));
        let warps = warps.and_then(|warps| of.of_sharing(results, warps));
        rows.extend(warps.map(|warps| WARPS.mean(format!("warps of {owners}, a cycle"), warps)));
    }
    let [without, with] = [of.baseline(), of.sharing()].map(|point| blocks(results, &point));
    let (Some(without), Some(with)) = (without, with) else { return rows };
    let more = with.iter().map(|(name, with)| (name.clone(), crate::ratio(*with, without[name]))).collect();
    if let Some(more) = of.of_sharing(results, more) {
        let row = table.more.row("blocks with sharing, by those without", Estimate::geometric(more));
        rows.push(row.because(|_| Reason::unknown(command())));
    }
    for &(kernel, threads, amount, expected) in table.rows {
        let found = results.kernels.iter().find(|of| of.name == kernel);
        let (Some(found), Some(&without), Some(&with)) = (found, without.get(kernel), with.get(kernel)) else {
            continue;
        };
        // Kernels with shared scratchpad memory have the thesis's sizes.
        if of == Registers && with == without {
            continue;
        }
        let first = &found.manifest.launches[0];
        let code = named("kernel", &first.kernel, &found.image.kernels, |code: &Code| &code.name).ok();
        let bytes = code.map_or(0, |code| code.static_shared) + first.dynamic_shared;
        let registers = found.registers();
        let ours: (u32, u32) = (first.block.iter().product(), if of == Registers { registers.into() } else { bytes });
        let [first, .., last] = expected else { continue };
        for (metric, private, blocks, expected) in [("without", None, without, *first), ("with", Some(1), with, *last)]
        {
            let claim = cell(table.source, expected);
            let tried = || {
                let with = |words: String, threads, amount, registers| {
                    (words, Some(f64::from(of_amount(of, private, threads, amount, registers))))
                };
                let sizes = if of == Registers { "registers" } else { "bytes" };
                let thesis = format!(
                    "with the thesis's {threads} threads of {amount} {sizes} in place of {} of {}",
                    ours.0, ours.1
                );
                let other = if of == Registers {
                    with(format!("with our threads and the thesis's {amount} registers"), ours.0, amount, registers)
                } else {
                    with(format!("if registers did not limit it, of which it has {registers},"), ours.0, ours.1, 1)
                };
                vec![with(thesis, threads, amount, registers), other]
            };
            let row = claim.row(format!("blocks {metric} sharing: {kernel}"), Estimate::number(blocks));
            rows.push(row.because(|_| Reason::found(tried(), command())));
        }
    }
    rows
}

/// The claim of a table's cell.
fn cell(source: &'static str, blocks: u32) -> Claim {
    const TEXTS: [&str; 17] =
        ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"];
    let (text, blocks) = (TEXTS[blocks as usize], f64::from(blocks));
    Claim::share(source, text, blocks, blocks).in_unit(Unit::Count)
}

pub fn plots(of: Shared, results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let found = |point| of.of_sharing(results, blocks(results, &point)?);
        let series = vec![("without sharing", found(of.baseline())?), ("with", found(of.sharing())?)];
        Some(kernels("Resident blocks (figures 2.12, 3.8)", "blocks", series, Style::Lines, None))
    };
    plot().into_iter().collect()
}
