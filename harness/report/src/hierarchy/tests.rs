//! The report's plan, and rows made of counts with known answers.

use gpurf_oracle::levels::Accesses;

use super::*;
use crate::cached::event;
use crate::report::PaperReport;
use crate::sweep::{Kernel, Measured, Point};
use crate::testing::{check_rows, kernels, row};
use crate::usage::Usage;

fn accesses(reads: u64, writes: u64) -> Accesses {
    Accesses { private_reads: reads, private_writes: writes, ..Accesses::default() }
}

/// 100 operands, 50 results. An LRF serves 30 operands and takes 20 results, the ORF serves 40. 40 instructions read two registers; 10 read two from
/// the MRF.
fn counts(options: &HierarchyOptions) -> LevelCounts {
    let lrf = if options.lrf == LastResultFile::None { accesses(0, 0) } else { accesses(30, 20) };
    LevelCounts {
        instructions: 100,
        strand_ends: 10,
        mrf: accesses(60 - lrf.private_reads, 40),
        orf: accesses(40, 15),
        lrf,
        flat: accesses(100, 50),
        by_reads: [30, 25, 40, 5],
        by_mrf_reads: [60, 30, 10, 0],
    }
}

/// A run with the same operands and results on a cache.
fn run() -> Measured {
    let events = [(event::MRF_READ, 60), (event::READ, 40), (event::WRITE, 50), (event::EVICTION, 20)];
    Measured::new(1000, events)
}

fn report(names: &[&str], counts: impl Fn(&Kernel, &HierarchyOptions) -> Option<LevelCounts>) -> PaperReport {
    let (kernels, plan) = (kernels(names), REPORT.plan(&[]));
    let usage = Usage { instructions: 1000, values: [0, 800, 0, 0], live_in: 270, live_out: 200, ..Usage::default() };
    REPORT.report(&[], &Results::made(&kernels, &plan, |_, _: &Point| Some(run()), &usage, counts))
}

#[track_caller]
fn is(report: &PaperReport, metric: &str, ours: f64, within: bool) {
    let row = row(report, metric);
    assert!((row.ours - ours).abs() < 1e-9, "{metric}: {} instead of {ours}", row.ours);
    assert_eq!(row.within, Some(within), "{metric}");
}

#[test]
fn rows_are_what_the_counts_say() {
    let report = report(&["a", "b"], |_, options| Some(counts(options)));
    is(&report, "reads that a unified LRF serves, 3 entries, 8 active warps", 0.3, true);
    is(&report, "MRF reads of an instruction, MRF alone", 1.2, false);
    is(&report, "MRF reads of an instruction, split LRF, 3 entries", 0.5, false);
    is(&report, "instructions that read two registers or more, MRF alone", 0.45, true);
    is(&report, "instructions that read two registers in the MRF, split LRF, 3 entries, 8 active warps", 0.1, true);
    is(&report, "register operands read for each that is written", 2.0, true);
    is(&report, "register operands that an instruction writes", 0.8, true);
    is(&report, "live-in values of strands, for each instruction", 0.27, true);
    is(&report, "live-out values of strands, for each instruction", 0.2, false);
    // 75 writes for 50 results.
    is(&report, "writes on top of results, software, unified LRF, 3 entries, 8 active warps", 0.5, false);
    // 100 operands, and 20 reads of evicted values.
    is(&report, "reads on top of operands with a hardware cache, last-read bits, 3 entries, 8 active warps", 0.2, true);
    // Thesis, tables 4.5 and 4.6, pJ: MRF 15.6 and 18.6, ORF of 3 entries 2.72 and 5.92.
    let energy = (60.0 * 15.6 + 40.0 * 18.6 + 40.0 * 2.72 + 15.0 * 5.92) / (100.0 * 15.6 + 50.0 * 18.6);
    let metric = "register file energy saved, software, two levels, 3 entries, 8 active warps";
    is(&report, metric, 1.0 - energy, false);
}

#[test]
fn an_optimisation_that_changes_nothing_saves_nothing() {
    let report = report(&["a"], |_, options| Some(counts(options)));
    is(&report, "less energy with all three optimisations, split LRF, 3 entries, 8 active warps", 0.0, false);
    let least = "less energy by an optimisation, the least of all sizes and optimisations, split LRF";
    is(&report, least, 0.0, true);
}

#[test]
fn rows_outside_have_an_experiment_and_no_other_row_has() {
    let report = report(&["a", "b"], |_, options| Some(counts(options)));
    check_rows(&report);
    assert!(report.rows.len() > 50 && report.plots.len() > 10, "{} {}", report.rows.len(), report.plots.len());
    assert!(report.absent.iter().any(|absent| absent.why.contains("double precision")));
}

#[test]
fn without_one_kernel_there_is_no_mean() {
    let report = report(&["a", "b"], |kernel, options| (kernel.name == "a").then(|| counts(options)));
    assert!(report.rows.iter().all(|row| {
        row.metric.starts_with("dynamic power")
            || row.metric.contains("bits that ORF")
            || !row.metric.contains("software, ") && !row.metric.contains("split")
    }));
}

#[test]
fn kernels_of_figure_6_16_have_rows_of_their_own() {
    let report = report(&["reduction", "b"], |_, options| Some(counts(options)));
    let of = |kernel: &str| report.rows.iter().find(|row| row.metric.contains(&format!("saved in {kernel}")));
    assert!(of("reduction").is_some_and(|row| row.per_kernel.len() == 1) && of("scalarProd").is_none());
}

/// Two kernels, of which `a` has a tenth of the accesses to the MRF that `b` has, and no instruction with three operands.
fn unequal(kernel: &Kernel, options: &HierarchyOptions) -> LevelCounts {
    let counts = counts(options);
    let by_mrf_reads = [60, 30, 8, 2];
    if kernel.name == "b" {
        return LevelCounts { by_mrf_reads, ..counts };
    }
    let mrf = accesses(counts.mrf.private_reads / 10, counts.mrf.private_writes / 10);
    LevelCounts { mrf, by_reads: [35, 25, 40, 0], by_mrf_reads: [96, 4, 0, 0], ..counts }
}

#[test]
fn parts_of_the_figures_bars_are_ratios_of_their_means() {
    let report = report(&["a", "b"], |kernel, options| Some(unequal(kernel, options)));
    let size = "split LRF, 3 entries, 8 active warps";
    // Of 5 instructions in 100 with three operands, 2 still read three in the MRF; the kernel without any does not count.
    let metric = "instructions with more than two reads that no longer read so many in the MRF";
    is(&report, &format!("{metric}, {size}"), 0.6, false);
    // (1.05 + 1.2) / (0.04 + 0.52).
    let metric = "MRF reads of an instruction without a hierarchy by those with one";
    is(&report, &format!("{metric}, {size}"), 2.25 / 0.56, false);
    // Accesses of the MRF, pJ: 8 and 11, with as much and 7.6 in wires.
    let mrf = [(3.0, 4.0), (30.0, 40.0)].map(|(reads, writes)| reads * 15.6 + writes * 18.6);
    let others = 40.0 * 2.72 + 15.0 * 5.92 + 30.0 * 1.08 + 20.0 * 2.38;
    let part = (mrf[0] + mrf[1]) / (mrf[0] + mrf[1] + 2.0 * others);
    is(&report, &format!("energy that is the MRF's, {size}"), part, true);
}

#[test]
fn kernels_that_save_less_than_the_two_of_the_figure_are_counted() {
    let metric = "kernels that save less than reduction or scalarProd, split LRF, 3 entries, 8 active warps";
    for (large, less) in [("scalarProd", 1.0), ("b", 0.0)] {
        let names = ["reduction", "scalarProd", "b"];
        let report = report(&names, |kernel, options| {
            let counts = counts(options);
            let mrf = if kernel.name == large { accesses(1, 1) } else { counts.mrf };
            Some(LevelCounts { mrf, ..counts })
        });
        is(&report, metric, less, less == 0.0);
    }
}

#[test]
fn a_design_is_counted_once() {
    let runs = |only: &[&str]| REPORT.plan(&only.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).runs(10);
    let parts: usize = REPORT.parts.iter().map(|part| runs(&[part.name])).sum();
    assert!(runs(&[]) < parts);
    // One run counts both the values and one hierarchy.
    assert_eq!(runs(&["values"]), 10);
}

#[test]
fn every_event_of_the_hardware_is_one_of_the_sm() {
    let config = gpurf_blocks::config::preset("lrf-orf-split").unwrap().config;
    let events = gpurf_lockstep::EventTotals::new((gpurf_sm::ENTRY.twin)(&config).declaration()).by_name();
    for name in energy::event::ALL {
        assert!(events.contains_key(name), "{name} is not among {:?}", events.keys());
    }
}

#[test]
fn events_of_the_hardware_become_traffic() {
    // Each event has a different power of 4, and the count of all units is larger than that of shared units: an event that is counted in a wrong
    // place is noticed.
    let counts = energy::event::ALL.iter().rev().enumerate().map(|(index, &name)| (name, 1 << (2 * index)));
    let run = Measured::new(1, counts);
    let of = |name: &str| run.event(name);
    let traffic = energy::of_run(&run);
    assert_eq!((traffic.mrf.reads(), traffic.mrf.writes()), (of("read_groups"), of("write_groups")));
    assert_eq!(traffic.mrf.shared_reads, of("hierarchy_mrf_shared_groups"));
    assert_eq!(traffic.mrf.shared_writes, of("hierarchy_mrf_write_shared_groups"));
    assert_eq!(traffic.upper.shared_reads, of("hierarchy_orf_read_shared_groups"));
    assert_eq!(traffic.upper.shared_writes, of("hierarchy_orf_write_shared_groups"));
    assert_eq!(traffic.upper.moving_writes, of("hierarchy_copy_groups"));
    let banks = ["a", "b", "c"].map(|bank| of(&format!("hierarchy_lrf_{bank}_read_groups")));
    assert_eq!((traffic.lrf.reads, traffic.lrf.writes), (banks.iter().sum(), of("hierarchy_lrf_write_groups")));
}
