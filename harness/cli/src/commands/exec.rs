//! `gpurf exec`: a CUDA application.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use gpurf_blocks::config::{Config, DEFAULT_PRESET};
use gpurf_exec::{
    Functional, KernelCount, Library, Log, OnMachine, Recorder, Runner, Sampled, ServeError, Setup, serve,
};
use gpurf_lockstep::{Verdict, quoted};
use gpurf_machine::Machine;
use gpurf_oracle::host::OracleEngine;
use gpurf_oracle::{Options, Oracle};
use serde::Serialize;

use super::simulate::{self, UseMachine};
use super::source;
use crate::args::{EngineKind, RunProgram};
use crate::failure::{Failure, Status};
use crate::files::{InputFiles, check_outputs};
use crate::interrupt;
use crate::output::{self, grouped, numbers, words};
use crate::plan;
use crate::progress::{Launches, meter};
use crate::result::json;

/// The summary of the launches, in the form of `--json`.
#[derive(Debug, Serialize)]
struct Summary {
    result: Verdict,
    command: &'static str,
    program: Vec<String>,
    engine: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<u64>,
    /// Exit status of the application; absent if a signal ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_status: Option<i32>,
    processes: u64,
    kernels: Vec<Kernel>,
    /// Number of launches that ended with a fault of the application.
    faults: u64,
    /// Functions of the runtime that it called and that are not supported, with the number of calls.
    not_supported: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// The launches of a kernel.
#[derive(Debug, Serialize)]
struct Kernel {
    name: String,
    launches: u64,
    refused: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
}

/// Runs an application, and ends the program with the application's status.
pub fn exec(arguments: &RunProgram) -> Result<Status, Failure> {
    let config = plan::load(&arguments.execution.selection)?;
    simulate::check_engine(&arguments.execution)?;
    simulate::check_history(&arguments.execution, &config)?;
    if arguments.sample.is_some() && arguments.execution.engine == EngineKind::Functional {
        return Err(Failure::bad_input(
            "--sample needs another engine than functional, which runs every launch anyway: --engine model",
        ));
    }
    let project = super::project()?;
    if let Some(file) = &arguments.json {
        // Checked before the run, not after it.
        check_outputs(&[("--json", file)], &InputFiles::default().with_selection(&arguments.execution.selection))?;
    }
    let library = Library::build(&project.root.join("target/cudart")).map_err(|e| Failure::tool(e.to_string()))?;
    if arguments.library {
        output::print(&format!("{}\n", library.folder.display()))?;
        return Ok(Status::Pass);
    }
    let mut recorder = match &arguments.record {
        None => None,
        Some(folder) => {
            source::make_folder(folder)?;
            Some(Recorder::new(folder.clone()))
        }
    };
    interrupt::listen()?;
    let mut runner = runner(arguments, config)?;
    let setup = Setup {
        config,
        preset: arguments.execution.selection.preset.clone().unwrap_or_else(|| DEFAULT_PRESET.to_owned()),
        registers: source::options(arguments.execution.registers).registers,
        verbose: arguments.verbose,
    };
    let [program, rest @ ..] = &arguments.program[..] else { return Err(Failure::bad_input("name a program")) };
    let mut command = Command::new(program);
    command.args(rest);
    let mut log = Log::default();
    let shown = Launches::lines();
    let served = serve(&mut command, &library, &setup, &mut *runner, recorder.as_mut(), &mut log, interrupt::flag());
    drop(shown);
    let served = served.map_err(|error| match error {
        ServeError::Start { .. } => Failure::bad_input(error.to_string()),
        ServeError::System(_) => Failure::tool(error.to_string()),
    })?;
    // An application that was stopped may not have called the runtime yet, and one that could not be started or loaded says so itself.
    let not_started = matches!(served.status.code(), Some(126 | 127));
    if served.processes == 0 && !served.stopped && !not_started {
        output::note(
            "the program has not called the CUDA runtime: link it with `nvcc -cudart shared`, since a static runtime cannot be replaced",
        );
    }
    if served.stopped {
        output::note("interrupted: the application was told to end");
    }
    let otherwise = if served.stopped { Verdict::Interrupted } else { Verdict::Pass };
    let verdict = log.failed.as_ref().map_or(otherwise, |(verdict, _)| *verdict);
    show(&log, recorder.as_ref(), arguments);
    if let Some(file) = &arguments.json {
        let summary = Summary {
            result: verdict,
            command: "exec",
            program: arguments.program.iter().map(|part| part.to_string_lossy().into_owned()).collect(),
            engine: arguments.execution.engine.name(),
            sample: arguments.sample,
            exit_status: served.status.code(),
            processes: served.processes,
            kernels: log.kernels.iter().map(|(name, count)| kernel(name, count)).collect(),
            faults: log.faults,
            not_supported: log.refused.clone(),
            recorded: arguments.record.clone(),
            message: log.failed.as_ref().map(|(_, message)| message.clone()),
        };
        source::write(file, json(&summary).as_bytes())?;
    }
    match Status::from(verdict) {
        Status::Pass => end_with(served.status),
        status => Ok(status),
    }
}

fn kernel(name: &str, count: &KernelCount) -> Kernel {
    Kernel { name: name.to_owned(), launches: count.launches, refused: count.refused, cycles: count.cycles }
}

/// Ends this program with the application's status, as a shell reports it.
fn end_with(status: ExitStatus) -> ! {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    std::process::exit(code)
}

/// Columns of a kernel's name in the table.
const LONGEST_NAME: usize = 80;

/// Prints a table on standard error, because standard output belongs to the application.
fn show(log: &Log, recorder: Option<&Recorder>, arguments: &RunProgram) {
    if !log.kernels.is_empty() {
        anstream::eprint!("{}", table(log));
    }
    if let (Some(recorder), Some(folder)) = (recorder, &arguments.record) {
        output::note(&format!("{} launches are recorded in {}", recorder.launches(), folder.display()));
    }
}

/// A row for each kernel. Instances of templates have names of several lines, which are cut: the JSON has them whole.
fn table(log: &Log) -> String {
    let timed = log.kernels.values().any(|count| count.cycles.is_some());
    let refused = log.kernels.values().any(|count| count.refused > 0);
    let mut columns = vec![words("kernel"), numbers("launches")];
    columns.extend(refused.then(|| numbers("refused")));
    columns.extend(timed.then(|| numbers("cycles")));
    let row = |(name, count): (&String, &KernelCount)| {
        let mut row = vec![output::cut(name, LONGEST_NAME).into(), grouped(count.launches).into()];
        row.extend(refused.then(|| grouped(count.refused).into()));
        row.extend(timed.then(|| count.cycles.map_or_else(String::new, grouped).into()));
        row
    };
    let rows: Vec<_> = log.kernels.iter().map(row).collect();
    output::table(&columns, &rows)
}

/// The engine that runs the launches.
fn runner(arguments: &RunProgram, config: Config) -> Result<Box<dyn Runner>, Failure> {
    let execution = &arguments.execution;
    let oracle = || {
        // Correct programs may read shared memory that was never written without using the value: lanes at an edge, the last steps of a reduction.
        let (stop, meter) = (Some(interrupt::flag()), Some(meter()));
        let options = Options { stop, meter, unwritten_shared: true, ..Options::default() };
        Box::new(Functional::new(OracleEngine::new(Oracle::new(options))))
    };
    if execution.engine == EngineKind::Functional {
        return Ok(oracle());
    }
    let project = simulate::project(execution)?;
    let words: Vec<String> = arguments.program.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    let notes = vec![format!("  {:<9} {}", "run", words.join(" "))];
    let boxed = Boxed { name: execution.engine.name(), failures: project.failures.clone(), notes };
    let engine = simulate::with_machine(execution, &project, simulate::settings(execution, config), false, boxed)?;
    Ok(match arguments.sample {
        None => engine,
        Some(launches) => Box::new(Sampled::new(engine, launches, oracle())),
    })
}

/// Makes a runner from an engine.
struct Boxed {
    name: &'static str,
    failures: PathBuf,
    notes: Vec<String>,
}

impl UseMachine for Boxed {
    type Output = Box<dyn Runner>;

    fn use_machine<M: Machine + 'static>(self, machine: M, _build_s: Option<f64>) -> Self::Output {
        Box::new(OnMachine::new(machine, self.name, self.failures, self.notes))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn a_long_name_is_cut_in_the_table() {
        let mut log = Log::default();
        let count = KernelCount { launches: 3, ..KernelCount::default() };
        log.kernels.insert(format!("sort<{}>", "int, ".repeat(100)), count);
        let text = table(&log);
        // The heading also has escape sequences.
        assert!(text.lines().all(|line| line.chars().count() < 120), "{text}");
        assert!(text.contains("sort<int, int, ") && text.contains('\u{2026}'), "{text}");
    }

    #[test]
    fn a_sample_needs_an_engine_that_it_can_relieve() {
        let arguments = ["gpurf", "exec", "--sample", "9", "--", "./program"];
        let Command::Exec(arguments) = Cli::parse_from(arguments).command else { panic!("gpurf exec") };
        let Err(failure) = exec(&arguments) else { panic!("refused") };
        assert!(failure.message.starts_with("--sample needs another engine than functional"), "{failure}");
    }
}
