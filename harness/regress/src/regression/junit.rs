//! A report for continuous integration: a test suite for each configuration and kind, a test case for each case.

use std::collections::BTreeMap;
use std::fmt::Write;

use gpurf_lockstep::Verdict;

use super::outcome::Signature;
use super::report::{RegressionReport, Run};
use crate::escaped;

/// As JUnit XML.
pub fn junit(report: &RegressionReport) -> String {
    let mut suites: BTreeMap<(&str, &str), Vec<&Run>> = BTreeMap::new();
    for run in &report.runs {
        suites.entry((&run.preset, run.kind)).or_default().push(run);
    }
    let failures = |runs: &[&Run]| runs.iter().filter(|run| failed(run)).count();
    let errors = |runs: &[&Run]| runs.iter().filter(|run| broke(run)).count();
    let seconds = |runs: &[&Run]| runs.iter().map(|run| run.outcome.wall_s).sum::<f64>();
    let all: Vec<&Run> = report.runs.iter().collect();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuites name=\"gpurf {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\">",
        escaped(&report.tier),
        all.len(),
        failures(&all),
        errors(&all),
        seconds(&all)
    );
    for ((preset, kind), runs) in &suites {
        let name = escaped(&format!("{preset} {kind}"));
        let skipped = runs.iter().filter(|run| run.outcome.result == Verdict::Skipped).count();
        let _ = writeln!(
            text,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{skipped}\" time=\"{:.3}\">",
            runs.len(),
            failures(runs),
            errors(runs),
            seconds(runs)
        );
        runs.iter().for_each(|run| case(&mut text, report, run));
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

/// It ran and went wrong.
fn failed(run: &Run) -> bool {
    !run.outcome.result.good() && !broke(run)
}

/// It could not be run.
fn broke(run: &Run) -> bool {
    matches!(run.outcome.result, Verdict::Error | Verdict::Crashed)
}

fn case(text: &mut String, report: &RegressionReport, run: &Run) {
    let (outcome, class) = (&run.outcome, format!("{}.{}", run.preset, run.kind));
    let name = escaped(&format!("{} seed {}", run.name, run.seed));
    let _ =
        write!(text, "    <testcase classname=\"{}\" name=\"{name}\" time=\"{:.3}\"", escaped(&class), outcome.wall_s);
    if outcome.result == Verdict::Pass {
        text.push_str("/>\n");
        return;
    }
    let bucket = report.buckets.iter().find(|bucket| bucket.cases.contains(&outcome.case));
    let kind = escaped(&bucket.map_or_else(|| outcome.result.word(), |bucket| in_words(&bucket.signature)));
    let (first, words) = (outcome.message.lines().next().unwrap_or_default(), escaped(&outcome.message));
    let first = escaped(first);
    let _ = match outcome.result {
        Verdict::Skipped => writeln!(text, "><skipped message=\"{first}\"/></testcase>"),
        _ => {
            let element = if broke(run) { "error" } else { "failure" };
            writeln!(text, "><{element} type=\"{kind}\" message=\"{first}\">{words}</{element}></testcase>")
        }
    };
}

fn in_words(signature: &Signature) -> String {
    format!("{} {} {}", signature.kind.word(), signature.block, signature.port).trim_end().to_owned()
}
