//! Value usage: RFC paper 2.2 and figure 2.

use std::collections::BTreeMap;

use super::{farthest, kernels, percent};
use crate::plot::{Plot, Style};
use crate::row::{Claim, Row, mean};
use crate::sweep::{Results, SweepPlan};
use crate::usage::{Usage, Written};

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
        Some(row.because(|row| why(results, row, count, super::part_command(results, "values"))))
    };
    let alone = |claim: Claim, metric: &str, value: fn(&Usage) -> f64| {
        let row = claim.mean(metric, results.usage(value)?);
        Some(row.because(|row| why(results, row, Count::All, super::part_command(results, "values"))))
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

/// Kinds of values.
#[derive(Clone, Copy)]
pub enum Count {
    /// Every one.
    All,
    /// Read once.
    Once,
    /// Read more than twice.
    Often,
    /// Read more than once.
    Again,
    /// Read once, within three instructions.
    Soon,
    /// Read once, by the next instruction.
    Next,
}

impl Count {
    fn of(self, written: &Written) -> u64 {
        let Written { values, lifetimes } = written;
        match self {
            Self::All => values.iter().sum(),
            Self::Once => values[1],
            Self::Often => values[3],
            Self::Again => values[2] + values[3],
            Self::Soon => lifetimes[..3].iter().sum(),
            Self::Next => lifetimes[0],
        }
    }

    /// The part that they are of all values but those of an operation.
    fn part_without(self, usage: &Usage, operation: &str) -> f64 {
        let others = || usage.written.iter().filter(|(name, _)| **name != operation).map(|(_, written)| written);
        let sum = |count: Self| others().map(|written| count.of(written)).sum::<u64>() as f64;
        crate::ratio(sum(self), sum(Self::All))
    }

    /// The part of all values that they are.
    pub fn part(self, usage: &Usage) -> f64 {
        usage.part(usage.written.values().map(|written| self.of(written)).sum())
    }
}

/// Operations that are named.
const NAMED: usize = 4;

/// What wrote the values, over all kernels, each kernel counted alike; what they are without the operation that wrote the most, and in the kernel that is farthest off.
pub fn why(results: &Results<'_>, row: &Row, count: Count, command: String) -> (String, String) {
    let mut parts: BTreeMap<&str, f64> = BTreeMap::new();
    let kernels = results.kernels.len() as f64;
    for usage in results.usages() {
        for (operation, written) in &usage.written {
            *parts.entry(operation).or_default() += usage.part(count.of(written)) / kernels;
        }
    }
    let mut parts: Vec<(&str, f64)> = parts.into_iter().collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let most: Vec<String> =
        parts.iter().take(NAMED).map(|(operation, part)| format!("{operation} {}", percent(*part))).collect();
    let without = parts.first().map_or_else(String::new, |(operation, _)| {
        let values = results.usage(|usage| count.part_without(usage, operation)).unwrap_or_default();
        format!("; without the values of {operation} it would be {}", percent(mean(&values)))
    });
    let far_words = farthest(row)
        .map_or_else(String::new, |(name, value)| format!("; farthest off is {name} with {}", row.unit.words(value)));
    let most = most.join(", ");
    let why = format!(
        "the code decides: values are counted on the oracle, without hardware or time. By operation, of all values: {most}{without}{far_words}"
    );
    (why, command)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_operation_its_values_are_none() {
        let written = |values| Written { values, ..Written::default() };
        let mut usage = Usage { values: [0, 4, 0, 6], ..Usage::default() };
        usage.written = [("IADD", written([0, 1, 0, 5])), ("MOV", written([0, 3, 0, 1]))].into_iter().collect();
        assert_eq!((Count::Often.part(&usage), Count::Often.part_without(&usage, "IADD")), (0.6, 0.25));
    }
}
