//! A report as one page that needs no other file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use gpurf_lockstep::Verdict;

use super::report::{Bucket, Changes, RegressionReport, Run, Trend};
use crate::escaped;

/// Rows of lists that may be long.
const SHOWN: usize = 200;
/// Lines of a message.
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

/// As a page; with what has changed since an earlier run.
pub fn html(report: &RegressionReport, earlier: Option<&Trend>) -> String {
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
    let title = match report.shard {
        Some(shard) => format!("gpurf regress {} ({} of {})", report.tier, shard.index, shard.count),
        None => format!("gpurf regress {}", report.tier),
    };
    let title = escaped(&title);
    let _ = write!(page, "<title>{title}</title><style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n");
    summary(&mut page, report);
    if let Some(earlier) = earlier {
        trend(&mut page, report, earlier);
    }
    if !report.buckets.is_empty() {
        page.push_str("<h2>Failures</h2>\n");
        report.buckets.iter().for_each(|bucket| failure(&mut page, bucket));
    }
    matrix(&mut page, report);
    blocks(&mut page, report);
    programs(&mut page, report);
    coverage(&mut page, report);
    page.push_str("</body></html>\n");
    page
}

fn good(all: bool) -> &'static str {
    if all { "good" } else { "bad" }
}

fn summary(page: &mut String, report: &RegressionReport) {
    let count = |test: &dyn Fn(Verdict) -> bool| report.runs.iter().filter(|run| test(run.outcome.result)).count();
    let (passed, skipped) = (count(&|ending| ending == Verdict::Pass), count(&|ending| ending == Verdict::Skipped));
    let failed = report.runs.len() - passed - skipped;
    let cycles: u64 = report.runs.iter().map(|run| run.outcome.cycles).sum();
    let seconds: f64 = report.runs.iter().map(|run| run.outcome.wall_s).sum();
    let class = good(failed == 0 && report.buckets.is_empty() && report.not_run.is_empty());
    let _ = writeln!(
        page,
        "<p class=\"{class}\">{passed} of {} cases passed, {failed} failed in {} buckets, {skipped} do not fit, {} not run.</p>\n\
         <p>{cycles} cycles; <span class=\"time\">{seconds:.1} s of running, without building</span>. Plan <code>{}</code>.</p>",
        report.runs.len() + report.not_run.len(),
        report.buckets.len(),
        report.not_run.len(),
        report.plan
    );
}

fn trend(page: &mut String, report: &RegressionReport, earlier: &Trend) {
    let Changes { results, cycles, new, gone } = earlier.changes(report);
    page.push_str("<h2>Since the earlier run</h2>\n");
    let _ = write!(page, "<p>{} results changed, {} runs take another number of cycles, ", results.len(), cycles.len());
    let _ = write!(page, "{new} cases are new, {gone} are gone");
    if let Some((then, now)) = earlier.speeds(report) {
        let share = 100.0 * (now - then) / then;
        let _ = write!(
            page,
            "; <span class=\"time\">{then:.0} thousand cycles a second then, {now:.0} now ({share:+.0} %)</span>"
        );
    }
    page.push_str(".</p>\n");
    if !results.is_empty() {
        page.push_str("<table><tr><th>case</th><th>then</th><th>now</th></tr>\n");
        for (case, before, now) in results.iter().take(SHOWN) {
            let (class, case, before, now) = (good(now.good()), escaped(case), before.word(), now.word());
            let _ = writeln!(page, "<tr><td>{case}</td><td>{before}</td><td class=\"{class}\">{now}</td></tr>");
        }
        page.push_str("</table>\n");
    }
    if !cycles.is_empty() {
        page.push_str("<table><tr><th>case</th><th class=\"n\">cycles then</th><th class=\"n\">now</th><th class=\"n\">change</th></tr>\n");
        for (case, before, now) in cycles.iter().take(SHOWN) {
            let share = 100.0 * (*now as f64 - *before as f64) / (*before).max(1) as f64;
            let case = escaped(case);
            let _ = writeln!(
                page,
                "<tr><td>{case}</td><td class=\"n\">{before}</td><td class=\"n\">{now}</td><td class=\"n\">{share:+.2} %</td></tr>"
            );
        }
        page.push_str("</table>\n");
    }
}

fn failure(page: &mut String, bucket: &Bucket) {
    let signature = &bucket.signature;
    let [kind, block, port] = [&signature.kind.word(), &signature.block, &signature.port].map(|text| escaped(text));
    let message = bucket.message.lines().take(LINES).collect::<Vec<_>>().join("\n");
    let _ = writeln!(
        page,
        "<details open><summary><span class=\"bad\">{kind}</span> <b>{block}</b> {port} ({})</summary>\n<pre>{}</pre>\n<p><code>{}</code>",
        bucket.count,
        escaped(&message),
        escaped(&bucket.command)
    );
    if let Some(folder) = &bucket.artifact {
        let folder = escaped(&folder.display().to_string());
        let _ = writeln!(
            page,
            "<br><a href=\"{folder}\">{folder}</a>: the shortest run that still fails, and its waveform"
        );
    }
    page.push_str("</p><details><summary class=\"quiet\">cases</summary><p>");
    let shown: Vec<String> = bucket.cases.iter().take(SHOWN).map(|case| escaped(case)).collect();
    page.push_str(&shown.join("<br>"));
    if bucket.cases.len() > SHOWN {
        let _ = write!(page, "<br>and {} more", bucket.cases.len() - SHOWN);
    }
    page.push_str("</p></details></details>\n");
}

/// Kernels down, configurations across: cycles, or what went wrong.
fn matrix(page: &mut String, report: &RegressionReport) {
    let of_kernels = || report.runs.iter().filter(|run| matches!(run.kind, "kernel" | "golden"));
    let mut cells: BTreeMap<(&str, &str), Vec<&Run>> = BTreeMap::new();
    of_kernels().for_each(|run| cells.entry((&run.name, &run.preset)).or_default().push(run));
    if cells.is_empty() {
        return;
    }
    let mut presets: Vec<&str> = Vec::new();
    for run in of_kernels().filter(|run| !run.preset.is_empty()) {
        if !presets.contains(&run.preset.as_str()) {
            presets.push(&run.preset);
        }
    }
    let kernels: BTreeSet<&str> = cells.keys().map(|(kernel, _)| *kernel).collect();
    page.push_str("<h2>Kernels</h2>\n<p>Cycles. In lockstep and on the model alone; a number in italics: on the model alone.</p>\n<table><tr><th>kernel</th>");
    presets.iter().for_each(|preset| _ = write!(page, "<th class=\"n\">{}</th>", escaped(preset)));
    page.push_str("</tr>\n");
    for kernel in kernels {
        let _ = write!(page, "<tr><td>{}</td>", escaped(kernel));
        for preset in &presets {
            let text = match cells.get(&(kernel, preset)) {
                None => String::new(),
                Some(runs) => cell(runs),
            };
            let _ = write!(page, "<td class=\"n\">{text}</td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n");
}

fn cell(runs: &[&Run]) -> String {
    if let Some(run) = runs.iter().find(|run| !run.outcome.result.good()) {
        return format!("<span class=\"bad\">{}</span>", run.outcome.result.word());
    }
    let cycles = runs.iter().map(|run| run.outcome.cycles).max().unwrap_or(0);
    match runs.iter().any(|run| run.kind == "kernel" && run.outcome.result == Verdict::Pass) {
        true => cycles.to_string(),
        false if runs.iter().all(|run| run.outcome.result == Verdict::Skipped) => "does not fit".to_owned(),
        false => format!("<i>{cycles}</i>"),
    }
}

/// A row for each group of runs.
fn groups<'a>(page: &mut String, heading: &str, runs: impl Iterator<Item = (String, &'a Run)>) {
    let mut groups: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
    runs.for_each(|(group, run)| groups.entry(group).or_default().push(run));
    if groups.is_empty() {
        return;
    }
    let _ = write!(
        page,
        "<h2>{heading}</h2>\n<table><tr><th>what</th><th class=\"n\">cases</th><th class=\"n\">passed</th>"
    );
    page.push_str("<th class=\"n\">cycles</th><th class=\"n\">thousand cycles a second</th></tr>\n");
    for (group, runs) in groups {
        let passed = runs.iter().filter(|run| run.outcome.result.good()).count();
        let cycles: u64 = runs.iter().map(|run| run.outcome.cycles).sum();
        let seconds: f64 = runs.iter().map(|run| run.outcome.wall_s).sum();
        let speed = cycles as f64 / seconds.max(1e-9) / 1e3;
        let (class, all) = (good(passed == runs.len()), runs.len());
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"n\">{all}</td><td class=\"n {class}\">{passed}</td><td class=\"n\">{cycles}</td>\
             <td class=\"n\"><span class=\"time\">{speed:.0}</span></td></tr>",
            escaped(&group)
        );
    }
    page.push_str("</table>\n");
}

fn blocks(page: &mut String, report: &RegressionReport) {
    let runs = report.runs.iter().filter(|run| run.kind == "block");
    groups(page, "Blocks", runs.map(|run| (run.name.clone(), run)));
}

fn programs(page: &mut String, report: &RegressionReport) {
    let runs = report.runs.iter().filter(|run| run.kind == "program");
    groups(page, "Random programs", runs.map(|run| (format!("{} {}", run.preset, run.name), run)));
}

fn coverage(page: &mut String, report: &RegressionReport) {
    if report.coverage.is_empty() {
        return;
    }
    page.push_str("<h2>Coverage</h2>\n<p>Summed over the run.</p>\n<table><tr><th>of</th><th class=\"n\">reached</th><th class=\"n\">points</th><th></th>");
    page.push_str("<th>rarest that was reached</th><th>never reached</th></tr>\n");
    for (name, counts) in &report.coverage {
        let (all, reached) = (counts.len(), counts.values().filter(|count| **count > 0).count());
        let rarest = counts.iter().filter(|(_, count)| **count > 0).min_by_key(|(_, count)| **count);
        let rarest = rarest.map_or(String::new(), |(point, count)| format!("{} ({count})", escaped(point)));
        let never = report.never.get(name).map_or(&[][..], |points| points);
        let never: Vec<String> = never.iter().take(SHOWN).map(|point| escaped(point)).collect();
        let width = 120 * reached / all.max(1);
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"n {}\">{reached}</td><td class=\"n\">{all}</td>\
             <td><span class=\"bar\" style=\"width:{width}px\"></span><span class=\"bar rest\" style=\"width:{}px\"></span></td>\
             <td>{rarest}</td><td>{}</td></tr>",
            escaped(name),
            good(reached == all),
            120 - width,
            never.join("<br>")
        );
    }
    page.push_str("</table>\n");
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

    /// A kernel that passes, one that takes other cycles than before, a block that fails with words that HTML has to be kept from.
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
            "<td>a &quot;point&quot;</td>",
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
