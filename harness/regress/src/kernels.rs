//! Runs one kernel on the whole SM, in lockstep.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use gpurf_blocks::config::Config;
use gpurf_isa::Image;
use gpurf_launch::{Manifest, Source};
use gpurf_lockstep::Verdict;
use gpurf_machine::{EngineError, LaunchError, LockstepEngine, Machine, Settings};
use gpurf_oracle::host::{RunError, Session, assembled};
use verilated::{Library, Options, Toolchain};

use crate::job::{check_overrides, not_allowed, selected};
use crate::{JobError, JobResult, KernelInputs, LockstepJob, Project, RtlSources, build_sm, compiled_for, request};

/// Runs the launches of a manifest in lockstep, and the manifest's checks.
pub(crate) fn run(
    project: &Project,
    tools: &Toolchain,
    job: &LockstepJob,
    kernel: &KernelInputs,
    rtl: &RtlSources,
    options: &Options,
    stop: &'static AtomicBool,
) -> Result<JobResult, JobError> {
    let manifest = Manifest::load(&kernel.manifest).map_err(|e| input(&e))?;
    let image = image(&manifest, kernel, &job.config)?;
    let mut session = Session::new(&manifest, &image).map_err(|e| input(&e))?;
    let (library, build_s) = match build(project, tools, job, rtl, options)? {
        Built::Whole(library, build_s) => (library, build_s),
        Built::Lacking(result) => return Ok(*result),
    };

    let started = Instant::now();
    let mut engine = engine(job, &library, stop)?;
    let ran = session.run(&mut engine);
    let mut result = result_of(job, &engine, build_s, started.elapsed().as_secs_f64());
    match ran {
        Ok(_) => {
            let rows = session.checks().map_err(|e| input(&e))?;
            let wrong: Vec<String> =
                rows.iter().filter(|row| !row.ok).map(|row| format!("  buffer {} is wrong", row.buffer)).collect();
            if !wrong.is_empty() {
                result.result = Verdict::CheckFailed;
                result.report =
                    format!("{}: the results are not those expected\n{}\n", kernel.name(), wrong.join("\n"));
            }
        }
        Err(RunError::Passes { .. }) => {
            result.result = Verdict::Hang;
            result.report = format!("{}: a launch that repeats itself does not come to its end\n", kernel.name());
        }
        Err(error @ RunError::Fault { .. }) => {
            result.result = Verdict::CheckFailed;
            result.report = format!("{error}\n");
        }
        Err(RunError::Engine(error)) => failed(&mut result, &error, &kernel.manifest)?,
    }
    if job.keep_failure && result.result != Verdict::Pass {
        let notes = [format!("  {:<9} {}", "run", job.command(job.cycles, &rtl.options))];
        match engine.write_failure(&project.failures, &notes, None) {
            Ok(folder) => result.failure_folder = folder,
            Err(error) => result.report.push_str(&cannot_write(project, &error)),
        }
    }
    Ok(result)
}

/// The error for wrong input.
pub(crate) fn input(error: &dyn std::fmt::Display) -> JobError {
    JobError::Input(error.to_string())
}

/// A line for a report whose folder cannot be written. The result of the run remains the failure itself.
pub(crate) fn cannot_write(project: &Project, error: &std::io::Error) -> String {
    let failures = project.failures.display();
    format!(
        "  {:<9} none: cannot write a failure folder in {failures}: {error}; --failures DIR names another place\n",
        "folder"
    )
}

/// The machine code of a manifest for a machine.
pub(crate) fn image(manifest: &Manifest, kernel: &KernelInputs, config: &Config) -> Result<Image, JobError> {
    if let Source::Assembly(assembly) = &manifest.source {
        return assembled(manifest, assembly).map_err(|e| input(&e));
    }
    let name = kernel.ptx.display().to_string();
    let text = match &kernel.text {
        Some(text) => text.clone(),
        None => std::fs::read_to_string(&kernel.ptx).map_err(|e| JobError::Input(format!("{name}: {e}")))?,
    };
    let compiled = compiled_for(&text, &name, config, kernel.registers, manifest).map_err(|e| input(&e))?;
    Ok(compiled.image)
}

/// The build of the SM's RTL.
pub(crate) enum Built {
    /// With all compared signals except those that may be absent; and the build time in seconds.
    Whole(Library, f64),
    /// Without a signal that must exist.
    Lacking(Box<JobResult>),
}

/// Builds the SM.
pub(crate) fn build(
    project: &Project,
    tools: &Toolchain,
    job: &LockstepJob,
    rtl: &RtlSources,
    options: &Options,
) -> Result<Built, JobError> {
    let started = Instant::now();
    let request = request(project, &job.block, &job.config, rtl, options.clone())?;
    job.check_history(&request.declaration)?;
    check_overrides(project, tools, job, rtl)?;
    let library = selected(build_sm(tools, &request, &job.config)?, rtl);
    let build_s = started.elapsed().as_secs_f64();
    let lacking = not_allowed(job, &library, &request.declaration, rtl, build_s);
    Ok(lacking.map_or_else(|| Built::Whole(library, build_s), |result| Built::Lacking(Box::new(result))))
}

/// The engine settings of a job.
pub(crate) fn settings(job: &LockstepJob, stop: &'static AtomicBool) -> Settings {
    let history = job.kept_history();
    Settings { seed: job.seed, stop, threads: job.threads, history, ..Settings::new(job.config) }
}

/// A lockstep engine, just reset.
pub(crate) fn engine(
    job: &LockstepJob,
    library: &Library,
    stop: &'static AtomicBool,
) -> Result<LockstepEngine, JobError> {
    LockstepEngine::new(settings(job, stop), library).map_err(|f| JobError::Build(f.to_string()))
}

/// The result of a run without a failure.
pub(crate) fn result_of<M: Machine>(job: &LockstepJob, engine: &M, build_s: f64, wall_s: f64) -> JobResult {
    let statistics = engine.statistics();
    let (signals_compared, probes_absent) = engine.compared().unwrap_or_default();
    JobResult {
        job: job.clone(),
        result: Verdict::Pass,
        cycles: statistics.cycles,
        signals_compared,
        probes_absent,
        build_s,
        wall_s,
        events: statistics.events,
        coverage: engine.coverage(),
        toggles: None,
        comparisons: None,
        divergence: None,
        failing_cycle: None,
        report: String::new(),
        failure_folder: None,
    }
}

/// Stores the failure of a launch in the result.
pub(crate) fn failed(result: &mut JobResult, error: &LaunchError, manifest: &Path) -> Result<(), JobError> {
    let Some(verdict) = error.verdict() else {
        return Err(JobError::Input(format!("{}: {error}", manifest.display())));
    };
    // Test kernels complete on the oracle: if one does not, this is a failed check, whatever the oracle finds.
    result.result = if matches!(error, LaunchError::Oracle(_)) { Verdict::CheckFailed } else { verdict };
    result.report = format!("{error}\n");
    if let LaunchError::Broken(broken) = error {
        result.failing_cycle = Some(broken.cycle);
        result.divergence = broken.divergence.clone();
    }
    Ok(())
}
