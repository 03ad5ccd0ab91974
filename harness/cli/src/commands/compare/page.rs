//! A comparison as an HTML page.

use gpurf_report::html::document;
use maud::{Markup, html};

use super::metrics::{Change, all, model_words};
use super::text::{change_of, model, number, percent};
use super::{Compared, Row};

/// The page: machines, kernels, all numbers.
pub fn page(compared: &Compared) -> String {
    let Compared { a, b, kernels, total, engine, .. } = compared;
    let body = html! {
        p { "On the " (engine) ". A change is B relative to A. docs/compare.md defines each number." }
        @if let Some(by_event) = &total.a.by_event {
            p { "Energies: " (by_event.energies) @if let Some(note) = &by_event.note { ". " (note) } }
        }
        table {
            tr { th {} th { "machine" } th { "settings" } }
            @for (letter, side) in [("A", a), ("B", b)] {
                tr {
                    td { (letter) } td { (side.name) }
                    td {
                        details {
                            summary { "all" }
                            code { @for setting in side.settings.iter().chain(&side.rtl) { (setting) br; } }
                        }
                    }
                }
            }
        }
        (of_kernels(kernels, total))
        h2 { "All kernels together" }
        p { "The largest change first." }
        (table(&compared.differences))
        @for Row { kernel, a, b } in kernels {
            details { summary { (kernel) } (table(&all(a, b))) }
        }
    };
    document(&format!("{} and {}", a.name, b.name), &body)
}

fn of_kernels(kernels: &[Row], total: &Row) -> Markup {
    let model = model(total);
    let energy = model.iter().flat_map(|model| ["A", "B", "change"].map(|of| format!("{of} {}", model_words(model))));
    let change = |a: f64, b: f64| percent((a != 0.0).then(|| b / a - 1.0));
    let cells = |Row { a, b, .. }: &Row| {
        let (cycles_a, cycles_b) = (a.cycles as f64, b.cycles as f64);
        let mut cells = vec![number(Some(cycles_a)), number(Some(cycles_b)), change(cycles_a, cycles_b)];
        cells.extend([a, b].map(|numbers| format!("{:.3}", numbers.ipc())));
        if let Some((a, b)) = model.and_then(|model| a.energy(model).zip(b.energy(model))) {
            cells.extend([number(Some(a)), number(Some(b)), change(a, b)]);
        }
        cells
    };
    html! {
        h2 { "Kernels" }
        table {
            tr {
                th { "kernel" }
                @for column in ["A cycles", "B cycles", "change", "A IPC", "B IPC"] { th.number { (column) } }
                @for column in energy { th.number { (column) } }
            }
            @for row in kernels.iter().chain([total]) {
                tr { td { (row.kernel) } @for cell in cells(row) { td.number { (cell) } } }
            }
        }
    }
}

fn table(changes: &[Change]) -> Markup {
    html! {
        table {
            tr { th { "number" } th.number { "A" } th.number { "B" } th.number { "change" } }
            @for change in changes {
                tr {
                    td { @if let Some(words) = change.words() { (words) br; } code { (change.number) } }
                    td.number { (number(change.a)) } td.number { (number(change.b)) }
                    td.number { (change_of(change)) }
                }
            }
        }
    }
}
