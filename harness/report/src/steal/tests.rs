//! The report's plan, and rows made of counts with known answers.

use gpurf_blocks::config::{Config, Start};
use gpurf_lockstep::EventTotals;
use gpurf_machine::measures::{FIRST_READ, PARKED_CYCLES, PARKED_FIRST_READ, READY_WARPS};

use super::*;
use crate::report::PaperReport;
use crate::sweep::Kernel;
use crate::testing::{check_rows, made, row};

/// A run of 950 instructions with 2000 operands and 1000 results. It takes 950 cycles with sixteen banks, 1000 with eight, 940 with read stealing,
/// and 900 with write stealing too. 300 results are parked: 100 return in the next cycle, 150 later, 50 are forced back.
fn run(point: &Point) -> Measured {
    let banks = point.set.iter().find_map(|setting| setting.strip_prefix("mrf.banks=")?.parse::<u64>().ok());
    let (cycles, counts): (u64, &[(&'static str, u64)]) = match (point.preset, banks) {
        ("banks-16", Some(4)) => (1100, &[]),
        ("banks-16", Some(32)) => (940, &[]),
        ("banks-16", _) => (950, &[("conflict_inter", 100), ("conflict_read_write", 300), ("conflict_intra", 50)]),
        ("banks-8", _) => (1000, &[("conflict_inter", 400), ("conflict_read_write", 500)]),
        ("steal-read-8", _) => (940, &[("conflict_inter", 200), ("conflict_read_write", 500)]),
        ("steal-write-8", _) => (
            980,
            &[
                ("conflict_inter", 300),
                ("conflict_read_write", 100),
                ("write_normal", 780),
                ("write_forced", 40),
                ("write_parked", 180),
            ],
        ),
        _ => (
            900,
            &[
                ("conflict_inter", 160),
                ("conflict_read_write", 140),
                ("wait_parked", 30),
                ("wait_return", 50),
                ("write_normal", 650),
                ("write_forced", 50),
                ("write_partial", 20),
                ("write_parked", 300),
                ("return_next", 100),
                ("return_later", 150),
                ("return_forced", 50),
                ("land", 300),
                ("parked", 600),
                ("places", 6300),
            ],
        ),
    };
    let parked = if matches!(point.preset, "steal-8") { 300 } else { 0 };
    let events = counts.iter().copied().chain([("issue", 950), ("read", 2000 + parked), ("write", 1000 + parked)]);
    let mut run = Measured::new(cycles, events);
    if point.measured {
        // Ten warps are ready in each cycle. Of ten first reads, six come after more than three cycles; of ten first reads of parked results, five;
        // of eight parked values, six return within three cycles.
        run.events.insert(READY_WARPS.into(), 10 * cycles);
        let spreads: [(&str, &[(u64, u64)]); 3] = [
            (FIRST_READ, &[(2, 3), (3, 1), (4, 2), (100, 4)]),
            (PARKED_FIRST_READ, &[(3, 5), (4, 5)]),
            (PARKED_CYCLES, &[(1, 4), (3, 2), (4, 2)]),
        ];
        run.spreads = spreads.map(|(name, values)| (name.into(), values.iter().copied().collect())).into();
    }
    run
}

fn report(names: &[&str], run: impl Fn(&Kernel, &Point) -> Option<Measured>) -> PaperReport {
    made(&REPORT, names, run)
}

#[track_caller]
fn is(report: &PaperReport, metric: &str, ours: f64, within: Option<bool>) {
    let row = row(report, metric);
    assert!((row.ours - ours).abs() < 1e-9, "{metric}: {}", row.ours);
    assert_eq!(row.within, within, "{metric}");
}

#[test]
fn as_many_warps_fit_whatever_the_banks() {
    for point in REPORT.plan(&["banks".to_owned(), "sizes".to_owned()]).points() {
        let config = Config::load(Start::Preset(point.preset), &point.set).unwrap();
        let shape = config.shape();
        // The reports' kernels are compiled for at most 64 registers.
        assert!(config.sm.warps * 64_usize.div_ceil(shape.banks) <= shape.depth, "{}", point.options());
    }
}

#[test]
fn rows_of_runs_with_known_counts() {
    let report = report(&["a", "b"], |_, point| Some(run(point)));
    let (yes, no) = (Some(true), Some(false));
    is(&report, "cycles that an operand waits for other reads and for writes, 16 banks", 0.2, yes);
    is(&report, "cycles that an operand waits for reads of its own instruction, 16 banks", 0.025, None);
    is(&report, "these waits with 8 banks by those with 16", 2.25, no);
    is(&report, "waits for reads of other instructions that stealing saves, 8 banks", 0.6, yes);
    is(&report, "waits for writes, parked values and their return that stealing saves, 8 banks", 0.72, no);
    is(&report, "waits for results alone that stealing saves, 8 banks", 0.88, yes);
    let metric = "part of the waits for writes that stealing saves, less that of the waits for reads";
    is(&report, metric, 0.72 - 0.6, yes);
    is(&report, "utilisation of the banks, 16 banks", 3000.0 / (16.0 * 950.0), no);
    is(&report, "utilisation of the banks, 8 banks", 3000.0 / 8000.0, None);
    is(&report, "utilisation of the banks, 8 banks with stealing", 3600.0 / 7200.0, no);
    is(&report, "that of 8 banks with stealing by that of 16", 0.5 / (3000.0 / 15200.0), no);
    is(&report, "IPC gained by 8 banks, over 16", -0.05, yes);
    is(&report, "IPC gained by 32 banks, over 16", 950.0 / 940.0 - 1.0, yes);
    is(&report, "IPC gained by stealing, 8 banks", 1.0 / 0.9 - 1.0, yes);
    is(&report, "IPC gained by read stealing, 8 banks", 1.0 / 0.94 - 1.0, yes);
    is(&report, "IPC gained by read stealing, 8 banks, over 16", 95.0 / 94.0 - 1.0, no);
    is(&report, "IPC gained by write stealing, 8 banks", 1.0 / 0.98 - 1.0, None);
    is(&report, "IPC gained by read stealing, 8 banks, round-robin", 1.0 / 0.94 - 1.0, None);
    is(&report, "IPC gained by read stealing, 8 banks, round-robin, less that with greedy-then-oldest", 0.0, yes);
    is(&report, "IPC gained by read and write stealing, 8 banks, over 16", 95.0 / 90.0 - 1.0, yes);
    is(&report, "kernels that are faster with both on 8 banks than on 16", 1.0, yes);
    is(&report, "results written normally, without stealing", 0.65, no);
    is(&report, "results that meet a read at their bank, without thefts of reads", 0.22, no);
    is(&report, "parked values that return in the next cycle", 1.0 / 3.0, yes);
    is(&report, "parked values that return later", 0.5, yes);
    is(&report, "results that stall others: without a place, or forced back", 0.1, no);
    is(&report, "cycles that a value is parked", 2.0, None);
    is(&report, "banks with a place to park in, 48 warps, 512 KB", 7.0, None);
    is(&report, "IPC gained by 8 banks with stealing, over 16, 512 KB, 48 warps", 95.0 / 90.0 - 1.0, None);
}

#[test]
fn a_policy_is_compared_with_that_of_the_paper() {
    // With round-robin, read stealing gains nothing; with the paper's policy 6.4 %.
    let round_robin = |point: &Point| {
        let set = point.set.contains(&"sm.scheduler=round_robin".to_owned());
        if set { Measured { cycles: 1000, ..run(point) } } else { run(point) }
    };
    let report = report(&["a", "b"], |_, point| Some(round_robin(point)));
    let metric = "IPC gained by read stealing, 8 banks, round-robin, less that with greedy-then-oldest";
    is(&report, metric, 1.0 - 1.0 / 0.94, Some(false));
}

#[test]
fn what_the_paper_says_of_one_kernel() {
    let names = ["monteCarlo", "sgemm", "spmv"];
    let faster = |kernel: &Kernel, point: &Point| {
        let run = run(point);
        Some(if kernel.name == "spmv" && point.preset == "steal-read-8" {
            Measured { cycles: 990, ..run }
        } else {
            run
        })
    };
    let metric = "kernels that gain less than monteCarlo by read stealing, 8 banks, over 16";
    is(&report(&names, |_, point| Some(run(point))), metric, 0.0, Some(true));
    is(&report(&names, faster), metric, 1.0, Some(false));
}

#[test]
fn each_claim_counts_once() {
    let report = report(&["a", "b"], |_, point| Some(run(point)));
    let counts = |metric: &str| row(&report, metric).independent();
    // The paper says it of each number of banks; that of eight is a headline.
    for banks in [4, 16, 32] {
        assert!(counts(&format!("IPC gained by stealing, {banks} banks")));
    }
    assert!(!counts("IPC gained by stealing, 8 banks"));
    assert!(counts("the paper's machine: IPC gained by read and write stealing, 8 banks"));
    assert!(counts("waits for writes, parked values and their return that stealing saves, 8 banks"));
    assert!(!counts("waits for results alone that stealing saves, 8 banks"));
    assert!(!counts("results that meet a read at their bank, without thefts of reads"));
}

#[test]
fn every_part_runs_the_papers_machine_and_the_designs_in_experiments() {
    // `stealing-paper` has four collectors and steals every idle bank.
    let config = |point: &Point| point.config().unwrap();
    let papers = |point: &Point| {
        let mrf = config(point).mrf.collectors == 4;
        mrf && (!matches!(point.preset, "steal-8" | "steal-read-8") || config(point).steal.eager)
    };
    let strict = [reading(), stealing(8)].map(strict);
    for point in REPORT.plan(&[]).without_experiments().points() {
        assert!(papers(point) || strict.contains(point), "{}", point.options());
    }
    assert_eq!(config(&stealing(8)), config(&machine("stealing-paper")));
    for point in [straight(16), straight(8), reading(), writing(), stealing(8)] {
        assert!(papers(&point) && !papers(&designs(point.clone())), "{}", point.options());
        assert_eq!(config(&designs(point.clone())), config(&machine(point.preset)));
    }
}

#[test]
fn times_of_results() {
    let report = report(&["a", "b"], |_, point| Some(run(point)));
    is(&report, "warps that may issue, 16 banks", 10.0, Some(false));
    is(&report, "results whose first read comes more than three cycles later, 16 banks", 0.6, Some(true));
    is(&report, "warps that may issue, 8 banks with stealing", 10.0, None);
    let metric = "parked results whose first read comes more than three cycles later, 8 banks with stealing";
    is(&report, metric, 0.5, None);
    is(&report, "parked values that return within three cycles, 8 banks with stealing", 0.75, Some(true));
    is(&report, "cycles until the first read of a result, 16 banks", 41.7, None);
    assert_eq!(
        report
            .rows
            .iter()
            .filter(|row| row.metric.contains("first read")
                || row.metric.contains("may issue")
                || row.metric.contains("within three"))
            .count(),
        8
    );
    let why = &row(&report, "warps that may issue, 16 banks").why;
    assert!(why.contains("(mrf.collectors=8, steal.eager=false) 10.0; with many collectors"), "{why}");
    // Times are measured only for the part that needs them, and each such run is separate from the run without them.
    let measured = |part: &str| REPORT.plan(&[part.to_owned()]).points().filter(|point| point.measured).count();
    assert_eq!((measured("times"), measured("writes"), measured("headlines")), (7, 0, 0));
    let runs = |parts: &[&str]| REPORT.plan(&parts.iter().map(|&part| part.to_owned()).collect::<Vec<_>>()).runs(1);
    assert_eq!(runs(&["times", "writes"]), runs(&["times"]) + runs(&["writes"]));
}

#[test]
fn what_the_paper_does_not_say_has_no_band_and_rows_outside_have_an_experiment() {
    // With this many cycles nothing is gained, so every row on IPC is outside its band.
    let slow = |point: &Point| Measured { cycles: if point.preset == "banks-16" { 950 } else { 2000 }, ..run(point) };
    for report in [report(&["a", "b"], |_, point| Some(run(point))), report(&["a", "b"], |_, point| Some(slow(point)))]
    {
        check_rows(&report);
        for row in &report.rows {
            assert_eq!(row.source == NOT_SAID, row.paper.is_none(), "{}", row.metric);
        }
        assert!(report.rows.len() > 60);
        assert_eq!(report.plots.len(), 9);
    }
}

#[test]
fn reasons_change_one_setting_on_every_machine_of_a_row() {
    // With the design's eight collectors, eight banks with stealing need far fewer cycles.
    let design = |point: &Point| {
        let set = point.set.iter().any(|setting| setting.starts_with("mrf.collectors="));
        Measured { cycles: if point.preset == "steal-8" && !set { 450 } else { 2000 }, ..run(point) }
    };
    let report = report(&["a", "b"], |_, point| Some(design(point)));
    let row = row(&report, "IPC gained by read and write stealing, 8 banks, over 16");
    for words in [
        "(mrf.collectors=8, steal.eager=false) 344.4 %",
        "(mrf.collectors=16) 0.0 %",
        "conflict (steal.eager=false) 0.0 %",
    ] {
        assert!(row.why.contains(words), "{words}: {}", row.why);
    }
    assert!(row.why.ends_with("The cause is not known"), "{}", row.why);
    // So have the headlines.
    let headline =
        crate::testing::row(&report, "the paper's machine: IPC gained by read and write stealing, 8 banks, over 16");
    assert_eq!(headline.why, row.why);
    // Reasons are about all kernels, so their commands are too.
    assert_eq!(row.command, "gpurf report stealing --only techniques --kernel a.toml --kernel b.toml");
}

#[test]
fn waits_that_are_not_there_cannot_be_saved_and_have_no_value() {
    let none = |point: &Point| {
        let mut run = run(point);
        run.events.retain(|name, _| !name.starts_with("conflict") && !name.starts_with("wait"));
        run
    };
    let report = report(&["a", "b"], |kernel, point| Some(if kernel.name == "a" { none(point) } else { run(point) }));
    let row = row(&report, "waits for reads of other instructions that stealing saves, 8 banks");
    assert!((row.ours - 0.6).abs() < 1e-9 && row.per_kernel.len() == 1, "{row:?}");
}

#[test]
fn a_run_that_is_missing_leaves_its_rows_out() {
    let left = report(&["a", "b"], |kernel, point| (kernel.name == "a").then(|| run(point)));
    assert!(left.rows.iter().all(|row| row.metric.starts_with("erratum")) && left.plots.is_empty(), "{left:?}");
}

#[test]
fn a_part_runs_less_than_the_whole() {
    let runs = |only: &[&str]| REPORT.plan(&only.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).runs(10);
    let parts: usize = REPORT.parts.iter().map(|part| runs(&[part.name])).sum();
    assert!(runs(&[]) < parts && runs(&["utilisation"]) == 100 && runs(&["writes"]) == 80);
}

#[test]
fn every_event_is_one_of_the_sm() {
    let config = Config::load(Start::Preset("steal-8"), &[""; 0]).unwrap();
    let totals = EventTotals::new((gpurf_sm::ENTRY.twin)(&config).declaration());
    for name in event::ALL {
        assert!(totals.by_name().contains_key(name), "{name} is not among {:?}", totals.by_name().keys());
    }
}
