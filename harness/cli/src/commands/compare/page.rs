//! A comparison as a page.

use std::fmt::Write;

use gpurf_regress::escaped;
use gpurf_report::html::document;

use super::metrics::{Change, all, model_words};
use super::text::{change_of, model, number, percent};
use super::{Compared, Row, Side};

/// The page: machines, kernels, all numbers.
pub fn page(compared: &Compared) -> String {
    let Compared { a, b, kernels, total, engine, .. } = compared;
    let mut body = String::new();
    let _ = writeln!(body, "<p>On the {engine}. A change is B relative to A. docs/compare.md defines each number.</p>");
    body.push_str("<table>\n<tr><th><th>machine<th>settings\n");
    for (letter, side) in [("A", a), ("B", b)] {
        let Side { name, settings, rtl, .. } = side;
        let settings = settings.iter().chain(rtl).map(|setting| escaped(setting)).collect::<Vec<_>>().join("<br>");
        let name = escaped(name);
        let _ = writeln!(
            body,
            "<tr><td>{letter}<td>{name}<td><details><summary>all</summary><code>{settings}</code></details>"
        );
    }
    body.push_str("</table>\n");
    of_kernels(kernels, total, &mut body);
    body.push_str("<h2>All kernels together</h2>\n<p>The largest change first.</p>\n");
    table(&compared.differences, &mut body);
    for Row { kernel, a, b } in kernels {
        let _ = writeln!(body, "<details><summary>{}</summary>", escaped(kernel));
        table(&all(a, b), &mut body);
        body.push_str("</details>\n");
    }
    document(&format!("{} and {}", a.name, b.name), &body)
}

fn of_kernels(kernels: &[Row], total: &Row, body: &mut String) {
    let model = model(total);
    body.push_str("<h2>Kernels</h2>\n<table>\n<tr><th>kernel");
    let columns = ["A cycles", "B cycles", "change", "A IPC", "B IPC"].into_iter().map(str::to_owned);
    let energy = model.iter().flat_map(|model| ["A", "B", "change"].map(|of| format!("{of} {}", model_words(model))));
    for column in columns.chain(energy) {
        let _ = write!(body, "<th class=\"number\">{}", escaped(&column));
    }
    body.push('\n');
    let change = |a: f64, b: f64| percent((a != 0.0).then(|| b / a - 1.0));
    for Row { kernel, a, b } in kernels.iter().chain([total]) {
        let _ = write!(body, "<tr><td>{}", escaped(kernel));
        let (cycles_a, cycles_b) = (a.cycles as f64, b.cycles as f64);
        let mut cells = vec![number(Some(cycles_a)), number(Some(cycles_b)), change(cycles_a, cycles_b)];
        cells.extend([a, b].map(|numbers| format!("{:.3}", numbers.ipc())));
        if let Some((a, b)) = model.and_then(|model| a.energy(model).zip(b.energy(model))) {
            cells.extend([number(Some(a)), number(Some(b)), change(a, b)]);
        }
        cells.iter().for_each(|cell| {
            let _ = write!(body, "<td class=\"number\">{cell}");
        });
        body.push('\n');
    }
    body.push_str("</table>\n");
}

fn table(changes: &[Change], body: &mut String) {
    body.push_str("<table>\n<tr><th>number<th class=\"number\">A<th class=\"number\">B<th class=\"number\">change\n");
    for change in changes {
        let name = change.words().map_or_else(String::new, |words| format!("{}<br>", escaped(&words)));
        let (path, a, b) = (escaped(&change.number), number(change.a), number(change.b));
        let _ = writeln!(
            body,
            "<tr><td>{name}<code>{path}</code><td class=\"number\">{a}<td class=\"number\">{b}<td class=\"number\">{}",
            change_of(change)
        );
    }
    body.push_str("</table>\n");
}
