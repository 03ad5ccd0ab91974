//! `gpurf run`: the kernels of a launch manifest.

use std::path::PathBuf;
use std::time::Instant;

use gpurf_launch::{BufferId, CheckRow, Manifest};
use gpurf_oracle::host::{OracleEngine, OracleError, RunError, RunReport, Session};
use gpurf_oracle::{Counts, FaultKind, Options, Oracle};
use serde::Serialize;

use super::source;
use crate::args::{Engine, RunKernels};
use crate::failure::{Failure, Status};
use crate::interrupt;
use crate::output::{self, BAD, Cell, GOOD, grouped, numbers, words};
use crate::plan;
use crate::result::{Verdict, json};

/// What was run, as `--json` shows it.
#[derive(Debug, Serialize)]
struct Outcome<'a> {
    result: Verdict,
    command: &'static str,
    manifest: String,
    engine: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<&'a str>,
    wall_s: f64,
    stats: Stats,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<CheckRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Stats {
    /// Launches, each pass counted.
    launches: u64,
    /// Instructions issued by warps.
    instructions: u64,
    /// Instructions executed by threads.
    thread_instructions: u64,
}

impl Stats {
    fn new(report: RunReport, counts: Counts) -> Self {
        let Counts { instructions, thread_instructions } = counts;
        Self { launches: report.launches, instructions, thread_instructions }
    }
}

/// Runs the manifest's launches and its checks.
pub fn run(arguments: &RunKernels) -> Result<Status, Failure> {
    if arguments.engine != Engine::Functional {
        return Err(Failure::bad_input("this engine is not built yet: --engine functional is the one there is"));
    }
    plan::load(&arguments.selection)?;
    let manifest = Manifest::load(&arguments.manifest).map_err(|e| Failure::bad_input(e.to_string()))?;
    let ptx = source::ptx(&manifest.source)?;
    let compiled = source::compile(&ptx, arguments.registers)?;
    let mut session = Session::new(&manifest, &compiled.image).map_err(|e| Failure::bad_input(e.to_string()))?;
    if let Some(folder) = &arguments.dump {
        // Before the work, not after it.
        source::make_folder(folder)?;
    }
    interrupt::listen()?;
    let start = Instant::now();
    let options = Options { stop: Some(interrupt::flag()), ..Options::default() };
    let mut engine = OracleEngine::new(Oracle::new(options));
    let ran = session.run(&mut engine);
    let mut outcome = Outcome {
        result: Verdict::Pass,
        command: "run",
        manifest: arguments.manifest.display().to_string(),
        engine: "functional",
        preset: arguments.selection.preset.as_deref(),
        wall_s: start.elapsed().as_secs_f64(),
        stats: Stats::new(RunReport::default(), engine.counts),
        checks: Vec::new(),
        artifacts: Vec::new(),
        message: None,
    };
    match ran {
        Ok(report) => {
            outcome.stats = Stats::new(report, engine.counts);
            outcome.artifacts = dump(arguments, &manifest, &session)?;
            outcome.checks = session.checks().map_err(|e| Failure::bad_input(e.to_string()))?;
            if outcome.checks.iter().any(|row| !row.ok) {
                outcome.result = Verdict::CheckFailed;
            }
        }
        Err(error) => {
            outcome.result = verdict(&error)?;
            outcome.message = Some(error.to_string());
        }
    }
    show(arguments, &outcome)?;
    Ok(match outcome.result {
        Verdict::Pass => Status::Pass,
        Verdict::Interrupted => Status::Interrupted,
        _ => Status::Failed,
    })
}

/// In one word, why launches did not come to their end.
fn verdict(error: &RunError<OracleError>) -> Result<Verdict, Failure> {
    match error {
        RunError::Passes { .. } => Ok(Verdict::Hang),
        RunError::Engine(OracleError::Fault(fault)) => Ok(match fault.kind {
            FaultKind::Spin { .. } | FaultKind::StepLimit { .. } | FaultKind::BarrierDeadlock { .. } => Verdict::Hang,
            FaultKind::Stopped => Verdict::Interrupted,
            _ => Verdict::CheckFailed,
        }),
        RunError::Engine(OracleError::Program(error)) => Err(Failure::tool(format!(
            "the compiler made code that is no program: this is a defect; please report it: {error}"
        ))),
    }
}

/// Writes the output buffers; gives their files.
fn dump(arguments: &RunKernels, manifest: &Manifest, session: &Session<'_>) -> Result<Vec<PathBuf>, Failure> {
    let Some(folder) = &arguments.dump else {
        return Ok(Vec::new());
    };
    let mut files = Vec::new();
    for (index, buffer) in manifest.buffers.iter().enumerate().filter(|(_, buffer)| buffer.output) {
        let file = folder.join(format!("{}.bin", buffer.name));
        source::write(&file, &session.bytes(BufferId(index)))?;
        files.push(file);
    }
    Ok(files)
}

fn show(arguments: &RunKernels, outcome: &Outcome<'_>) -> Result<(), Failure> {
    if let Some(message) = &outcome.message {
        output::error(message);
    }
    if arguments.json {
        return output::print(&json(outcome));
    }
    if !outcome.checks.is_empty() {
        let row = |row: &CheckRow| {
            let (word, style) = if row.ok { ("ok", GOOD) } else { ("FAILED", BAD) };
            let error = |value: f64| if value == 0.0 { "0".to_owned() } else { format!("{value:.3e}") };
            let buffer = row.buffer.as_str().into();
            vec![buffer, error(row.max_abs).into(), error(row.max_rel).into(), Cell::styled(word, style)]
        };
        let columns = [words("buffer"), numbers("absolute error"), numbers("relative error"), words("check")];
        let rows: Vec<_> = outcome.checks.iter().map(row).collect();
        output::print(&output::table(&columns, &rows))?;
    }
    let Stats { launches, thread_instructions, .. } = outcome.stats;
    let times = if launches == 1 { "launch" } else { "launches" };
    let (launches, instructions) = (grouped(launches), grouped(thread_instructions));
    let seconds = outcome.wall_s;
    output::print(&format!("{launches} {times}, {instructions} thread-instructions, {seconds:.2} s\n"))?;
    for file in &outcome.artifacts {
        output::print(&format!("{}\n", file.display()))?;
    }
    Ok(())
}
