//! A page of reports that needs nothing else: tables, plots, what every number is.

use std::fmt::Write;

use gpurf_regress::escaped;

use crate::report::{Column, Moved, PaperReport};
use crate::row::Row;

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --good: #0a7d33; --bad: #b3261e; --band: #8883; }
@media (prefers-color-scheme: dark) { :root { --good: #6fdc8c; --bad: #ff8a80; } }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1200px; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; width: 100%; margin: 1em 0; }
th, td { text-align: left; vertical-align: top; padding: .3em .6em; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.in { color: var(--good); } .out { color: var(--bad); font-weight: 600; }
.source, .quiet { opacity: .75; } code { font-size: 90%; overflow-wrap: anywhere; }
details > div { columns: 16em; font-size: 90%; } figure { margin: 2em 0; } figcaption { font-weight: 600; }
.legend span { margin-right: 1.2em; } .legend i { display: inline-block; width: .8em; height: .8em; margin-right: .35em; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: currentColor; } svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
svg polyline { fill: none; stroke-width: 1.6; } svg .grid { stroke: var(--line); } .band { fill: var(--band); background: var(--band); }
";

/// A page that needs no other file: its title, and what stands below it, in HTML.
pub fn document(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>gpurf: {title}</title>\n\
         <style>{STYLE}</style>\n<h1>{title}</h1>\n{body}</html>\n"
    )
}

/// The reports as one page.
pub fn page(reports: &[PaperReport]) -> String {
    let mut body = "<p>What each row is and how it is measured: docs/reports.md.</p>\n".to_owned();
    reports.iter().for_each(|report| section(report, &mut body));
    document("The papers' results beside ours", &body)
}

fn section(report: &PaperReport, page: &mut String) {
    let judged = || report.rows.iter().filter_map(|row| row.within);
    let (inside, all) = (judged().filter(|&within| within).count(), judged().count());
    let _ = write!(
        page,
        "<h2>{}</h2>\n<p>{}</p>\n<p>{} kernels, {}: {}. Of {all} rows with a result of the paper {inside} lie where it does.</p>\n<table>\n<tr><th>result<th class=\"number\">paper<th \
         class=\"number\">ours<th>\n",
        escaped(report.report),
        escaped(report.title),
        report.kernels.len(),
        report.data(),
        escaped(&report.kernels.join(", ")),
    );
    report.rows.iter().for_each(|row| line(row, page));
    page.push_str("</table>\n");
    moved(&report.causes, page);
    for plot in &report.plots {
        let (title, legend, svg) = (escaped(&plot.title), plot.legend(), plot.svg());
        let _ = writeln!(
            page,
            "<figure><figcaption>{title}</figcaption><div class=\"legend\">{legend}</div>{svg}</figure>"
        );
    }
    if !report.absent.is_empty() {
        page.push_str("<h3>Not compared</h3>\n<ul>\n");
        for absent in &report.absent {
            let (text, source, why) = (escaped(absent.text), escaped(absent.source), escaped(absent.why));
            let _ = writeln!(page, "<li>{text} <span class=\"source\">({source})</span>: {why}");
        }
        page.push_str("</ul>\n");
    }
}

/// What each cause moves.
fn moved(causes: &[Moved], page: &mut String) {
    let Some(first) = causes.first() else { return };
    page.push_str("<h3>Causes</h3>\n<p>The headlines with nothing mended, one cause alone, all together.</p>\n<table>\n<tr><th>result<th class=\"number\">paper");
    first.columns.iter().for_each(|column| {
        let _ = write!(page, "<th class=\"number\">{}", escaped(column.mended));
    });
    page.push('\n');
    for Moved { source, metric, text, unit, columns, .. } in causes {
        let (metric, source, text) = (escaped(metric), escaped(source), escaped(text));
        let _ = write!(page, "<tr><td>{metric}<br><span class=\"source\">{source}</span><td class=\"number\">{text}");
        for Column { ours, within, .. } in columns {
            let class = if *within == Some(true) { " in" } else { "" };
            let ours = ours.map_or_else(String::new, |ours| unit.words(ours));
            let _ = write!(page, "<td class=\"number{class}\">{ours}");
        }
        page.push('\n');
    }
    page.push_str("</table>\n");
}

fn line(row: &Row, page: &mut String) {
    let (class, word) = match row.within {
        Some(true) => ("in", "within"),
        Some(false) => ("out", "outside"),
        None => ("quiet", ""),
    };
    let (metric, source) = (escaped(&row.metric), escaped(row.source));
    let (paper, ours) = (escaped(row.text), row.unit.words(row.ours));
    let _ = write!(page, "<tr><td>{metric}<br><span class=\"source\">{source}</span>");
    if !row.why.is_empty() {
        let (why, command) = (escaped(&row.why), escaped(&row.command));
        let _ = write!(page, "<p>{why}<br><code>{command}</code></p>");
    }
    if let Some([least, most]) = row.extremes() {
        let [least, most] = [least, most].map(|(name, value)| format!("{} {}", row.unit.words(value), escaped(name)));
        let _ = write!(page, "<details><summary class=\"quiet\">each kernel: {least} to {most}</summary><div>");
        for (name, value) in &row.per_kernel {
            let _ = write!(page, "{} {}<br>", escaped(name), row.unit.words(*value));
        }
        page.push_str("</div></details>");
    }
    let _ = writeln!(page, "<td class=\"number\">{paper}<td class=\"number\">{ours}<td class=\"{class}\">{word}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Absent, Claim};

    #[test]
    fn a_page_has_rows_reasons_and_what_is_absent_and_needs_nothing_else() {
        let claim = Claim::share("table 1", "40 % & more", 0.4, 1.0);
        let row = claim.mean("reads <b>", [("saxpy".to_owned(), 0.3)].into());
        let row = row.because(|_| ("little is reused".into(), "gpurf run saxpy.toml".into()));
        let report = PaperReport {
            report: "levels",
            title: "A level above",
            schedule: gpurf_compiler::Schedule::None,
            size: crate::Size::Small,
            sample: None,
            kernels: vec!["saxpy".into()],
            causes: Moved::of(&[(crate::Cause::ALL[1], vec![row.clone()]), (crate::Cause::ALL[5], Vec::new())]),
            rows: vec![row],
            absent: vec![Absent { source: "5.3", text: "reads allocate", why: "not built" }],
            plots: Vec::new(),
        };
        let page = page(&[report]);
        for text in [
            "1 kernels, small runs: saxpy",
            "reads &lt;b&gt;",
            "40 % &amp; more",
            "outside",
            "little is reused",
            "gpurf run saxpy.toml",
            "not built",
            "<th class=\"number\">order<th class=\"number\">all",
        ] {
            assert!(page.contains(text), "{text}");
        }
        for text in ["http", "<script", "src="] {
            assert!(!page.contains(text), "{text}");
        }
    }
}
