//! Value usage: RFC paper 2.2 and figure 2.

use super::{kernels, unknown};
use crate::plot::{Plot, Style};
use crate::row::{Claim, Row};
use crate::sweep::{Results, SweepPlan};
use crate::usage::Usage;
use crate::values::Count;

const ONCE: Claim = Claim::share("RFC paper 2.2, figure 2(a)", "up to 70 %", 0.0, 0.7);
const OFTEN: Claim = Claim::share("RFC paper 2.2, figure 2(a)", "only 10 %", 0.0, 0.1);
const SOON: Claim = Claim::share("RFC paper 2.2, figure 2(b)", "up to 40 %", 0.0, 0.4);
const READS: Claim = Claim::share("RFC paper, figure 6(a)", "45-75 %", 0.45, 0.75);
const WRITES: Claim = Claim::share("RFC paper, figure 6(b)", "35-75 %", 0.35, 0.75);
const LIVE: Claim = Claim::share("RFC paper, figures 6(b) and 6(c)", "45-90 %: 35-75 %, and 10-15 % more", 0.45, 0.9);

pub fn plan(plan: &mut SweepPlan) {
    plan.usage();
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let kind = |claim: Claim, metric: &str, count: Count| {
        let row = claim.mean(metric, results.usage(|u| count.part(u))?);
        Some(row.because(|_| unknown(results, "values")))
    };
    let alone = |claim: Claim, metric: &str, value: fn(&Usage) -> f64| {
        let row = claim.mean(metric, results.usage(value)?);
        Some(row.because(|_| unknown(results, "values")))
    };
    let rows = [
        kind(ONCE, "values read once", Count::Once),
        kind(OFTEN, "values read more than twice", Count::Often),
        kind(SOON, "values read once, within 3 instructions", Count::Soon),
        alone(READS, "in program order, without time: MRF reads avoided, 6 entries", Usage::reads_avoided),
        alone(WRITES, "in program order, without time: MRF writes avoided, 6 entries", Usage::writes_avoided),
        alone(
            LIVE,
            "in program order, without time: MRF writes avoided, 6 entries, last reads known",
            Usage::live_writes_avoided,
        ),
    ];
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let usage = |value: &dyn Fn(&Usage) -> f64| results.usage(value).unwrap_or_default();
    if results.usage(|_| 0.0).is_none() {
        return Vec::new();
    }
    let reads = vec![
        ("read once", usage(&|u| u.part(u.values[1]))),
        ("twice", usage(&|u| u.part(u.values[2]))),
        ("more often", usage(&|u| u.part(u.values[3]))),
        ("never", usage(&|u| u.part(u.values[0]))),
    ];
    let lifetimes = ["1", "2", "3", "more than 3"].into_iter().enumerate();
    let lifetimes = lifetimes.map(|(index, name)| (name, usage(&|u| u.part(u.lifetimes[index])))).collect();
    vec![
        kernels("Reads of each value (figure 2(a))", "part of all values", reads, Style::Stacked, None),
        kernels(
            "Instructions until the only read, of values read once (figure 2(b))",
            "part of all values",
            lifetimes,
            Style::Stacked,
            None,
        ),
    ]
}
