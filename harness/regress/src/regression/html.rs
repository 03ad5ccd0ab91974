//! The report as one HTML page that needs no other file.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use gpurf_lockstep::Verdict;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::report::{Bucket, Changes, RegressionReport, Run, Trend};

/// Maximum number of rows of a list.
const SHOWN: usize = 200;
/// Maximum number of lines of a message.
const LINES: usize = 30;

const STYLE: &str = "\
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:76em;padding:0 1em;color:#1c2128;background:#fff}\
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}\
table{border-collapse:collapse;margin:.6em 0}td,th{padding:.2em .7em;border-bottom:1px solid #dfe3e8;text-align:left;vertical-align:top}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}th{font-weight:600;background:#f6f8fa}\
pre{background:#f6f8fa;padding:.6em;overflow-x:auto;font-size:12px}code{font-size:12px}\
.good{color:#1a7f37}.bad{color:#cf222e;font-weight:600}.quiet{color:#6e7781}\
.bar{display:inline-block;height:.7em;background:#1a7f37}.bar.rest{background:#e5a3a3}\
details{margin:.4em 0}summary{cursor:pointer}\
@media(prefers-color-scheme:dark){body{color:#d1d7de;background:#16191d}th,pre{background:#22272e}td,th{border-color:#353b43}.good{color:#57ab5a}.bad{color:#f47067}}";

/// The page; with the changes since an earlier run.
pub fn html(report: &RegressionReport, earlier: Option<&Trend>) -> String {
    let title = match report.shard {
        Some(shard) => format!("gpurf regress {} ({} of {})", report.tier, shard.index, shard.count),
        None => format!("gpurf regress {}", report.tier),
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { (title) } style { (PreEscaped(STYLE)) } }
            body {
                h1 { (title) }
                (summary(report))
                @if let Some(earlier) = earlier { (trend(report, earlier)) }
                @if !report.buckets.is_empty() {
                    h2 { "Failures" }
                    @for bucket in &report.buckets { (failure(bucket)) }
                }
                (matrix(report))
                (blocks(report))
                (programs(report))
                (coverage(report))
            }
        }
    };
    page.into_string()
}

/// The output of a program, without characters that HTML does not allow.
fn printable(text: &str) -> Cow<'_, str> {
    let strange = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if text.contains(strange) { text.replace(strange, "?").into() } else { text.into() }
}

fn good(all: bool) -> &'static str {
    if all { "good" } else { "bad" }
}

fn summary(report: &RegressionReport) -> Markup {
    let count = |test: &dyn Fn(Verdict) -> bool| report.runs.iter().filter(|run| test(run.outcome.result)).count();
    let (passed, skipped) = (count(&|ending| ending == Verdict::Pass), count(&|ending| ending == Verdict::Skipped));
    let (buckets, not_run) = (report.buckets.len(), report.not_run.len());
    let (all, failed) = (report.runs.len() + not_run, report.runs.len() - passed - skipped);
    let cycles: u64 = report.runs.iter().map(|run| run.outcome.cycles).sum();
    let seconds: f64 = report.runs.iter().map(|run| run.outcome.wall_s).sum();
    html! {
        p class=(good(failed == 0 && buckets == 0 && not_run == 0)) {
            (passed) " of " (all) " cases passed, " (failed) " failed in " (buckets) " buckets, "
            (skipped) " do not fit, " (not_run) " not run."
        }
        p {
            (cycles) " cycles; "
            span.time { (format!("{seconds:.1} s of running, without building")) } ". "
            "Plan " code { (report.plan) } "."
        }
    }
}

fn trend(report: &RegressionReport, earlier: &Trend) -> Markup {
    let Changes { results, cycles, new, gone } = earlier.changes(report);
    let share = |then: f64, now: f64| 100.0 * (now - then) / then;
    html! {
        h2 { "Since the earlier run" }
        p {
            (results.len()) " results changed, " (cycles.len()) " runs take another number of cycles, "
            (new) " cases are new, " (gone) " are gone"
            @if let Some((then, now)) = earlier.speeds(report) {
                "; "
                span.time {
                    (format!("{then:.0} thousand cycles a second then, {now:.0} now ({:+.0} %)", share(then, now)))
                }
            }
            "."
        }
        @if !results.is_empty() {
            table {
                tr { th { "case" } th { "then" } th { "now" } }
                @for (case, before, now) in results.iter().take(SHOWN) {
                    tr { td { (case) } td { (before.word()) } td class=(good(now.good())) { (now.word()) } }
                }
            }
        }
        @if !cycles.is_empty() {
            table {
                tr { th { "case" } th.n { "cycles then" } th.n { "now" } th.n { "change" } }
                @for (case, before, now) in cycles.iter().take(SHOWN) {
                    @let share = share((*before).max(1) as f64, *now as f64);
                    tr { td { (case) } td.n { (before) } td.n { (now) } td.n { (format!("{share:+.2} %")) } }
                }
            }
        }
    }
}

fn failure(bucket: &Bucket) -> Markup {
    let signature = &bucket.signature;
    let message = bucket.message.lines().take(LINES).collect::<Vec<_>>().join("\n");
    html! {
        details open {
            summary {
                span.bad { (signature.kind.word()) } " " b { (printable(&signature.block)) } " "
                (printable(&signature.port)) " (" (bucket.count) ")"
            }
            pre { (printable(&message)) }
            p {
                code { (printable(&bucket.command)) }
                @if let Some(folder) = &bucket.artifact {
                    @let folder = folder.display().to_string();
                    br;
                    a href=(folder) { (printable(&folder)) } ": the shortest run that still fails, and its waveform"
                }
            }
            details {
                summary.quiet { "cases" }
                p {
                    @for case in bucket.cases.iter().take(SHOWN) { (case) br; }
                    @if bucket.cases.len() > SHOWN { "and " (bucket.cases.len() - SHOWN) " more" }
                }
            }
        }
    }
}

/// A table with a row for each kernel and a column for each configuration: cycles, or the failure.
fn matrix(report: &RegressionReport) -> Markup {
    let of_kernels = || report.runs.iter().filter(|run| matches!(run.kind, "kernel" | "golden"));
    let mut cells: BTreeMap<(&str, &str), Vec<&Run>> = BTreeMap::new();
    of_kernels().for_each(|run| cells.entry((&run.name, &run.preset)).or_default().push(run));
    let mut presets: Vec<&str> = Vec::new();
    for run in of_kernels().filter(|run| !run.preset.is_empty()) {
        if !presets.contains(&run.preset.as_str()) {
            presets.push(&run.preset);
        }
    }
    let kernels: BTreeSet<&str> = cells.keys().map(|(kernel, _)| *kernel).collect();
    html! {
        @if !cells.is_empty() {
            h2 { "Kernels" }
            p { "Cycles. In lockstep and on the model alone; a number in italics: on the model alone." }
            table {
                tr { th { "kernel" } @for preset in &presets { th.n { (preset) } } }
                @for kernel in kernels {
                    tr {
                        td { (kernel) }
                        @for preset in &presets {
                            td.n { @if let Some(runs) = cells.get(&(kernel, preset)) { (cell(runs)) } }
                        }
                    }
                }
            }
        }
    }
}

fn cell(runs: &[&Run]) -> Markup {
    let cycles = runs.iter().map(|run| run.outcome.cycles).max().unwrap_or(0);
    html! {
        @if let Some(run) = runs.iter().find(|run| !run.outcome.result.good()) {
            span.bad { (run.outcome.result.word()) }
        } @else if runs.iter().any(|run| run.kind == "kernel" && run.outcome.result == Verdict::Pass) {
            (cycles)
        } @else if runs.iter().all(|run| run.outcome.result == Verdict::Skipped) {
            "does not fit"
        } @else {
            i { (cycles) }
        }
    }
}

/// A row for each group of runs.
fn groups<'a>(heading: &str, runs: impl Iterator<Item = (String, &'a Run)>) -> Markup {
    let mut groups: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
    runs.for_each(|(group, run)| groups.entry(group).or_default().push(run));
    html! {
        @if !groups.is_empty() {
            h2 { (heading) }
            table {
                tr {
                    th { "what" } th.n { "cases" } th.n { "passed" } th.n { "cycles" }
                    th.n { "thousand cycles a second" }
                }
                @for (group, runs) in &groups {
                    @let passed = runs.iter().filter(|run| run.outcome.result.good()).count();
                    @let cycles = runs.iter().map(|run| run.outcome.cycles).sum::<u64>();
                    @let seconds = runs.iter().map(|run| run.outcome.wall_s).sum::<f64>();
                    @let speed = cycles as f64 / seconds.max(1e-9) / 1e3;
                    tr {
                        td { (group) } td.n { (runs.len()) } td.n.(good(passed == runs.len())) { (passed) }
                        td.n { (cycles) } td.n { span.time { (format!("{speed:.0}")) } }
                    }
                }
            }
        }
    }
}

fn blocks(report: &RegressionReport) -> Markup {
    let runs = report.runs.iter().filter(|run| run.kind == "block");
    groups("Blocks", runs.map(|run| (run.name.clone(), run)))
}

fn programs(report: &RegressionReport) -> Markup {
    let runs = report.runs.iter().filter(|run| run.kind == "program");
    groups("Random programs", runs.map(|run| (format!("{} {}", run.preset, run.name), run)))
}

fn coverage(report: &RegressionReport) -> Markup {
    html! {
        @if !report.coverage.is_empty() {
            h2 { "Coverage" }
            p { "Summed over the run." }
            table {
                tr {
                    th { "of" } th.n { "reached" } th.n { "points" } th {}
                    th { "rarest that was reached" } th { "never reached" }
                }
                @for (name, counts) in &report.coverage {
                    @let (all, reached) = (counts.len(), counts.values().filter(|count| **count > 0).count());
                    @let width = 120 * reached / all.max(1);
                    tr {
                        td { (name) } td.n.(good(reached == all)) { (reached) } td.n { (all) }
                        td {
                            span.bar style={ "width:" (width) "px" } {}
                            span.bar.rest style={ "width:" (120 - width) "px" } {}
                        }
                        td {
                            @let reached = counts.iter().filter(|(_, count)| **count > 0);
                            @if let Some((point, count)) = reached.min_by_key(|(_, count)| **count) {
                                (point) " (" (count) ")"
                            }
                        }
                        td { @for point in report.never.get(name).into_iter().flatten().take(SHOWN) { (point) br; } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gpurf_blocks::config::Config;

    use super::super::case::{Case, Work};
    use super::super::junit::junit;
    use super::super::outcome::CaseOutcome;
    use super::super::plan::{RegressionPlan, Shard};
    use super::*;

    /// A kernel that passes, and a block that passes or fails with a message that HTML has to escape.
    fn report(cycles: u64, good: bool) -> RegressionReport {
        let case = |work| Case::new(&Config::default(), 1, work, 9);
        let kernel = case(Work::Kernel { kernel: "saxpy".into() });
        let block = case(Work::Block { block: "alu".into(), cycles: 9 });
        let passed = CaseOutcome { cycles, wall_s: 0.5, ..CaseOutcome::new(&kernel, Verdict::Pass, "") };
        let ending = if good { Verdict::Pass } else { Verdict::Crashed };
        let mut failed = CaseOutcome::new(&block, ending, if good { "" } else { "<script>&\u{1}" });
        failed.coverage = BTreeMap::from([("a \"point\"".to_owned(), 0), ("another".to_owned(), 7)]);
        let outcomes = BTreeMap::from([(kernel.id.clone(), passed), (block.id.clone(), failed)]);
        let plan = RegressionPlan { tier: "smoke".into(), cases: vec![kernel, block] };
        RegressionReport::new(&plan, Shard::WHOLE, &outcomes, &[], &[])
    }

    fn trend_of(report: &RegressionReport) -> Trend {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results.json");
        std::fs::write(&file, report.json()).unwrap();
        Trend::read(&file).unwrap()
    }

    #[test]
    fn a_page_is_whole_and_says_what_failed_and_what_was_never_reached() {
        let page = html(&report(100, false), None);
        for words in [
            "1 of 2 cases passed, 1 failed in 1 buckets",
            "&lt;script&gt;&amp;?",
            "<td>a &quot;point&quot;<br></td>",
            "another (7)",
            "gpurf cosim --block alu --preset baseline --seed 1 --cycles 9",
            "<td>saxpy</td><td class=\"n\">100</td>",
        ] {
            assert!(page.contains(words), "{words:?} is not in {page}");
        }
        for (open, close) in [("<table", "</table>"), ("<tr>", "</tr>"), ("<details", "</details>"), ("<td", "</td>")] {
            assert_eq!(page.matches(open).count(), page.matches(close).count(), "{open}");
        }
        for outside in ["<script", "src=", "http", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn a_page_says_what_has_changed() {
        let (before, now) = (report(100, false), report(110, true));
        let trend = trend_of(&before);
        let page = html(&now, Some(&trend));
        for words in [
            "1 results changed, 1 runs take another number of cycles, 0 cases are new, 0 are gone",
            "<td>crashed</td><td class=\"good\">pass</td>",
            "<td class=\"n\">100</td><td class=\"n\">110</td><td class=\"n\">+10.00 %</td>",
        ] {
            assert!(page.contains(words), "{words:?} is not in {page}");
        }
        assert_eq!(trend.changes(&before), Changes::default());
        assert_eq!(trend.seconds("baseline/kernel/saxpy/1"), Some(0.5));
    }

    #[test]
    fn junit_has_a_case_for_each() {
        let xml = junit(&report(100, false));
        for words in [
            r#"<testsuites name="gpurf smoke" tests="2" skipped="0" failures="0" errors="1" time="0.500">"#,
            r#"<testsuite name="baseline block" tests="1" skipped="0" errors="1" failures="0" time="0.000">"#,
            r#"<testcase name="saxpy seed 1" classname="baseline.kernel" time="0.500"/>"#,
            // Characters that XML does not have are left out.
            r#"<error message="&lt;script&gt;&amp;" type="crashed alu &lt;script&gt;&amp;">&lt;script&gt;&amp;</error>"#,
        ] {
            assert!(xml.contains(words), "{words} is not in {xml}");
        }
    }

    #[test]
    fn times_can_be_left_out() {
        let mut slower = report(100, true);
        slower.runs[0].outcome.wall_s = 3.0;
        assert_eq!(slower.without_times().json(), report(100, true).without_times().json());
        assert_ne!(slower.json(), report(100, true).json());
    }
}
