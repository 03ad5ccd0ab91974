//! IPC gained by sharing: thesis 2.5.1.2, figure 2.13, 3.4.1.2, figure 3.9; over owners first without sharing: tables 2.5 and 2.7.

use super::{Gain, NOT_SAID, Registers, Release, Scratchpad, Shared, experiments};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row, geometric_mean};
use crate::shown::kernels;
use crate::sweep::{Measured, Point, Results, SweepPlan, by};

const OVER: &str = "sharing thesis 2.5.1.2, figure 2.13(a)";
const TABLE: &str = "sharing thesis, table 2.5: 90 % by 0 %";
const OVER_B: &str = "sharing thesis 2.5.1.2, figure 2.13(b)";
const TABLE_B: &str = "sharing thesis, table 2.7: 90 % by 0 %";
const OVER_3: &str = "sharing thesis 3.4.1.2, figure 3.9";
const CYCLES: &str = "sharing thesis 3.4.1.5, figure 3.11";

/// Sharing of 90 % over its scheduler alone.
pub const ALONE: Claim = Claim::share(TABLE, "1.3 %: -1-4 %", -0.01, 0.04);
pub const ALONE_B: Claim = Claim::share(TABLE_B, "5.8 %: 3-8 %", 0.03, 0.08);

/// The thesis's claims on sharing over the baseline, and over its scheduler alone: means, and each kernel under our names.
struct Claims {
    part: &'static str,
    over: Claim,
    over_each: &'static [(&'static str, Claim)],
    alone: Claim,
    alone_each: &'static [(&'static str, Claim)],
    scheduler: Claim,
}

const REGISTERS: Claims = Claims {
    part: "registers",
    over: Claim::share(OVER, "10.99 %: 6-16 %", 0.06, 0.16),
    over_each: &[
        ("hotspot", Claim::share(OVER, "21.76 %: 17-27 %", 0.17, 0.27)),
        ("stencil", Claim::share(OVER, "23.45 %: 18-28 %", 0.18, 0.28)),
        ("sgemm", Claim::share(OVER, "4.06 %: -1-9 %", -0.01, 0.09)),
        ("backprop", Claim::share(OVER, "5.82 %: 1-11 %", 0.01, 0.11)),
        ("mri-q", Claim::share(OVER, "-0.72 %: -6-4 %", -0.06, 0.04)),
        ("bPlusTree", Claim::share(OVER, "11.98 %: 7-17 %", 0.07, 0.17)),
        ("MUM", Claim::share(OVER, "24.14 %: 19-29 %", 0.19, 0.29)),
        ("LIB", Claim::share(OVER, "0.84 %: -4-6 %", -0.04, 0.06)),
    ],
    alone: ALONE,
    alone_each: &[
        ("hotspot", Claim::share(TABLE, "2.9 %: 0-5.5 %", 0.0, 0.055)),
        ("stencil", Claim::share(TABLE, "-1.7 %: -4-1 %", -0.04, 0.01)),
        ("sgemm", Claim::share(TABLE, "1.2 %: -1-4 %", -0.01, 0.04)),
        ("backprop", Claim::share(TABLE, "0.7 %: -2-3 %", -0.02, 0.03)),
        ("mri-q", Claim::share(TABLE, "0.4 %: -2-3 %", -0.02, 0.03)),
        ("bPlusTree", Claim::share(TABLE, "2.4 %: 0-5 %", 0.0, 0.05)),
        ("MUM", Claim::share(TABLE, "2.3 %: 0-5 %", 0.0, 0.05)),
        ("LIB", Claim::share(TABLE, "2.4 %: 0-5 %", 0.0, 0.05)),
    ],
    scheduler: Claim::share(
        "sharing thesis, figure 2.13(a) by table 2.5",
        "10.99 % by 1.3 %: 9.5 %, 4.5-14.5 %",
        0.045,
        0.145,
    ),
};

const SCRATCHPAD: Claims = Claims {
    part: "scratchpad",
    over: Claim::share(OVER_B, "12.47 %: 7-17 %", 0.07, 0.17),
    over_each: &[
        ("CONV1", Claim::share(OVER_B, "4.33 %: -1-9 %", -0.01, 0.09)),
        ("CONV2", Claim::share(OVER_B, "15.85 %: 11-21 %", 0.11, 0.21)),
        ("lavaMD", Claim::share(OVER_B, "29.96 %: 25-35 %", 0.25, 0.35)),
        // Our kernel stands for both.
        ("needle", Claim::share(OVER_B, "NW1 5.62 %, NW2 9.03 %: 1-14 %", 0.01, 0.14)),
        ("SRAD1", Claim::share(OVER_B, "25.73 %: 21-31 %", 0.21, 0.31)),
        ("SRAD2", Claim::share(OVER_B, "0.1 %: -5-5 %", -0.05, 0.05)),
    ],
    alone: ALONE_B,
    alone_each: &[
        ("CONV1", Claim::share(TABLE_B, "4.2 %: 2-7 %", 0.02, 0.07)),
        ("CONV2", Claim::share(TABLE_B, "4.5 %: 2-7 %", 0.02, 0.07)),
        ("lavaMD", Claim::share(TABLE_B, "28.0 %: 25.5-30.5 %", 0.255, 0.305)),
        ("needle", Claim::share(TABLE_B, "NW1 -4.0 %, NW2 -5.3 %: -8--1.5 %", -0.08, -0.015)),
        ("SRAD1", Claim::share(TABLE_B, "8.6 %: 6-11 %", 0.06, 0.11)),
        ("SRAD2", Claim::share(TABLE_B, "7.6 %: 5-10 %", 0.05, 0.10)),
    ],
    scheduler: Claim::share(
        "sharing thesis, figure 2.13(b) by table 2.7",
        "12.47 % by 5.8 %: 6.3 %, 1.5-11.5 %",
        0.015,
        0.115,
    ),
};

const RELEASE: Claims = Claims {
    part: "relssp",
    over: Claim::share(OVER_3, "19 %: 14-24 %", 0.14, 0.24),
    over_each: &[
        ("heartwall", Claim::share(OVER_3, "92.17 %: 87-97 %", 0.87, 0.97)),
        ("backprop", Claim::share(OVER_3, "74.2 %: 69-79 %", 0.69, 0.79)),
        ("MC1", Claim::share(OVER_3, "32.32 %: 27-37 %", 0.27, 0.37)),
        ("FDTD3d", Claim::share(OVER_3, "-2.29 %: -7-3 %", -0.07, 0.03)),
        ("histogram", Claim::share(OVER_3, "\"does not benefit from sharing\": -5-2.5 %", -0.05, 0.025)),
    ],
    alone: Claim::none(NOT_SAID),
    alone_each: &[],
    scheduler: Claim::none(NOT_SAID),
};
const MOST: Claim = Claim::share(OVER_3, "a maximum of 92.17 %: 87-97 %", 0.87, 0.97);
const FEWER: Claim = Claim::share(CYCLES, "15.42 %: 10-20 %", 0.10, 0.20);
const MOST_FEWER: Claim = Claim::share(CYCLES, "a maximum of 47.8 %: 43-53 %", 0.43, 0.53);

fn claims(of: Shared) -> &'static Claims {
    match of {
        Registers => &REGISTERS,
        Scratchpad => &SCRATCHPAD,
        Release => &RELEASE,
    }
}

/// The claims on sharing over the baseline, and over its scheduler alone.
pub fn headline(of: Shared) -> [Claim; 2] {
    [claims(of).over, claims(of).alone]
}

/// The gain of sharing over the baseline.
pub fn over_baseline(of: Shared, part: &str) -> Gain<'_> {
    let metric = "IPC gained by sharing, over LRR";
    Gain { of, metric, part, point: of.complete(), over: of.baseline(), own: of.own() }
}

/// The gain of sharing over the same scheduler.
pub fn over_aged(of: Shared, part: &str) -> Gain<'_> {
    let metric = "IPC gained by sharing, over owners first without pairs";
    Gain { of, metric, part, point: of.complete(), over: of.aged(), own: of.own() }
}

/// The gain of the scheduler over the baseline, with nothing shared.
fn scheduler(of: Shared) -> Gain<'static> {
    let metric = "IPC gained by the scheduler, nothing shared, over LRR";
    Gain { of, metric, part: claims(of).part, point: of.aged(), over: of.baseline(), own: of.own() }
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    let part = claims(of).part;
    [over_baseline(of, part), over_aged(of, part), scheduler(of)].iter().for_each(|gain| gain.plan(plan));
}

/// Cycles saved relative to the baseline, which also has fewer instructions if sharing adds some.
fn fewer(results: &Results<'_>, gain: &Gain<'_>) -> Option<[Row; 2]> {
    let cycles =
        |a: &Point, b: &Point| gain.of.of_sharing(results, by(results, a, b, |run: &Measured| run.cycles as f64)?);
    let left = cycles(&gain.point, &gain.over)?;
    let saved = Estimate::geometric(left).one_less();
    let most = saved.per_kernel.values().copied().fold(f64::NEG_INFINITY, f64::max);
    let greatest = Estimate::extreme(most, saved.per_kernel.clone());
    let why = |value: fn(&PerKernel) -> f64| {
        let cycles = |a: &Point, b: &Point| cycles(a, b).map(|left| value(&left));
        let mut all = vec![(gain.of.own_words(), cycles(&gain.own, &gain.over))];
        all.extend(experiments(|change| cycles(&change(gain.point.clone()), &change(gain.over.clone()))));
        Reason::found(all, gain.of.command(results, gain.part))
    };
    let metric = "cycles fewer by sharing, than with LRR";
    let row = FEWER.row(metric, saved);
    let greatest = MOST_FEWER.row(format!("{metric}, most of any kernel"), greatest);
    Some([
        row.because(|_| why(|left| 1.0 - geometric_mean(left))),
        greatest.because(|_| why(|left| 1.0 - left.values().copied().fold(f64::INFINITY, f64::min))),
    ])
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let Claims { part, over, over_each, alone, alone_each, scheduler: by_age } = claims(of);
    let (all, same) = (over_baseline(of, part), over_aged(of, part));
    let mut rows = Vec::new();
    rows.extend(all.mean(results, *over));
    rows.extend(all.each(results, over_each));
    if of == Release {
        // The thesis's maximum is heartwall's gain, which has a row.
        let most = all.most(results, MOST, "IPC gained by sharing, over LRR, most of any kernel");
        rows.extend(most.map(|row| row.derived(format!("the same claim: {}: heartwall", all.metric))));
        rows.extend(fewer(results, &all).into_iter().flatten());
    }
    // Geometric means multiply: sharing over the baseline is sharing over the scheduler alone, times the scheduler alone over the baseline.
    let alone_by_age = scheduler(of).mean(results, *by_age);
    rows.extend(alone_by_age.map(|row| match by_age.band {
        Some(_) => row.derived("sharing over LRR, and over owners first without pairs"),
        None => row,
    }));
    rows.extend(same.mean(results, *alone));
    rows.extend(same.each(results, alone_each));
    rows
}

pub fn plots(of: Shared, results: &Results<'_>) -> Vec<Plot> {
    let Claims { part, over, .. } = claims(of);
    let title = match of {
        Registers => "IPC gained (figure 2.13(a), table 2.5)",
        Scratchpad => "IPC gained (figure 2.13(b), table 2.7)",
        Release => "IPC gained (figure 3.9)",
    };
    let plot = || {
        let gains = |gain: Gain<'_>| of.gains(results, &gain.point, &gain.over);
        let series = vec![
            ("sharing over LRR", gains(over_baseline(of, part))?),
            ("its scheduler over LRR", gains(scheduler(of))?),
            ("sharing over its scheduler", gains(over_aged(of, part))?),
        ];
        Some(kernels(title, "share", series, Style::Lines, over.band.map(|band| [band.low, band.high])))
    };
    plot().into_iter().collect()
}
