//! The SM on a kernel.

use std::hash::Hasher;
use std::time::{Duration, Instant};

use gpurf_blocks::config::Config;
use gpurf_compiler::{Options as CompilerOptions, compile};
use gpurf_launch::{BufferId, Manifest};
use gpurf_machine::{LockstepEngine, Machine, ModelEngine, RtlEngine, Settings};
use gpurf_oracle::host::Session;
use verilated::{Library, Options, Toolchain};

use super::{Fold, Row, median};
use crate::{JobError, KernelInputs, Project, REGISTERS, RtlSources, request};

/// Rounds at least, however long they take; the median counts.
const ROUNDS: usize = 3;

/// Measures the SM on one of the project's kernels, in rounds until `time` is over.
///
/// # Errors
/// When something cannot be built, does not run, or the three do not agree.
pub fn machine(
    project: &Project,
    tools: &Toolchain,
    config: &Config,
    name: &str,
    time: Duration,
) -> Result<Row, JobError> {
    let none = RtlSources::default();
    let plain = Options { probes: false, assertions: false, settle_once: false, ..Options::default() };
    let build =
        |options| tools.build(&request(project, gpurf_sm::ENTRY.name, config, &none, options)?).map_err(JobError::from);
    let (probed, plain) = (build(Options::default())?, build(plain)?);
    let kernel = Kernel::load(project, name)?;
    let started = Instant::now();
    let mut speeds: [Vec<f64>; 3] = Default::default();
    let mut sum = None;
    while speeds[0].len() < ROUNDS || started.elapsed() < time {
        for (side, speed) in speeds.iter_mut().enumerate() {
            let (kilocycles, checksum) = kernel.run(config, side, &probed, &plain)?;
            speed.push(kilocycles);
            if *sum.get_or_insert(checksum) != checksum {
                return Err(JobError::Build(format!("{name}: the three did not do the same work")));
            }
        }
    }
    let ratio = |side: usize| median(speeds[side].iter().zip(&speeds[1]).map(|(a, b)| a / b).collect());
    let (lockstep_ratio, model_ratio) = (ratio(0), ratio(2));
    let [lockstep, verilator, model] = speeds.map(median);
    Ok(Row {
        name: format!("sm, {name}"),
        lockstep,
        verilator,
        model,
        lockstep_ratio,
        model_ratio,
        checksum: format!("{:016x}", sum.unwrap_or_default()),
    })
}

/// A kernel, ready to run.
struct Kernel {
    manifest: Manifest,
    compiled: gpurf_compiler::Compiled,
}

impl Kernel {
    fn load(project: &Project, name: &str) -> Result<Self, JobError> {
        let failed = |e: &dyn std::fmt::Display| JobError::Input(format!("{name}: {e}"));
        let inputs = KernelInputs::of_project(project, name);
        let manifest = Manifest::load(&inputs.manifest).map_err(|e| failed(&e))?;
        let text = std::fs::read_to_string(&inputs.ptx).map_err(|e| failed(&e))?;
        let options = CompilerOptions { registers: REGISTERS };
        let compiled = compile(&text, &inputs.ptx.display().to_string(), &options).map_err(|e| failed(&e))?;
        Ok(Self { manifest, compiled })
    }

    /// Runs it in lockstep (0), on plain Verilator (1), or on the model (2): thousand cycles a second, and a sum of cycles and results.
    fn run(&self, config: &Config, side: usize, probed: &Library, plain: &Library) -> Result<(f64, u64), JobError> {
        let settings = Settings::new(*config);
        let failed = |f: verilated::Failure| JobError::Build(f.to_string());
        match side {
            0 => self.timed(LockstepEngine::new(settings, probed).map_err(failed)?),
            1 => self.timed(RtlEngine::new(settings, plain).map_err(failed)?),
            _ => self.timed(ModelEngine::new(settings)),
        }
    }

    fn timed(&self, mut engine: impl Machine) -> Result<(f64, u64), JobError> {
        let failed = |e: &dyn std::fmt::Display| JobError::Build(e.to_string());
        let mut session = Session::new(&self.manifest, &self.compiled.image).map_err(|e| failed(&e))?;
        let started = Instant::now();
        session.run(&mut engine).map_err(|e| failed(&e))?;
        let elapsed = started.elapsed();
        let cycles = engine.statistics().cycles;
        let mut sum = Fold(cycles);
        for (index, _) in self.manifest.buffers.iter().enumerate().filter(|(_, buffer)| buffer.output) {
            sum.write(&session.bytes(BufferId(index)));
        }
        Ok((cycles as f64 / elapsed.as_secs_f64() / 1e3, sum.finish()))
    }
}
