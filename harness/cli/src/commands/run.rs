//! `gpurf run`: the kernels of a launch manifest.

use std::path::{Path, PathBuf};
use std::time::Instant;

use gpurf_blocks::config::Config;
use gpurf_isa::image::Image;
use gpurf_launch::{BufferId, CheckRow, Manifest, Source};
use gpurf_lockstep::{Verdict, quoted};
use gpurf_machine::verdict;
use gpurf_oracle::host::{OracleEngine, Session, assembled};
use gpurf_oracle::{Options, Oracle};
use gpurf_regress::compiled_for;
use gpurf_report::Measured;
use gpurf_report::accelwattch::Counters;
use gpurf_report::energies::{ByEvent, by_event};
use serde::Serialize;

use super::cycles::Cycles;
use super::energy;
use super::partition::{self, Divided};
use super::simulate::{self, Ran, no_program};
use super::source;
use super::statistics::{self, Stats};
use crate::args::{EngineKind, RunKernels};
use crate::failure::{Failure, Status};
use crate::files::{InputFiles, check_outputs};
use crate::interrupt;
use crate::output::{self, BAD, Cell, GOOD, grouped, numbers, words};
use crate::plan;
use crate::progress::{Launches, meter};
use crate::result::json;

/// The outcome of a run, in the form of `--json`.
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
    #[serde(flatten)]
    cycles: Option<Cycles>,
    #[serde(skip_serializing_if = "Option::is_none")]
    energy: Option<ByEvent>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partition: Vec<Divided>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<CheckRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    printed: String,
    #[serde(skip_serializing_if = "is_zero")]
    printf_dropped: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assertions: Vec<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Runs a manifest's launches and its checks.
pub fn run(arguments: &RunKernels) -> Result<Status, Failure> {
    let config = plan::load(&arguments.execution.selection)?;
    let is_functional = arguments.execution.engine == EngineKind::Functional;
    let need_cycles = [
        ("--wave", arguments.wave.is_some(), "has no cycles to record"),
        ("--trace", arguments.trace.file.is_some(), "has no cycles to trace"),
        ("--energy", arguments.energy.is_some(), "counts no events"),
        ("--accelwattch", arguments.accelwattch.is_some(), "counts no events"),
    ];
    if let Some((option, _, lacks)) = need_cycles.iter().find(|(_, given, _)| is_functional && *given) {
        let why = format!("{option}: the functional engine {lacks}: choose --engine model, rtl or lockstep");
        return Err(Failure::bad_input(why));
    }
    if !is_functional && arguments.check_undefined {
        let why = "--check-undefined: only the functional engine looks for such reads: choose --engine functional";
        return Err(Failure::bad_input(why));
    }
    simulate::check_engine(&arguments.execution)?;
    for (option, given) in [("--compare", arguments.compare.is_some()), ("--part", arguments.part.is_some())] {
        if given {
            simulate::check_lockstep(option, &arguments.execution)?;
        }
    }
    simulate::check_history(&arguments.execution, &config)?;
    let energies = arguments.energy.as_deref().map(source::energies).transpose()?;
    let benchmark = arguments.accelwattch.as_ref().map(|_| benchmark(&arguments.manifest)).transpose()?;
    let manifest = Manifest::load(&arguments.manifest)?;
    let image = image(&manifest, &config, arguments.execution.registers)?;
    let mut session = Session::new(&manifest, &image).map_err(|e| Failure::bad_input(e.to_string()))?;
    // Checked before the work, not after it.
    if let Some(folder) = &arguments.dump {
        source::make_folder(folder)?;
    }
    check_outputs(&outputs(arguments, &manifest), &inputs(arguments, &manifest))?;
    interrupt::listen()?;
    let start = Instant::now();
    let ran = match arguments.execution.engine {
        EngineKind::Functional => functional(&mut session, arguments.check_undefined)?,
        EngineKind::Model | EngineKind::Rtl | EngineKind::Lockstep => {
            simulate::run(arguments, config, &manifest, &image, &mut session)?
        }
    };
    let partition = match arguments.execution.engine {
        EngineKind::Functional => Vec::new(),
        EngineKind::Model | EngineKind::Rtl | EngineKind::Lockstep => partition::of(&config, &manifest, &image),
    };
    let build_s = ran.cycles.as_ref().and_then(|cycles| cycles.build_s).unwrap_or(0.0);
    let printed = session.printed().clone();
    let measured = ran.cycles.as_ref().map(|cycles| Measured::new(cycles.cycles, cycles.events.clone()));
    let energy = measured.as_ref().zip(energies).map(|(run, energies)| by_event(&config, run, &energies));
    let mut outcome = Outcome {
        result: Verdict::Pass,
        command: "run",
        manifest: arguments.manifest.display().to_string(),
        engine: arguments.execution.engine.name(),
        preset: arguments.execution.selection.preset.as_deref(),
        wall_s: start.elapsed().as_secs_f64() - build_s,
        stats: ran.stats,
        cycles: ran.cycles,
        energy,
        partition,
        checks: Vec::new(),
        artifacts: ran.artifacts,
        message: None,
        printed: printed.text,
        printf_dropped: printed.dropped,
        assertions: printed.assertions,
    };
    match ran.problem {
        None if ran.is_part => {}
        None => {
            // The checks come before the outputs are written, so that outputs are not compared with themselves.
            let checks = session.checks().map_err(|e| Failure::bad_input(e.to_string()));
            outcome.artifacts.extend(dump(arguments, &manifest, &session)?);
            outcome.checks = checks?;
            if outcome.checks.iter().any(|row| !row.ok) {
                outcome.result = Verdict::CheckFailed;
            }
            if let (Some(file), Some(benchmark), Some(run)) = (&arguments.accelwattch, &benchmark, &measured) {
                let counters = Counters::of(&config, run, outcome.stats.launches);
                source::write(file, counters.csv(benchmark, only_kernel(&image)).as_bytes())?;
                let absent = counters.not_available().join(", ");
                output::note(&format!("--accelwattch: written as 0, since the machine does not count it: {absent}"));
                outcome.artifacts.push(file.clone());
            }
        }
        Some((verdict, message)) => {
            outcome.result = verdict;
            outcome.message = Some(message);
        }
    }
    show(arguments, &outcome)?;
    Ok(outcome.result.into())
}

/// The machine code of a manifest's kernels for a configuration.
pub fn image(manifest: &Manifest, config: &Config, registers: Option<u16>) -> Result<Image, Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::bad_input(error.to_string());
    match &manifest.source {
        Source::File(file) => {
            let ptx = source::ptx(file)?;
            let registers = source::options(registers).registers;
            let compiled = compiled_for(&ptx.text, &ptx.name, config, registers, manifest);
            compiled.map(|compiled| compiled.image).map_err(|error| wrong(&error))
        }
        Source::Assembly(assembly) => assembled(manifest, assembly).map_err(|error| wrong(&error)),
    }
}

/// The files that are written, with their options.
fn outputs(arguments: &RunKernels, manifest: &Manifest) -> Vec<(&'static str, PathBuf)> {
    let files = [("--trace", &arguments.trace.file), ("--accelwattch", &arguments.accelwattch)];
    let files = files.into_iter().filter_map(|(option, file)| Some((option, file.clone()?)));
    files.chain(dumped(arguments, manifest).map(|(_, file)| ("--dump", file))).collect()
}

/// The files that the command reads.
fn inputs(arguments: &RunKernels, manifest: &Manifest) -> InputFiles {
    InputFiles::default()
        .with_manifest(manifest)
        .with_selection(&arguments.execution.selection)
        .with_named("the file of energies", arguments.energy.as_deref())
}

/// The name of the run in AccelWattch's file, checked before the work.
fn benchmark(manifest: &Path) -> Result<String, Failure> {
    let name = manifest.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if name.contains([',', '"', '\n', '\r']) {
        let file = manifest.display();
        return Err(Failure::bad_input(format!(
            "--accelwattch: AccelWattch would split the benchmark's name at a comma or a quote: rename {file}"
        )));
    }
    Ok(name)
}

/// The mangled name of the kernel, if all launches are of the same kernel: counts are for all launches together, and only launched kernels are
/// compiled.
fn only_kernel(image: &Image) -> Option<&str> {
    match &image.kernels[..] {
        [kernel] => Some(&kernel.name),
        _ => None,
    }
}

/// Runs the launches on the oracle.
fn functional(session: &mut Session<'_>, check_undefined: bool) -> Result<Ran, Failure> {
    let options = Options { stop: Some(interrupt::flag()), meter: Some(meter()), ..Options::default() };
    let mut engine = OracleEngine::new(Oracle::new(options)).checking_undefined(check_undefined);
    let shown = Launches::show();
    let ran = session.run(&mut engine);
    drop(shown);
    let problem = match ran {
        Ok(_) => None,
        Err(error) => {
            // The oracle refuses only code that is not a program.
            let verdict = verdict(&error).ok_or_else(|| no_program(&error))?;
            Some((verdict, error.to_string()))
        }
    };
    Ok(Ran {
        problem,
        stats: Stats::functional(engine.launches, engine.counts),
        cycles: None,
        artifacts: Vec::new(),
        is_part: false,
    })
}

/// The output buffers, and the files to which they are written.
fn dumped(arguments: &RunKernels, manifest: &Manifest) -> impl Iterator<Item = (BufferId, PathBuf)> {
    let outputs = manifest.buffers.iter().enumerate().filter(|(_, buffer)| buffer.output);
    outputs.filter_map(|(index, buffer)| {
        let folder = arguments.dump.as_ref()?;
        Some((BufferId(index), folder.join(format!("{}.bin", buffer.name))))
    })
}

/// Writes the output buffers; returns their files.
fn dump(arguments: &RunKernels, manifest: &Manifest, session: &Session<'_>) -> Result<Vec<PathBuf>, Failure> {
    let write = |(buffer, file): (BufferId, PathBuf)| {
        source::write(&file, &session.bytes(buffer))?;
        Ok(file)
    };
    dumped(arguments, manifest).map(write).collect()
}

fn show(arguments: &RunKernels, outcome: &Outcome<'_>) -> Result<(), Failure> {
    if !arguments.json && !outcome.printed.is_empty() {
        let end = if outcome.printed.ends_with('\n') { "" } else { "\n" };
        output::print(&format!("{}{end}", outcome.printed))?;
    }
    if outcome.printf_dropped > 0 {
        let dropped = grouped(outcome.printf_dropped);
        output::note(&format!(
            "printf: {dropped} calls did not fit into the buffer, and what they print is lost: \
             `printf_buffer = BYTES` in the manifest makes it larger"
        ));
    }
    outcome.assertions.iter().for_each(|assertion| output::note(assertion));
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
        output::print(&format!("{}\n", output::table(&columns, &rows)))?;
    }
    // After an error before the first cycle, a table of zeros would only scroll the error out of sight.
    if let Some(cycles) = outcome.cycles.as_ref().filter(|cycles| cycles.cycles > 0 || outcome.message.is_none()) {
        output::print(&format!("{}\n", statistics::table(&outcome.stats, cycles)))?;
    }
    if let Some(by_event) = &outcome.energy {
        output::print(&format!("{}\n", energy::text(by_event)))?;
    }
    if !outcome.partition.is_empty() {
        output::print(&format!("{}\n", partition::table(&outcome.partition)))?;
    }
    let Stats { launches, thread_instructions, .. } = outcome.stats;
    let times = if launches == 1 { "launch" } else { "launches" };
    let (launches, instructions) = (grouped(launches), grouped(thread_instructions));
    let seconds = outcome.wall_s;
    output::print(&format!("{launches} {times}, {instructions} thread-instructions, {seconds:.2} s\n"))?;
    let part = outcome.cycles.as_ref().and_then(|cycles| Some((cycles.compared_from?, cycles.cycles)));
    if let Some((first, cycles @ 1..)) = part {
        let (first, last) = (grouped(first), grouped(first + cycles - 1));
        output::print(&format!("compared and equal: cycles {first} to {last}\n"))?;
    }
    if outcome.result == Verdict::Pass && outcome.checks.is_empty() && part.is_none() {
        output::note("no result was checked: the manifest has no [[check]] (docs/launch.md, \"Checks\")");
    }
    for file in &outcome.artifacts {
        output::print(&format!("{}\n", file.display()))?;
        if file.join("wave.vcd").is_file() {
            output::print(&format!("  gpurf wave {}\n", quoted(&file.display().to_string())))?;
        }
    }
    Ok(())
}
