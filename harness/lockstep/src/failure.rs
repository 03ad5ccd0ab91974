//! The files of a failure: a folder with the waveform, save files for viewers, the report and the reproducer.

use std::io;
use std::path::{Path, PathBuf};

use gpurf_blocks::{Declaration, Role};
use tempfile::TempDir;

use crate::view::{Element, View};
use crate::wave::{Scopes, WaveFile};
use crate::{Capture, Cause, Comparator, Records, quoted, view, wave};

/// Maximum number of signals that a viewer shows when it opens.
const SHOWN: usize = 32;

/// All that is needed to write a failure folder.
pub struct FailureContext<'a> {
    /// The rules of the run.
    pub comparator: &'a Comparator,
    /// Why the run ended.
    pub cause: &'a Cause,
    /// The same as text ([`report::text`](crate::report::text)).
    pub report: &'a str,
    /// The cycles around the failure.
    pub capture: Option<&'a Capture>,
    /// The shortest failing run: file name and text.
    pub reproducer: Option<(&'a str, &'a str)>,
    /// The inputs of the shortest failing run.
    pub inputs: Option<&'a Records>,
    /// Lines for the end of the report: seed, parameters, commands. `{}` in a line is replaced by the path of the folder, as a shell reads it.
    pub notes: &'a [String],
}

/// Writes a failure folder below `parent` and returns its path. The folder appears complete or not at all.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_failure(parent: &Path, context: &FailureContext<'_>) -> io::Result<PathBuf> {
    std::fs::create_dir_all(parent)?;
    let declaration = context.comparator.declaration();
    let scratch = tempfile::Builder::new().prefix(".new-").tempdir_in(parent)?;
    if let Some(capture) = context.capture {
        wave::write_vcd(&scratch.path().join("wave.vcd"), context.comparator, capture)?;
        view::write(scratch.path(), context.comparator, Scopes::Both, &first_view(context, capture))?;
    }
    if let Some((name, text)) = context.reproducer {
        std::fs::write(scratch.path().join(name), text)?;
    }
    let text = |folder: &Path| {
        let mut text = context.report.to_owned();
        for note in context.notes {
            text.push_str(&note.replace("{}", &quoted(&folder.display().to_string())));
            text.push('\n');
        }
        text
    };
    place(scratch, parent, declaration.block, text)
}

/// Writes a failure folder without waveform: the report, with `{}` replaced by the folder's path, and a reproducer as in [`FailureContext`].
///
/// # Errors
/// When the folder cannot be written.
pub fn write_report(parent: &Path, name: &str, report: &str, reproducer: (&str, &str)) -> io::Result<PathBuf> {
    std::fs::create_dir_all(parent)?;
    let scratch = tempfile::Builder::new().prefix(".new-").tempdir_in(parent)?;
    std::fs::write(scratch.path().join(reproducer.0), reproducer.1)?;
    place(scratch, parent, name, |folder| report.replace("{}", &quoted(&folder.display().to_string())))
}

/// Writes `report.txt` into a temporary folder and renames the folder to a name with a free number.
fn place(scratch: TempDir, parent: &Path, name: &str, text: impl Fn(&Path) -> String) -> io::Result<PathBuf> {
    for number in 1.. {
        let folder = parent.join(format!("{name}-{number}"));
        if folder.exists() {
            continue;
        }
        std::fs::write(scratch.path().join("report.txt"), text(&folder))?;
        match std::fs::rename(scratch.path(), &folder) {
            Ok(()) => return Ok(folder),
            // Another run took this name at the same moment: try the next number.
            Err(_) if folder.exists() => {}
            Err(e) => return Err(e),
        }
    }
    unreachable!("the numbers do not end")
}

/// A waveform, being written, of a range of cycles that the user asked for: a folder with the same files as a failure folder.
pub struct WaveFolder {
    scratch: TempDir,
    parent: PathBuf,
    file: WaveFile,
    scopes: Scopes,
    first: Option<u64>,
}

impl WaveFolder {
    /// Creates a folder below `parent`.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn create(parent: &Path, comparator: &Comparator, scopes: Scopes) -> io::Result<Self> {
        std::fs::create_dir_all(parent)?;
        let scratch = tempfile::Builder::new().prefix(".new-").tempdir_in(parent)?;
        let file = WaveFile::create(&scratch.path().join("wave.vcd"), comparator, scopes)?;
        Ok(Self { scratch, parent: parent.to_owned(), file, scopes, first: None })
    }

    /// As [`WaveFile::cycle`].
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn cycle(&mut self, comparator: &Comparator, cycle: u64, model: &[u8], rtl: &[u8]) -> io::Result<()> {
        self.first.get_or_insert(cycle);
        self.file.cycle(comparator, cycle, model, rtl)
    }

    /// Writes the remaining files and returns the folder. `None`: no cycle was recorded, and nothing is kept.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn finish(self, comparator: &Comparator, report: &str) -> io::Result<Option<PathBuf>> {
        let Some(first) = self.first else { return Ok(None) };
        let mut others = ports(comparator.declaration());
        others.truncate(SHOWN);
        self.file.finish()?;
        view::write(self.scratch.path(), comparator, self.scopes, &View { others, cycle: first, ..View::default() })?;
        place(self.scratch, &self.parent, "wave", |_| report.to_owned()).map(Some)
    }
}

/// The ports that a viewer can show in one row.
fn ports(declaration: &Declaration) -> Vec<Element> {
    let signals = declaration.signals.iter().enumerate();
    signals.filter(|(_, s)| s.role != Role::Probe && s.field.bits <= 64).map(|(index, _)| (index, 0)).collect()
}

/// The input elements that are not zero in a record.
fn driven(declaration: &Declaration, record: &[u8]) -> Vec<Element> {
    let signals = declaration.signals.iter().enumerate();
    let inputs = signals.filter(|(_, s)| s.role == Role::Input && s.field.bits <= 64);
    let elements = inputs.flat_map(|(signal, s)| (0..s.field.count).map(move |element| (signal, element)));
    let zero = |&(signal, element): &Element| {
        declaration.signals[signal].field.bytes(record, element).iter().all(|byte| *byte == 0)
    };
    elements.filter(|element| !zero(element)).collect()
}

/// The rows that a viewer shows when it opens: differing signals, then the inputs on which the failure depends, then ports.
///
/// The inputs are those of the shortest failing run, its last cycle first. Without such a run they are those of the failing cycle.
fn first_view(context: &FailureContext<'_>, capture: &Capture) -> View {
    let declaration = context.comparator.declaration();
    let cycle = context.cause.cycle().unwrap_or(capture.first_cycle + capture.len() as u64);
    let mut differing: Vec<Element> = match context.cause {
        Cause::Diverged(d) => {
            let mut differences = d.differences.clone();
            differences.sort_by_key(|x| !d.blame.signals.contains(&x.signal));
            differences.iter().map(|x| (x.signal, x.element)).collect()
        }
        _ => Vec::new(),
    };
    differing.truncate(SHOWN);
    let candidates: Vec<Element> = match context.inputs {
        Some(inputs) => (0..inputs.len()).rev().flat_map(|index| driven(declaration, inputs.get(index))).collect(),
        None => {
            let index = cycle.checked_sub(capture.first_cycle).map(|index| index as usize);
            let failing = index.filter(|index| *index < capture.len());
            failing.map_or_else(Vec::new, |index| driven(declaration, capture.rtl(index)))
        }
    };
    let mut view = View { differing, cycle, ..View::default() };
    for element in candidates {
        if view.inputs.len() < SHOWN && !view.differing.contains(&element) && !view.inputs.contains(&element) {
            view.inputs.push(element);
        }
    }
    let free = SHOWN.saturating_sub(view.differing.len() + view.inputs.len());
    let shown = |port: &Element| view.differing.contains(port) || view.inputs.iter().any(|input| input.0 == port.0);
    view.others = ports(declaration).into_iter().filter(|port| !shown(port)).take(free).collect();
    view
}
