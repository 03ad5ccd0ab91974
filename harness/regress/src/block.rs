//! Runs one block in lockstep, with inputs for this block alone.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use gpurf_blocks::Declaration;
use gpurf_lockstep::report;
use gpurf_lockstep::{Cause, Lockstep, RunOutcome, RunPlan, Sequence, Stimulus, Trail, Verdict};
use verilated::{Library, Options, Request, Toolchain};

use crate::comparisons::Gate;
use crate::job::{check_overrides, not_allowed, selected};
use crate::{
    Inputs, JobError, JobResult, LockstepJob, Project, REQUIRED_HITS, RtlSources, ToggleCounts, request, suite,
};

mod keep;

/// A run that may end early checks after every this many cycles whether it can.
const LOOK_EVERY: u64 = 4096;
/// Memories are compared whole after every this many cycles.
const MEMORY_EVERY: u64 = 65_536;
/// Cycles of a run with witnesses in the comparisons; blocks that the suite runs longer than others get a multiple.
const WITNESSED_CYCLES: u64 = 100_000;

/// Builds and runs a block.
pub(crate) fn run(
    project: &Project,
    tools: &Toolchain,
    job: &LockstepJob,
    rtl: &RtlSources,
    options: &Options,
    stop: &AtomicBool,
) -> Result<JobResult, JobError> {
    let started = Instant::now();
    let request = request(project, &job.block, &job.config, rtl, options.clone())?;
    job.check_history(&request.declaration)?;
    check_overrides(project, tools, job, rtl)?;
    let library = selected(tools.build(&request)?, rtl);
    let build_s = started.elapsed().as_secs_f64();
    if let Some(result) = not_allowed(job, &library, &request.declaration, rtl, build_s) {
        return Ok(result);
    }
    let runner = Runner { job, library: &library, declaration: &request.declaration };
    let mut result = runner.run(project, rtl, build_s, stop)?;
    let ended = matches!(result.result, Verdict::Pass | Verdict::CoverageMissed);
    // A run that may end early belongs to a suite that must be fast: comparisons need a separate build.
    if ended && judged(job) && !job.may_end_early && suite::of_comparisons(&job.block) == job.config {
        judge_comparisons(project, tools, &mut result, request, stop)?;
    }
    Ok(result)
}

/// Whether a run is random, and long enough that it has to reach everything.
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
        Ok(Lockstep::new(twin, rtl))
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
        let (seed, threads) = (self.job.seed, self.job.threads);
        RunPlan { seed, cycles, memory_every: MEMORY_EVERY, idle: None, threads }
    }

    fn run(&self, project: &Project, rtl: &RtlSources, build_s: f64, stop: &AtomicBool) -> Result<JobResult, JobError> {
        let mut sides = self.sides()?;
        let mut stimulus = self.stimulus()?;
        let mut coverage = gpurf_stimulus::coverage(&self.job.block, &self.job.config);
        let mut toggles = gpurf_stimulus::toggles(self.declaration, &self.job.config);
        let started = Instant::now();
        let cycles = self.job.cycles;
        let may_end_early = self.job.may_end_early && judged(self.job);
        let mut end = if may_end_early { (cycles / 4).next_multiple_of(LOOK_EVERY).min(cycles) } else { cycles };
        let mut trail = Trail::with_history(&sides, self.job.kept_history());
        let outcome = loop {
            let mut observe = |inputs: &[u8], compared: &[u8]| {
                coverage.observe(inputs, compared);
                toggles.observe(inputs, compared);
            };
            let outcome = sides.run_on(&mut trail, &mut *stimulus, &self.plan(end), &mut observe, stop);
            let ended = outcome.cause.is_some() || outcome.cycles < end || end == cycles;
            if ended || has_reached(&coverage, &toggles) {
                break outcome;
            }
            end = (end + LOOK_EVERY).min(cycles);
        };
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
        result.failing_cycle = cause.cycle();
        if let (Cause::Diverged(divergence), Some(capture)) = (cause, &outcome.capture) {
            result.divergence = Some(report::summary(self.declaration, divergence, capture));
        }
        result.report = report::text(self.declaration, cause, outcome.capture.as_ref());
        if self.job.keep_failure {
            match self.keep(project, rtl, &sides, &outcome, &result.report, stop)? {
                Ok(folder) => {
                    let text = std::fs::read_to_string(folder.join("report.txt"));
                    result.report = text.unwrap_or(result.report);
                    result.failure_folder = Some(folder);
                }
                Err(why) => result.report.push_str(&why),
            }
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
        None if judged(job) && !has_reached(coverage, toggles) => Verdict::CoverageMissed,
        None => Verdict::Pass,
    }
}

/// Whether the run has reached everything that it has to reach.
fn has_reached(coverage: &gpurf_stimulus::Coverage, toggles: &gpurf_stimulus::Toggles) -> bool {
    coverage.least().is_none_or(|(_, count)| count >= REQUIRED_HITS) && toggles.missed().is_empty()
}
