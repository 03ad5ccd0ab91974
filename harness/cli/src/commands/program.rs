//! Random programs: `gpurf program`, and the combined coverage of many programs in `gpurf cosim`.

use std::collections::BTreeMap;
use std::ops::Range;

use gpurf_blocks::config::Config;
use gpurf_regress::programs::{Missed, Reached};
use gpurf_regress::{Inputs, JobResult, LockstepJob};
use gpurf_stimulus::program::{Limits, Program};
use serde::{Serialize, Serializer};

use super::source;
use crate::args::WriteProgram;
use crate::failure::{Failure, Status};
use crate::files::{InputFiles, check_outputs};
use crate::output::{self, BAD, grouped};
use crate::plan;

/// Writes a program.
pub fn write(arguments: &WriteProgram) -> Result<Status, Failure> {
    let config = plan::load(&arguments.selection)?;
    let weights = plan::load_weights(&arguments.weights)?;
    if let Some(file) = &arguments.output {
        let inputs = InputFiles::default()
            .with_selection(&arguments.selection)
            .with_named("the file of weights", Some(&arguments.weights));
        check_outputs(&[("--output", file)], &inputs)?;
    }
    let program = Program::random(arguments.seed, &weights, &Limits::of(&config))
        .map_err(|e| Failure::bad_input(format!("{}: {e}", arguments.weights)))?;
    let text = program.manifest(None);
    match &arguments.output {
        Some(file) => source::write(file, text.as_bytes())?,
        None => output::print(&text)?,
    }
    Ok(Status::Pass)
}

/// Whether a job is a random program.
pub fn is_program(job: &LockstepJob) -> bool {
    matches!(job.inputs, Inputs::Program(_))
}

/// The combined coverage of the programs and kernels of a configuration.
#[derive(Debug, Serialize)]
pub struct Coverage {
    /// Number of programs.
    pub programs: usize,
    /// Number of kernels.
    pub kernels: usize,
    /// How often each point was reached.
    pub coverage: BTreeMap<&'static str, u64>,
    /// Points that the configuration cannot reach, and why.
    pub unreached: BTreeMap<&'static str, &'static str>,
    /// Points that were reached too rarely, or that were reached although they should be unreachable.
    #[serde(serialize_with = "points_of")]
    pub missed: Vec<Missed>,
    /// Number of points that were reached, and of those that can be.
    #[serde(skip)]
    numbers: (usize, usize),
}

fn points_of<S: Serializer>(missed: &[Missed], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(missed.iter().map(|missed| missed.point()))
}

/// Sequences of consecutive programs with the same configuration.
fn runs(jobs: &[LockstepJob]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, job) in jobs.iter().enumerate().filter(|(_, job)| is_program(job)) {
        match runs.last_mut() {
            Some(run) if run.end == index && jobs[run.start].config == job.config => run.end = index + 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}

/// Whether a job is a kernel on the SM.
fn is_kernel(job: &LockstepJob) -> bool {
    matches!(job.inputs, Inputs::Kernel(_))
}

/// The coverage of each sequence of programs, together with the kernels of its configuration, and of the kernels of each other configuration.
/// `result_of` returns the result of a job, if it ran.
pub fn coverages<'a>(jobs: &[LockstepJob], result_of: impl Fn(usize) -> Option<&'a JobResult>) -> Vec<Coverage> {
    let kernels_of = |config: Config| {
        let there = jobs.iter().enumerate().filter(move |(_, job)| is_kernel(job) && job.config == config);
        there.map(|(index, _)| index).collect::<Vec<_>>()
    };
    let total = |config: Config, run: Range<usize>| {
        let results: Vec<&JobResult> = run.clone().filter_map(&result_of).collect();
        let kernels: Vec<&JobResult> = kernels_of(config).into_iter().filter_map(&result_of).collect();
        // User-defined weights, and programs that were interrupted, need not reach every point.
        let whole = results.len() == run.len()
            && jobs[run.clone()].iter().all(|job| match &job.inputs {
                Inputs::Program(program) => program.all_themes,
                _ => false,
            });
        let counted = results.iter().chain(&kernels).flat_map(|result| &result.coverage).copied();
        let reached = Reached::new(&config, results.len(), whole, counted);
        Coverage {
            programs: results.len(),
            kernels: kernels.len(),
            numbers: reached.numbers(),
            coverage: reached.counts,
            unreached: reached.unreached,
            missed: reached.missed,
        }
    };
    let runs = runs(jobs);
    let mut alone: Vec<Config> = Vec::new();
    for job in jobs.iter().filter(|job| is_kernel(job)) {
        if !alone.contains(&job.config) && !runs.iter().any(|run| jobs[run.start].config == job.config) {
            alone.push(job.config);
        }
    }
    let with_programs = runs.into_iter().map(|run| total(jobs[run.start].config, run));
    let all = with_programs.chain(alone.into_iter().map(|config| total(config, 0..0)));
    all.filter(|coverage| coverage.programs + coverage.kernels > 1 || !coverage.missed.is_empty()).collect()
}

/// The coverage of programs in words; `None` for kernels alone without missed points.
pub fn words(coverage: &Coverage) -> Option<String> {
    if coverage.programs < 2 && coverage.missed.is_empty() {
        return None;
    }
    let counted = coverage.coverage.iter().map(|(point, count)| (*count, *point));
    let mut counts: Vec<(u64, &str)> = counted.filter(|(count, _)| *count > 0).collect();
    counts.sort_unstable();
    let rarest: Vec<String> =
        counts.iter().take(3).map(|(count, point)| format!("{point} ({})", grouped(*count))).collect();
    let (reached, all) = coverage.numbers;
    let kernels = if coverage.kernels == 0 { String::new() } else { format!(" and {} kernels", coverage.kernels) };
    let mut text = format!(
        "{} programs{kernels} reached {reached} of {all} situations; of these the rarest: {}\n",
        coverage.programs,
        rarest.join(", ")
    );
    if !coverage.missed.is_empty() {
        let missed: Vec<String> = coverage.missed.iter().map(ToString::to_string).collect();
        text.push_str(&format!("{BAD}too rarely:{BAD:#} {}\n", missed.join(", ")));
    }
    Some(text)
}
