//! The rows that a viewer shows when it opens: save files for GTKWave and Surfer, both made from one list of rows.

use std::io;
use std::path::Path;

use crate::wave::{Scopes, variable_name};
use crate::{Comparator, Side};

/// Index of a signal, and index of its element.
pub type Element = (usize, usize);

/// What a viewer shows first. Each element appears once, in the first list that contains it.
#[derive(Debug, Default)]
pub struct View {
    /// Differing elements.
    pub differing: Vec<Element>,
    /// Inputs that the failure depends on.
    pub inputs: Vec<Element>,
    /// Further ports.
    pub others: Vec<Element>,
    /// The cycle of the marker.
    pub cycle: u64,
}

/// Cycles visible before the marker and after it.
const AROUND: (u64, u64) = (10, 14);

/// GTKWave's zoom, at which some 20 cycles are visible in a window of 1000 pixels.
const ZOOM: &str = "-3.0";

/// Width of GTKWave's column of names and values, in pixels.
const SIGNALS_WIDTH: u32 = 280;

/// A row of a viewer.
#[derive(Debug, PartialEq)]
enum Row {
    /// An empty line, and a heading for the rows below it.
    Heading(&'static str),
    /// A variable of the waveform.
    Variable { name: String, path: String, bits: u32 },
}

/// Writes `wave.gtkw` and `wave.sucl` into `folder`: GTKWave's save file and Surfer's command file for its waveform `wave.vcd`.
///
/// # Errors
/// When a file cannot be written.
pub fn write(folder: &Path, comparator: &Comparator, scopes: Scopes, view: &View) -> io::Result<()> {
    let rows = rows(comparator, scopes, view);
    std::fs::write(folder.join("wave.gtkw"), gtkwave(&rows, view.cycle))?;
    std::fs::write(folder.join("wave.sucl"), surfer(&rows, view.cycle))
}

/// The rows from top to bottom. A compared signal has a row for each side and one for the difference; inputs are equal on both sides and have
/// one row, unless they differ.
fn rows(comparator: &Comparator, scopes: Scopes, view: &View) -> Vec<Row> {
    let declaration = comparator.declaration();
    let blocks = comparator.scopes();
    let variable = |name: String, path: String, bits| Row::Variable { name, path, bits };
    let mut rows =
        vec![variable("cycle".into(), "gpurf.cycle".into(), 64), variable("clk".into(), "gpurf.clk".into(), 1)];
    if scopes == Scopes::Both {
        rows.push(variable("any difference".into(), "gpurf.any_difference".into(), 1));
    }
    let groups = [("differs", &view.differing), ("inputs that matter", &view.inputs), ("other ports", &view.others)];
    for (heading, elements) in groups {
        if !elements.is_empty() {
            rows.push(Row::Heading(heading));
        }
        for &(signal, element) in elements {
            let bits = declaration.signals[signal].field.bits;
            let name = variable_name(declaration, signal, element);
            let path = |side| format!("gpurf.{side}.{}.{name}", blocks[signal]);
            let (compared, input) = (comparator.is_compared(signal), comparator.is_input(signal));
            if input && heading != "differs" {
                let side = if scopes.has(Side::Model) { "model" } else { "rtl" };
                rows.push(variable(name.clone(), path(side), bits));
                continue;
            }
            if scopes.has(Side::Model) {
                rows.push(variable(format!("{name} model"), path("model"), bits));
            }
            if scopes.has(Side::Rtl) && (compared || input) {
                rows.push(variable(format!("{name} rtl"), path("rtl"), bits));
            }
            if scopes == Scopes::Both && compared {
                rows.push(variable(format!("{name} difference"), path("diff"), 1));
            }
        }
    }
    rows
}

/// GTKWave's save file.
fn gtkwave(rows: &[Row], cycle: u64) -> String {
    let start = 2 * cycle.saturating_sub(AROUND.0);
    let mut text = format!(
        "[dumpfile] \"wave.vcd\"\n[timestart] {start}\n*{ZOOM} {}\n[signals_width] {SIGNALS_WIDTH}\n[sst_expanded] 0\n",
        2 * cycle
    );
    for row in rows {
        match row {
            Row::Heading(heading) => text.push_str(&format!("@200\n-\n-{heading}\n")),
            Row::Variable { name, path, bits } => {
                // Formats: signed decimal, hexadecimal, binary; each with its value right-aligned.
                let format = if path == "gpurf.cycle" {
                    "24"
                } else if *bits > 1 {
                    "22"
                } else {
                    "28"
                };
                // An integer has no bit range.
                let range =
                    if *bits > 1 && path != "gpurf.cycle" { format!("[{}:0]", bits - 1) } else { String::new() };
                text.push_str(&format!("@{format}\n+{{{name}}} {path}{range}\n"));
            }
        }
    }
    text
}

/// Surfer's command file.
fn surfer(rows: &[Row], cycle: u64) -> String {
    let mut text = String::new();
    for row in rows {
        match row {
            // The name of a divider must be one word.
            Row::Heading(heading) => text.push_str(&format!("divider_add {}\n", heading.replace(' ', "_"))),
            Row::Variable { path, .. } => text.push_str(&format!("variable_add {path}\n")),
        }
    }
    let (from, to) = (2 * cycle.saturating_sub(AROUND.0), 2 * (cycle + AROUND.1));
    // Names are shown with as many scopes as are needed to tell model, RTL and difference apart.
    text.push_str(&format!("variable_force_name_type Unique\ncursor_set {}\nzoom_to {from} {to}\n", 2 * cycle));
    text
}
