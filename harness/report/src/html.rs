//! A page of reports that needs nothing else: verdicts at a glance, plots, tables, what every number is.

use std::fmt::Write;

use gpurf_regress::escaped;

use crate::report::{Column, Moved, PaperReport};
use crate::row::{Band, Row, Summary, UNKNOWN, Verdict};

const STYLE: &str = include_str!("page.css");

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
    let mut body = String::new();
    glance(reports, &mut body);
    reports.iter().for_each(|report| section(report, &mut body));
    document("The papers' results beside ours", &body)
}

/// What a reader takes in at a glance: a strip for each report.
fn glance(reports: &[PaperReport], page: &mut String) {
    let all: Vec<&Row> = reports.iter().flat_map(|report| &report.rows).collect();
    let _ = write!(
        page,
        "<p class=\"lead\">{}.</p>\n<p>A row <b class=\"agrees\">agrees</b> if it lies where the paper's number does, or misses it by no more than its resolution while the 95 % interval \
         over kernels overlaps it. Farther out, kernels with such an interval <b class=\"cannot\">cannot tell</b>; others <b class=\"disagrees\">disagree</b>. Rows that follow from others, or of \
         which the paper says only the sign, do not count. A row's whisker is its interval, on a scale of its own; the bar is the paper's band. docs/reports.md says how each row is measured, docs/errata.md where the papers contradict themselves.</p>\n<table class=\"glance\">\n",
        Summary::of(all).words()
    );
    for report in reports {
        let name = escaped(report.report);
        let _ = writeln!(
            page,
            "<tr><th><a href=\"#{name}\">{name}</a><td class=\"wide\">{}<td class=\"number\">{} rows",
            strip(&report.summary),
            report.summary.independent
        );
    }
    page.push_str("</table>\n");
}

/// A bar with a part for each verdict.
fn strip(summary: &Summary) -> String {
    let mut strip = format!("<div class=\"strip\" role=\"img\" aria-label=\"{}\">", escaped(&summary.words()));
    for verdict in Verdict::ALL {
        let (count, class, words) = (summary.count(verdict), class(Some(verdict)), verdict.words());
        if count > 0 {
            let _ = write!(
                strip,
                "<span class=\"{class}\" style=\"flex:{count}\" title=\"{words}: {count}\">{count}</span>"
            );
        }
    }
    if summary.independent == 0 {
        strip.push_str("<span class=\"quiet\">no independent rows</span>");
    }
    strip + "</div>"
}

/// How a verdict is shown.
fn class(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Agrees) => "agrees",
        Some(Verdict::CannotTell) => "cannot",
        Some(Verdict::Disagrees) => "disagrees",
        None => "quiet",
    }
}

/// The same in a letter, for those who do not see colours.
fn mark(verdict: Verdict) -> char {
    match verdict {
        Verdict::Agrees => '\u{2713}',
        Verdict::CannotTell => '?',
        Verdict::Disagrees => '\u{2717}',
    }
}

fn section(report: &PaperReport, page: &mut String) {
    let Summary { dependent, silent, .. } = report.summary;
    let (name, kernels) = (escaped(report.report), escaped(&report.kernels.join(", ")));
    let _ = write!(
        page,
        "<h2 id=\"{name}\">{name}</h2>\n<p>{}</p>\n{}\n<p>{}. {dependent} more follow from others or say only a sign; of {silent} the paper says nothing.</p>\n<p class=\"quiet\">{} kernels, {}: \
         {kernels}.</p>\n",
        escaped(report.title),
        strip(&report.summary),
        report.summary.words(),
        report.kernels.len(),
        report.data(),
    );
    if !report.plots.is_empty() {
        page.push_str("<div class=\"plots\">\n");
        for plot in &report.plots {
            let (title, legend, svg) = (escaped(&plot.title), plot.legend(), plot.svg());
            let _ = writeln!(
                page,
                "<figure><figcaption>{title}</figcaption><div class=\"legend\">{legend}</div>{svg}</figure>"
            );
        }
        page.push_str("</div>\n");
    }
    if !report.rows.is_empty() {
        page.push_str(
            "<table>\n<thead><tr><th>result<th>paper<th class=\"number\">ours<th>95 % interval<th>verdict</thead>\n",
        );
        let mut command = "";
        for row in &report.rows {
            line(row, row.command != command, page);
            if !row.command.is_empty() && row.why != UNKNOWN {
                command = &row.command;
            }
        }
        page.push_str("</table>\n");
    }
    moved(&report.causes, page);
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
    page.push_str("<h3>Causes</h3>\n<p>The headlines with nothing mended, one cause alone, all together.</p>\n<table>\n<tr><th>result<th>paper");
    first.columns.iter().for_each(|column| {
        let _ = write!(page, "<th class=\"number\">{}", escaped(column.mended));
    });
    page.push('\n');
    for Moved { source, metric, text, unit, columns, .. } in causes {
        let (metric, source, text) = (escaped(metric), escaped(source), escaped(text));
        let _ = write!(page, "<tr><td>{metric} <span class=\"source\">{source}</span><td>{text}");
        for Column { ours, verdict, .. } in columns {
            let ours = ours.map_or_else(String::new, |ours| unit.words(ours));
            let _ = write!(page, "<td class=\"number {}\">{ours}", class(*verdict));
        }
        page.push('\n');
    }
    page.push_str("</table>\n");
}

/// A row, and below it what experiments show, as wide as the table.
fn line(row: &Row, with_command: bool, page: &mut String) {
    let (metric, source) = (escaped(&row.metric), escaped(row.source));
    let (paper, ours) = (escaped(row.text), row.unit.words(row.ours));
    let alone = row.why == UNKNOWN;
    let noted = !row.why.is_empty() && !alone;
    let class_of_line = if noted { " class=\"noted\"" } else { "" };
    let _ = write!(page, "<tr{class_of_line}><td>{metric} <span class=\"source\">{source}</span>");
    if let Some([least, most]) = row.extremes() {
        let [least, most] = [least, most].map(|(name, value)| format!("{} {}", row.unit.words(value), escaped(name)));
        let _ = write!(page, "<details><summary class=\"quiet\">each kernel: {least} to {most}</summary><div>");
        for (name, value) in &row.per_kernel {
            let _ = write!(page, "{} {}<br>", escaped(name), row.unit.words(*value));
        }
        page.push_str("</div></details>");
    }
    let interval = row.interval.map_or_else(String::new, |interval| row.unit.interval(interval));
    let _ = write!(page, "<td>{paper}<td class=\"number\">{ours}<td class=\"whisker\">{}", whisker(row));
    let _ = write!(page, "<span class=\"quiet\">{interval}</span><td class=\"verdict {}\">", class(row.verdict));
    if let Some(verdict) = row.verdict {
        let _ = write!(page, "{}&nbsp;{}", mark(verdict), verdict.words());
    }
    if alone {
        let _ = write!(page, "<br><span class=\"quiet\" title=\"{}\">cause not known</span>", escaped(&row.command));
    }
    if row.sign_only {
        page.push_str("<br><span class=\"quiet\">sign only</span>");
    }
    if let Some(from) = &row.derived_from {
        let _ = write!(page, "<br><span class=\"quiet\" title=\"{}\">derived</span>", escaped(from));
    }
    page.push('\n');
    if noted {
        let why = escaped(&row.why);
        let _ = write!(page, "<tr class=\"note\"><td colspan=\"5\">{why}");
        if with_command {
            let _ = write!(page, " <code>{}</code>", escaped(&row.command));
        }
        page.push('\n');
    }
}

const WIDTH: f64 = 220.0;
const HEIGHT: f64 = 20.0;

/// A row's value and interval beside the paper's band, on a scale of its own.
fn whisker(row: &Row) -> String {
    let Some(band) = row.paper.filter(|_| row.ours.is_finite()) else { return String::new() };
    let [low, high] = row.interval.unwrap_or([row.ours; 2]);
    let [least, most] = scale(band, [row.ours, low, high]);
    let x = |value: f64| WIDTH * ((value - least) / (most - least)).clamp(0.0, 1.0);
    let middle = HEIGHT / 2.0;
    let mut svg =
        format!("<svg class=\"row {}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" aria-hidden=\"true\">", class(row.verdict));
    let _ = write!(
        svg,
        "<rect class=\"band\" x=\"{:.1}\" y=\"2\" width=\"{:.1}\" height=\"{}\"/>",
        x(band.low),
        (x(band.high) - x(band.low)).max(2.0),
        HEIGHT - 4.0
    );
    if row.interval.is_some() {
        let (a, b) = (x(low), x(high));
        let _ = write!(svg, "<path d=\"M{a:.1} {middle}H{b:.1}M{a:.1} 5V15M{b:.1} 5V15\"/>");
    }
    let _ = write!(svg, "<circle cx=\"{:.1}\" cy=\"{middle}\" r=\"4\"/></svg>", x(row.ours));
    svg
}

/// The ends of a row's scale. A band without an end ("at least") is cut.
fn scale(band: Band, values: [f64; 3]) -> [f64; 2] {
    let [ours, low, high] = values;
    let off = (band.low - ours).max(ours - band.high).max(0.0);
    let width = (band.high - band.low).min(0.2 * ours.abs());
    let reach = 2.0 * (high - low).max(off).max(width).max(1e-9);
    let near = |value: f64| value.clamp(ours - reach, ours + reach);
    let ends = [near(band.low), near(band.high), low, high, ours];
    let (least, most) = (ends.iter().copied().fold(f64::MAX, f64::min), ends.iter().copied().fold(f64::MIN, f64::max));
    let room = 0.08 * (most - least).max(1e-9);
    [least - room, most + room]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Absent, Claim, Reason};

    fn report(rows: Vec<Row>) -> PaperReport {
        PaperReport {
            report: "levels",
            title: "A level above",
            schedule: gpurf_compiler::Schedule::None,
            size: crate::Size::Small,
            sample: None,
            kernels: vec!["saxpy".into()],
            summary: Summary::of(&rows),
            causes: Moved::of(&[(crate::Cause::ALL[1], rows.clone()), (crate::Cause::ALL[5], Vec::new())]),
            rows,
            absent: vec![Absent { source: "5.3", text: "reads allocate", why: "not built" }],
            plots: Vec::new(),
        }
    }

    fn rows() -> Vec<Row> {
        let claim = Claim::share("table 1", "40 % & more", 0.4, 1.0);
        let kernels = |a: f64, b: f64| [("saxpy".to_owned(), a), ("sums".to_owned(), b)].into();
        let experiment =
            || Reason::found(vec![("with a larger cache".into(), Some(0.5))], "gpurf run saxpy.toml".into());
        let row = |metric: &str, a, b| claim.mean(metric, kernels(a, b)).because(|_| experiment());
        vec![row("reads <b>", 0.2, 0.3), row("writes", 0.1, 0.6), row("accesses", 0.5, 0.6)]
    }

    #[test]
    fn a_page_has_rows_reasons_and_what_is_absent_and_needs_nothing_else() {
        let page = page(&[report(rows())]);
        for text in [
            "1 kernels, small runs: saxpy",
            "reads &lt;b&gt;",
            "40 % &amp; more",
            "\u{2717}&nbsp;disagrees",
            "with a larger cache 50.0 %, in the band",
            "gpurf run saxpy.toml",
            "not built",
            "<th class=\"number\">order<th class=\"number\">all",
        ] {
            assert!(page.contains(text), "{text}");
        }
        for text in ["http", "<script", "src="] {
            assert!(!page.contains(text), "{text}");
        }
        // A command that the row above has is not repeated.
        assert_eq!(page.matches("gpurf run saxpy.toml").count(), 1);
    }

    #[test]
    fn verdicts_come_first_in_a_strip_for_each_report() {
        let page = page(&[report(rows()), report(Vec::new())]);
        let (first, rest) = page.split_once("<h2").unwrap();
        assert_eq!(first.matches("class=\"strip\"").count(), 2);
        for part in ["agrees: 1", "cannot tell: 1", "disagrees: 1"] {
            assert!(first.contains(part), "{part}: {first}");
        }
        assert!(first.contains("1 of 3 independent rows agree, 1 cannot tell, 1 disagree"), "{first}");
        assert!(first.contains("no independent rows") && rest.contains("<table>"));
    }

    #[test]
    fn a_whisker_shows_band_interval_and_value() {
        let rows = rows();
        for row in &rows {
            let svg = whisker(row);
            assert!(svg.contains("class=\"band\"") && svg.contains("<path") && svg.contains("<circle"), "{svg}");
        }
        let alone = Claim::share("", "", 0.98, 2.0).row("m", crate::Estimate::number(0.97));
        assert!(!whisker(&alone).contains("<path"));
        // "At least" does not push the value to the end of its scale.
        let [least, most] = scale(alone.paper.unwrap(), [0.97, 0.96, 0.98]);
        assert!(least < 0.96 && most < 2.0, "{least} {most}");
        assert_eq!(whisker(&Claim::none("").row("m", crate::Estimate::number(1.0))), "");
    }
}
