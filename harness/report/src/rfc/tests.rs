//! The report's plan, and rows made of counts with known answers.

use gpurf_blocks::config::{Config, Start};
use gpurf_lockstep::EventTotals;

use super::*;
use crate::report::PaperReport;
use crate::sweep::{Kernel, Measured};
use crate::testing::{check_rows, made, row};

/// 100 operands, 60 of them read from the cache; 50 results, 10 of which bypass it; 15 values moved to the MRF; half an instruction per cycle.
fn run() -> Measured {
    let counts = [
        ("read_groups", 40),
        ("rfc_read_groups", 60),
        ("rfc_write_groups", 40),
        ("rfc_around_groups", 10),
        ("rfc_evict_groups", 15),
        ("issue", 500),
    ];
    Measured::new(1000, counts)
}

fn report(names: &[&str], run: impl Fn(&Kernel, &Point) -> Option<Measured>) -> PaperReport {
    made(&REPORT, names, run)
}

#[track_caller]
fn is(report: &PaperReport, metric: &str, ours: f64, within: bool) {
    let row = row(report, metric);
    assert!((row.ours - ours).abs() < 5e-4, "{metric}: {}", row.ours);
    assert_eq!(row.within, Some(within), "{metric}");
}

#[test]
fn rows_of_runs_with_known_counts() {
    let report = report(&["a", "b"], |_, _| Some(run()));
    is(&report, "MRF reads avoided, 6 entries", 0.6, true);
    is(&report, "MRF writes avoided, 6 entries", 0.5, true);
    is(&report, "MRF accesses avoided, 5 entries", 1.0 - 65.0 / 150.0, true);
    is(&report, "MRF accesses avoided, 13 entries", 1.0 - 65.0 / 150.0, false);
    is(&report, "MRF reads avoided, a single entry", 0.6, true);
    is(&report, "MRF writes avoided, a single entry", 0.5, true);
    is(&report, "more MRF writes avoided with last-read bits, 6 entries", 0.0, false);
    is(&report, "MRF reads avoided, 6 entries, 8 active warps", 0.6, true);
    is(&report, "IPC of 8 active warps, greedy, by that of all 32", 1.0, true);
    is(&report, "IPC of 6 active warps, greedy, by that of all 32", 1.0, false);
    is(&report, "size of the MRF by that of the cache", 21.333, true);
    // 40 * 8 + 25 * 11 + 75 * 2.2 + 40 * 6.7 pJ, by 100 * 8 + 50 * 11.
    let size = "6 entries, 8 active warps";
    is(&report, &format!("energy by that of the MRF alone, MRF at 0 mm, cache at 0 mm, {size}"), 1028.0 / 1350.0, true);
    let chosen = format!("register file energy saved by the design point chosen, {size}, no wires");
    is(&report, &chosen, 1.0 - 1028.0 / 1350.0, true);
    is(&report, &format!("{chosen}, the paper's mean of all traces"), 1.0 - 1028.0 / 1350.0, false);
    // Each operand and result travels over a wire: 4 words of 1.9 pJ/mm, 50 of them over 1 mm, 100 over 0.2 mm.
    let energy = (1028.0 + 7.6 * 70.0) / (1350.0 + 7.6 * 150.0);
    is(&report, &format!("energy by that of the MRF alone, MRF at 1 mm, cache at 0.2 mm, {size}"), energy, false);
    // Two thirds of 130 W are dynamic, 70 % of them in SMs, 15 % of those in register files.
    is(&report, "power saved in the chip", 130.0 * 2.0 / 3.0 * 0.7 * 0.15 * (1.0 - energy), false);
    is(&report, "dynamic power of the chip for 4 more bits in an instruction of 32", 0.0125, true);
}

/// A claim counts once: as a headline, or as the mean of the kind of traces that is nearest to the kernels.
#[test]
fn repeated_claims_and_means_of_all_traces_do_not_count() {
    let report = report(&["a", "b"], |_, _| Some(run()));
    let size = "6 entries, 8 active warps";
    let saved = format!("register file energy saved with wires, {size}");
    let chosen = format!("register file energy saved by the design point chosen, {size}, no wires");
    for metric in [format!("the paper's machine: {saved}"), chosen.clone()] {
        assert!(row(&report, &metric).independent(), "{metric}");
    }
    let eight = "IPC of 8 active warps, greedy, by that of all 32";
    for (metric, from) in [
        (eight.to_owned(), "the same claim: the paper's machine: IPC of 8 active warps by that of all 32".to_owned()),
        (saved.clone(), format!("the same claim: the paper's machine: {saved}")),
        (format!("{saved}, the paper's mean of all traces"), saved),
        (format!("{chosen}, the paper's mean of all traces"), chosen),
    ] {
        assert_eq!(row(&report, &metric).derived_from, Some(from), "{metric}");
    }
    assert_eq!(
        row(&report, eight).paper,
        row(&report, "the paper's machine: IPC of 8 active warps by that of all 32").paper
    );
}

/// The ALU of the papers has 8 and 4 cycles from issue to issue, which is a difference of 4 and a ratio of 2: one of them in the row, one in its experiment.
#[test]
fn a_shorter_alu_is_compared_by_difference_and_by_ratio() {
    let latency = |point: &Point| point.config().unwrap().sm.alu_latency;
    let report = report(&["a", "b"], |_, point| {
        let mut run = run();
        run.cycles = 1000 + 10 * latency(point) as u64;
        Some(run)
    });
    let metric = "more IPC with an ALU of 9 cycles from issue to issue than with one of 13, 8 active warps";
    is(&report, metric, 1080.0 / 1040.0 - 1.0, true);
    let four = row(&report, &metric.replace("8 active", "4 active"));
    assert!(four.why.contains("(sm.alu_latency=2 and 9) 6.9 %"), "{}", four.why);
}

#[test]
fn rows_outside_have_an_experiment_and_no_other_row_has() {
    let report = report(&["a", "b"], |_, _| Some(run()));
    check_rows(&report);
    assert!(report.rows.len() > 50);
    assert!(report.plots.len() > 8);
}

#[test]
fn the_mean_is_over_all_kernels_or_there_is_no_row() {
    let half = |kernel: &Kernel, _: &Point| {
        let mut more = run();
        more.events.insert("read_groups".into(), 140);
        Some(if kernel.name == "a" { run() } else { more })
    };
    is(&report(&["a", "b"], half), "MRF reads avoided, 6 entries", (0.6 + 0.3) / 2.0, true);
    let missing = report(&["a", "b"], |kernel, _| (kernel.name == "a").then(run));
    let left: Vec<&str> = missing
        .rows
        .iter()
        .filter(|row| !row.source.contains("2.2") && !row.metric.starts_with("erratum"))
        .map(|row| row.metric.as_str())
        .collect();
    assert!(!left.iter().any(|metric| metric.starts_with("MRF") || metric.starts_with("IPC")), "{left:?}");
    assert!(missing.plots.len() == 2);
}

#[test]
fn a_part_runs_less_than_the_whole() {
    let runs = |only: &[&str]| REPORT.plan(&only.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).runs(10);
    assert_eq!(runs(&["values"]), 10);
    let parts: usize = REPORT.parts.iter().map(|part| runs(&[part.name])).sum();
    assert!(runs(&[]) < parts && runs(&["values", "cache"]) < runs(&[]));
}

#[test]
fn every_event_is_one_of_the_sm() {
    let config = Config::load(Start::Preset("rfc"), &[""; 0]).unwrap();
    let events = EventTotals::new((gpurf_sm::ENTRY.twin)(&config).declaration()).by_name();
    for name in crate::cached::event::ALL.iter().chain(&["issue"]) {
        assert!(events.contains_key(name), "{name} is not among {:?}", events.keys());
    }
}
