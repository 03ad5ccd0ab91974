//! The rows of reports as comma-separated values, with the fields of `--json` except the values of single kernels.

use serde::Serialize;

use crate::estimate::Statistic;
use crate::report::PaperReport;
use crate::row::{Known, Row, Unit, Verdict};

/// A line of the table.
#[derive(Serialize)]
struct Line<'a> {
    report: &'a str,
    source: &'a str,
    metric: &'a str,
    text: &'a str,
    paper_low: Option<f64>,
    paper_high: Option<f64>,
    ours: f64,
    interval_low: Option<f64>,
    interval_high: Option<f64>,
    statistic: Statistic,
    unit: Unit,
    within: Option<bool>,
    verdict: Option<Verdict>,
    derived_from: Option<&'a str>,
    sign_only: bool,
    cause: Option<Known>,
    why: &'a str,
    command: &'a str,
}

impl<'a> Line<'a> {
    fn new(report: &'a str, row: &'a Row) -> Self {
        Self {
            report,
            source: row.source,
            metric: &row.metric,
            text: row.text,
            paper_low: row.paper.map(|band| band.low),
            paper_high: row.paper.map(|band| band.high),
            ours: row.ours,
            interval_low: row.interval.map(|[low, _]| low),
            interval_high: row.interval.map(|[_, high]| high),
            statistic: row.statistic,
            unit: row.unit,
            within: row.within,
            verdict: row.verdict,
            derived_from: row.derived_from.as_deref(),
            sign_only: row.sign_only,
            cause: row.cause,
            why: &row.why,
            command: &row.command,
        }
    }
}

/// The reports as one table.
///
/// # Panics
/// Never: all fields of a line are plain values, and writing to memory does not fail.
pub fn csv(reports: &[PaperReport]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (report, row) in reports.iter().flat_map(|report| report.rows.iter().map(|row| (report.report, row))) {
        writer.serialize(Line::new(report, row)).expect("a line is plain");
    }
    let bytes = writer.into_inner().expect("memory takes it");
    String::from_utf8(bytes).expect("it is made of strings")
}
