//! Values by how often and how soon they are read, and why a kernel has them.

use std::collections::BTreeMap;

use crate::row::{Row, mean};
use crate::shown::{farthest, percent};
use crate::sweep::Results;
use crate::usage::{Usage, Written};

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
        let others = || usage.written.iter().filter(|(name, _)| *name != operation).map(|(_, written)| written);
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
            *parts.entry(operation.as_ref()).or_default() += usage.part(count.of(written)) / kernels;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_operation_its_values_are_none() {
        let written = |values| Written { values, ..Written::default() };
        let mut usage = Usage { values: [0, 4, 0, 6], ..Usage::default() };
        usage.written =
            [("IADD".into(), written([0, 1, 0, 5])), ("MOV".into(), written([0, 3, 0, 1]))].into_iter().collect();
        assert_eq!((Count::Often.part(&usage), Count::Often.part_without(&usage, "IADD")), (0.6, 0.25));
    }
}
