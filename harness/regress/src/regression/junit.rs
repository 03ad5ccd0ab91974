//! A report for continuous integration: a test suite for each configuration and kind, a test case for each case, a suite for other problems.

use std::collections::BTreeMap;
use std::time::Duration;

use gpurf_lockstep::Verdict;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::outcome::Signature;
use super::report::{RegressionReport, Run};

/// The suite for problems of the plan as a whole.
const PLAN: &str = "plan";

/// The report as JUnit XML.
pub fn junit(report: &RegressionReport) -> String {
    let mut suites: BTreeMap<(&str, &str), Vec<&Run>> = BTreeMap::new();
    for run in &report.runs {
        suites.entry((&run.preset, run.kind)).or_default().push(run);
    }
    let seconds = |runs: &[&Run]| time(runs.iter().map(|run| run.outcome.wall_s).sum());
    let mut all = Report::new(format!("gpurf {}", report.tier));
    all.set_time(seconds(&report.runs.iter().collect::<Vec<_>>()));
    for ((preset, kind), runs) in &suites {
        let mut suite = TestSuite::new(format!("{preset} {kind}"));
        suite.set_time(seconds(runs)).add_test_cases(runs.iter().map(|run| case(report, run)));
        all.add_test_suite(suite);
    }
    let beyond = beyond_runs(report);
    if !beyond.is_empty() {
        let mut suite = TestSuite::new(PLAN);
        suite.add_test_cases(beyond);
        all.add_test_suite(suite);
    }
    // Two characters that no XML contains. The library leaves out the others.
    all.to_string().expect("XML in a string").replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// Seconds as a duration; limited to the longest duration.
fn time(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// Whether the case could not be run.
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
    case.set_classname(format!("{}.{}", run.preset, run.kind)).set_time(time(outcome.wall_s));
    case
}

/// Problems that belong to no case, such as coverage that all programs together miss; and cases that have not been run.
fn beyond_runs(report: &RegressionReport) -> Vec<TestCase> {
    let of = |name: String, kind: NonSuccessKind, cause: &str, message: &str| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(cause).set_message(message.lines().next().unwrap_or_default()).set_description(message);
        let mut case = TestCase::new(name, status);
        case.set_classname(PLAN);
        case
    };
    let failures = report.buckets.iter().filter(|bucket| bucket.cases.is_empty()).map(|bucket| {
        let name = in_words(&bucket.signature);
        of(name, NonSuccessKind::Failure, &bucket.signature.kind.word(), &bucket.message)
    });
    let not_run = report.not_run.iter().map(|id| of(id.clone(), NonSuccessKind::Error, "not run", "not run"));
    failures.chain(not_run).collect()
}

fn in_words(signature: &Signature) -> String {
    format!("{} {} {}", signature.kind.word(), signature.block, signature.port).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::outcome::CaseOutcome;
    use super::super::plan::{RegressionPlan, Shard};
    use super::super::report::Bucket;
    use super::*;

    #[test]
    fn messages_have_no_character_that_xml_cannot_contain() {
        let plan = RegressionPlan::of_saxpy();
        let failed = |case| CaseOutcome::new(case, Verdict::CheckFailed, "a\u{0}\u{fffe}\u{ffff}z\nb\u{ffff}");
        let outcomes = plan.cases.iter().map(|case| (case.id.clone(), failed(case))).collect();
        let xml = junit(&RegressionReport::new(&plan, Shard::WHOLE, &outcomes, &[], &[]));
        let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
        assert!(xml.chars().all(allowed) && xml.contains("a\u{fffd}\u{fffd}z"), "{xml}");
    }

    #[test]
    fn times_of_any_length_have_a_sum() {
        let plan = RegressionPlan::of_saxpy();
        let wall_s = Duration::MAX.as_secs() as f64 / 2.0;
        let outcome = |case| CaseOutcome { wall_s, ..CaseOutcome::new(case, Verdict::Pass, "") };
        let outcomes = plan.cases.iter().map(|case| (case.id.clone(), outcome(case))).collect();
        assert!(plan.cases.len() > 2, "more than the longest time");
        let xml = junit(&RegressionReport::new(&plan, Shard::WHOLE, &outcomes, &[], &[]));
        assert_eq!(xml.matches("<testcase ").count(), plan.cases.len());
    }

    #[test]
    fn what_no_run_shows_is_in_a_suite_of_its_own() {
        let plan = RegressionPlan::of_saxpy();
        let pass = |case| CaseOutcome::new(case, Verdict::Pass, "");
        let outcomes = plan.cases.iter().skip(1).map(|case| (case.id.clone(), pass(case))).collect();
        let mut report = RegressionReport::new(&plan, Shard::WHOLE, &outcomes, &[], &[]);
        report.buckets.push(Bucket {
            signature: Signature { block: "sm".into(), port: "sm two-level".into(), kind: Verdict::CoverageMissed },
            count: 1,
            cases: Vec::new(),
            command: String::new(),
            message: "together they reached too rarely: a (0)".into(),
            artifact: None,
        });
        let xml = junit(&report);
        assert!(
            xml.contains("<testsuite name=\"plan\" tests=\"2\" skipped=\"0\" errors=\"1\" failures=\"1\""),
            "{xml}"
        );
        assert!(xml.contains("<failure message=\"together they reached too rarely: a (0)\" type=\"coverage_missed\""));
        assert!(xml.contains(&format!("<testcase name=\"{}\" classname=\"plan\"", plan.cases[0].id)), "{xml}");
        assert!(xml.contains("<error message=\"not run\""), "{xml}");
        let all = plan.cases.iter().map(|case| (case.id.clone(), pass(case))).collect();
        assert!(!junit(&RegressionReport::new(&plan, Shard::WHOLE, &all, &[], &[])).contains("name=\"plan\""));
    }
}
