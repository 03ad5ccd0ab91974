//! How many blocks reside in the SM: thesis 2.5.1.1, figure 2.12(a), tables 2.1 and 2.6.

use gpurf_blocks::config::Config;
use gpurf_isa::image::Kernel as Code;
use gpurf_oracle::Geometry;
use gpurf_oracle::host::named;
use gpurf_sm::residency::{Demand, Residency, Room, Sharing};

use super::{NOT_SAID, REPORT, baseline, event, of_sharing, plan_shares, sharing};
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Row, Unit, geometric_mean};
use crate::shown::kernels;
use crate::sweep::{Kernel, Point, Results, SweepPlan};

const SOURCE: &str = "sharing thesis 2.5.1.1, table 2.6";
const CELLS: Claim = Claim::share(SOURCE, "its cells: 100 %", 1.0, 1.0);
/// Of the table's kernels: 90 % by 0 %.
const MORE_BLOCKS: Claim = Claim::share(SOURCE, "1.54: 1.3-1.8", 1.3, 1.8).in_unit(Unit::Ratio);
const WARPS: Claim = Claim::none(NOT_SAID).in_unit(Unit::Count);

/// A kernel of table 2.1: our name, threads of a block, registers of a thread; the cells of table 2.6.
type Thesis = (&'static str, u32, u16, [u32; 6]);

/// Tenths of the registers that are private in the columns of table 2.6; nothing: no sharing.
const COLUMNS: [Option<u32>; 6] = [None, Some(9), Some(7), Some(5), Some(3), Some(1)];

const TABLE: [Thesis; 8] = [
    ("backprop", 256, 24, [5, 5, 5, 5, 6, 6]),
    ("bPlusTree", 508, 24, [2, 2, 2, 3, 3, 3]),
    ("hotspot", 256, 36, [3, 3, 3, 4, 4, 6]),
    ("LIB", 192, 36, [4, 4, 5, 5, 6, 8]),
    ("MUM", 256, 28, [4, 4, 4, 5, 5, 6]),
    ("mri-q", 256, 24, [5, 5, 5, 5, 6, 6]),
    ("sgemm", 128, 48, [5, 5, 5, 5, 6, 8]),
    ("stencil", 512, 28, [2, 2, 2, 2, 2, 3]),
];

/// A point for a column of table 2.6.
fn column(private: Option<u32>) -> Point {
    private.map_or_else(baseline, |private| sharing().with(format!("share.private={private}")))
}

/// The blocks of a launch that reside in the SM; nothing where not one fits.
pub(super) fn residency(config: &Config, code: &Code, geometry: Geometry) -> Option<Residency> {
    let demand = Demand {
        warps: geometry.warps(),
        registers: code.registers.max(1).into(),
        scratchpad: code.static_shared + geometry.dynamic_shared,
    };
    let residency = Room::of(config).residency(&demand, Sharing::of(config));
    (residency.hosts > 0).then_some(residency)
}

/// A kernel's launches at a point.
fn launches(kernel: &Kernel, point: &Point) -> Option<Vec<Residency>> {
    let config = point.config().ok()?;
    let of = |launch: &gpurf_launch::Launch| {
        let code = named("kernel", &launch.kernel, &kernel.image.kernels, |code: &Code| &code.name).ok()?;
        let geometry = Geometry { grid: launch.grid, block: launch.block, dynamic_shared: launch.dynamic_shared };
        residency(&config, code, geometry)
    };
    kernel.manifest.launches.iter().map(of).collect()
}

/// Blocks of each kernel at a point: the mean over its launches.
fn blocks(results: &Results<'_>, point: &Point) -> Option<PerKernel> {
    let of = |kernel: &Kernel| {
        let all = launches(kernel, point)?;
        Some((
            kernel.name.clone(),
            crate::ratio(all.iter().map(|residency| f64::from(residency.blocks())).sum(), all.len() as f64),
        ))
    };
    results.kernels.iter().map(of).collect()
}

/// Blocks of a kernel with these sizes.
fn of_sizes(point: &Point, threads: u32, registers: u16) -> Option<u32> {
    let code = Code { registers, ..Code::default() };
    let geometry = Geometry { grid: [1; 3], block: [threads, 1, 1], dynamic_shared: 0 };
    Some(residency(&point.config().ok()?, &code, geometry)?.blocks())
}

/// The cells of a row of table 2.6 that come out for the thesis's kernel.
fn cells((_, threads, registers, expected): Thesis) -> usize {
    let same = |&(&private, &expected): &(&Option<u32>, &u32)| {
        of_sizes(&column(private), threads, registers) == Some(expected)
    };
    COLUMNS.iter().zip(&expected).filter(same).count()
}

pub fn plan(plan: &mut SweepPlan) {
    plan_shares(plan);
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let command = || REPORT.command(results, "residency");
    let differ: Vec<&str> = TABLE.into_iter().filter(|&row| cells(row) < COLUMNS.len()).map(|row| row.0).collect();
    let right = crate::ratio(TABLE.into_iter().map(cells).sum::<usize>() as f64, (TABLE.len() * COLUMNS.len()) as f64);
    let metric = "cells of table 2.6 that come out with the thesis's registers and threads";
    let row = CELLS.row(metric, right, PerKernel::new());
    let mut rows = vec![row.because(|_| (format!("not those of {}", differ.join(", ")), command()))];
    for (owners, event) in [("non-owners", event::NON_OWNERS), ("owners", event::OWNERS)] {
        let warps = results.each(&sharing(), |run| run.a_cycle(event));
        let warps = warps.and_then(|warps| of_sharing(results, &sharing(), warps));
        rows.extend(warps.map(|warps| WARPS.mean(format!("warps of {owners}, a cycle"), warps)));
    }
    let [without, with] = [baseline(), sharing()].map(|point| blocks(results, &point));
    let (Some(without), Some(with)) = (without, with) else { return rows };
    let more = with.iter().map(|(name, with)| (name.clone(), crate::ratio(*with, without[name]))).collect();
    if let Some(more) = of_sharing(results, &sharing(), more) {
        let row = MORE_BLOCKS.row("blocks with sharing, by those without", geometric_mean(&more), more);
        rows.push(
            row.because(|_| ("the kernels' registers are others: the rows of each kernel".to_owned(), command())),
        );
    }
    for (kernel, threads, registers, expected) in TABLE {
        let of = results.kernels.iter().find(|of| of.name == kernel);
        let (Some(of), Some(&without), Some(&with)) = (of, without.get(kernel), with.get(kernel)) else { continue };
        if with == without {
            continue;
        }
        let first = &of.manifest.launches[0];
        let ours = (first.block.iter().product(), of.registers());
        for (metric, private, blocks, expected) in
            [("without", None, without, expected[0]), ("with", Some(1), with, expected[5])]
        {
            let claim = cell(expected);
            let why = || {
                let say = |threads, registers| {
                    let blocks = of_sizes(&column(private), threads, registers).unwrap_or(0);
                    format!("{blocks} with {threads} threads of {registers} registers")
                };
                format!(
                    "{}, as ours has; {}, as the thesis's; {}",
                    say(ours.0, ours.1),
                    say(threads, registers),
                    say(ours.0, registers)
                )
            };
            let row = claim.row(format!("blocks {metric} sharing: {kernel}"), blocks, PerKernel::new());
            rows.push(row.because(|_| (why(), command())));
        }
    }
    rows
}

/// A cell of table 2.6.
fn cell(blocks: u32) -> Claim {
    const TEXTS: [&str; 9] = ["0", "1", "2", "3", "4", "5", "6", "7", "8"];
    let (text, blocks) = (TEXTS[blocks as usize], f64::from(blocks));
    Claim::share(SOURCE, text, blocks, blocks).in_unit(Unit::Count)
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let of = |point| of_sharing(results, &sharing(), blocks(results, &point)?);
        let series = vec![("without sharing", of(baseline())?), ("with", of(sharing())?)];
        Some(kernels("Resident blocks (figure 2.12(a))", "blocks", series, Style::Lines, None))
    };
    plot().into_iter().collect()
}
