//! The description of one run of one block, and its result.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use gpurf_blocks::Declaration;
use gpurf_blocks::config::Config;
use gpurf_blocks::registry::Entry;
use gpurf_lockstep::report::DivergenceSummary;
use gpurf_lockstep::{Events, HISTORY, Verdict, check_history};
use serde::Serialize;
use verilated::{Library, Options, PACKAGE, Request, Toolchain, names_package};

use crate::comparisons::ComparisonCounts;
use crate::{JobError, Project};

mod absent;
mod again;
mod inputs;

pub use absent::is_called;
pub(crate) use absent::{allowed, not_allowed};
pub(crate) use again::{overrides, replay_options};
pub use inputs::{Inputs, KernelInputs, ProgramInputs, REGISTERS};

/// A run of at least this many cycles must reach every coverage point [`REQUIRED_HITS`] times; for a block that the suite runs longer than others,
/// this limit is as many times higher.
pub const COVERAGE_FROM_CYCLES: u64 = 500_000;
/// How often every coverage point has to be reached.
pub const REQUIRED_HITS: u64 = 100;

/// RTL that replaces the project's own.
#[derive(Clone, Debug, Default)]
pub struct RtlSources {
    /// Name of the module or package, and the file that replaces it.
    pub overrides: Vec<(String, PathBuf)>,
    /// Sources to compile before the project's.
    pub extra: Vec<PathBuf>,
    /// Further include folders.
    pub include_dirs: Vec<PathBuf>,
    /// Macros.
    pub defines: Vec<String>,
    /// Names of probes that the RTL may lack; they are then not compared.
    pub allow_absent: Vec<String>,
    /// The command-line options for all of this, with absolute paths.
    pub options: Vec<String>,
    /// For RTL with mutants that are selected at run time: the one to select (`Options::knobs`).
    pub select: Option<u16>,
}

/// The packages besides [`PACKAGE`] that each module of the project imports.
static IMPORTED: LazyLock<BTreeMap<&str, Vec<String>>> = LazyLock::new(|| {
    let rtl = Project::find().rtl();
    gpurf_sm::all().map(|block| (block.name, verilated::packages(&rtl, &[block.path]))).collect()
});

/// The project's packages, by their paths in `rtl`.
pub fn packages() -> Vec<&'static str> {
    let imported: BTreeSet<&str> = IMPORTED.values().flatten().map(String::as_str).collect();
    std::iter::once(PACKAGE).chain(imported).collect()
}

/// The project's packages, besides [`PACKAGE`], that a block's modules import.
pub fn packages_of(block: &Entry) -> Vec<&'static str> {
    let modules = block.modules();
    let imports = |path: &&str| modules.iter().filter_map(|module| IMPORTED.get(module)).flatten().any(|p| p == path);
    packages().into_iter().filter(imports).collect()
}

/// Whether this module or package is part of the build of a block.
pub fn is_built_from(block: &Entry, name: &str) -> bool {
    name == PACKAGE || block.contains(name) || packages_of(block).into_iter().any(|path| file_name(path) == name)
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// One run of one block.
#[derive(Clone, Debug)]
pub struct LockstepJob {
    /// Block.
    pub block: String,
    /// Sizes and policies.
    pub config: Config,
    /// Seed of inputs, memories and state that reset does not set.
    pub seed: u64,
    /// Cycles to compare.
    pub cycles: u64,
    /// The source of inputs.
    pub inputs: Inputs,
    /// Whether to shrink a failure and write a failure folder.
    pub keep_failure: bool,
    /// Whether a run with random inputs may end when it has reached everything that it has to reach, after a quarter of its cycles at the earliest.
    pub may_end_early: bool,
    /// Threads that the run may use ([`RunPlan::threads`](gpurf_lockstep::RunPlan::threads)).
    pub threads: usize,
    /// Cycles before a failure that are kept ([`Trail::with_history`](gpurf_lockstep::Trail::with_history)).
    pub history: u64,
}

impl LockstepJob {
    /// A job on one thread, with all of its cycles; a failure is kept with the usual history.
    pub fn new(block: &str, config: Config, seed: u64, cycles: u64, inputs: Inputs) -> Self {
        Self {
            block: block.to_owned(),
            config,
            seed,
            cycles,
            inputs,
            keep_failure: true,
            may_end_early: false,
            threads: 1,
            history: HISTORY,
        }
    }

    /// Checks that the history fits into memory.
    pub(crate) fn check_history(&self, declaration: &Declaration) -> Result<(), JobError> {
        check_history(declaration, self.history).map_err(|e| JobError::Input(e.to_string()))
    }

    /// Cycles before a failure that are kept: if no folder is written, no more than usual.
    pub(crate) fn kept_history(&self) -> u64 {
        if self.keep_failure { self.history } else { HISTORY }
    }
}

/// The result of a job.
#[derive(Clone, Debug)]
pub struct JobResult {
    /// The job.
    pub job: LockstepJob,
    /// The verdict.
    pub result: Verdict,
    /// Cycles found equal.
    pub cycles: u64,
    /// Signals compared in each cycle.
    pub signals_compared: usize,
    /// Probes that this RTL lacks: allowed to be absent, unless the result is [`Verdict::ProbesAbsent`].
    pub probes_absent: Vec<String>,
    /// Time of building, in seconds.
    pub build_s: f64,
    /// Time of running, in seconds.
    pub wall_s: f64,
    /// Event counts.
    pub events: Events,
    /// Coverage points, and how often each was reached.
    pub coverage: Vec<(&'static str, u64)>,
    /// Input bits that have to be 0 and 1, and how many were: only for random inputs.
    pub toggles: Option<ToggleCounts>,
    /// Comparisons of the RTL, and how many of their bits have been the only ones to differ: only if they are judged.
    pub comparisons: Option<ComparisonCounts>,
    /// The first difference.
    pub divergence: Option<DivergenceSummary>,
    /// The cycle of the failure.
    pub failing_cycle: Option<u64>,
    /// The failure as text.
    pub report: String,
    /// The failure folder.
    pub failure_folder: Option<PathBuf>,
}

/// Bits of a block's inputs that have to be both 0 and 1 in a run, while they are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ToggleCounts {
    /// All such bits.
    pub bits: usize,
    /// Bits that were both.
    pub reached: usize,
    /// Bits for which this is impossible, which are not required.
    pub excused: usize,
}

impl ToggleCounts {
    pub(crate) fn of(toggles: &gpurf_stimulus::Toggles) -> Self {
        Self { bits: toggles.bits(), reached: toggles.reached(), excused: toggles.excused() }
    }
}

/// The build request for a block.
///
/// # Errors
/// When there is no such block, or a file or module of `rtl` does not exist.
pub fn request(
    project: &Project,
    block: &str,
    config: &Config,
    rtl: &RtlSources,
    options: Options,
) -> Result<Request, JobError> {
    let entry = gpurf_sm::find(block).ok_or_else(|| {
        let names: Vec<&str> = gpurf_sm::all().map(|b| b.name).collect();
        JobError::Input(format!("there is no block {block}; the blocks are: {}", names.join(", ")))
    })?;
    let mut twin = (entry.twin)(config);
    let memories = twin.memories().iter().map(Into::into).collect();
    let (declaration, sources) = (twin.declaration().clone(), entry.sources());
    let mut request = Request::from_tree(declaration, memories, &project.rtl(), &sources);
    request.options = options;
    let own = rtl.overrides.iter().filter(|(module, _)| request.source_of(module).is_some()).map(|(_, file)| file);
    let own: Vec<&PathBuf> = own.chain(&rtl.extra).collect();
    add_packages(&mut request, project, sources.len(), &own, &rtl.overrides);
    for (module, file) in &rtl.overrides {
        if gpurf_sm::find(module).is_none() && !is_package(module) {
            let names: Vec<&str> = gpurf_sm::all().map(|b| b.name).collect();
            return Err(JobError::Input(format!(
                "--rtl {module}: there is no module {module}; the modules are: {}",
                names.join(", ")
            )));
        }
        if !file.is_file() {
            return Err(JobError::Input(format!("--rtl {module}: there is no file {}", file.display())));
        }
        request.replace(module, file);
    }
    let behind_packages = request.sources.len() - sources.len();
    request.sources.splice(behind_packages..behind_packages, rtl.extra.iter().cloned());
    request.include_dirs.extend(rtl.include_dirs.iter().cloned());
    request.defines.extend(rtl.defines.iter().cloned());
    Ok(request)
}

/// Whether a module of this name is a package of the project.
pub fn is_package(module: &str) -> bool {
    packages().iter().any(|path| file_name(path) == module)
}

/// Adds the project's packages that files of the user's own RTL name, and that the modules in their places do not import, in front of the last
/// `modules` sources.
fn add_packages(
    request: &mut Request,
    project: &Project,
    modules: usize,
    own: &[&PathBuf],
    overrides: &[(String, PathBuf)],
) {
    let read = |file: &Path| std::fs::read_to_string(file).unwrap_or_default();
    let own: Vec<String> = own.iter().map(|file| read(file)).collect();
    let mut added: Vec<(PathBuf, String)> = Vec::new();
    let mut left = packages();
    left.retain(|path| request.source_of(file_name(path)).is_none());
    loop {
        let texts = || own.iter().chain(added.iter().map(|(_, text)| text));
        let is_named = |path: &&str| texts().any(|text| names_package(text, file_name(path)));
        let Some(index) = left.iter().position(is_named) else { break };
        let path = left.remove(index);
        let file = project.rtl().join(path).with_extension("sv");
        // A package comes in front of those that import it.
        let users = added.iter().position(|(_, text)| names_package(text, file_name(path)));
        // A package that is replaced imports what its replacement imports.
        let replaced = overrides.iter().find(|(module, _)| module == file_name(path)).map(|(_, own)| own);
        let text = read(replaced.unwrap_or(&file));
        added.insert(users.unwrap_or(added.len()), (file, text));
    }
    let place = request.sources.len() - modules;
    request.sources.splice(place..place, added.into_iter().map(|(file, _)| file));
}

/// The library, with instances that select the mutant that `rtl` names.
pub(crate) fn selected(library: Library, rtl: &RtlSources) -> Library {
    match rtl.select {
        Some(select) => library.with_knobs(select),
        None => library,
    }
}

/// Checks that every file that replaces a module has the module's ports. A package has none.
pub(crate) fn check_overrides(
    project: &Project,
    tools: &Toolchain,
    job: &LockstepJob,
    rtl: &RtlSources,
) -> Result<(), JobError> {
    for (module, _) in &rtl.overrides {
        let inside = gpurf_sm::find(&job.block).is_some_and(|block| block.contains(module));
        if inside && *module != job.block {
            tools.check_ports(&request(project, module, &job.config, rtl, Options::default())?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_rtl_may_name_packages_that_the_module_in_its_place_does_not_import() {
        let project = Project::find();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.sv");
        std::fs::write(&file, "module mrf_arbiter import gpurf_pkg::*; ();\n  x = scratchpad_pkg::y;\nendmodule\n")
            .unwrap();
        let overrides = vec![("mrf_arbiter".to_owned(), file.clone())];
        let rtl = RtlSources { overrides, ..RtlSources::default() };
        let sources = |block: &str| {
            let request = request(&project, block, &Config::default(), &rtl, Options::default()).unwrap();
            request
                .sources
                .iter()
                .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        // The package that it names imports another one.
        assert_eq!(sources("mrf_arbiter")[..3], ["gpurf_pkg", "fp_pkg", "scratchpad_pkg"]);
        assert_eq!(sources("mrf_arbiter").last().unwrap(), "own");
        assert!(!sources("mrf_bank").contains(&"scratchpad_pkg".to_owned()));
        // The same by a file list.
        let rtl = RtlSources { extra: vec![file], ..RtlSources::default() };
        let request = request(&project, "mrf_bank", &Config::default(), &rtl, Options::default()).unwrap();
        let place = |stem: &str| request.sources.iter().position(|path| path.file_stem().is_some_and(|s| s == stem));
        assert!(place("scratchpad_pkg") < place("own") && place("own") < place("mrf_bank"), "{:?}", request.sources);
    }
}
