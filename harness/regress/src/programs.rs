//! Runs random programs on the whole SM, in lockstep.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gpurf_blocks::config::Config;
use gpurf_launch::{Manifest, Replay, Source};
use gpurf_lockstep::{HISTORY, Verdict, quoted, write_report};
use gpurf_machine::coverage::{Point, points};
use gpurf_machine::{LaunchError, LockstepEngine, Machine, ModelEngine};
use gpurf_oracle::host::{RunError, Session, assembled};
use gpurf_stimulus::program::{Limits, Program, ProgramError, Shrunk, shrink, themes, wanted};
use verilated::{Library, Options, Toolchain};

use crate::job::{overrides, replay_options};
use crate::kernels::{Built, build, cannot_write, engine, failed, input, result_of, settings};
use crate::{JobError, JobResult, LockstepJob, ProgramInputs, Project, REQUIRED_HITS, RtlSources};

/// A run of at least this many programs, six of each theme that concerns the configuration, must reach every coverage point [`REQUIRED_HITS`] times.
pub fn coverage_from_programs(config: &Config) -> usize {
    6 * themes::of(config).count()
}

/// How often all programs together must reach every situation of the SM. Many situations are rare: most programs fill no queue.
pub const REQUIRED_ON_SM: u64 = 20;
/// Time limit of shrinking.
const SHRINK_LIMIT: Duration = Duration::from_secs(60);
/// Lines of a short program that a report shows.
const SHOWN_LINES: usize = 60;
/// File name of a failing program.
const FILE: &str = "program.toml";

/// Points that programs and kernels have reached together in a configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reached {
    /// How often each point of the configuration was reached: points of programs, counted on the oracle, and points of the SM.
    pub counts: BTreeMap<&'static str, u64>,
    /// Points that the configuration cannot reach, and why.
    pub unreached: BTreeMap<&'static str, &'static str>,
    /// Points that are missing, and points that were reached against expectation.
    pub missed: Vec<Missed>,
}

/// What is wrong with a coverage point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missed {
    /// It was reached too rarely.
    Rare(&'static str, u64),
    /// It was reached, although it is listed as unreachable.
    Reached(&'static str, u64),
}

impl Missed {
    /// The point.
    pub fn point(self) -> &'static str {
        match self {
            Self::Rare(point, _) | Self::Reached(point, _) => point,
        }
    }
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rare(point, count) => write!(f, "{point} ({count})"),
            Self::Reached(point, count) => {
                write!(f, "{point} ({count}, although it is listed as one that this configuration cannot reach)")
            }
        }
    }
}

impl Reached {
    /// Adds up the counts of programs and kernels. From [`coverage_from_programs`] programs on they have to reach everything, if `whole` holds:
    /// if all programs of a run through all themes are there.
    pub fn new<'a>(
        config: &Config,
        programs: usize,
        whole: bool,
        counted: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> Self {
        let machine = points(config);
        let names = machine.iter().map(|point| point.name);
        let executed = if programs > 0 { wanted(&Limits::of(config)) } else { Vec::new() };
        let mut counts: BTreeMap<&'static str, u64> =
            executed.iter().copied().chain(names).map(|name| (name, 0)).collect();
        for (point, count) in counted {
            // A machine that lacks a unit has no points of it.
            if let Some(sum) = counts.get_mut(point) {
                *sum += count;
            }
        }
        let reason = |point: Point| Some((point.name, point.unreached?));
        let unreached: BTreeMap<_, _> = machine.into_iter().filter_map(reason).collect();
        let judged = whole && programs >= coverage_from_programs(config);
        let wrong = |(&point, &count): (&&'static str, &u64)| match unreached.contains_key(point) {
            true => (count > 0).then_some(Missed::Reached(point, count)),
            false => {
                let required = if executed.contains(&point) { REQUIRED_HITS } else { REQUIRED_ON_SM };
                (judged && count < required).then_some(Missed::Rare(point, count))
            }
        };
        let missed = counts.iter().filter_map(wrong).collect();
        Self { counts, unreached, missed }
    }

    /// Number of points that were reached, and number of all points; unreachable ones are not counted.
    pub fn numbers(&self) -> (usize, usize) {
        let expected = || self.counts.iter().filter(|(point, _)| !self.unreached.contains_key(**point));
        (expected().filter(|(_, count)| **count > 0).count(), expected().count())
    }
}

/// Runs the program of a job in lockstep; a failing program is shrunk.
pub(crate) fn run(
    project: &Project,
    tools: &Toolchain,
    job: &LockstepJob,
    inputs: &ProgramInputs,
    rtl: &RtlSources,
    options: &Options,
    stop: &'static AtomicBool,
) -> Result<JobResult, JobError> {
    let asked = job;
    let job = &LockstepJob { config: inputs.weights.surrounded(&job.config), ..job.clone() };
    let limits = Limits::of(&job.config);
    let program = Program::random(job.seed, &inputs.weights, &limits).map_err(|e| refused(inputs, &e))?;
    let coverage = program.measure(limits.banks).map_err(|e| refused(inputs, &e))?;
    let (library, build_s) = match build(project, tools, job, rtl, options)? {
        Built::Whole(library, build_s) => (library, build_s),
        Built::Lacking(result) => return Ok(*result),
    };
    let runner = Runner { job, library: &library, rtl, stop };
    let started = Instant::now();
    let (mut result, engine) = runner.attempt(&program)?;
    result.build_s = build_s;
    result.wall_s = started.elapsed().as_secs_f64();
    result.coverage.extend(coverage.counts());
    if job.keep_failure && result.result != Verdict::Pass {
        runner.keep(project, &mut result, &program, engine)?;
    }
    result.job = asked.clone();
    Ok(result)
}

fn refused(inputs: &ProgramInputs, error: &ProgramError) -> JobError {
    JobError::Input(format!("{}: {error}", inputs.name))
}

/// Runs a program on an engine; returns errors of the engine.
pub(crate) fn execute<M: Machine>(
    program: &Program,
    engine: &mut M,
) -> Result<Result<(), RunError<LaunchError>>, JobError> {
    let manifest = Manifest::parse(Path::new(FILE), &program.manifest(None)).map_err(|e| input(&e))?;
    let Source::Assembly(assembly) = &manifest.source else { return Err(input(&"a program has instructions")) };
    let image = assembled(&manifest, assembly).map_err(|e| input(&e))?;
    let mut session = Session::new(&manifest, &image).map_err(|e| input(&e))?;
    Ok(session.run(engine).map(drop))
}

struct Runner<'a> {
    job: &'a LockstepJob,
    library: &'a Library,
    rtl: &'a RtlSources,
    stop: &'static AtomicBool,
}

impl Runner<'_> {
    /// Runs a program from reset on both sides.
    fn attempt(&self, program: &Program) -> Result<(JobResult, LockstepEngine), JobError> {
        let mut engine = engine(self.job, self.library, self.stop)?;
        let result = self.attempt_on(program, &mut engine)?;
        Ok((result, engine))
    }

    /// Runs a program on the model alone, with the oracle's verdict: much faster, if both sides are known to agree.
    fn attempt_on_model(&self, program: &Program) -> Result<JobResult, JobError> {
        self.attempt_on(program, &mut ModelEngine::judged(settings(self.job, self.stop)))
    }

    fn attempt_on<M: Machine>(&self, program: &Program, engine: &mut M) -> Result<JobResult, JobError> {
        let ran = execute(program, engine)?;
        let mut result = result_of(self.job, engine, 0.0, 0.0);
        match ran {
            Ok(_) => {
                let undecided = engine.statistics().judged.map_or(0, |judged| judged.undecided);
                if undecided > 0 {
                    result.result = Verdict::OracleMismatch;
                    result.report = "the oracle has no verdict: blocks see each other's stores\n".into();
                }
            }
            Err(error @ (RunError::Passes { .. } | RunError::Fault { .. })) => return Err(input(&error)),
            Err(RunError::Engine(error)) => failed(&mut result, &error, Path::new(FILE))?,
        }
        Ok(result)
    }

    /// Shrinks a failing program and writes its folder. The result becomes that of the short program, except for measured values.
    fn keep(
        &self,
        project: &Project,
        result: &mut JobResult,
        program: &Program,
        engine: LockstepEngine,
    ) -> Result<(), JobError> {
        let mut engine = engine;
        let mut notes = Vec::new();
        let mut shortest = program.clone();
        if result.result != Verdict::Interrupted
            && let Some(shrunk) = self.shrink(result, program)?
        {
            notes.push(summary(&shrunk));
            let (short, its_engine) = self.attempt(&shrunk.program)?;
            (result.report, result.divergence) = (short.report, short.divergence);
            (result.failing_cycle, shortest, engine) = (short.failing_cycle, shrunk.program, its_engine);
        }
        let job = self.job;
        let replay = Replay { seed: job.seed, settings: job.config.settings(), rtl: overrides(self.rtl) };
        let text = shortest.manifest(Some(&replay));
        let options = replay_options(&self.rtl.options);
        notes.push(format!("  {:<9} gpurf cosim --replay {{}}/{FILE}{options}", "reproduce"));
        let listing = listing(&text);
        let reproducer = (FILE, text.as_str());
        let wave = format!("  {:<9} gpurf wave {{}}", "waveform");
        let all: Vec<String> = notes.iter().cloned().chain([wave, listing.clone()]).collect();
        let written = engine.write_failure(&project.failures, &all, Some(reproducer));
        let folder = written.and_then(|folder| match folder {
            Some(folder) => Ok(folder),
            None => {
                let report = format!("{}{}\n{listing}\n", result.report, notes.join("\n"));
                write_report(&project.failures, &job.block, &report, reproducer)
            }
        });
        let report = result.report.trim_end();
        match folder {
            Ok(folder) => {
                let place = quoted(&folder.display().to_string());
                let notes: Vec<String> = notes.iter().map(|note| note.replace("{}", &place)).collect();
                result.report = format!("{report}\n{}\n{listing}\n", notes.join("\n"));
                result.failure_folder = Some(folder);
            }
            Err(error) => result.report = format!("{report}\n{listing}\n{}", cannot_write(project, &error)),
        }
        Ok(())
    }

    /// A shorter program that fails in the same way; `None` if the failure does not occur again.
    fn shrink(&self, result: &JobResult, program: &Program) -> Result<Option<Shrunk>, JobError> {
        let wanted = signature(result);
        // Only the last run keeps its history.
        let brief = Runner { job: &LockstepJob { history: HISTORY, ..self.job.clone() }, ..*self };
        let both_agree = matches!(result.result, Verdict::OracleMismatch | Verdict::Hang);
        let mut broken = None;
        let mut fails = |candidate: &Program| {
            if broken.is_some() || self.stop.load(Ordering::Relaxed) {
                return false;
            }
            let again = match both_agree {
                true => brief.attempt_on_model(candidate),
                false => brief.attempt(candidate).map(|(again, _)| again),
            };
            match again {
                Ok(again) => signature(&again) == wanted,
                Err(error) => {
                    broken = Some(error);
                    false
                }
            }
        };
        if !fails(program) {
            return broken.map_or(Ok(None), Err);
        }
        let shrunk = shrink(program, SHRINK_LIMIT, &mut fails);
        broken.map_or(Ok(Some(shrunk)), Err)
    }
}

/// What two failures have in common if they count as the same: the kind, and the block, or the text without numbers.
fn signature(result: &JobResult) -> (Verdict, String) {
    let what = match &result.divergence {
        Some(divergence) => divergence.block.clone(),
        None => {
            let first = result.report.lines().next().unwrap_or_default();
            first.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default().to_owned()
        }
    };
    (result.result, what)
}

fn summary(shrunk: &Shrunk) -> String {
    let program = &shrunk.program;
    let minimal = if shrunk.minimal { "nothing can be left out" } else { "not yet the shortest: time ran out" };
    let (instructions, blocks, threads) = (program.lower().code.len(), program.blocks(), program.threads());
    let plural = |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    format!(
        "  {:<9} {instructions} instructions, {}, {} ({minimal}):",
        "program",
        plural(blocks, "block"),
        plural(threads, "thread")
    )
}

/// The first instructions of a manifest.
fn listing(manifest: &str) -> String {
    let code = manifest.lines().skip_while(|line| !line.starts_with("code = ")).skip(1);
    let code: Vec<&str> = code.take_while(|line| *line != "'''").collect();
    let mut text = code.iter().take(SHOWN_LINES).map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n");
    if code.len() > SHOWN_LINES {
        text.push_str(&format!("\n    ... {} more lines", code.len() - SHOWN_LINES));
    }
    text
}
