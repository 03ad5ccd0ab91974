//! `gpurf run` on the engines that have cycles: the SM's model, its RTL, both in lockstep.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Instant;

use gpurf_blocks::config::Config;
use gpurf_blocks::{Block, Shape};
use gpurf_isa::image::Image;
use gpurf_launch::Manifest;
use gpurf_lockstep::{HISTORY, Verdict, quoted};
use gpurf_machine::{Job, LaunchError, LockstepEngine, Machine, ModelEngine, RtlEngine, Settings, request, verdict};
use gpurf_oracle::host::{RunError, Session};
use gpurf_regress::regression::Shard;
use gpurf_regress::{Project, build_sm};
use gpurf_sm::Sm;
use verilated::{Library, Options, RtlFailure, absolute};

use super::cycles::Cycles;
use super::statistics::Stats;
use super::trace::TraceFile;
use crate::args::{EngineKind, Execution, RunKernels};
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::{Launches, meter};

/// How the launches of a manifest ended.
pub struct Ran {
    /// Why not all of them completed; `None` if all did.
    pub problem: Option<(Verdict, String)>,
    /// The counts.
    pub stats: Stats,
    /// Additional output of an engine with cycles.
    pub cycles: Option<Cycles>,
    /// Paths of the failure folder and the waveform, if written.
    pub artifacts: Vec<PathBuf>,
    /// Whether the run ended as planned in the middle of the launches, so that there are no final results.
    pub is_part: bool,
}

/// Runs the launches.
pub fn run(
    arguments: &RunKernels,
    config: Config,
    manifest: &Manifest,
    image: &Image,
    session: &mut Session<'_>,
) -> Result<Ran, Failure> {
    // Errors that can be detected before the run are reported before it.
    manifest.verify_checks()?;
    for launch in session.launches() {
        Job::new(&config, &launch).map_err(|refusal| Failure::bad_input(refusal.to_string()))?;
    }
    let project = project(&arguments.execution)?;
    let compare = compared(arguments, &config, manifest, image)?;
    let settings = Settings {
        compare,
        wave: arguments.wave.clone().map(|cycles| (cycles, project.failures.clone())),
        ..settings(&arguments.execution, config)
    };
    let trace = TraceFile::create(&arguments.trace)?;
    let (failures, compare) = (project.failures.clone(), settings.compare.clone());
    let runner = Runner { arguments, config, failures, session, compare, trace };
    let probes = settings.wave.is_some() || runner.trace.is_some();
    with_machine(&arguments.execution, &project, settings, probes, runner)?
}

/// The cycles that the lockstep compares; `None`: all. A part of a run needs the run's length, for which the model is run first.
fn compared(
    arguments: &RunKernels,
    config: &Config,
    manifest: &Manifest,
    image: &Image,
) -> Result<Option<RangeInclusive<u64>>, Failure> {
    let Some(Shard { index, count }) = arguments.part else { return Ok(arguments.compare.clone()) };
    let mut session = Session::new(manifest, image).map_err(|e| Failure::bad_input(e.to_string()))?;
    let mut model = ModelEngine::new(settings(&arguments.execution, *config));
    let shown = Launches::show();
    let ran = session.run(&mut model);
    drop(shown);
    if let Err(error) = ran {
        let why = format!("--part: the run's length is not known, as the model does not come to its end: {error}");
        return Err(Failure::bad_input(why));
    }
    let (cycles, index, count) = (model.statistics().cycles, index as u64, count as u64);
    if cycles < count {
        return Err(Failure::bad_input(format!("--part: the run has {cycles} cycles, which are not {count} parts")));
    }
    let first = |part: u64| (u128::from(cycles) * u128::from(part) / u128::from(count)) as u64;
    Ok(Some(first(index - 1)..=first(index) - 1))
}

/// The project folders for running kernels; RTL is required only if the engine needs it.
pub fn project(execution: &Execution) -> Result<Project, Failure> {
    let needs_rtl = matches!(execution.engine, EngineKind::Rtl | EngineKind::Lockstep);
    let mut project = if needs_rtl { super::project()? } else { Project::find() };
    if let Some(folder) = &execution.failures {
        project.failures = absolute(folder);
    }
    Ok(project)
}

/// Settings of the engine.
pub fn settings(execution: &Execution, config: Config) -> Settings {
    let (seed, idle_limit) = (execution.seed, execution.idle_limit);
    let (threads, history) = (super::threads(execution.threads), execution.history);
    let cycle_limit = execution.cycle_limit;
    let (stop, meter) = (interrupt::flag(), Some(meter()));
    Settings { seed, idle_limit, cycle_limit, stop, meter, threads, history, ..Settings::new(config) }
}

/// Checks that the engine has cycles, builds RTL, or runs model and RTL, if options require it.
pub fn check_engine(execution: &Execution) -> Result<(), Failure> {
    let Execution { engine, optimise, train, threads, seed, idle_limit, cycle_limit, failures, .. } = execution;
    let of_cycles = [
        ("--seed", *seed != Execution::SEED, "has no state that a seed could set"),
        ("--idle-limit", *idle_limit != Execution::IDLE_LIMIT, "has no cycles to count"),
        ("--cycle-limit", cycle_limit.is_some(), "has no cycles to count"),
        ("--failures", failures.is_some(), "writes no failure folders"),
    ];
    if let Some((option, _, lacks)) = of_cycles.iter().find(|(_, given, _)| *given)
        && *engine == EngineKind::Functional
    {
        let why = format!("{option}: the functional engine {lacks}: choose --engine model, rtl or lockstep");
        return Err(Failure::bad_input(why));
    }
    for (option, given) in [("--optimise", *optimise), ("--train", *train)] {
        if given && !matches!(engine, EngineKind::Rtl | EngineKind::Lockstep) {
            let why = format!("{option}: the {} engine builds no RTL: choose --engine rtl or lockstep", engine.name());
            return Err(Failure::bad_input(why));
        }
    }
    if threads.is_some() && *engine != EngineKind::Lockstep {
        let why =
            format!("--threads: the {} engine has no second side to run: choose --engine lockstep", engine.name());
        return Err(Failure::bad_input(why));
    }
    Ok(())
}

/// Checks that the engine is lockstep, for an option that requires it.
pub fn check_lockstep(option: &str, execution: &Execution) -> Result<(), Failure> {
    if execution.engine == EngineKind::Lockstep {
        return Ok(());
    }
    let engine = execution.engine.name();
    let why = format!("{option}: the {engine} engine compares nothing that could differ: choose --engine lockstep");
    Err(Failure::bad_input(why))
}

/// Checks that a requested history applies to a lockstep engine, and that it fits into memory.
pub fn check_history(execution: &Execution, config: &Config) -> Result<(), Failure> {
    if execution.history == HISTORY {
        return Ok(());
    }
    check_lockstep("--history", execution)?;
    let twin = (gpurf_sm::ENTRY.twin)(config);
    gpurf_lockstep::check_history(twin.declaration(), execution.history).map_err(|e| Failure::bad_input(e.to_string()))
}

/// A use of an engine with cycles, whatever its type.
pub trait UseMachine {
    /// The result of the use.
    type Output;

    /// Uses the engine; `build_s` is the time that the build of the RTL took.
    fn use_machine<M: Machine + 'static>(self, machine: M, build_s: Option<f64>) -> Self::Output;
}

/// Makes the requested engine, one of those with cycles, and builds what it needs. With `probes`, the RTL exposes its inner nets.
pub fn with_machine<U: UseMachine>(
    execution: &Execution,
    project: &Project,
    settings: Settings,
    probes: bool,
    user: U,
) -> Result<U::Output, Failure> {
    let config = settings.config;
    let compiled = Options { optimise: execution.optimise, profile: execution.train, ..Options::default() };
    let broken = |error: RtlFailure| Failure::tool(error.to_string());
    match execution.engine {
        // The functional engine is never requested here.
        EngineKind::Functional | EngineKind::Model => Ok(user.use_machine(ModelEngine::new(settings), None)),
        EngineKind::Rtl => {
            let (library, build_s) = build(project, &config, Options { probes, ..compiled })?;
            let engine = RtlEngine::new(settings, &library).map_err(broken)?;
            Ok(user.use_machine(engine, Some(build_s)))
        }
        EngineKind::Lockstep => {
            let state = settings.compare.is_some();
            let (library, build_s) = build(project, &config, Options { state, ..compiled })?;
            if let Some(probe) = library.absent_names().first() {
                return Err(Failure::tool(format!(
                    "{}: the RTL of the SM lacks {probe}, which its model has, so it cannot be compared",
                    project.rtl().display()
                )));
            }
            let engine = LockstepEngine::new(settings, &library).map_err(broken)?;
            Ok(user.use_machine(engine, Some(build_s)))
        }
    }
}

/// Builds the SM's RTL; returns the library and the seconds that the build took.
fn build(project: &Project, config: &Config, options: Options) -> Result<(Library, f64), Failure> {
    let start = Instant::now();
    let tools = super::toolchain(project)?;
    let spinner = crate::progress::spinner(match options.profile {
        false => "building the RTL of the SM: half a minute, once for each size",
        true => "building and training the RTL of the SM: a minute, once for each size",
    });
    let library = build_sm(&tools, &request(&project.rtl(), config, options), config);
    spinner.finish_and_clear();
    Ok((library?, start.elapsed().as_secs_f64()))
}

/// Runs a session on an engine.
struct Runner<'a, 's> {
    arguments: &'a RunKernels,
    config: Config,
    failures: PathBuf,
    session: &'a mut Session<'s>,
    /// The cycles that are compared, if not all.
    compare: Option<RangeInclusive<u64>>,
    trace: Option<TraceFile>,
}

impl UseMachine for Runner<'_, '_> {
    type Output = Result<Ran, Failure>;

    fn use_machine<M: Machine + 'static>(mut self, mut engine: M, build_s: Option<f64>) -> Self::Output {
        let trace = self.trace.take();
        if let Some(trace) = &trace {
            let name = self.arguments.execution.engine.name();
            trace.begin(&mut engine, &self.config, &format!("SM ({name})"))?;
        }
        let session = &mut *self.session;
        let shown = Launches::show();
        let error = session.run(&mut engine).err();
        drop(shown);
        let is_part = matches!(error, Some(RunError::Engine(LaunchError::Reached)));
        let error = error.filter(|_| !is_part);
        let mut divergence = None;
        let mut notes = self.notes();
        let problem = match error {
            None => None,
            Some(error) => {
                let verdict = verdict(&error).ok_or_else(|| refused(&error))?;
                match &error {
                    RunError::Engine(LaunchError::Broken(broken)) => divergence = broken.divergence.clone(),
                    RunError::Engine(LaunchError::Hung(hang)) => {
                        notes.extend(hang.waits.iter().map(|w| format!("  {w}")))
                    }
                    _ => {}
                }
                Some((verdict, error.to_string()))
            }
        };
        let cannot_write = |e: std::io::Error| {
            Failure::tool(format!("cannot write a failure folder or a waveform in {}: {e}", self.failures.display()))
        };
        let mut artifacts = Vec::new();
        match engine.write_failure(&self.failures, &notes, None).map_err(cannot_write) {
            Ok(folder) => artifacts.extend(folder),
            // The failure is the result, with or without its folder.
            Err(error) => crate::output::note(&format!("{error}; --failures DIR names another place")),
        }
        let wave = engine.finish_wave().map_err(cannot_write)?;
        let statistics = engine.statistics();
        if let (Some(cycles), None) = (&self.arguments.wave, &wave) {
            let (from, last) = (cycles.start(), statistics.cycles);
            crate::output::note(&format!(
                "--wave: nothing was recorded: the run ended after {last} cycles, before cycle {from}"
            ));
        }
        artifacts.extend(wave);
        if let (Some(cycles), None, 0) = (&self.compare, &problem, statistics.cycles) {
            return Err(Failure::bad_input(format!(
                "--compare: nothing was compared: the run ends before cycle {}; gpurf run --engine model says how long it is",
                cycles.start()
            )));
        }
        if let Some(trace) = trace {
            artifacts.extend(trace.end(&mut engine, statistics.cycles)?);
        }
        let compared = engine.compared();
        let shape = self.config.sm_shape();
        let cycles = Cycles {
            parameters: Sm::PARAMETERS.iter().map(|&name| (name, shape.parameter(name))).collect(),
            straps: crate::plan::straps(Sm::NAME, &self.config),
            seed: self.arguments.execution.seed,
            cycles: statistics.cycles,
            signals_compared: compared.as_ref().map(|(signals, _)| *signals),
            probes_absent: compared.as_ref().map(|(_, absent)| absent.clone()),
            build_s,
            compared_from: self.compare.as_ref().map(|cycles| *cycles.start()),
            events: statistics.events.clone(),
            divergence,
        };
        let stats = Stats::timed(&self.config, &statistics);
        Ok(Ran { problem, stats, cycles: Some(cycles), artifacts, is_part })
    }
}

impl Runner<'_, '_> {
    /// The last lines of a failure's report. `{}` stands for the failure's folder.
    fn notes(&self) -> Vec<String> {
        let arguments = self.arguments;
        let selection = &arguments.execution.selection;
        let mut command = format!(
            "gpurf run {} --engine {}",
            quoted(&absolute(&arguments.manifest).display().to_string()),
            arguments.execution.engine.name()
        );
        if let Some(preset) = &selection.preset {
            command.push_str(&format!(" --preset {}", quoted(preset)));
        }
        if let Some(file) = &selection.config {
            command.push_str(&format!(" --config {}", quoted(&absolute(file).display().to_string())));
        }
        selection.set.iter().for_each(|setting| command.push_str(&format!(" --set {}", quoted(setting))));
        if let Some(registers) = arguments.execution.registers {
            command.push_str(&format!(" --registers {registers}"));
        }
        command
            .push_str(&format!(" --seed {} --idle-limit {}", arguments.execution.seed, arguments.execution.idle_limit));
        if let Some(limit) = arguments.execution.cycle_limit {
            command.push_str(&format!(" --cycle-limit {limit}"));
        }
        if let Some(cycles) = &self.compare {
            command.push_str(&format!(" --compare {}:{}", cycles.start(), cycles.end()));
        }
        vec![format!("  {:<9} {command}", "run"), format!("  {:<9} gpurf wave {{}}", "waveform")]
    }
}

/// The failure of a command whose launches could not be run.
fn refused(error: &RunError<LaunchError>) -> Failure {
    match error {
        RunError::Engine(LaunchError::Program(error)) => no_program(error),
        error => Failure::bad_input(error.to_string()),
    }
}

/// The failure for code that cannot be run.
pub fn no_program(error: &dyn std::fmt::Display) -> Failure {
    Failure::tool(format!("the compiler made code that is no program: this is a defect; please report it: {error}"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn options_of_engines_with_cycles_are_refused_without_one() {
        for option in [["--seed", "7"], ["--idle-limit", "9"], ["--cycle-limit", "9"], ["--failures", "here"]] {
            let checked = |engine: &str| {
                let arguments = ["gpurf", "run", "k.toml", "--engine", engine, option[0], option[1]];
                let Command::Run(run) = Cli::parse_from(arguments).command else { panic!("gpurf run") };
                check_engine(&run.execution)
            };
            let message = checked("functional").unwrap_err().message;
            assert!(message.starts_with(&format!("{}: the functional engine ", option[0])), "{message}");
            assert!(checked("model").is_ok());
        }
    }
}
