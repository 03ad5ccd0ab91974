//! Value usage: RFC paper 2.2 and figure 2, hierarchy thesis 5.1 and 6.1.

use super::{ENTRIES, farthest, kernels, part_command, percent};
use crate::html::{Plot, Style};
use crate::row::{Claim, Row};
use crate::sweep::{Plan, Results};
use crate::usage::Usage;

const ONCE: Claim = Claim::share("RFC paper 2.2, figure 2(a)", "up to 70 %", 0.0, 0.7);
const OFTEN: Claim = Claim::share("RFC paper 2.2, figure 2(a)", "only 10 %", 0.0, 0.1);
const SOON: Claim = Claim::share("RFC paper 2.2, figure 2(b)", "up to 40 %", 0.0, 0.4);
const THESIS_AGAIN: Claim = Claim::share("hierarchy thesis 6.1, figure 6.1", "at most 20 %", 0.0, 0.2);
const THESIS_NEXT: Claim = Claim::share("hierarchy thesis 6.1, figure 6.1", "roughly 40 %", 0.35, 0.45);
const READS: Claim = Claim::share("RFC paper, figure 6(a)", "45-75 %", 0.45, 0.75);
const WRITES: Claim = Claim::share("RFC paper, figure 6(b)", "35-75 %", 0.35, 0.75);
const LIVE: Claim = Claim::share("RFC paper, figures 6(b) and 6(c)", "45-90 %: 35-75 %, and 10-15 % more", 0.45, 0.9);

pub fn plan(plan: &mut Plan) {
    plan.usage();
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let near = ENTRIES as usize;
    let row = |claim: Claim, metric: &str, value: &dyn Fn(&Usage) -> f64| {
        Some(claim.mean(metric, results.usage(value)?).because(|row| why(results, row)))
    };
    let rows = [
        row(ONCE, "values read once", &|u| u.part(u.values[1])),
        row(OFTEN, "values read more than twice", &|u| u.part(u.values[3])),
        row(SOON, "values read once, within 3 instructions", &|u| u.part(u.once_within(3))),
        row(THESIS_AGAIN, "values read more than once, CUDA benchmarks", &|u| u.part(u.values[2] + u.values[3])),
        row(THESIS_NEXT, "values read once, by the next instruction, CUDA benchmarks", &|u| u.part(u.once_within(1))),
        row(READS, "by the code alone: reads of one of the warp's last 6 results", &|u| u.near(near)),
        row(WRITES, "by the code alone: values overwritten within the warp's next 6 results", &|u| {
            u.overwritten_near(near)
        }),
        row(LIVE, "by the code alone: values not needed beyond the warp's next 6 results", &|u| u.needed_near(near)),
    ];
    rows.into_iter().flatten().collect()
}

/// What the values of the kernel that is farthest off look like.
fn why(results: &Results<'_>, row: &Row) -> (String, String) {
    let parts = results.usage(|u| u.part(u.values[0])).zip(results.usage(|u| u.part(u.values[1])));
    let soon = results.usage(|u| u.part(u.once_within(3)));
    let (Some((name, value)), Some((never, once)), Some(soon)) = (farthest(row), parts, soon) else {
        return Default::default();
    };
    let [never, once, soon] = [&never, &once, &soon].map(|values| percent(values[name]));
    let why = format!(
        "a property of the code, no timing is in it. Farthest off is {name} with {}: of its values {never} are never read, {once} once, {soon} once and within 3 instructions",
        row.unit.words(value)
    );
    (why, part_command(results, "values", Some(name)))
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
