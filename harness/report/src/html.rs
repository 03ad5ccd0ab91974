//! A self-contained page of reports: verdicts in an overview, plots, tables, and the source of every number.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::plot::tenths;
use crate::report::{Moved, PaperReport};
use crate::row::{Band, Row, Summary, UNKNOWN, Verdict};

const STYLE: &str = include_str!("page.css");

/// A self-contained page, from its title and body.
pub fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "gpurf: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { h1 { (title) } (body) }
        }
    };
    page.into_string()
}

/// The reports as one page.
pub fn page(reports: &[PaperReport]) -> String {
    let body = html! {
        (glance(reports))
        @for report in reports { (section(report)) }
    };
    document("The papers' results beside ours", &body)
}

/// The overview: a strip for each report.
fn glance(reports: &[PaperReport]) -> Markup {
    let all: Vec<&Row> = reports.iter().flat_map(|report| &report.rows).collect();
    html! {
        p.lead { (Summary::of(all).words()) "." }
        p {
            "A row " b.agrees { "agrees" } " if it lies where the paper's number does, or misses it by no more than "
            "its resolution while the 95 % interval over kernels overlaps it. Farther out, kernels with such an "
            "interval " b.cannot { "cannot tell" } "; others " b.disagrees { "disagree" } ". Rows that follow from "
            "others, or of which the paper says only the sign, do not count. A row's whisker is its interval, on a "
            "scale of its own; the bar is the paper's band. docs/reports.md says how each row is measured, "
            "docs/errata.md where the papers contradict themselves."
        }
        table.glance {
            @for report in reports {
                tr {
                    th { a href={ "#" (report.report) } { (report.report) } }
                    td.wide { (strip(&report.summary)) }
                    td.number { (report.summary.independent) " rows" }
                }
            }
        }
    }
}

/// A bar with a segment for each verdict.
fn strip(summary: &Summary) -> Markup {
    html! {
        div.strip role="img" aria-label=(summary.words()) {
            @for verdict in Verdict::ALL {
                @let (count, class) = (summary.count(verdict), class(Some(verdict)));
                @if count > 0 {
                    span class=(class) style={ "flex:" (count) } title={ (verdict.words()) ": " (count) } { (count) }
                }
            }
            @if summary.independent == 0 { span.quiet { "no independent rows" } }
        }
    }
}

/// The CSS class of a verdict.
fn class(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Agrees) => "agrees",
        Some(Verdict::CannotTell) => "cannot",
        Some(Verdict::Disagrees) => "disagrees",
        None => "quiet",
    }
}

/// The mark of a verdict, for readers who cannot rely on colours.
fn mark(verdict: Verdict) -> char {
    match verdict {
        Verdict::Agrees => '\u{2713}',
        Verdict::CannotTell => '?',
        Verdict::Disagrees => '\u{2717}',
    }
}

fn section(report: &PaperReport) -> Markup {
    let Summary { dependent, silent, .. } = report.summary;
    html! {
        h2 id=(report.report) { (report.report) }
        p { (report.title) }
        (strip(&report.summary))
        p {
            (report.summary.words()) ". " (dependent) " more follow from others or say only a sign; of " (silent)
            " the paper says nothing."
        }
        p.quiet { (report.kernels.len()) " kernels, " (report.data()) ": " (report.kernels.join(", ")) "." }
        @if !report.plots.is_empty() {
            div.plots {
                @for plot in &report.plots {
                    figure { figcaption { (plot.title) } div.legend { (plot.legend()) } (plot.svg()) }
                }
            }
        }
        @if !report.rows.is_empty() {
            table {
                thead {
                    tr {
                        th { "result" } th { "paper" } th.number { "ours" } th { "95 % interval" } th { "verdict" }
                    }
                }
                (lines(&report.rows))
            }
        }
        (moved(&report.causes))
        @if !report.absent.is_empty() {
            h3 { "Not compared" }
            ul {
                @for absent in &report.absent {
                    li { (absent.text) " " span.source { "(" (absent.source) ")" } ": " (absent.why) }
                }
            }
        }
    }
}

/// A table of the headlines, with the effect of each cause.
fn moved(causes: &[Moved]) -> Markup {
    html! {
        @if let Some(first) = causes.first() {
            h3 { "Causes" }
            p { "The headlines with nothing mended, one cause alone, all together." }
            table {
                tr {
                    th { "result" } th { "paper" }
                    @for column in &first.columns { th.number { (column.mended) } }
                }
                @for moved in causes {
                    tr {
                        td { (moved.metric) " " span.source { (moved.source) } } td { (moved.text) }
                        @for column in &moved.columns {
                            td.number.(class(column.verdict)) {
                                @if let Some(ours) = column.ours { (moved.unit.words(ours)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The rows. A command is not repeated if the row above already has it.
fn lines(rows: &[Row]) -> Markup {
    let mut command = "";
    let lines = rows.iter().map(|row| {
        let line = line(row, row.command != command);
        if !row.command.is_empty() && row.why != UNKNOWN {
            command = &row.command;
        }
        line
    });
    html! { @for line in lines { (line) } }
}

/// A row, followed by a row across the whole table with the results of its experiments.
fn line(row: &Row, with_command: bool) -> Markup {
    let alone = row.why == UNKNOWN;
    let noted = !row.why.is_empty() && !alone;
    let words = |value| row.unit.words(value);
    html! {
        tr class=[noted.then_some("noted")] {
            td {
                (row.metric) " " span.source { (row.source) }
                @if let Some([(least, low), (most, high)]) = row.extremes() {
                    details {
                        summary.quiet { "each kernel: " (words(low)) " " (least) " to " (words(high)) " " (most) }
                        div { @for (name, value) in &row.per_kernel { (name) " " (words(*value)) br; } }
                    }
                }
            }
            td { (row.text) }
            td.number { (words(row.ours)) }
            td.whisker {
                (whisker(row))
                span.quiet { @if let Some(interval) = row.interval { (row.unit.interval(interval)) } }
            }
            td.verdict.(class(row.verdict)) {
                @if let Some(verdict) = row.verdict { (mark(verdict)) "\u{a0}" (verdict.words()) }
                @if alone { br; span.quiet title=(row.command) { "cause not known" } }
                @if row.sign_only { br; span.quiet { "sign only" } }
                @if let Some(from) = &row.derived_from { br; span.quiet title=(from) { "derived" } }
            }
        }
        @if noted {
            tr.note { td colspan="5" { (row.why) @if with_command { " " code { (row.command) } } } }
        }
    }
}

const WIDTH: f64 = 220.0;
const HEIGHT: f64 = 20.0;

/// A row's value and interval beside the paper's band, drawn on the row's own scale.
fn whisker(row: &Row) -> Markup {
    let Some(band) = row.paper.filter(|_| row.ours.is_finite()) else { return html! {} };
    let [low, high] = row.interval.unwrap_or([row.ours; 2]);
    let [least, most] = scale(band, [row.ours, low, high]);
    let x = |value: f64| WIDTH * ((value - least) / (most - least)).clamp(0.0, 1.0);
    let width = (x(band.high) - x(band.low)).max(2.0);
    let middle = HEIGHT / 2.0;
    // An element of SVG without contents needs an end tag.
    html! {
        svg.row.(class(row.verdict)) viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) aria-hidden="true" {
            rect.band x=(tenths(x(band.low))) y="2" width=(tenths(width)) height=(HEIGHT - 4.0) {}
            @if row.interval.is_some() {
                @let (a, b) = (tenths(x(low)), tenths(x(high)));
                path d={ "M" (a) " " (middle) "H" (b) "M" (a) " 5V15M" (b) " 5V15" } {}
            }
            circle cx=(tenths(x(row.ours))) cy=(middle) r="4" {}
        }
    }
}

/// The ends of a row's scale. A band without an upper or lower end ("at least") is cut off.
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
            code: crate::Code::PTX,
            size: crate::Size::Small,
            sample: None,
            kernels: vec!["saxpy".into()],
            summary: Summary::of(&rows),
            causes: Moved::of(&[(crate::Cause::ALL[1], rows.clone()), (crate::Cause::ALL[6], Vec::new())]),
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
            "\u{2717}\u{a0}disagrees",
            "with a larger cache 50.0 %, in the band",
            "gpurf run saxpy.toml",
            "not built",
            "<th class=\"number\">order</th><th class=\"number\">all</th>",
        ] {
            assert!(page.contains(text), "{text}");
        }
        for text in ["http", "<script", "src="] {
            assert!(!page.contains(text), "{text}");
        }
        // A command is not repeated if the row above already has it.
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
            let svg = whisker(row).into_string();
            assert!(svg.contains("class=\"band\"") && svg.contains("<path") && svg.contains("<circle"), "{svg}");
        }
        let alone = Claim::share("", "", 0.98, 2.0).row("m", crate::Estimate::number(0.97));
        assert!(!whisker(&alone).into_string().contains("<path"));
        // The open end of "at least" does not push the value to the edge of the scale.
        let [least, most] = scale(alone.paper.unwrap(), [0.97, 0.96, 0.98]);
        assert!(least < 0.96 && most < 2.0, "{least} {most}");
        assert_eq!(whisker(&Claim::none("").row("m", crate::Estimate::number(1.0))).into_string(), "");
    }
}
