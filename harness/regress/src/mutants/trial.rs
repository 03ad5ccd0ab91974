//! Runs mutants.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gpurf_blocks::Declaration;
use gpurf_blocks::config::Config;
use gpurf_lockstep::{Cause, Lockstep, RunOutcome, RunPlan, Verdict, report};
use verilated::{Options, Simulator, Toolchain};

use super::places::{self, locksteps, parameters, policies};
use super::{
    Caught, Change, Family, Mutant, MutantResult, Parameters, SELECT, mistakes, netlist, python, run, source,
    verdict_of,
};
use crate::job::selected;
use crate::{COVERAGE_FROM_CYCLES, JobError, JobResult, LockstepJob, Project, RtlSources, request, run_all, run_job};

/// Cycles after which a mutant counts as not detected: as many as the whole suite runs of a block.
const CYCLES: u64 = COVERAGE_FROM_CYCLES;
/// Seconds of processor time that a proof of equivalence may take.
const PROOF_LIMIT_S: u32 = 120;
/// This share of the cycles is enough to check that a source without a selected mutant is intact: its operators leave nothing to rare values.
const INTACT_SHARE: u64 = 10;

/// The place where mutants have to be detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the lockstep of their block, or of the register file.
    Blocks,
    /// In the lockstep of the whole SM, on kernels.
    Machine,
}

/// Runs mutants on `threads` threads; `done` is called with each verdict.
///
/// # Errors
/// The first error of a build or run.
pub fn run_mutants(
    bench: &Bench<'_>,
    mutants: &[Mutant],
    threads: usize,
    done: impl Fn(&MutantResult) + Sync,
) -> Result<Vec<MutantResult>, JobError> {
    let trial = Trial { bench };
    let originals: Vec<Mutant> = originals(mutants).collect();
    let intact = run_all(&originals, threads, |m| trial.intact(m), |_, _| {});
    intact.into_iter().collect::<Result<Vec<()>, _>>()?;
    let verdicts = run_all(
        mutants,
        threads,
        // After a request to stop, the remaining mutants must not be built first.
        |m| if bench.stop.load(Ordering::Relaxed) { Err(interrupted()) } else { trial.verdict(m) },
        |_, v| {
            if let Ok(verdict) = v {
                done(verdict);
            }
        },
    );
    verdicts.into_iter().collect()
}

/// For each module with selectable mutants, the selection of its original, in every shape in which one of the mutants exists.
fn originals(mutants: &[Mutant]) -> impl Iterator<Item = Mutant> {
    let mut originals: BTreeMap<&Path, Mutant> = BTreeMap::new();
    for mutant in mutants {
        let original = |change| Mutant { name: "the original".into(), change, ..mutant.clone() };
        match &mutant.change {
            Change::Text { .. } => {}
            Change::Netlist { folder, .. } => {
                let change = Change::Netlist { folder: folder.clone(), select: 0 };
                originals.entry(folder).or_insert_with(|| original(change));
            }
            Change::Source { folder, shapes, .. } => {
                let none = Change::Source { folder: folder.clone(), select: 0, shapes: Vec::new() };
                let entry = originals.entry(folder).or_insert_with(|| original(none));
                let Change::Source { shapes: all, .. } = &mut entry.change else { continue };
                all.extend(shapes.iter().filter(|shape| !all.contains(shape)).cloned().collect::<Vec<_>>());
            }
        }
    }
    originals.into_values()
}

/// Counter for the names of this process's scratch folders.
static SCRATCH: AtomicUsize = AtomicUsize::new(0);

/// The environment in which mutants run.
pub struct Bench<'a> {
    /// The checkout.
    pub project: &'a Project,
    /// Verilator and a C++ compiler.
    pub tools: &'a Toolchain,
    /// The simulator.
    pub simulator: Simulator,
    /// The place where they have to be detected.
    pub place: Place,
    /// Seed of the runs.
    pub seed: u64,
    /// Set to end early.
    pub stop: &'static AtomicBool,
}

/// One lockstep in which a mutant runs.
enum Run {
    /// Random cycles of a block.
    Block(String, Box<Config>, u64),
    /// A kernel or a program on the SM.
    Machine(Box<LockstepJob>),
}

struct Trial<'a> {
    bench: &'a Bench<'a>,
}

impl Trial<'_> {
    /// Checks that a netlist or source without a selected mutant equals the model: otherwise each of its mutants would seem to be detected.
    fn intact(&self, original: &Mutant) -> Result<(), JobError> {
        let (what, rtl, runs) = match &original.change {
            Change::Text { .. } => return Ok(()),
            Change::Netlist { folder, select } => {
                ("netlist", netlist::sources(folder, &original.module, *select), self.runs(original))
            }
            Change::Source { folder, select, .. } => {
                let rtl = mistakes::sources(folder, &original.module, *select);
                let short = |run| match run {
                    Run::Block(block, config, cycles) => Run::Block(block, config, cycles / INTACT_SHARE),
                    job @ Run::Machine(_) => job,
                };
                let mut runs: Vec<Run> = self.runs(original).into_iter().map(short).collect();
                one_of_each_build(&mut runs);
                ("source", rtl, runs)
            }
        };
        match self.noticed(&runs, &rtl)? {
            None => Ok(()),
            Some(caught) => Err(JobError::Build(format!(
                "the {what} of {} differs from its module without a mutant: cycle {}, block {}, {}",
                original.module, caught.cycle, caught.blamed, caught.first
            ))),
        }
    }

    fn verdict(&self, mutant: &Mutant) -> Result<MutantResult, JobError> {
        let runs = self.runs(mutant);
        if runs.is_empty() {
            // Without a run the mutant would count as one that survives.
            let Mutant { module, name, .. } = mutant;
            return Err(JobError::Build(format!("no lockstep has {module} as the mutant has it: {name}")));
        }
        let scratch = self.bench.project.root.join("target/mutants");
        let unwritable = |e: std::io::Error| JobError::Build(format!("cannot write in {}: {e}", scratch.display()));
        let (rtl, folder) = match &mutant.change {
            Change::Text { find, replace } => {
                let number = SCRATCH.fetch_add(1, Ordering::Relaxed);
                let folder = scratch.join(format!("hand-{}-{number}", std::process::id()));
                std::fs::create_dir_all(&folder).map_err(unwritable)?;
                let file = folder.join(format!("{}.sv", mutant.module));
                let text = source(self.bench.project, &mutant.module)?.replace(find, replace);
                std::fs::write(&file, text).map_err(unwritable)?;
                let overrides = vec![(mutant.module.clone(), file)];
                (RtlSources { overrides, ..RtlSources::default() }, Some(folder))
            }
            Change::Netlist { folder, select } => (netlist::sources(folder, &mutant.module, *select), None),
            Change::Source { folder, select, .. } => (mistakes::sources(folder, &mutant.module, *select), None),
        };
        let caught = self.noticed(&runs, &rtl);
        if let Some(folder) = folder {
            std::fs::remove_dir_all(folder).map_err(unwritable)?;
        }
        let caught = caught?;
        let located = caught.as_ref().is_some_and(|c| located(mutant, &c.blamed));
        let (mut equivalent, mut proof) = (mutant.equivalent.clone(), None);
        if caught.is_none() && equivalent.is_none() {
            match self.proof(mutant)? {
                Some((said, at)) if said == "equivalent" => {
                    equivalent = Some(format!("proven equivalent by Yosys{at}"))
                }
                said => proof = said.map(|(said, at)| said + &at),
            }
        }
        let Mutant { module, name, family, operator, .. } = mutant.clone();
        Ok(MutantResult { module, name, family, operator, caught, located, equivalent, proof })
    }

    /// The runs of a mutant, until one detects it: under each policy that matters to it, a part of the register file first in the whole of it, then
    /// in its own lockstep.
    fn runs(&self, mutant: &Mutant) -> Vec<Run> {
        let Bench { project, seed, place, .. } = *self.bench;
        let module = mutant.module.as_str();
        let exists = |config: &Config| match &mutant.change {
            Change::Source { shapes, .. } => shapes.contains(&parameters(module, config)),
            Change::Text { .. } | Change::Netlist { .. } => true,
        };
        let machine = |jobs: Vec<LockstepJob>| {
            let jobs = jobs.into_iter().filter(|job| exists(&job.config));
            jobs.map(|job| Run::Machine(Box::new(LockstepJob { keep_failure: false, ..job }))).collect()
        };
        if place == Place::Machine {
            return machine(places::kernels(project, seed));
        }
        if module == gpurf_sm::ENTRY.name {
            return machine(places::whole_machine(project, seed));
        }
        let mut runs = Vec::new();
        let size = places::of_netlist(module);
        for block in locksteps(mutant) {
            for config in policies(module) {
                // A netlist has one size; policies are straps.
                let fits = mutant.family != Family::Netlist || parameters(block, &config) == parameters(block, &size);
                if fits && exists(&config) {
                    runs.push(Run::Block(block.to_owned(), Box::new(config), CYCLES));
                }
            }
        }
        if mutant.family == Family::Mistake {
            let jobs = places::of_suite(module, seed).filter(|job| exists(&job.config));
            runs.extend(jobs.map(|job| Run::Block(job.block, Box::new(job.config), job.cycles)));
        }
        runs
    }

    fn noticed(&self, runs: &[Run], rtl: &RtlSources) -> Result<Option<Caught>, JobError> {
        for run in runs {
            let caught = match run {
                Run::Block(block, config, cycles) => self.lockstep(block, config, *cycles, rtl)?,
                Run::Machine(job) => self.machine(job, rtl)?,
            };
            if caught.is_some() {
                return Ok(caught);
            }
        }
        Ok(None)
    }

    /// Build options of RTL with mutants that are selected at run time, or with one mutant in its text.
    fn options(&self, rtl: &RtlSources) -> Options {
        let selects = rtl.select.is_some();
        let knobs = rtl.select.iter().map(|_| SELECT.to_owned()).collect();
        // Even a mutant that is not selected may close a combinational loop or need a latch.
        Options { simulator: self.bench.simulator, optimise: selects, knobs, netlist: selects, ..Options::default() }
    }

    /// Runs the SM on a kernel or a program.
    fn machine(&self, job: &LockstepJob, rtl: &RtlSources) -> Result<Option<Caught>, JobError> {
        let Bench { project, tools, stop, .. } = *self.bench;
        let options = Options { optimise: rtl.select.is_some(), ..self.options(rtl) };
        caught_in_machine(run_job(project, tools, job, rtl, &options, stop)?)
    }

    fn lockstep(
        &self,
        block: &str,
        config: &Config,
        cycles: u64,
        rtl: &RtlSources,
    ) -> Result<Option<Caught>, JobError> {
        let options = self.options(rtl);
        let request = request(self.bench.project, block, config, rtl, options)?;
        // If a mutant does not build, the tools detect it and not the lockstep: then its list has to be corrected.
        let library = selected(self.bench.tools.build(&request)?, rtl);
        // A netlist may lack registers, which are then left out; a source has all of them.
        if rtl.select.is_some() && rtl.extra.is_empty() && !library.absent().is_empty() {
            let absent = library.absent_names().join(", ");
            return Err(JobError::Build(format!("the source of {block} with mutants lacks {absent}")));
        }
        let Ok(instance) = library.instance(self.bench.seed) else {
            let first = "it failed while it was constructed".to_owned();
            return Ok(Some(Caught { lockstep: block.into(), cycle: 0, blamed: block.into(), assertion: true, first }));
        };
        let twin = gpurf_sm::find(block).map(|b| (b.twin)(config)).expect("found by request");
        let mut sides = Lockstep::new(twin, instance);
        let mut stimulus = gpurf_stimulus::random(block, config, self.bench.seed);
        let plan = RunPlan { seed: self.bench.seed, cycles, memory_every: 4096, idle: None, threads: 1 };
        let outcome = sides.run(&mut *stimulus, &plan, &mut |_, _| {}, self.bench.stop);
        caught(block, &outcome, sides.comparator.declaration())
    }

    /// Yosys' result for a mutant and the original, and the sizes: equivalent, or another word of `prove_equivalent.py`.
    fn proof(&self, mutant: &Mutant) -> Result<Option<(String, String)>, JobError> {
        let (project, module) = (self.bench.project, mutant.module.as_str());
        match &mutant.change {
            Change::Text { .. } => Ok(None),
            Change::Netlist { folder, select } => {
                let mut command = python(project, "prove_equivalent.py")?;
                let limit = PROOF_LIMIT_S.to_string();
                command.arg(folder).args(["--select", &select.to_string(), "--limit", &limit]);
                let said = verdict_of(&run(command, "prove_equivalent.py")?, *select, "prove_equivalent.py")?;
                Ok(Some((said, String::new())))
            }
            Change::Source { folder, select, shapes } => {
                if !netlist::is_possible(module) {
                    return Ok(None);
                }
                // Tries each small size in which it exists; the large sizes take too long.
                let mut tried: Vec<Parameters> = Vec::new();
                let mut answer = None;
                for config in policies(module).into_iter().chain(places::of_suite(module, 0).map(|job| job.config)) {
                    let shape = parameters(module, &config);
                    let is_large = tried.len() >= policies(module).len();
                    if !shapes.contains(&shape) || tried.contains(&shape) || is_large {
                        continue;
                    }
                    let said = mistakes::proof(project, module, folder, *select, &config, PROOF_LIMIT_S)?;
                    let proven = said == "equivalent";
                    tried.push(shape);
                    answer = Some((said, at(&tried)));
                    if !proven {
                        break;
                    }
                }
                Ok(answer)
            }
        }
    }
}

/// Keeps one run of the SM for each build: the others would give the same information.
fn one_of_each_build(runs: &mut Vec<Run>) {
    let mut seen = Vec::new();
    runs.retain(|run| match run {
        Run::Machine(job) => {
            let build = parameters(&job.block, &job.config);
            let is_new = !seen.contains(&build);
            seen.push(build);
            is_new
        }
        Run::Block(..) => true,
    });
}

/// Sizes as text.
fn at(shapes: &[Parameters]) -> String {
    let one =
        |shape: &Parameters| shape.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",");
    let all: Vec<String> = shapes.iter().map(one).filter(|text| !text.is_empty()).collect();
    if all.is_empty() { String::new() } else { format!(" at {}", all.join(" and ")) }
}

/// Whether a report that names `blamed` names the broken module. A RAM cell has no boundary of its own inside a block, so its block
/// counts as the broken module. A net between blocks is sampled once, so a block that reads the net
/// stands for the module that connects it.
fn located(mutant: &Mutant, blamed: &str) -> bool {
    let module = mutant.module.as_str();
    let holds = |block: &str| gpurf_sm::find(block).is_some_and(|block| block.contains(module));
    blamed == module
        || mutant.readers.iter().any(|reader| reader == blamed)
        || module.starts_with("ram_") && blamed != "sm" && blamed != "mrf" && holds(blamed)
}

fn interrupted() -> JobError {
    JobError::Build("interrupted".to_owned())
}

/// The file and line of a failed assertion: `[0] %Error: mrf_bank.sv:62: Assertion failed in TOP.mrf...`.
fn place_of(message: &str) -> Option<(&Path, &str)> {
    message.lines().find_map(|text| {
        let place = |(colon, _)| {
            let (before, behind) = (&text[..colon], &text[colon + 1..]);
            let (line, _) = behind.split_once(':')?;
            let is_line = !line.is_empty() && line.bytes().all(|digit| digit.is_ascii_digit());
            is_line.then(|| (Path::new(before.rsplit(": ").next().unwrap_or(before)), line))
        };
        text.match_indices(':').find_map(place)
    })
}

/// The line of a failed assertion.
pub(crate) fn line_of(message: &str) -> &str {
    place_of(message).map_or("", |(_, line)| line)
}

/// The module whose assertion failed: the one that the file replaces, otherwise the one after which the file is named.
pub(crate) fn module_of(message: &str, overrides: &[(String, PathBuf)]) -> String {
    let Some((file, _)) = place_of(message) else { return String::new() };
    let replaced = overrides.iter().find(|(_, own)| own.file_name() == file.file_name()).map(|(module, _)| module);
    replaced.cloned().unwrap_or_else(|| file.file_stem().unwrap_or_default().to_string_lossy().into_owned())
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}

fn caught_in_machine(result: JobResult) -> Result<Option<Caught>, JobError> {
    let (blamed, first) = match &result.divergence {
        Some(divergence) => (divergence.block.clone(), divergence.port.clone()),
        None => (module_of(&result.report, &[]), first_line(&result.report)),
    };
    let assertion = result.result == Verdict::Assertion;
    match result.result {
        Verdict::Pass => Ok(None),
        Verdict::Interrupted => Err(interrupted()),
        // The model panicked: this gives no information about the mutant.
        Verdict::ProbesAbsent | Verdict::Error => Err(JobError::Build(result.report)),
        _ => {
            let cycle = result.failing_cycle.unwrap_or(result.cycles);
            Ok(Some(Caught { lockstep: result.job.block, cycle, blamed, assertion, first }))
        }
    }
}

fn caught(block: &str, outcome: &RunOutcome, declaration: &Declaration) -> Result<Option<Caught>, JobError> {
    let lockstep = block.to_owned();
    match &outcome.cause {
        None => Ok(None),
        Some(Cause::Diverged(d)) => {
            let memory = || d.memories.first().map(|memory| memory.path.clone()).unwrap_or_default();
            let first = d.differences.first().map_or_else(memory, |first| report::name(declaration, first));
            Ok(Some(Caught { lockstep, cycle: d.cycle, blamed: d.blame.block.clone(), assertion: false, first }))
        }
        Some(Cause::Assertion { cycle, failure }) => {
            let blamed = module_of(&failure.message, &[]);
            let first = first_line(&failure.message);
            Ok(Some(Caught { lockstep, cycle: *cycle, blamed, assertion: true, first }))
        }
        Some(Cause::Panicked { cycle, message }) => {
            Err(JobError::Build(format!("the model panicked in cycle {cycle}: {message}")))
        }
        Some(Cause::Hung { cycle, .. }) => Err(JobError::Build(format!("no progress on either side in cycle {cycle}"))),
        Some(Cause::Interrupted) => Err(interrupted()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inputs;

    fn machine(job: LockstepJob) -> Run {
        Run::Machine(Box::new(job))
    }

    #[test]
    fn each_build_of_the_sm_is_run_once_without_a_mutant() {
        let project = Project::find();
        let mut runs: Vec<Run> = places::whole_machine(&project, 1).into_iter().map(machine).collect();
        let builds = |runs: &[Run]| -> Vec<Parameters> {
            let of = |run: &Run| match run {
                Run::Machine(job) => parameters(&job.block, &job.config),
                Run::Block(..) => panic!("a run of the SM"),
            };
            runs.iter().map(of).collect()
        };
        let mut expected = builds(&runs);
        one_of_each_build(&mut runs);
        let left = builds(&runs);
        expected.sort();
        expected.dedup();
        assert!(expected.len() > 2 && left.len() == expected.len(), "{left:?}");
        assert!(expected.iter().all(|build| left.contains(build)));
    }

    #[test]
    fn a_panic_of_the_model_catches_no_mutant() {
        let of = |result| {
            caught_in_machine(JobResult {
                job: LockstepJob::new("sm", Config::default(), 1, 9, Inputs::Random),
                result,
                cycles: 5,
                signals_compared: 0,
                probes_absent: Vec::new(),
                build_s: 0.0,
                wall_s: 0.0,
                events: Default::default(),
                coverage: Vec::new(),
                toggles: None,
                comparisons: None,
                divergence: None,
                failing_cycle: Some(7),
                report: "the model panicked in cycle 7".to_owned(),
                failure_folder: None,
            })
        };
        assert!(matches!(of(Verdict::Error), Err(JobError::Build(report)) if report.contains("panicked")));
        assert!(of(Verdict::Pass).unwrap().is_none());
        assert_eq!(of(Verdict::CheckFailed).unwrap().unwrap().cycle, 7);
    }
}
