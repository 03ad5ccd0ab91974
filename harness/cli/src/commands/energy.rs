//! The energy of a run by event, as a table.

use gpurf_report::energies::{ByEvent, EventEnergy, Group};

use crate::output::{self, Cell, grouped, numbers, words};

/// The text of a run's energy: its source, what the papers price, what they leave out, and the blocks without an energy.
pub fn text(energy: &ByEvent) -> String {
    let mut text = format!("energy by event, energies: {}\n", energy.energies);
    if let Some(note) = &energy.note {
        // The note is wrapped anew, as the file breaks its lines elsewhere.
        let words: Vec<&str> = note.split_whitespace().collect();
        text.push_str(&output::wrapped(&words.join(" ")));
        text.push('\n');
    }
    let mut rows = Vec::new();
    match &energy.papers {
        Some(papers) => rows.extend(group("what the papers price", papers)),
        None => text.push_str("the papers' tables do not know this register file\n"),
    }
    if !energy.left_out.rows.is_empty() {
        rows.extend(group("what they leave out", &energy.left_out));
    }
    if let Some(total) = energy.total {
        rows.push(sum("both", total));
    }
    let columns = [
        words("level or block"),
        words("event"),
        numbers("events"),
        numbers("pJ of one"),
        numbers("nJ"),
        numbers("share"),
    ];
    if !rows.is_empty() {
        text.push_str(&output::table(&columns, &rows));
    }
    if !energy.left_out.rows.is_empty() {
        let without = format!("blocks without an energy: {}", energy.without.join(", "));
        text.push_str(&output::wrapped(&without));
        text.push('\n');
    }
    text
}

/// The events of a group that occurred, and their sum.
fn group(name: &str, group: &Group) -> Vec<Vec<Cell>> {
    let row = |row: &EventEnergy| -> Vec<Cell> {
        vec![
            row.of.into(),
            row.event.into(),
            grouped(row.events).into(),
            format!("{:.3}", row.pj).into(),
            nanojoules(row.energy).into(),
            format!("{:.1} %", 100.0 * row.share).into(),
        ]
    };
    let mut rows: Vec<_> = group.rows.iter().filter(|row| row.events > 0).map(row).collect();
    rows.push(sum(name, group.total));
    rows
}

fn sum(name: &str, total: f64) -> Vec<Cell> {
    vec![name.into(), "".into(), "".into(), "".into(), nanojoules(total).into(), "".into()]
}

fn nanojoules(picojoules: f64) -> String {
    // The sum of no numbers is -0.
    format!("{:.3}", picojoules / 1000.0 + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_events_takes_no_energy() {
        let none: f64 = std::iter::empty::<f64>().sum();
        assert_eq!([none, -0.0, 1500.0].map(nanojoules), ["0.000", "0.000", "1.500"]);
    }
}
