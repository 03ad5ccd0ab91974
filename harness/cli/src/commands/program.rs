//! Random programs: `gpurf program`, and what `gpurf cosim` says of many of them together.

use std::collections::BTreeMap;
use std::ops::Range;

use gpurf_blocks::config::Config;
use gpurf_regress::programs::missed;
use gpurf_regress::{Inputs, Job, JobResult};
use gpurf_stimulus::program::{Limits, Program, wanted};
use serde::Serialize;

use super::source;
use crate::args::WriteProgram;
use crate::failure::{Failure, Status};
use crate::output::{self, BAD, grouped};
use crate::plan;

/// Writes a program.
pub fn write(arguments: &WriteProgram) -> Result<Status, Failure> {
    let config = plan::load(&arguments.selection)?;
    let weights = plan::load_weights(&arguments.weights)?;
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
pub fn is_program(job: &Job) -> bool {
    matches!(job.inputs, Inputs::Program(_))
}

/// What the programs of a configuration have reached together.
#[derive(Debug, Serialize)]
pub struct Coverage {
    /// Programs.
    pub programs: usize,
    /// How often each point was reached.
    pub coverage: BTreeMap<&'static str, u64>,
    /// Points that were reached too rarely.
    pub missed: Vec<&'static str>,
    /// Where the programs stand in the list of jobs.
    #[serde(skip)]
    pub jobs: Range<usize>,
}

/// Runs of programs of one configuration, one behind the other.
fn runs(jobs: &[Job]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, job) in jobs.iter().enumerate().filter(|(_, job)| is_program(job)) {
        match runs.last_mut() {
            Some(run) if run.end == index && jobs[run.start].config == job.config => run.end = index + 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}

/// The coverage of each run of programs; `result_of` gives what came of a job, if it ran.
pub fn coverages<'a>(jobs: &[Job], result_of: impl Fn(usize) -> Option<&'a JobResult>) -> Vec<Coverage> {
    let total = |run: Range<usize>| {
        let results: Vec<&JobResult> = run.clone().filter_map(&result_of).collect();
        let mut coverage: BTreeMap<&'static str, u64> = BTreeMap::new();
        let config: &Config = &jobs[run.start].config;
        let wanted = wanted(&Limits::of(config));
        let counts = results.iter().flat_map(|result| &result.coverage);
        for (point, count) in counts.filter(|(point, _)| wanted.contains(point)) {
            *coverage.entry(point).or_default() += count;
        }
        let counts: Vec<(&'static str, u64)> = coverage.iter().map(|(point, count)| (*point, *count)).collect();
        // Weights of one's own need not reach everything; nor do programs that were cut short.
        let whole = results.len() == run.len()
            && jobs[run.clone()].iter().all(|job| match &job.inputs {
                Inputs::Program(program) => program.all_themes,
                _ => false,
            });
        let missed = if whole { missed(config, results.len(), &counts) } else { Vec::new() };
        let missed = missed.into_iter().map(|(point, _)| point).collect();
        Coverage { programs: results.len(), coverage, missed, jobs: run }
    };
    runs(jobs).into_iter().map(total).filter(|coverage| coverage.programs > 1).collect()
}

/// The coverage of programs in words.
pub fn words(coverage: &Coverage) -> String {
    let mut counts: Vec<(u64, &str)> = coverage.coverage.iter().map(|(point, count)| (*count, *point)).collect();
    counts.sort_unstable();
    let reached = counts.iter().filter(|(count, _)| *count > 0).count();
    let rarest = counts.iter().filter(|(count, _)| *count > 0).take(3);
    let rarest: Vec<String> = rarest.map(|(count, point)| format!("{point} ({})", grouped(*count))).collect();
    let mut text = format!(
        "{} programs reached {reached} of {} situations; of these the rarest: {}\n",
        coverage.programs,
        counts.len(),
        rarest.join(", ")
    );
    if !coverage.missed.is_empty() {
        let count = |point: &str| coverage.coverage.get(point).copied().unwrap_or_default();
        let missed: Vec<String> = coverage.missed.iter().map(|p| format!("{p} ({})", grouped(count(p)))).collect();
        text.push_str(&format!("{BAD}too rarely:{BAD:#} {}\n", missed.join(", ")));
    }
    text
}
