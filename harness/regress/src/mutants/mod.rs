//! Checks that the comparison can fail: RTL is broken on purpose, and the lockstep has to detect this and name the block.
//!
//! * *Hand-written* mutants are bugs that designers make: a text in a module's source is replaced when the mutant is run. They are listed
//!   in `tests/mutants/*.toml`.
//! * *Mistakes* are of the same kind, inserted by operators into the parsed source of a module: a comparison without its top bit, a missing reset, a
//!   confusion of two registers. One source has all mutants of a module and a variable selects one, so each module needs only one build.
//! * *Netlist* mutants come from Yosys' `mutate` on a module's netlist: a pin inverted or stuck. They are selected in the same way.
//!
//! A mutant of the register file runs in the whole register file, where the block has to be found. If it is not detected there, it runs alone in its
//! block's own lockstep. A mutant of another block of the SM runs in that block's lockstep, one of the SM itself on kernels and random programs. A mutant
//! that is never detected is a hole in the check, unless a proof shows that it cannot be detected.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde::Serialize;

use crate::{JobError, Project};

mod listed;
mod mistakes;
mod netlist;
mod places;
mod trial;

pub use listed::hand_written;
pub use mistakes::mistakes;
pub use netlist::generated;
pub use places::policies;
pub use trial::{Bench, Place, run_mutants};
pub(crate) use trial::{line_of, module_of};

/// Name of the variable that selects a generated mutant.
const SELECT: &str = "mutant_sel";

/// Origin of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// From a hand-written list.
    HandWritten,
    /// A designer's mistake, inserted into the source by an operator.
    Mistake,
    /// A pin of the netlist, changed by Yosys.
    Netlist,
}

impl Family {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::HandWritten => "hand-written",
            Self::Mistake => "mistake",
            Self::Netlist => "netlist",
        }
    }
}

/// The change that makes a mutant.
#[derive(Clone, Debug)]
enum Change {
    /// A text of the source is replaced.
    Text { find: String, replace: String },
    /// Selected at run time in a netlist.
    Netlist { folder: PathBuf, select: u16 },
    /// Selected at run time in a source; it exists if the module has one of these sets of parameters.
    Source { folder: PathBuf, select: u16, shapes: Vec<Parameters> },
}

/// Parameters of a module.
type Parameters = Vec<(&'static str, u64)>;

/// A broken module.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Name of the broken module.
    pub module: String,
    /// The change.
    pub name: String,
    /// Its origin.
    pub family: Family,
    /// For a mistake, the operator that made it.
    pub operator: Option<String>,
    /// Why it cannot be detected, if that is known.
    pub equivalent: Option<String>,
    /// The modules that read the broken net or connection: a report may name one of them instead.
    readers: Vec<String>,
    change: Change,
}

impl Mutant {
    /// The module's source with the fault; `None` for a mutant that is selected at run time.
    ///
    /// # Errors
    /// When the module's source cannot be read.
    pub fn source(&self, project: &Project) -> Result<Option<String>, JobError> {
        match &self.change {
            Change::Text { find, replace } => {
                source(project, &self.module).map(|text| Some(text.replace(find, replace)))
            }
            Change::Netlist { .. } | Change::Source { .. } => Ok(None),
        }
    }
}

/// A difference found by the lockstep.
#[derive(Clone, Debug, Serialize)]
pub struct Caught {
    /// The block whose lockstep found it.
    pub lockstep: String,
    /// The cycle.
    pub cycle: u64,
    /// The block that the report names.
    pub blamed: String,
    /// Whether an assertion of the RTL found it, and not a difference.
    pub assertion: bool,
    /// The first signal or memory that differs, or the message of the assertion.
    pub first: String,
}

/// Result of a mutant.
#[derive(Clone, Debug, Serialize)]
pub struct MutantResult {
    /// The broken module.
    pub module: String,
    /// The change.
    pub name: String,
    /// Its origin.
    pub family: Family,
    /// For a mistake, the operator that made it.
    pub operator: Option<String>,
    /// How it was detected; `None` if it was not.
    pub caught: Option<Caught>,
    /// Whether the report names the broken module.
    pub located: bool,
    /// Why it cannot be detected: stated in the list, or proven by Yosys.
    pub equivalent: Option<String>,
    /// For a generated mutant that survived, the result of the attempted proof: different (for inputs of any kind), out of time, or unknown.
    pub proof: Option<String>,
}

/// Totals of a mutation run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Mutants run.
    pub mutants: usize,
    /// Number of detected mutants.
    pub caught: usize,
    /// Number of detected mutants for which the report names the module.
    pub located: usize,
    /// Number of mutants shown to be equivalent to the original.
    pub equivalent: usize,
    /// Number of mutants that are neither detected nor equivalent: holes.
    pub survived: usize,
    /// Median of the cycles until detection.
    pub median_cycles: u64,
    /// Maximum of the cycles until detection.
    pub worst_cycles: u64,
}

/// The source text of a module.
fn source(project: &Project, module: &str) -> Result<String, JobError> {
    let entry = gpurf_sm::find(module).ok_or_else(|| JobError::Input(format!("there is no module {module}")))?;
    let path = project.rtl().join(entry.path).with_extension("sv");
    std::fs::read_to_string(&path).map_err(|e| JobError::Input(format!("cannot read {}: {e}", path.display())))
}

/// A command for a Python program of `scripts/`, in the environment that has pyosys.
fn python(project: &Project, script: &str) -> Result<Command, JobError> {
    let python = project.root.join("target/venv/bin/python");
    if !python.exists() {
        let message = "generated mutants need pyosys; get it with: scripts/bootstrap.sh --mutants";
        return Err(JobError::Build(message.to_owned()));
    }
    let mut command = verilated::tool(python);
    command.arg(project.root.join("scripts").join(script));
    Ok(command)
}

/// Standard output of a command that has to succeed.
fn run(mut command: Command, what: &str) -> Result<String, JobError> {
    let output = command.output().map_err(|e| JobError::Build(format!("{what}: {e}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(JobError::Build(format!("{what}: {}", String::from_utf8_lossy(&output.stderr).trim_end())))
}

/// The word for one mutant in the output of a proof script.
fn verdict_of(answer: &str, select: u16, script: &str) -> Result<String, JobError> {
    let unreadable = |e: &dyn std::fmt::Display| JobError::Build(format!("{script}: {e}: {answer}"));
    let mut verdicts: BTreeMap<String, String> = serde_json::from_str(answer).map_err(|e| unreadable(&e))?;
    verdicts.remove(&select.to_string()).ok_or_else(|| unreadable(&"no verdict"))
}

/// Keeps a folder of generated mutants for this process until it ends: another process that makes mutants of the same module waits, as it would
/// replace the files of these.
fn keep_for_this_process(folder: &Path) -> Result<(), JobError> {
    static KEPT: Mutex<BTreeMap<PathBuf, File>> = Mutex::new(BTreeMap::new());
    let path = folder.with_extension("lock");
    let unusable = |e: std::io::Error| JobError::Build(format!("cannot lock {}: {e}", path.display()));
    let mut kept = KEPT.lock().expect("no thread panics with the lock");
    if let Entry::Vacant(place) = kept.entry(path.clone()) {
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(unusable)?;
        let file = File::create(&path).map_err(unusable)?;
        file.lock().map_err(unusable)?;
        place.insert(file);
    }
    Ok(())
}

/// A sample: of each module `count` mutants, or all that it has, at equal distances.
pub fn sample(mutants: Vec<Mutant>, count: usize) -> Vec<Mutant> {
    let mut of_module: BTreeMap<String, Vec<Mutant>> = BTreeMap::new();
    for mutant in mutants {
        of_module.entry(mutant.module.clone()).or_default().push(mutant);
    }
    let chosen = of_module.into_values().flat_map(|list| {
        let chosen = count.min(list.len());
        (0..chosen).map(|index| list[index * list.len() / chosen].clone()).collect::<Vec<_>>()
    });
    chosen.collect()
}

/// Totals over these results.
pub fn summary<'a>(verdicts: impl IntoIterator<Item = &'a MutantResult>) -> Summary {
    let verdicts: Vec<&MutantResult> = verdicts.into_iter().collect();
    let mut cycles: Vec<u64> = verdicts.iter().filter_map(|v| v.caught.as_ref()).map(|c| c.cycle).collect();
    cycles.sort_unstable();
    let caught = cycles.len();
    let equivalent = verdicts.iter().filter(|v| v.caught.is_none() && v.equivalent.is_some()).count();
    Summary {
        mutants: verdicts.len(),
        caught,
        located: verdicts.iter().filter(|v| v.located).count(),
        equivalent,
        survived: verdicts.len() - caught - equivalent,
        median_cycles: cycles.get(caught / 2).copied().unwrap_or_default(),
        worst_cycles: cycles.last().copied().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::TryLockError;

    use super::*;

    #[test]
    fn a_sample_has_as_many_mutants_of_a_module_as_wanted() {
        let change = || Change::Text { find: String::new(), replace: String::new() };
        let mutant = |module: &str, name: usize| Mutant {
            module: module.to_owned(),
            name: name.to_string(),
            family: Family::HandWritten,
            operator: None,
            equivalent: None,
            readers: Vec::new(),
            change: change(),
        };
        let all = || (0..7).map(|name| mutant("alu", name)).chain((0..2).map(|name| mutant("sfu", name))).collect();
        let names = |count| {
            let of = |module: &str| {
                let chosen = sample(all(), count).into_iter().filter(|mutant| mutant.module == module);
                chosen.map(|mutant| mutant.name).collect::<String>()
            };
            [of("alu"), of("sfu")]
        };
        assert_eq!(names(0), ["", ""]);
        assert_eq!(names(2), ["03", "01"]);
        assert_eq!(names(5), ["01245", "01"]);
        assert_eq!(names(9), ["0123456", "01"]);
    }

    #[test]
    fn the_mutants_of_a_module_belong_to_one_process() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("mutants/alu");
        // The same process may make them again.
        for _ in 0..2 {
            keep_for_this_process(&folder).unwrap();
        }
        let other = File::open(folder.with_extension("lock")).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
    }
}
