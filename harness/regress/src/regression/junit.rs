//! A report for continuous integration: a test suite for each configuration and kind, a test case for each case.

use std::collections::BTreeMap;
use std::time::Duration;

use gpurf_lockstep::Verdict;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::outcome::Signature;
use super::report::{RegressionReport, Run};

/// As JUnit XML.
pub fn junit(report: &RegressionReport) -> String {
    let mut suites: BTreeMap<(&str, &str), Vec<&Run>> = BTreeMap::new();
    for run in &report.runs {
        suites.entry((&run.preset, run.kind)).or_default().push(run);
    }
    let seconds = |runs: &[&Run]| Duration::from_secs_f64(runs.iter().map(|run| run.outcome.wall_s).sum());
    let mut all = Report::new(format!("gpurf {}", report.tier));
    all.set_time(seconds(&report.runs.iter().collect::<Vec<_>>()));
    for ((preset, kind), runs) in &suites {
        let mut suite = TestSuite::new(format!("{preset} {kind}"));
        suite.set_time(seconds(runs)).add_test_cases(runs.iter().map(|run| case(report, run)));
        all.add_test_suite(suite);
    }
    all.to_string().expect("XML in a string")
}

/// It could not be run.
fn broke(run: &Run) -> bool {
    matches!(run.outcome.result, Verdict::Error | Verdict::Crashed)
}

fn case(report: &RegressionReport, run: &Run) -> TestCase {
    let outcome = &run.outcome;
    let bucket = report.buckets.iter().find(|bucket| bucket.cases.contains(&outcome.case));
    let first = outcome.message.lines().next().unwrap_or_default();
    let status = match outcome.result {
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::Skipped => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(first);
            status
        }
        _ => {
            let kind = if broke(run) { NonSuccessKind::Error } else { NonSuccessKind::Failure };
            let mut status = TestCaseStatus::non_success(kind);
            let cause = bucket.map_or_else(|| outcome.result.word().to_owned(), |bucket| in_words(&bucket.signature));
            status.set_type(cause).set_message(first).set_description(outcome.message.as_str());
            status
        }
    };
    let mut case = TestCase::new(format!("{} seed {}", run.name, run.seed), status);
    case.set_classname(format!("{}.{}", run.preset, run.kind)).set_time(Duration::from_secs_f64(outcome.wall_s));
    case
}

fn in_words(signature: &Signature) -> String {
    format!("{} {} {}", signature.kind.word(), signature.block, signature.port).trim_end().to_owned()
}
