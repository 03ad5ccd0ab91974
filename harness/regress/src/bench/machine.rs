//! Measures the SM on a kernel.

use std::hash::Hasher;
use std::time::{Duration, Instant};

use gpurf_blocks::config::Config;
use gpurf_compiler::compile;
use gpurf_launch::{BufferId, Manifest};
use gpurf_machine::{LockstepEngine, Machine, ModelEngine, RtlEngine, Settings};
use gpurf_oracle::host::Session;
use verilated::{Library, Options, Toolchain};

use super::stopwatch::Stopwatch;
use super::{Fold, Row, median};
use crate::{JobError, KernelInputs, Project, REGISTERS, RtlSources, build_sm, compiler_options, request};

/// Minimum number of rounds, however long they take; the median counts.
const ROUNDS: usize = 3;

/// The engine that runs a kernel.
#[derive(Clone, Copy)]
enum Who {
    Lockstep,
    Verilator,
    /// The model as in `gpurf run`: cycles in which nothing happens are skipped.
    Model,
    /// The model, without skipping cycles.
    EveryCycle,
    /// The lockstep, with its model on a second thread.
    Threaded,
    /// Plain Verilator, compiled with a profile of itself.
    Trained,
}

const ALL: [Who; 6] = [Who::Lockstep, Who::Verilator, Who::Model, Who::EveryCycle, Who::Threaded, Who::Trained];

/// The builds of the SM's RTL.
struct Libraries {
    /// With all signals that lockstep compares.
    probed: Library,
    plain: Library,
    trained: Option<Library>,
}

/// The common beginning of the names of both rows.
pub fn machine_name(machine: &str, kernel: &str) -> String {
    format!("sm, {machine}, {kernel}")
}

/// Measures the SM of a configuration, which rows call `machine`, on one of the project's kernels, in rounds until `time` is over. Returns two rows: in one the model alone skips cycles without activity,
/// in the other it does not. The name of the first row has the share of skipped cycles. With `train` the lockstep's RTL is compiled with a profile, and plain Verilator is measured with one too.
///
/// # Errors
/// When something cannot be built or run, or the three checksums differ.
pub fn machine(
    project: &Project,
    tools: &Toolchain,
    machine: &str,
    config: &Config,
    name: &str,
    time: Duration,
    train: bool,
) -> Result<[Row; 2], JobError> {
    let none = RtlSources::default();
    let plain = Options { probes: false, assertions: false, settle_once: false, ..Options::default() };
    let build = |options| build_sm(tools, &request(project, gpurf_sm::ENTRY.name, config, &none, options)?, config);
    let libraries = Libraries {
        probed: build(Options { profile: train, ..Options::default() })?,
        plain: build(plain.clone())?,
        trained: if train { Some(build(Options { profile: true, ..plain })?) } else { None },
    };
    if let Some(probe) = libraries.probed.absent_names().first() {
        return Err(JobError::Build(format!(
            "the RTL of the SM lacks {probe}: what is compared is less than the model has"
        )));
    }
    let kernel = Kernel::load(project, name, config)?;
    let started = Instant::now();
    let mut speeds: [Vec<f64>; ALL.len()] = Default::default();
    let mut on_the_wall: [Vec<f64>; ALL.len()] = Default::default();
    let (mut sum, mut skipped) = (None, 0.0);
    while speeds[0].len() < ROUNDS || started.elapsed() < time {
        for who in ALL {
            let Some(run) = kernel.run(config, who, &libraries)? else { continue };
            speeds[who as usize].push(run.kilocycles);
            on_the_wall[who as usize].push(run.on_the_wall);
            skipped = f64::max(skipped, run.skipped);
            if *sum.get_or_insert(run.checksum) != run.checksum {
                return Err(JobError::Build(format!("{name}: they did not do the same work")));
            }
        }
    }
    let to_verilator = |speeds: &[Vec<f64>], who: Who| {
        let pairs = speeds[who as usize].iter().zip(&speeds[Who::Verilator as usize]);
        median(pairs.map(|(a, b)| a / b).collect())
    };
    let ratio = |who: Who| to_verilator(&speeds, who);
    let speed = |who: Who| median(speeds[who as usize].clone());
    let threaded = Who::Threaded;
    let row = |name: String, model: Who| Row {
        name,
        lockstep: speed(Who::Lockstep),
        verilator: speed(Who::Verilator),
        model: speed(model),
        threaded: Some(median(on_the_wall[threaded as usize].clone())),
        lockstep_ratio: ratio(Who::Lockstep),
        model_ratio: ratio(model),
        follower_ratio: Some(ratio(threaded)),
        threaded_ratio: Some(to_verilator(&on_the_wall, threaded)),
        trained_ratio: libraries.trained.as_ref().map(|_| ratio(Who::Trained)),
        checksum: format!("{:016x}", sum.unwrap_or_default()),
    };
    let begin = machine_name(machine, name);
    Ok([
        row(format!("{begin}, {:.0} % skipped", 100.0 * skipped), Who::Model),
        row(format!("{begin}, none skipped"), Who::EveryCycle),
    ])
}

/// Result of a run.
struct Run {
    /// Thousand cycles per second of this thread's own time.
    kilocycles: f64,
    /// Thousand cycles per second of wall time.
    on_the_wall: f64,
    /// Share of the cycles that were skipped.
    skipped: f64,
    /// Checksum of cycles and results.
    checksum: u64,
}

/// A kernel that is ready to run.
struct Kernel {
    manifest: Manifest,
    compiled: gpurf_compiler::Compiled,
}

impl Kernel {
    fn load(project: &Project, name: &str, config: &Config) -> Result<Self, JobError> {
        let failed = |e: &dyn std::fmt::Display| JobError::Input(format!("{name}: {e}"));
        let inputs = KernelInputs::of_project(project, name);
        let manifest = Manifest::load(&inputs.manifest).map_err(|e| failed(&e))?;
        let text = std::fs::read_to_string(&inputs.ptx).map_err(|e| failed(&e))?;
        let options = compiler_options(config, REGISTERS);
        let compiled = compile(&text, &inputs.ptx.display().to_string(), &options).map_err(|e| failed(&e))?;
        Ok(Self { manifest, compiled })
    }

    /// `None` if the library was not built.
    fn run(&self, config: &Config, who: Who, libraries: &Libraries) -> Result<Option<Run>, JobError> {
        let settings = Settings::new(*config);
        let Libraries { probed, plain, trained } = libraries;
        let failed = |f: verilated::RtlFailure| JobError::Build(f.to_string());
        let run = match who {
            Who::Threaded => {
                let settings = Settings { threads: 2, ..settings };
                self.timed(LockstepEngine::new(settings, probed).map_err(failed)?)
            }
            Who::Lockstep => self.timed(LockstepEngine::new(settings, probed).map_err(failed)?),
            Who::Verilator => self.timed(RtlEngine::new(settings, plain).map_err(failed)?),
            // Only the cycles are measured, not the work that a fault would need.
            Who::Model => self.timed(ModelEngine::new(Settings { locate: false, ..settings })),
            Who::EveryCycle => self.timed(ModelEngine::new(Settings { locate: false, skip: false, ..settings })),
            Who::Trained => {
                let Some(trained) = trained else { return Ok(None) };
                self.timed(RtlEngine::new(settings, trained).map_err(failed)?)
            }
        };
        run.map(Some)
    }

    fn timed(&self, mut engine: impl Machine) -> Result<Run, JobError> {
        let failed = |e: &dyn std::fmt::Display| JobError::Build(e.to_string());
        let mut session = Session::new(&self.manifest, &self.compiled.image).map_err(|e| failed(&e))?;
        let (started, wall) = (Stopwatch::start(), Instant::now());
        session.run(&mut engine).map_err(|e| failed(&e))?;
        let (elapsed, wall) = (started.elapsed(), wall.elapsed());
        let cycles = engine.statistics().cycles;
        let mut sum = Fold(cycles);
        for (index, _) in self.manifest.buffers.iter().enumerate().filter(|(_, buffer)| buffer.output) {
            sum.write(&session.bytes(BufferId(index)));
        }
        Ok(Run {
            kilocycles: cycles as f64 / elapsed.as_secs_f64() / 1e3,
            on_the_wall: cycles as f64 / wall.as_secs_f64() / 1e3,
            skipped: engine.skipped() as f64 / cycles.max(1) as f64,
            checksum: sum.finish(),
        })
    }
}
