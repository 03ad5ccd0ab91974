//! Goldens: recorded behaviour of the model, so that every later change is detected.
//!
//! A lockstep detects a change of the RTL or of the model, but not one that is made in both alike; goldens detect this. [`take()`] runs a kernel on the
//! model and returns a [`Golden`], a small text file, and a [`Trace`] of every cycle; [`compare()`] finds the differences and where they begin. A golden has
//! digests at intervals only, so it gives the interval in which a difference begins. The cycle comes from the trace of the golden's own run, which is kept in the
//! build folder or comes from a program that was built before the change. `docs/goldens.md` has the format.

mod compare;
mod take;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use compare::{Change, Comparison, Since, compare, counts};
pub use gpurf_lockstep::golden::{EventChange, Trace, of_bytes as digest_of};
pub use take::{NotTaken, Numbers, Taken, take};

use crate::{JobError, KernelInputs, Project, files};

/// Writes a trace, complete or not at all, and creates the folders above it.
///
/// # Errors
/// When the file cannot be written.
pub fn write_trace(path: &Path, trace: &Trace) -> std::io::Result<()> {
    files::write_below(path, &trace.to_bytes())
}

/// Reads a trace; `None` if the file does not exist or is not a trace.
pub fn read_trace(path: &Path) -> Option<Trace> {
    Trace::from_bytes(&std::fs::read(path).ok()?)
}

/// Maximum number of digests at intervals.
const MARKS: u64 = 16;
/// The shortest interval, in cycles.
const SHORTEST_INTERVAL: u64 = 64;

/// What a kernel does with a preset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Golden {
    /// The preset.
    pub preset: String,
    /// The path of the launch manifest, relative to the checkout if it is inside.
    pub kernel: String,
    /// Why this golden was accepted.
    pub reason: String,
    /// Cycles of the run.
    pub cycles: u64,
    /// The signals that state digests cover: their number and a digest of their names.
    pub signals: String,
    /// Digest of what each warp wrote to each register and predicate, and to memory.
    pub commits: String,
    /// Digest of all compared signals, over all cycles.
    pub state: String,
    /// Cycles of an interval.
    pub interval: u64,
    /// The low half of the state's digest at the end of each interval; each covers all cycles so far.
    pub marks: String,
    /// A digest of each output buffer.
    pub outputs: BTreeMap<String, String>,
    /// Statistics.
    pub stats: BTreeMap<String, String>,
    /// Counts of events; events that are not listed are zero.
    pub events: BTreeMap<String, u64>,
}

/// The first line of every golden file.
const HEADING: &str =
    "# What the model does. `gpurf golden check` compares, `gpurf golden bless` writes; docs/goldens.md.\n";

impl Golden {
    /// The golden as the text of a file.
    pub fn to_text(&self) -> String {
        format!("{HEADING}{}", toml::to_string(self).expect("numbers, words and maps of them are TOML"))
    }

    /// Reads a golden from a file.
    ///
    /// # Errors
    /// When it cannot be read or is not a golden; the message names file and line.
    pub fn read(path: &Path) -> Result<Self, JobError> {
        let wrong = |why: &dyn std::fmt::Display| {
            JobError::Input(format!("{}: {why}; `gpurf golden bless` writes it anew", path.display()))
        };
        let text = std::fs::read_to_string(path).map_err(|e| wrong(&e))?;
        toml::from_str(&text).map_err(|e| {
            let line = e.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            JobError::Input(format!(
                "{}:{line}: this is no golden: {}; `gpurf golden bless` writes it anew",
                path.display(),
                e.message()
            ))
        })
    }

    /// Writes the golden, complete or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), JobError> {
        files::write_below(path, self.to_text().as_bytes())
            .map_err(|e| JobError::Build(format!("cannot write {}: {e}", path.display())))
    }
}

/// Locations of goldens and traces.
#[derive(Clone, Debug)]
pub struct Store {
    /// The goldens.
    pub goldens: PathBuf,
    /// The folder of the traces from which they were made.
    pub traces: PathBuf,
}

impl Store {
    /// The locations in a checkout.
    pub fn of_project(project: &Project) -> Self {
        Self { goldens: project.root.join("tests/goldens"), traces: project.root.join(TRACES) }
    }

    /// Goldens in another folder, given by its absolute path.
    pub fn at(project: &Project, goldens: PathBuf) -> Self {
        let mut traces = project.root.join(ELSEWHERE);
        let names = goldens.components().filter(|part| matches!(part, Component::Normal(_)));
        traces.extend(names);
        Self { goldens, traces }
    }

    /// Removes all traces in the build folder whose golden does not exist any more, for all folders of goldens.
    pub fn tidy(project: &Project) {
        let (ours, elsewhere) = (Self::of_project(project), project.root.join(ELSEWHERE));
        remove_stale(&ours.traces, &|trace| {
            let golden = match trace.strip_prefix(&elsewhere) {
                Ok(path) => Path::new("/").join(path),
                Err(_) => ours.goldens.join(trace.strip_prefix(&ours.traces).unwrap_or(trace)),
            };
            golden.with_extension("toml").exists()
        });
    }

    /// All existing goldens, as preset and kernel name, in order.
    pub fn all(&self) -> Vec<(String, String)> {
        let names = |folder: &Path, ending: &str| -> Vec<String> {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect()
        };
        let of_preset = |preset: String| {
            let kernels = names(&self.goldens.join(&preset), ".toml");
            kernels.into_iter().map(move |kernel| (preset.clone(), kernel))
        };
        let mut all: Vec<(String, String)> = names(&self.goldens, "").into_iter().flat_map(of_preset).collect();
        all.sort();
        all
    }

    /// The golden of a kernel.
    pub fn golden(&self, preset: &str, kernel: &KernelInputs) -> PathBuf {
        self.goldens.join(preset).join(format!("{}.toml", kernel.name()))
    }

    /// The trace of a kernel's golden.
    pub fn trace(&self, preset: &str, kernel: &KernelInputs) -> PathBuf {
        self.traces.join(preset).join(format!("{}.trace", kernel.name()))
    }
}

/// The folder of traces; traces of goldens in another folder are below that folder's path.
const TRACES: &str = "target/goldens";
const ELSEWHERE: &str = "target/goldens/elsewhere";

/// Removes unused traces, and empty folders. A failure to remove something is ignored: nothing depends on it.
fn remove_stale(folder: &Path, used: &dyn Fn(&Path) -> bool) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_stale(&path, used);
            // This succeeds only if the folder is empty.
            let _ = std::fs::remove_dir(&path);
        } else if path.extension().is_some_and(|ending| ending == "trace") && !used(&path) {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// The test kernels: those with a launch manifest next to PTX of the same name, sorted by name.
///
/// # Errors
/// When the folder cannot be read.
pub fn test_kernels(project: &Project) -> Result<Vec<String>, JobError> {
    let folder = project.root.join("tests/kernels");
    let entries =
        std::fs::read_dir(&folder).map_err(|e| JobError::Input(format!("{}: {e}", folder.display())))?.flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "toml"));
    let kernels = paths.filter(|path| path.with_extension("ptx").is_file());
    let mut names: Vec<String> =
        kernels.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests;
