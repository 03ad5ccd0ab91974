//! The optimisations added one by one, and restricted encodings: hierarchy thesis 6.5.4 and 6.5.5, figures 6.14 and 6.18.

use gpurf_compiler::hierarchy::{Encoding, HierarchyOptions};

use super::{ENTRIES, SIZE, SIZES, basic, command, less, lines, more, normalised, percent, split};
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Row, mean};
use crate::sweep::{Results, SweepPlan};

const FIGURE: &str = "hierarchy thesis 6.5.4, figure 6.14";
const FORWARD: Claim = Claim::share(FIGURE, "roughly 2 %: 1.5-2.5 %", 0.015, 0.025);
const OPERANDS: Claim = Claim::share(FIGURE, "roughly 3 %: 2.5-3.5 %", 0.025, 0.035);
const PARTIAL: Claim = Claim::share(FIGURE, "just under 2 %: 1.5-2 %", 0.015, 0.02);
const TOGETHER: Claim = Claim::share(FIGURE, "6.6 %", 0.0655, 0.0665);
const EVERY_SIZE: Claim = Claim::share(FIGURE, "each reduces energy for each capacity", 0.0, 1.0);
const SINGLE: Claim = Claim::share("hierarchy thesis 6.5.5, figure 6.18", "7 %", 0.065, 0.075);
const LRF_MRF: Claim = Claim::share("hierarchy thesis 6.5.5, figure 6.18", "2 %", 0.015, 0.025);

/// Without the optimisations, and with one after the other, in the thesis's order.
const STEPS: [fn(u32) -> HierarchyOptions; 4] = [
    |entries| basic(split(entries)),
    |entries| HierarchyOptions { forward_branches: true, ..basic(split(entries)) },
    |entries| HierarchyOptions { partial_ranges: false, ..split(entries) },
    split,
];

fn single_level(entries: u32) -> HierarchyOptions {
    HierarchyOptions { encoding: Encoding::SingleLevel, ..split(entries) }
}

fn lrf_mrf(entries: u32) -> HierarchyOptions {
    HierarchyOptions { encoding: Encoding::LrfMrfOnly, ..split(entries) }
}

pub fn plan(plan: &mut SweepPlan) {
    for entries in SIZES {
        STEPS.into_iter().chain([single_level as fn(u32) -> _, lrf_mrf]).for_each(|of| plan.levels(of(entries)));
    }
}

/// By how much one design needs less energy than another.
fn gain(results: &Results<'_>, of: HierarchyOptions, than: HierarchyOptions) -> Option<(f64, PerKernel)> {
    Some(less(&normalised(results, &of)?, &normalised(results, &than)?))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let step = |claim: Claim, metric: &str, from: usize, to: usize| {
        let (ours, values) = gain(results, STEPS[to](ENTRIES), STEPS[from](ENTRIES))?;
        let row = claim.row(format!("less energy {metric}, split LRF, {SIZE}"), ours, values);
        Some(row.because(|row| why(results, row, STEPS[to], STEPS[from])))
    };
    let restricted = |claim: Claim, metric: &str, of: fn(u32) -> HierarchyOptions| {
        let (ours, values) = more(&normalised(results, &of(ENTRIES))?, &normalised(results, &split(ENTRIES))?);
        let row = claim.row(format!("more energy if {metric}, split LRF, {SIZE}"), ours, values);
        Some(row.because(|row| why(results, row, of, split)))
    };
    let rows = [
        step(FORWARD, "with values across forward branches", 0, 1),
        step(OPERANDS, "with read operands too", 1, 2),
        step(PARTIAL, "with partial ranges too", 2, 3),
        step(TOGETHER, "with all three optimisations", 0, 3),
        every_size(results),
        restricted(SINGLE, "a result goes to one level", single_level),
        restricted(LRF_MRF, "a result goes to LRF and MRF, or to one level", lrf_mrf),
    ];
    rows.into_iter().flatten().collect()
}

/// The least gain of a step at any size.
fn every_size(results: &Results<'_>) -> Option<Row> {
    let mut least: Option<(f64, PerKernel, u32, usize)> = None;
    for entries in SIZES {
        for step in 1..STEPS.len() {
            let (ours, values) = gain(results, STEPS[step](entries), STEPS[step - 1](entries))?;
            if least.as_ref().is_none_or(|(least, ..)| ours < *least) {
                least = Some((ours, values, entries, step));
            }
        }
    }
    let (ours, values, entries, step) = least?;
    let row = EVERY_SIZE.row(
        "less energy by an optimisation, the least of all sizes and optimisations, split LRF",
        ours,
        values,
    );
    Some(row.because(|row| {
        let (text, command) = why(results, row, STEPS[step], STEPS[step - 1]);
        (format!("it is optimisation {step} with {entries} entries: {text}"), command)
    }))
}

/// Where operands and results go with and without, who gains, and what it is with other sizes.
fn why(
    results: &Results<'_>,
    row: &Row,
    of: fn(u32) -> HierarchyOptions,
    than: fn(u32) -> HierarchyOptions,
) -> (String, String) {
    let part = |options: HierarchyOptions, reads: bool| {
        let part = results.levels(&options, |counts| {
            let (mrf, all) = if reads {
                (counts.mrf.reads(), counts.flat.reads())
            } else {
                (counts.mrf.writes(), counts.flat.writes())
            };
            crate::ratio(mrf as f64, all as f64)
        });
        part.map_or_else(String::new, |values| percent(mean(&values)))
    };
    let count = |holds: fn(f64) -> bool| row.per_kernel.values().filter(|&&value| holds(value.abs())).count();
    let sizes: Vec<String> = [1, 3, 5, 8]
        .into_iter()
        .filter_map(|entries| Some(format!("{entries}: {}", percent(gain(results, of(entries), than(entries))?.0))))
        .collect();
    let [least, most] = row.extremes().unwrap_or_default();
    let why = format!(
        "the code decides: {} of {} kernels change by more than a point, {} by less than a tenth of one; from {} ({}) to {} ({}). Operands read in the MRF: {} with, {} without; results written to it: \
         {} and {}. Less energy, by entries: {}",
        count(|value| value > 0.01),
        row.per_kernel.len(),
        count(|value| value < 0.001),
        row.unit.words(least.1),
        least.0,
        row.unit.words(most.1),
        most.0,
        part(of(ENTRIES), true),
        part(than(ENTRIES), true),
        part(of(ENTRIES), false),
        part(than(ENTRIES), false),
        sizes.join(", ")
    );
    (why, command(results, "steps"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let at = |of: fn(u32) -> HierarchyOptions| {
        move |entries: u32| normalised(results, &of(entries)).map(|energy| mean(&energy))
    };
    let [none, forward, operands, all] = STEPS.map(at);
    let (sizes, ratio) = (("entries", &SIZES[..]), "ratio, mean");
    let plots = [
        lines(
            "Energy with optimisations, split LRF, by that of the MRF alone (figure 6.14)",
            sizes,
            ratio,
            &[
                ("none", &none),
                ("forward branches", &forward),
                ("read operands too", &operands),
                ("partial ranges too", &all),
            ],
            None,
        ),
        lines(
            "Energy with restricted encodings, split LRF, by that of the MRF alone (figure 6.18)",
            sizes,
            ratio,
            &[("two levels", &at(split)), ("one level", &at(single_level)), ("LRF and MRF, or one", &at(lrf_mrf))],
            None,
        ),
    ];
    plots.into_iter().flatten().collect()
}
