//! Contradictions inside the papers (`docs/errata.md`): a printed number, and the value that the paper's other numbers give. They need arithmetic
//! alone, no runs.

use crate::estimate::Estimate;
use crate::report::Definition;
use crate::row::{Claim, Reason, Row};
use crate::sweep::Results;

/// The part of a report that lists the contradictions of its paper.
pub const PART: &str = "errata";

/// A number that a paper prints, and its value according to the paper's other numbers.
pub struct Printed {
    /// The contradiction's number in `docs/errata.md`.
    pub number: u32,
    /// The printed number.
    pub claim: Claim,
    /// The quantity that the number describes.
    pub metric: String,
    /// The value that the paper's other numbers give.
    pub value: f64,
}

/// Makes a [`Printed`].
pub fn printed(number: u32, claim: Claim, metric: &str, value: f64) -> Printed {
    Printed { number, claim, metric: metric.into(), value }
}

/// The contradictions as rows of a report.
pub fn rows(report: &Definition, results: &Results<'_>, printed: Vec<Printed>) -> Vec<Row> {
    let command = report.command(results, PART);
    let row = |Printed { number, claim, metric, value }: Printed| {
        let row = claim.row(format!("erratum {number}: {metric}"), Estimate::number(value));
        let reason = Reason { erratum: Some(number), command: command.clone(), ..Reason::default() };
        row.derived("the paper's other numbers").because(|_| reason)
    };
    printed.into_iter().map(row).collect()
}

/// The rows of the contradictions of a report, made without runs.
#[cfg(test)]
pub fn of(report: &'static Definition) -> Vec<Row> {
    let made = crate::testing::made(report, &["a", "b"], |_, _| None);
    made.rows.into_iter().filter(|row| row.metric.starts_with("erratum")).collect()
}

/// Checks each contradiction: the page has its number, the printed and the computed value, and the two differ.
#[cfg(test)]
#[track_caller]
pub fn check(rows: &[Row]) {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errata.md")).unwrap();
    for row in rows {
        let number = row.metric.trim_start_matches("erratum ").split(':').next().unwrap();
        let section = page.split("\n## ").find(|section| section.starts_with(&format!("{number}. ")));
        let section = section.unwrap_or_else(|| panic!("docs/errata.md has no number {number}"));
        let ours = row.unit.words(row.ours);
        assert!(section.contains(&ours), "docs/errata.md, {number}, has no {ours}: {}", row.metric);
        assert!(row.doubtful() && row.cause == Some(crate::row::Known::Erratum), "{}", row.metric);
    }
}
