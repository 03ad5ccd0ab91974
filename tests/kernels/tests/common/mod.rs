//! Functions that the tests of marks and of accesses share.

use std::fs;

use gpurf_compiler::{Compiled, Options, Schedule, compile};
use gpurf_isa::{Image, image};
use gpurf_kernels::{Case, Kernel};
use gpurf_oracle::host::{Engine, KernelLaunch, OracleError, Session};
use gpurf_oracle::{Launch, Memory, Observer, Oracle, Program};

/// A kernel, compiled for this number of registers.
pub fn build(kernel: &Kernel, registers: u16) -> Image {
    build_in(Schedule::None, kernel, registers)
}

/// A kernel with its instructions in this order.
pub fn build_in(schedule: Schedule, kernel: &Kernel, registers: u16) -> Image {
    build_with(&Options { registers, schedule, ..Options::default() }, kernel)
}

/// A kernel, compiled with these options.
pub fn build_with(options: &Options, kernel: &Kernel) -> Image {
    compiled_with(options, kernel).image
}

/// The same, with the compiler's report.
pub fn compiled_with(options: &Options, kernel: &Kernel) -> Compiled {
    let path = gpurf_kernels::folder().join(format!("{}.ptx", kernel.name));
    let text = fs::read_to_string(&path).expect("PTX lies beside the source");
    let compiled = compile(&text, &path.display().to_string(), options);
    compiled.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"))
}

/// A share in percent.
pub fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Runs launches on the oracle, each under an observer of its own.
struct Observed<J, F> {
    begin: F,
    observers: Vec<J>,
}

impl<J: Observer, F: Fn(&image::Kernel) -> J> Engine for Observed<J, F> {
    type Error = OracleError;

    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), OracleError> {
        let program = Program::new(launch.kernel, launch.source)?;
        let mut observer = (self.begin)(launch.kernel);
        let run = Launch { program: &program, geometry: launch.geometry, constant: launch.constant };
        Oracle::default().run_observed(&run, memory, &mut observer).map_err(OracleError::Fault)?;
        self.observers.push(observer);
        Ok(())
    }
}

/// Runs a test kernel's launches with this code, and returns the observer of each.
pub fn observed<J: Observer>(kernel: &Kernel, code: &Image, begin: impl Fn(&image::Kernel) -> J) -> Vec<J> {
    observed_in(&Case::load(kernel.name).unwrap_or_else(|error| panic!("{error}")), code, begin)
}

/// Runs the launches of a manifest.
pub fn observed_in<J: Observer>(case: &Case, code: &Image, begin: impl Fn(&image::Kernel) -> J) -> Vec<J> {
    let mut engine = Observed { begin, observers: Vec::new() };
    let mut session = Session::new(case.manifest(), code).unwrap_or_else(|error| panic!("{error}"));
    session.run(&mut engine).unwrap_or_else(|error| panic!("{error}"));
    engine.observers
}
