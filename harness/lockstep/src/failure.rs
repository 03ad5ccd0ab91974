//! What a failure leaves on disk: a folder with the waveform, save files for viewers, the report and the reproducer.

use std::io;
use std::path::{Path, PathBuf};

use gpurf_blocks::{Declaration, Role};
use tempfile::TempDir;

use crate::view::{Element, View};
use crate::wave::{Scopes, WaveFile};
use crate::{Capture, Cause, Comparator, Records, view, wave};

/// Signals that a viewer opens on, at most.
const SHOWN: usize = 32;

/// What a failure folder is made from.
pub struct FailureContext<'a> {
    /// The rules of the run.
    pub comparator: &'a Comparator,
    /// Why it ended.
    pub cause: &'a Cause,
    /// The same in words ([`report::text`](crate::report::text)).
    pub report: &'a str,
    /// The cycles around it.
    pub capture: Option<&'a Capture>,
    /// The shortest run that fails: the name of its file, and its text.
    pub reproducer: Option<(&'a str, &'a str)>,
    /// The inputs of that run.
    pub inputs: Option<&'a Records>,
    /// Lines for the end of the report: seed, parameters, commands. `{}` in them stands for the folder.
    pub notes: &'a [String],
}

/// Writes a failure folder below `parent` and gives its path. It appears whole or not at all.
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
            text.push_str(&note.replace("{}", &folder.display().to_string()));
            text.push('\n');
        }
        text
    };
    place(scratch, parent, declaration.block, text)
}

/// Writes a failure folder that has no waveform: the report, in which `{}` stands for the folder, and a reproducer as in [`FailureContext`].
///
/// # Errors
/// When the folder cannot be written.
pub fn write_report(parent: &Path, name: &str, report: &str, reproducer: (&str, &str)) -> io::Result<PathBuf> {
    std::fs::create_dir_all(parent)?;
    let scratch = tempfile::Builder::new().prefix(".new-").tempdir_in(parent)?;
    std::fs::write(scratch.path().join(reproducer.0), reproducer.1)?;
    place(scratch, parent, name, |folder| report.replace("{}", &folder.display().to_string()))
}

/// Gives a folder in the making a name with a number that is free, and its `report.txt`.
fn place(scratch: TempDir, parent: &Path, name: &str, text: impl Fn(&Path) -> String) -> io::Result<PathBuf> {
    for number in 1.. {
        let folder = parent.join(format!("{name}-{number}"));
        if folder.exists() {
            continue;
        }
        std::fs::write(scratch.path().join("report.txt"), text(&folder))?;
        match std::fs::rename(scratch.path(), &folder) {
            Ok(()) => return Ok(folder),
            // Two runs that end at once try again.
            Err(_) if folder.exists() => {}
            Err(e) => return Err(e),
        }
    }
    unreachable!("the numbers do not end")
}

/// A waveform of a stretch of cycles that the user asked for, in the making: a folder with the files of a failure.
pub struct WaveFolder {
    scratch: TempDir,
    parent: PathBuf,
    file: WaveFile,
    scopes: Scopes,
    first: Option<u64>,
}

impl WaveFolder {
    /// Begins one below `parent`.
    ///
    /// # Errors
    /// When it cannot be written.
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

    /// Writes what is left and gives the folder; `None`: no cycle was recorded, and nothing is kept.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self, comparator: &Comparator, report: &str) -> io::Result<Option<PathBuf>> {
        let Some(first) = self.first else { return Ok(None) };
        let mut others = ports(comparator.declaration());
        others.truncate(SHOWN);
        self.file.finish()?;
        view::write(self.scratch.path(), comparator, self.scopes, &View { others, cycle: first, ..View::default() })?;
        place(self.scratch, &self.parent, "wave", |_| report.to_owned()).map(Some)
    }
}

/// The ports that a viewer can show in a line.
fn ports(declaration: &Declaration) -> Vec<Element> {
    let signals = declaration.signals.iter().enumerate();
    signals.filter(|(_, s)| s.role != Role::Probe && s.field.bits <= 64).map(|(index, _)| (index, 0)).collect()
}

/// The elements of inputs that are not zero in a record.
fn driven(declaration: &Declaration, record: &[u8]) -> Vec<Element> {
    let signals = declaration.signals.iter().enumerate();
    let inputs = signals.filter(|(_, s)| s.role == Role::Input && s.field.bits <= 64);
    let elements = inputs.flat_map(|(signal, s)| (0..s.field.count).map(move |element| (signal, element)));
    let zero = |&(signal, element): &Element| {
        declaration.signals[signal].field.bytes(record, element).iter().all(|byte| *byte == 0)
    };
    elements.filter(|element| !zero(element)).collect()
}

/// What a viewer opens on: what differs, the inputs on which it depends, then the ports.
///
/// The inputs are those of the shortest run, those of its last cycle first. Without such a run they are those of the failing cycle.
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
