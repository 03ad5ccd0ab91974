//! The report's plan, and rows made of counts with known answers.

use super::*;
use crate::report::PaperReport;
use crate::sweep::Kernel;
use crate::testing::{check_rows, made, row};
use crate::usage::Usage;

/// Warp registers of a machine's file.
fn registers_of(point: &Point) -> u64 {
    registers(&Results::made(&[], &SweepPlan::default(), |_, _| None, &Usage::default(), |_, _| None), point)
}

/// A file of 1024 registers, 512 of them allocated. The baseline takes 1000 cycles. With Sleep-Reg, a tenth of the allocated registers is ON, and the
/// run takes 20 cycles more. With the compiler's states alone, half of the other allocated registers are OFF, and the run takes 5 cycles more. The
/// table saves 100 wake-ups and 4 of these cycles.
fn run(point: &Point) -> Measured {
    let file = registers_of(point);
    let states = |cycles: u64, on: u64, asleep: u64, wakes: [u64; 2]| {
        let [wake_sleep, wake_off] = wakes;
        let events = [
            (event::ON, on * cycles),
            (event::ASLEEP, asleep * cycles),
            (event::WAKE_SLEEP, wake_sleep),
            (event::WAKE_OFF, wake_off),
            (event::TO_SLEEP, wake_sleep),
            (event::USED, 24 * cycles),
            (event::FULL, 50),
            (event::FETCH, 1000),
            (event::READ, 4000),
            (event::WRITE, 2000),
            ("issue", 1000),
        ];
        Measured::new(cycles, events)
    };
    let (on, allocated) = (file / 20, file / 2);
    match point.preset {
        "kepler" => Measured::new(1000, [("issue", 1000)]),
        "sleep-reg" => states(1020, on, allocated - on, [2000, 0]),
        "greener-static" => states(1005, on, (allocated - on) / 2, [900, 300]),
        _ => states(1001, on, (allocated - on) / 2, [800, 300]),
    }
}

fn report(run: impl Fn(&Kernel, &Point) -> Option<Measured>) -> PaperReport {
    made(&REPORT, &["a", "b"], run)
}

#[test]
fn two_numbers_are_fitted_and_the_rest_follows() {
    let report = report(|_, point| Some(run(point)));
    check_rows(&report);
    let with = |metric: &str| row(&report, metric).ours;
    let saved = [
        with("leakage energy saved by Sleep-Reg: fitted to 41.0 %"),
        with("leakage energy saved by GREENER: fitted to 46.96 %"),
    ];
    assert!((saved[0] - SLEEP_REG_SAVES).abs() < 1e-6 && (saved[1] - GREENER_SAVES).abs() < 1e-6, "{saved:?}");
    let sleep = with("leakage of a register in SLEEP by one that is ON: fitted");
    let off = with("leakage of a register that is OFF by one that is ON: fitted");
    // By hand: the remaining leakage of Sleep-Reg is its cycles times the leakage of its registers by state, plus 4000 transitions.
    let file = registers_of(&baseline()) as f64;
    let [on, asleep] = [51.0 / file, (512.0 - 51.0) / file];
    let changes = parameters(TransitionOf::Bank).sleep_transition * 4000.0 / (1000.0 * file);
    let left = 1.02 * (on + sleep * asleep + off * 0.5) + changes;
    assert!((left - 0.59).abs() < 1e-6, "{left}");
    let cycles = row(&report, "cycles that GREENER takes more");
    assert!((cycles.ours - 0.001).abs() < 1e-9);
    assert_eq!(cycles.within, Some(true));
    let less = row(&report, "kernels that GREENER slows down less than Sleep-Reg");
    assert_eq!((less.ours, less.within), (1.0, Some(false)), "three of the thesis's are slower");
    assert!(saved[1] > with("leakage energy saved by GREENER, routing included"));
    let entries = with("entries of the lookup table in use, of each warp, table of 4");
    assert!((entries - 24.0 / greener().config().unwrap().sm.warps as f64).abs() < 1e-9);
}

#[test]
fn rows_that_follow_from_the_fit_do_not_count() {
    let report = report(|_, point| Some(run(point)));
    for metric in [
        "leakage energy saved by the compiler's states alone",
        "leakage power saved by GREENER",
        "leakage power saved by Sleep-Reg",
    ] {
        let row = row(&report, metric);
        assert!(row.verdict.is_some() && !row.independent(), "{metric}");
    }
    // Power is energy by cycles, of each kernel, and so are their geometric means.
    let power = row(&report, "leakage power saved by GREENER").ours;
    assert!((power - (1.0 - (1.0 - GREENER_SAVES) / 1.001)).abs() < 1e-6, "{power}");
    assert!(row(&report, "leakage energy saved more with the lookup table than without").independent());
    let headlines: Vec<&str> =
        report.rows.iter().filter_map(|row| row.metric.strip_prefix("the paper's machine: ")).collect();
    assert_eq!(headlines, ["cycles that GREENER takes more", "cycles that Sleep-Reg takes more"]);
}

#[test]
fn the_thesis_has_wake_ups_of_four_cycles_at_most() {
    let report = report(|_, point| Some(run(point)));
    for (latency, said) in [(2, true), (4, true), (7, false)] {
        for kernels in ["in which GREENER saves more energy than", "that GREENER slows down less than"] {
            let metric = format!("kernels {kernels} Sleep-Reg, wake-ups of {latency} and {} cycles", 2 * latency);
            assert_eq!(row(&report, &metric).verdict.is_some(), said, "{metric}");
        }
    }
    let faster = row(&report, "cycles fewer by greedy then oldest, than with two levels, no power states");
    assert_eq!((faster.ours, faster.sign_only), (0.0, true));
}

#[test]
fn without_a_solution_there_are_no_savings() {
    // So few registers are OFF or asleep that Sleep-Reg saves less than the thesis says, whatever their leakage.
    let idle = |point: &Point| {
        let mut measured = run(point);
        measured.events.insert(event::ON.into(), registers_of(point) * measured.cycles);
        measured.events.insert(event::ASLEEP.into(), 0);
        measured
    };
    let report = report(|_, point| Some(idle(point)));
    assert!(report.rows.iter().all(|row| !row.metric.contains("energy saved")), "no number is made up");
    assert!(report.rows.iter().any(|row| row.metric == "cycles that Sleep-Reg takes more"));
}

#[test]
fn rows_that_no_paper_has_have_no_band() {
    let report = report(|_, point| Some(run(point)));
    for metric in [
        "leakage energy of the main register file saved by GREENER with LRF/ORF",
        "leakage energy of the main register file saved by GREENER with LRF/ORF, over the baseline without",
        "cycles that GREENER with LRF/ORF takes more",
    ]
    .into_iter()
    .chain(cached::METRICS)
    {
        assert_eq!(row(&report, metric).within, None, "{metric}");
    }
}

#[test]
fn every_event_is_one_of_the_sm() {
    let config = greener().config().unwrap();
    let totals = gpurf_lockstep::EventTotals::new((gpurf_sm::ENTRY.twin)(&config).declaration());
    for name in event::ALL {
        assert!(totals.by_name().contains_key(name), "{name} is not among {:?}", totals.by_name().keys());
    }
}

/// Registers of a warp that ends while they are ON change to OFF without a change to SLEEP, so a long run has more wake-ups than changes to SLEEP.
#[test]
fn warps_may_end_with_registers_on() {
    let more_wakes = |point: &Point| {
        let mut measured = run(point);
        if let Some(wakes) = measured.events.get_mut(event::WAKE_SLEEP) {
            *wakes += 10 * registers_of(point);
        }
        measured
    };
    let report = report(|_, point| Some(more_wakes(point)));
    assert!(!report.absent.contains(&NO_FIT));
    row(&report, "leakage energy saved by GREENER: fitted to 46.96 %");
}

/// If Sleep-Reg leaves all registers ON, no leakage in SLEEP saves what the thesis says.
#[test]
fn a_fit_that_does_not_exist_is_reported() {
    let all_on = |point: &Point| {
        let mut measured = run(point);
        let (on, cycles) = (registers_of(point), measured.cycles);
        measured.events.insert(event::ON.into(), on * cycles);
        measured.events.insert(event::ASLEEP.into(), 0);
        measured
    };
    let report = report(|_, point| Some(all_on(point)));
    assert!(report.absent.contains(&NO_FIT), "{:?}", report.absent);
    // It is not the reason if a run is missing.
    let failed = made(&REPORT, &["a", "b"], |_, point| (point.preset != "greener").then(|| all_on(point)));
    assert!(!failed.absent.contains(&NO_FIT));
    assert!(!report.rows.iter().any(|row| row.metric.contains("fitted")));
}
