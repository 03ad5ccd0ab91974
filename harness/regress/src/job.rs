//! One run of one block.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use gpurf_blocks::Declaration;
use gpurf_blocks::config::Config;
use gpurf_blocks::registry::Entry;
use gpurf_lockstep::report::{self, DivergenceSummary};
use gpurf_lockstep::{Cause, Events, Lockstep, Reproducer, RunOutcome, RunPlan, Sequence, Stimulus, Verdict};
use serde::Serialize;
use verilated::{Library, Options, Request, Toolchain};

use crate::comparisons::{ComparisonCounts, Gate};
use crate::{KernelInputs, ProgramInputs, Project, kernels, programs, suite};

mod absent;
mod again;
mod keep;

pub use absent::is_called;
pub(crate) use absent::{allowed, not_allowed};
pub(crate) use again::replay_options;
use keep::failing_cycle;
pub(crate) use keep::overrides;

/// A run of at least this many cycles must reach every coverage point [`REQUIRED_HITS`] times; of a block that the suite runs longer than others, one
/// that is as many times longer.
pub const COVERAGE_FROM_CYCLES: u64 = 500_000;
/// How often every coverage point has to be reached.
pub const REQUIRED_HITS: u64 = 100;
/// Memories are compared whole every so many cycles.
const MEMORY_EVERY: u64 = 65_536;
/// Cycles of a run with witnesses in the comparisons; of a block that the suite runs longer than others, as many times more.
const WITNESSED_CYCLES: u64 = 100_000;

/// Where inputs come from.
#[derive(Clone, Debug)]
pub enum Inputs {
    /// Constrained random, from the job's seed.
    Random,
    /// The same with these knobs at a value (`gpurf_stimulus::knobs`): such a run need not reach everything.
    Pinned(Vec<(String, u32)>),
    /// A reproducer.
    Replay(Reproducer),
    /// A directed sequence by name (`gpurf_stimulus::directed`).
    Directed(String),
    /// Of the SM: a kernel, with its host and memory.
    Kernel(KernelInputs),
    /// Of the SM: a random program, from the job's seed.
    Program(ProgramInputs),
}

/// RTL that takes the place of the project's own.
#[derive(Clone, Debug, Default)]
pub struct RtlSources {
    /// Module or package, and file.
    pub overrides: Vec<(String, PathBuf)>,
    /// Sources to add in front of the project's.
    pub extra: Vec<PathBuf>,
    /// Further include folders.
    pub include_dirs: Vec<PathBuf>,
    /// Macros.
    pub defines: Vec<String>,
    /// Probes that it may lack, by name: they are not compared then.
    pub allow_absent: Vec<String>,
    /// The options of the command line that ask for all this, with absolute paths.
    pub options: Vec<String>,
    /// Of RTL with mutants that are selected while it runs, the one to select (`Options::knobs`).
    pub select: Option<u16>,
}

/// The package that every module imports; it comes first in every build.
pub const PACKAGE: &str = "gpurf_pkg";

/// The project's packages, by their paths in `rtl`.
pub fn packages() -> Vec<&'static str> {
    let imported: BTreeSet<&str> = gpurf_sm::all().flat_map(|block| block.packages).copied().collect();
    std::iter::once(PACKAGE).chain(imported).collect()
}

/// Whether a block is built from this module or package.
pub fn is_built_from(block: &Entry, name: &str) -> bool {
    name == PACKAGE || block.contains(name) || block.packages.iter().any(|path| file_name(path) == name)
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
    /// Where inputs come from.
    pub inputs: Inputs,
    /// Whether to shrink what fails and write a failure folder.
    pub keep_failure: bool,
}

/// What came of a job.
#[derive(Clone, Debug)]
pub struct JobResult {
    /// The job.
    pub job: LockstepJob,
    /// In a word.
    pub result: Verdict,
    /// Cycles found equal.
    pub cycles: u64,
    /// Signals compared in each cycle.
    pub signals_compared: usize,
    /// Probes that this RTL does not have: allowed to be absent, unless the result is [`Verdict::ProbesAbsent`].
    pub probes_absent: Vec<String>,
    /// Time of building, in seconds.
    pub build_s: f64,
    /// Time of running, in seconds.
    pub wall_s: f64,
    /// Event counts.
    pub events: Events,
    /// Coverage points and how often each was reached.
    pub coverage: Vec<(&'static str, u64)>,
    /// Bits of inputs, and how many of them were 0 and 1: of random inputs only.
    pub toggles: Option<ToggleCounts>,
    /// Comparisons of the RTL, and how many of their bits have been the only ones to differ: where they are judged.
    pub comparisons: Option<ComparisonCounts>,
    /// The first difference.
    pub divergence: Option<DivergenceSummary>,
    /// The cycle of the failure.
    pub failing_cycle: Option<u64>,
    /// The failure in words.
    pub report: String,
    /// The failure folder.
    pub failure_folder: Option<PathBuf>,
}

/// Bits of a block's inputs that have to be 0 and 1 in a run, while they are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ToggleCounts {
    /// All of them.
    pub bits: usize,
    /// Those that were both.
    pub reached: usize,
    /// Bits that cannot be both, which are not asked for.
    pub excused: usize,
}

impl ToggleCounts {
    fn of(toggles: &gpurf_stimulus::Toggles) -> Self {
        Self { bits: toggles.bits(), reached: toggles.reached(), excused: toggles.excused() }
    }
}

/// Why a job could not run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JobError {
    /// The user's input is wrong (exit status 2).
    #[error("{0}")]
    Input(String),
    /// A tool is missing or a build failed (exit status 3).
    #[error("{0}")]
    Build(String),
}

impl From<verilated::Error> for JobError {
    fn from(error: verilated::Error) -> Self {
        match error {
            verilated::Error::Ports { .. }
            | verilated::Error::Source { .. }
            | verilated::Error::Memory { .. }
            | verilated::Error::OnlyVerilator { .. } => Self::Input(error.to_string()),
            _ => Self::Build(error.to_string()),
        }
    }
}

/// What to build for a block.
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
    let (imported, sources) = (entry.packages, entry.sources());
    let mut request = Request::from_tree(twin.declaration().clone(), memories, &project.rtl(), imported, &sources);
    request.options = options;
    for (module, file) in &rtl.overrides {
        let is_package = packages().iter().any(|path| file_name(path) == module);
        if gpurf_sm::find(module).is_none() && !is_package {
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
    let behind_packages = 1 + imported.len();
    request.sources.splice(behind_packages..behind_packages, rtl.extra.iter().cloned());
    request.include_dirs.extend(rtl.include_dirs.iter().cloned());
    request.defines.extend(rtl.defines.iter().cloned());
    Ok(request)
}

/// A library whose instances have the mutant selected that `rtl` names.
pub(crate) fn selected(library: Library, rtl: &RtlSources) -> Library {
    match rtl.select {
        Some(select) => library.with_knobs(select),
        None => library,
    }
}

/// Checks that every file in place of a module has the module's ports. A package has none.
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

/// Builds and runs a job. `stop` ends it early.
///
/// # Errors
/// When it cannot run: wrong input, missing tools, a build that fails.
pub fn run_job(
    project: &Project,
    tools: &Toolchain,
    job: &LockstepJob,
    rtl: &RtlSources,
    options: &Options,
    stop: &'static AtomicBool,
) -> Result<JobResult, JobError> {
    match &job.inputs {
        Inputs::Kernel(kernel) => return kernels::run(project, tools, job, kernel, rtl, options, stop),
        Inputs::Program(program) => return programs::run(project, tools, job, program, rtl, options, stop),
        Inputs::Random | Inputs::Pinned(_) | Inputs::Replay(_) | Inputs::Directed(_) => {}
    }
    let started = Instant::now();
    let request = request(project, &job.block, &job.config, rtl, options.clone())?;
    check_overrides(project, tools, job, rtl)?;
    let library = selected(tools.build(&request)?, rtl);
    let build_s = started.elapsed().as_secs_f64();
    if let Some(result) = not_allowed(job, &library, &request.declaration, rtl, build_s) {
        return Ok(result);
    }
    let runner = Runner { job, library: &library, declaration: &request.declaration };
    let mut result = runner.run(project, rtl, build_s, stop)?;
    let ended = matches!(result.result, Verdict::Pass | Verdict::CoverageMissed);
    if ended && judged(job) && suite::judges_comparisons(&job.block, &job.config) {
        judge_comparisons(project, tools, &mut result, request, stop)?;
    }
    Ok(result)
}

/// Whether a run is random, and long enough to have to reach everything.
fn judged(job: &LockstepJob) -> bool {
    matches!(job.inputs, Inputs::Random) && suite::is_judged(&job.block, job.cycles)
}

/// Runs the block again with witnesses in its comparisons.
fn judge_comparisons(
    project: &Project,
    tools: &Toolchain,
    result: &mut JobResult,
    mut request: Request,
    stop: &AtomicBool,
) -> Result<(), JobError> {
    let job = LockstepJob {
        cycles: result.job.cycles.min(WITNESSED_CYCLES * suite::stretch(&result.job.block)),
        keep_failure: false,
        ..result.job.clone()
    };
    let module = request.declaration.block;
    let gate = request.source_of(module).map(|source| Gate::of(module, source)).transpose()?.flatten();
    let Some(gate) = gate else { return Ok(()) };
    let started = Instant::now();
    gate.apply(project, &mut request)?;
    let library = tools.build(&request)?;
    result.build_s += started.elapsed().as_secs_f64();
    let runner = Runner { job: &job, library: &library, declaration: &request.declaration };
    let started = Instant::now();
    let mut stimulus = runner.stimulus()?;
    let outcome = runner.sides()?.run(&mut *stimulus, &runner.plan(job.cycles), &mut |_, _| {}, stop);
    result.wall_s += started.elapsed().as_secs_f64();
    match &outcome.cause {
        None => {}
        Some(Cause::Interrupted) => {
            result.result = Verdict::Interrupted;
            return Ok(());
        }
        Some(cause) => {
            let report = report::text(&request.declaration, cause, outcome.capture.as_ref());
            return Err(JobError::Build(format!(
                "{module} with witnesses in its comparisons fails: a defect of gpurf\n{report}"
            )));
        }
    }
    let unaliased = gpurf_stimulus::unaliased(&job.block, &job.config);
    let (counts, missed) = gate.judge(&library.compared(), &unaliased);
    result.comparisons = Some(counts);
    if !missed.is_empty() {
        result.result = Verdict::CoverageMissed;
        let missed = missed.iter().map(|line| format!("  comparison {line}\n")).collect::<String>();
        if result.report.is_empty() {
            result.report = format!("{}: the stimulus did not reach everything\n", job.block);
        }
        result.report.push_str(&missed);
    }
    Ok(())
}

struct Runner<'a> {
    job: &'a LockstepJob,
    library: &'a Library,
    declaration: &'a Declaration,
}

impl Runner<'_> {
    fn sides(&self) -> Result<Lockstep, JobError> {
        let twin = gpurf_sm::find(&self.job.block).map(|b| (b.twin)(&self.job.config)).expect("found before");
        let rtl = self.library.instance(self.job.seed).map_err(|f| JobError::Build(f.to_string()))?;
        Ok(Lockstep::new(twin, rtl, self.library.absent()))
    }

    fn stimulus(&self) -> Result<Box<dyn Stimulus + Send>, JobError> {
        let job = self.job;
        match &job.inputs {
            Inputs::Random => Ok(gpurf_stimulus::random(&job.block, &job.config, job.seed)),
            Inputs::Pinned(pins) => Ok(gpurf_stimulus::pinned(&job.block, &job.config, job.seed, pins)),
            Inputs::Replay(file) => {
                let inputs = file.inputs(self.declaration).map_err(|e| JobError::Input(e.to_string()))?;
                Ok(Box::new(Sequence::new(inputs)))
            }
            Inputs::Directed(name) => gpurf_stimulus::directed::sequence(&job.block, name, &job.config)
                .map(|inputs| Box::new(Sequence::new(inputs)) as Box<dyn Stimulus + Send>)
                .ok_or_else(|| JobError::Input(format!("{} has no directed sequence {name}", job.block))),
            Inputs::Kernel(_) | Inputs::Program(_) => unreachable!("what runs on the SM has runners of its own"),
        }
    }

    fn plan(&self, cycles: u64) -> RunPlan {
        RunPlan { seed: self.job.seed, cycles, memory_every: MEMORY_EVERY, idle_limit: None }
    }

    fn run(&self, project: &Project, rtl: &RtlSources, build_s: f64, stop: &AtomicBool) -> Result<JobResult, JobError> {
        let mut sides = self.sides()?;
        let mut stimulus = self.stimulus()?;
        let mut coverage = gpurf_stimulus::coverage(&self.job.block, &self.job.config);
        let mut toggles = gpurf_stimulus::toggles(self.declaration, &self.job.config);
        let started = Instant::now();
        let plan = self.plan(self.job.cycles);
        let mut observe = |inputs: &[u8], compared: &[u8]| {
            coverage.observe(inputs, compared);
            toggles.observe(inputs, compared);
        };
        let outcome = sides.run(&mut *stimulus, &plan, &mut observe, stop);
        let wall_s = started.elapsed().as_secs_f64();
        let mut result = JobResult {
            job: self.job.clone(),
            result: classify(&outcome, &coverage, &toggles, self.job),
            cycles: outcome.cycles,
            signals_compared: sides.comparator.signals_compared(),
            probes_absent: self.library.absent_names().to_vec(),
            build_s,
            wall_s,
            events: outcome.events.clone(),
            coverage: coverage.counts(),
            comparisons: None,
            toggles: matches!(self.job.inputs, Inputs::Random).then(|| ToggleCounts::of(&toggles)),
            divergence: None,
            failing_cycle: None,
            report: String::new(),
            failure_folder: None,
        };
        if result.result == Verdict::CoverageMissed {
            let mut missed: Vec<String> = coverage
                .counts()
                .iter()
                .filter(|p| p.1 < REQUIRED_HITS)
                .map(|(name, count)| format!("  reached {count} times, {REQUIRED_HITS} are needed: {name}"))
                .collect();
            missed.extend(toggles.missed().iter().map(|line| format!("  input {line}")));
            result.report =
                format!("{}: the stimulus did not reach everything\n{}\n", self.job.block, missed.join("\n"));
        }
        let Some(cause) = &outcome.cause else { return Ok(result) };
        result.failing_cycle = failing_cycle(cause);
        if let (Cause::Diverged(divergence), Some(capture)) = (cause, &outcome.capture) {
            result.divergence = Some(report::summary(self.declaration, divergence, capture));
        }
        result.report = report::text(self.declaration, cause, outcome.capture.as_ref());
        if self.job.keep_failure {
            let folder = self.keep(project, rtl, &sides, &outcome, &result.report, stop)?;
            let text = std::fs::read_to_string(folder.join("report.txt"));
            result.report = text.unwrap_or(result.report);
            result.failure_folder = Some(folder);
        }
        Ok(result)
    }
}

fn classify(
    outcome: &RunOutcome,
    coverage: &gpurf_stimulus::Coverage,
    toggles: &gpurf_stimulus::Toggles,
    job: &LockstepJob,
) -> Verdict {
    match &outcome.cause {
        Some(cause) => Verdict::of(cause),
        None if judged(job)
            && (coverage.least().is_some_and(|p| p.1 < REQUIRED_HITS) || !toggles.missed().is_empty()) =>
        {
            Verdict::CoverageMissed
        }
        None => Verdict::Pass,
    }
}
