//! A comparison as tables of at most 100 columns.

use super::metrics::{Change, WHOLE, all};
use super::{Compared, Row};
use crate::commands::energy;
use crate::output::{self, BAD, Cell, GOOD, QUIET, grouped, numbers, words};

/// Maximum length of a name.
const NAME: usize = 50;
/// Maximum length of a kernel's name.
const KERNEL: usize = 20;

/// A change in percent.
pub fn percent(change: Option<f64>) -> String {
    match change {
        Some(change) => format!("{:+.1} %", 100.0 * change),
        None => "from 0".to_owned(),
    }
}

/// Formats a number: a count, or a ratio with decimals; "-" if there is none.
pub fn number(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value.fract() == 0.0 || value >= 1e4 => grouped(value.round() as u64),
        Some(value) => format!("{value:.3}"),
    }
}

/// Formats the change of a number.
pub fn change_of(change: &Change) -> String {
    match (change.a, change.b) {
        (Some(_), Some(_)) if change.is_equal() => "=".to_owned(),
        (Some(_), Some(_)) => percent(change.change),
        (Some(_), None) => "only A".to_owned(),
        _ => "only B".to_owned(),
    }
}

/// The model of energy that the table of kernels shows: the first that both machines have.
pub fn model(row: &Row) -> Option<&'static str> {
    [WHOLE, "register_file", "leaking_file"]
        .into_iter()
        .find(|model| row.a.energy(model).and(row.b.energy(model)).is_some())
}

/// The whole comparison.
pub fn text(compared: &Compared, with_equal: bool) -> String {
    let Compared { a, b, kernels, total, engine, .. } = compared;
    let mut text = String::new();
    for (letter, side) in [("A", a), ("B", b)] {
        let rtl = if side.rtl.is_empty() { String::new() } else { format!("  {}", side.rtl.join(" ")) };
        text.push_str(&format!("{letter}  {}{rtl}\n", side.name));
    }
    text.push_str(&format!("on the {engine}; changes are B relative to A\n\n"));
    text.push_str(&of_kernels(compared, kernels, total));
    let shown: Vec<Change> = if with_equal { all(&total.a, &total.b) } else { compared.differences.clone() };
    let rows: Vec<Vec<Cell>> = shown.iter().filter_map(of_change).collect();
    text.push_str("\nAll kernels together, the largest change first\n");
    text.push_str(&output::table(&[words("number"), numbers("A"), numbers("B"), numbers("change")], &rows));
    let hidden = shown.len() - rows.len();
    let differ = if with_equal { "" } else { " that differ" };
    text.push_str(&format!("further events{differ}, in --json and --html: {hidden}\n"));
    if !with_equal {
        text.push_str(&format!("numbers that are equal, with --all: {}\n", compared.equal));
    }
    for (letter, side, numbers) in [("A", a, &total.a), ("B", b, &total.b)] {
        if let Some(by_event) = &numbers.by_event {
            text.push_str(&format!("\n{letter}  {}: {}", side.name, energy::text(by_event)));
        }
    }
    text
}

/// A line for each kernel.
fn of_kernels(compared: &Compared, kernels: &[Row], total: &Row) -> String {
    let model = model(total);
    let mut columns = vec![
        words("kernel"),
        numbers("A cycles"),
        numbers("B cycles"),
        numbers("change"),
        numbers("A IPC"),
        numbers("B IPC"),
    ];
    if model.is_some() {
        columns.extend([numbers("A nJ"), numbers("B nJ"), numbers("change")]);
    }
    let line = |row: &Row| {
        let change = |a: f64, b: f64| (a != 0.0).then(|| b / a - 1.0);
        let (a, b) = (&row.a, &row.b);
        let cycles = change(a.cycles as f64, b.cycles as f64);
        let mut cells: Vec<Cell> = vec![
            shortened(&row.kernel, KERNEL).into(),
            grouped(a.cycles).into(),
            grouped(b.cycles).into(),
            judged(cycles),
            format!("{:.3}", a.ipc()).into(),
            format!("{:.3}", b.ipc()).into(),
        ];
        if let Some(model) = model {
            let [of_a, of_b] = [a, b].map(|numbers| numbers.energy(model).unwrap_or(0.0));
            let nanojoules = |picojoules: f64| format!("{:.1}", picojoules / 1000.0);
            cells.extend([nanojoules(of_a).into(), nanojoules(of_b).into(), judged(change(of_a, of_b))]);
        }
        cells
    };
    let rows: Vec<Vec<Cell>> = kernels.iter().chain([total]).map(line).collect();
    let mut text = output::table(&columns, &rows);
    let mean = |number: &str| compared.means.iter().find(|mean| mean.number == number);
    let energy = model.map(|model| format!("energy.{model}.total"));
    let of = [("cycles", Some("cycles".to_owned())), ("IPC", Some("stats.ipc".to_owned())), ("energy", energy)];
    let means: Vec<String> = of
        .into_iter()
        .filter_map(|(name, number)| Some(format!("{name} {}", percent(Some(mean(&number?)?.change)))))
        .collect();
    text.push_str(&format!("geometric mean of the kernels: {}\n", means.join(", ")));
    if let Some(model) = model {
        text.push_str(&format!("nJ: {}\n", super::metrics::model_words(model).replace(" (pJ)", "")));
    }
    text
}

/// A change, styled as better or worse: for cycles and energy, less is better.
fn judged(change: Option<f64>) -> Cell {
    let style = match change {
        Some(change) if change < 0.0 => GOOD,
        Some(0.0) => QUIET,
        _ => BAD,
    };
    Cell::styled(percent(change), style)
}

fn of_change(change: &Change) -> Option<Vec<Cell>> {
    let words = shortened(&change.words()?, NAME);
    Some(vec![words.into(), number(change.a).into(), number(change.b).into(), change_of(change).into()])
}

/// Shortens a name to at most `most` characters.
fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let mut text: String = name.chars().take(most - 3).collect();
    text.push_str("...");
    text
}
