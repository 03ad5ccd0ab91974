//! The report's plan, and rows made of counts with known answers.

use gpurf_blocks::config::{Config, Start};
use gpurf_lockstep::EventTotals;

use super::*;
use crate::report::PaperReport;
use crate::row::Row;
use crate::sweep::Kernel;
use crate::testing::{check_rows, made, row};

/// A run of 700 instructions. The SRAM file takes 7000 cycles (10 microseconds), reads 2000 groups and writes 1000. With buffers, 1500 of the
/// operands and 900 of the results are in buffers, and 300 groups drain. Another 100 groups in buffers belong to operands that are partly there,
/// which are read from the bank whole. Without buffers, the pipeline stalls for 4000 cycles. The paper's own baseline takes half of the time;
/// without buffers, its scheduler takes 5000 cycles.
fn run(point: &Point) -> Measured {
    let (cycles, counts): (u64, &[(&'static str, u64)]) = match point.preset {
        "stt-only" if point.set.contains(&"sm.alternate=false".to_owned()) => (5000, &[("write_groups", 1000)]),
        "stt-only" => (10_000, &[("read_groups", 2000), ("write_groups", 1000), ("write", 125), ("hrf_frozen", 4000)]),
        "hrf-sram" => (7000, &[("read_groups", 2000), ("write_groups", 1000)]),
        "baseline" => (3500, &[("read_groups", 2000), ("write_groups", 1000)]),
        _ => (
            7000,
            &[
                ("read_groups", 500),
                ("write_groups", 400),
                ("write", 50),
                ("hrf_read_groups", 1600),
                ("hrf_write_groups", 900),
                ("hrf_load_groups", 100),
                ("hrf_drain_groups", 300),
                ("hrf_drain", 40),
                ("hrf_period_entries", 60),
                ("hrf_look", 300),
                ("hrf_gated", 7000),
                ("alternating_activate", 20),
                ("alternating_active", 4000),
                ("alternating_drain", 600),
                ("alternating_pending", 220_000),
            ],
        ),
    };
    let periods = [(2, 12), (15, 3), (16, 4), (40, 1)].into();
    let events = counts.iter().copied().chain([("issue", 700)]);
    Measured { spreads: [(event::ENTRIES.into(), periods)].into(), ..Measured::new(cycles, events) }
}

fn report(names: &[&str], run: impl Fn(&Kernel, &Point) -> Option<Measured>) -> PaperReport {
    made(&REPORT, names, run)
}

#[track_caller]
fn is(report: &PaperReport, metric: &str, ours: f64, within: Option<bool>) {
    let row = row(report, metric);
    assert!((row.ours - ours).abs() < 5e-4, "{metric}: {}", row.ours);
    assert_eq!(row.within, within, "{metric}");
}

#[test]
fn rows_of_runs_with_known_counts() {
    let report = report(&["a", "b"], |_, point| Some(run(point)));
    let (yes, no) = (Some(true), Some(false));
    is(&report, "cycles between two active periods of a warp, geometric mean", 11_000.0, yes);
    is(&report, "cycles of an active period, geometric mean", 230.0, yes);
    is(&report, "active periods that use fewer than 16 entries of a buffer", 0.75, yes);
    is(&report, "writes of the STT-RAM that the buffers save", 0.6, no);
    let (same, own) = ("SRAM under the same scheduler", "the paper's baseline: SRAM of 16 banks, round-robin");
    is(&report, &format!("IPC lost by the hybrid file, against {same}"), 0.0, yes);
    is(&report, &format!("IPC lost by pure STT-RAM, against {same}"), 0.3, no);
    is(&report, &format!("IPC lost by the hybrid file, against {own}"), 0.5, no);
    is(&report, &format!("IPC lost by pure STT-RAM, against {own}"), 0.3, no);
    is(&report, "IPC lost by power gating, against the hybrid file without", 0.0, None);
    is(&report, "area of 128 KB of STT-RAM, by that of SRAM", 0.038 / 0.194, yes);
    is(&report, "area of the hybrid file with power gating, by that of SRAM", 0.3685, no);
    is(&report, "IPC lost by pure STT-RAM, write latency 10, against SRAM under the same scheduler", 0.3, None);
    is(&report, "writes of the STT-RAM that buffers of 8 entries save", 0.6, None);
    is(&report, "time in which a buffer's upper 48 entries have power", 0.5, None);
}

#[test]
fn power_of_runs_with_known_counts() {
    let report = report(&["a", "b"], |_, point| Some(run(point)));
    // A run of 10 microseconds: 10 nJ are 1 mW.
    let milliwatts = |pj: f64| pj / 10_000.0;
    let sram = 248.7 + milliwatts(128.0 * (2000.0 * 0.203 + 1000.0 * 0.191));
    let megabit = 1_048_576.0;
    let leaking = 248.7 * (155_648.0 + 448.0) / megabit;
    let looks = 300.0 * 7.0 * 0.203;
    let buffers = 1600.0 * 128.0 * 0.203 + 900.0 * 152.0 * 0.191 + 300.0 * 152.0 * 0.203;
    let bank = |reads: f64| 16.2 + milliwatts(128.0 * (reads * 0.239 + 400.0 * 0.3));
    let hybrid = |reads: f64| leaking + milliwatts(buffers + looks) + bank(reads);
    let (at_once, needed) = ("STT-RAM and buffer read at once", "STT-RAM read where needed");
    let metric = "power saved by the hybrid file, against SRAM under the same scheduler";
    is(&report, &format!("{metric}, {at_once}"), 1.0 - hybrid(2000.0) / sram, Some(false));
    is(&report, &format!("{metric}, {needed}"), 1.0 - hybrid(500.0) / sram, Some(false));
    let metric = "power that leaks out of the buffers of the hybrid file";
    is(&report, &format!("{metric}, {at_once}"), leaking / hybrid(2000.0), Some(false));
    // Gated for half of the time: leakage is 35 % less, and each access costs 4 % more.
    let gated = 248.7 * (155_648.0 * 0.65 + 448.0) / megabit + milliwatts(buffers * 1.04 + looks) + bank(2000.0);
    let metric = "power of the hybrid file with power gating, by that of SRAM";
    is(&report, &format!("{metric} under the same scheduler, {at_once}"), gated / sram, Some(false));
    // The same accesses in half of the time.
    let fast = 2.0 * sram - 248.7;
    is(&report, &format!("{metric} of 16 banks, round-robin, {at_once}"), gated / fast, Some(false));
    let metric =
        "energy of the hybrid file with power gating for the same work, by that of SRAM of 16 banks, round-robin";
    is(&report, metric, 2.0 * gated / fast, None);
}

#[test]
fn what_the_paper_does_not_say_has_no_band_and_rows_outside_have_an_experiment() {
    let report = report(&["a", "b"], |_, point| Some(run(point)));
    check_rows(&report);
    for row in &report.rows {
        assert_eq!(row.source == NOT_SAID, row.paper.is_none(), "{}", row.metric);
    }
    assert!(report.rows.len() > 40);
    assert!(report.plots.len() > 10);
}

#[test]
fn reasons_are_computed() {
    let report = report(&["a"], |_, point| Some(run(point)));
    // 60 entries were used and 40 drained, so 20 were dropped.
    let why = &row(&report, "writes of the STT-RAM that the buffers save").why;
    for words in ["counted as registers, not as groups of four lanes, 60.0 %", "were written, 44.0 %"] {
        assert!(why.contains(words), "{words}: {why}");
    }
    let metric = "IPC lost by pure STT-RAM, against the paper's baseline: SRAM of 16 banks, round-robin";
    let why = &row(&report, metric).why;
    assert!(why.contains("with both under the hybrid file's scheduler, of one active warp 30.0 %"), "{why}");
    let row = row(&report, "area of the hybrid file with power gating, by that of SRAM");
    assert!(
        row.why.contains("with one of the two buffers 28.2 %") && row.why.contains("docs/errata.md, 8"),
        "{}",
        row.why
    );
    // Reasons are about all kernels, so their commands are too.
    assert_eq!(row.command, "gpurf report hybrid --only area --kernel a.toml");
}

/// The kernels that 6.4 names, and two others. Of bfs and reduction the buffers save the fewest writes, of quasirandomGenerator and sobolQRNG the
/// most, and gaussian reads and writes least.
fn named(kernel: &Kernel, point: &Point) -> Measured {
    let run = run(point);
    if !point.preset.starts_with("hrf") || point.preset == "hrf-sram" {
        return run;
    }
    let (writes, pending) = match kernel.name.as_str() {
        "bfs" | "reduction" => (900, 110_000),
        "quasirandomGenerator" | "sobolQRNG" => (100, 440_000),
        _ => (400, 220_000),
    };
    let mut events = run.events.clone();
    events.insert("write_groups".into(), if kernel.name == "gaussian" { 0 } else { writes });
    events.insert("alternating_pending".into(), pending);
    Measured { cycles: if kernel.name == "bfs" { 14_000 } else { run.cycles }, events, ..run }
}

const NAMED: [&str; 7] = ["a", "b", "bfs", "gaussian", "quasirandomGenerator", "reduction", "sobolQRNG"];

#[test]
fn what_the_paper_says_of_single_kernels() {
    let report = report(&NAMED, |kernel, point| Some(named(kernel, point)));
    let yes = Some(true);
    let metric = "of bfs and reduction, kernels with one of the two smallest savings of writes";
    is(&report, metric, 2.0, yes);
    let metric =
        "writes of the STT-RAM that the buffers save more in quasirandomGenerator and sobolQRNG than in the others";
    is(&report, metric, 0.9 - (0.6 + 0.6 + 0.1 + 1.0 + 0.1) / 5.0, yes);
    let distance = |words: &str| format!("cycles between two active periods, {words}, by those of the others");
    is(&report, &distance("quasirandomGenerator and sobolQRNG"), 2f64.powf(1.4), yes);
    is(&report, &distance("bfs and reduction"), 0.5f64.powf(1.4), yes);
    is(
        &report,
        "IPC that bfs and reduction lose more than the others, by that of the paper's baseline",
        0.5 - 0.125f64.sqrt(),
        yes,
    );
    let at_once = "STT-RAM and buffer read at once";
    let metric = "kernels of which power gating and the hybrid file save more of the power than of gaussian";
    is(&report, &format!("{metric}, {at_once}"), 0.0, yes);
    // What is said of one kernel only shows a direction, and the power of gaussian counts once.
    let of = |words: &str| report.rows.iter().filter(|row| row.metric.contains(words) && row.independent()).count();
    assert_eq!((of("bfs"), of("sobolQRNG"), of("gaussian")), (0, 0, 1));
}

#[test]
fn each_claim_counts_once() {
    let report = report(&NAMED, |kernel, point| Some(named(kernel, point)));
    let counted: Vec<&str> =
        report.rows.iter().filter(|row| row.independent()).map(|row| row.metric.as_str()).collect();
    let of = |words: &str| counted.iter().filter(|metric| metric.contains(words)).count();
    assert_eq!((of("IPC lost by the hybrid file"), of("IPC lost by pure STT-RAM"), of("leaks out of")), (1, 1, 1));
    assert_eq!((of("where needed"), counted.len()), (0, 10), "{counted:?}");
}

#[test]
fn buffers_with_the_energies_of_small_arrays_are_an_experiment_of_every_row_on_power() {
    let report = report(&NAMED, |kernel, point| Some(named(kernel, point)));
    let rows = report.rows.iter().filter(|row| row.doubtful() && !row.metric.starts_with("erratum"));
    let rows: Vec<&Row> = rows.filter(|row| row.metric.contains("power ") && row.command.contains("power")).collect();
    assert!(rows.len() > 8);
    for row in rows {
        assert!(row.why.contains("small arrays"), "{}: {}", row.metric, row.why);
    }
}

#[test]
fn a_file_with_room_for_all_warps_is_an_experiment_on_the_periods() {
    let roomy = |point: &Point| {
        let mut run = run(point);
        let pending = if point.set.contains(&"mrf.kilobytes=256".to_owned()) { 220_000 } else { 110_000 };
        run.events.insert("alternating_pending".into(), pending);
        run
    };
    let report = report(&["a", "b"], |_, point| Some(roomy(point)));
    let row = row(&report, "cycles between two active periods of a warp, geometric mean");
    assert!(row.why.contains("(mrf.kilobytes=256) 11000.0, in the band"), "{}", row.why);
}

#[test]
fn a_run_that_is_missing_leaves_its_rows_out() {
    let left = report(&["a", "b"], |kernel, point| (kernel.name == "a").then(|| run(point)));
    let arithmetic = |row: &Row| row.metric.starts_with("area") || row.metric.starts_with("erratum");
    assert!(left.rows.iter().all(arithmetic), "{left:?}");
    assert_eq!((left.rows.len(), left.plots.len()), (2 + 5, 1));
}

#[test]
fn a_part_runs_less_than_the_whole() {
    let runs = |only: &[&str]| REPORT.plan(&only.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).runs(10);
    assert_eq!((runs(&["area"]), runs(&["writes"])), (0, 20));
    let parts: usize = REPORT.parts.iter().map(|part| runs(&[part.name])).sum();
    assert!(runs(&[]) < parts && runs(&["periods", "power"]) < runs(&[]));
}

#[test]
fn every_event_is_one_of_the_sm() {
    let config = Config::load(Start::Preset("hrf"), &[""; 0]).unwrap();
    let totals = EventTotals::new((gpurf_sm::ENTRY.twin)(&config).declaration());
    for name in event::ALL {
        assert!(totals.by_name().contains_key(name), "{name} is not among {:?}", totals.by_name().keys());
    }
    assert!(totals.spreads().contains_key(event::ENTRIES));
}
