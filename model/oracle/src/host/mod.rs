//! The host side of a CUDA program: it places buffers and variables, packs arguments, launches kernels, repeats launches, and checks the results.
//!
//! A [`Session`] does this for a manifest and an image, and runs the kernels on an [`Engine`]: the oracle ([`OracleEngine`]), or any other machine
//! that runs the same instructions. All engines see the same addresses.

mod assembled;
mod loader;
mod names;
mod print;
mod reported;
mod session;

pub use assembled::assembled;
pub use loader::{LoadError, SizeError, check_sizes, first_bytes, relocate};
pub use names::{in_source, named};
pub use print::{Addresses, PrintBuffers, Printed};
pub use reported::ReportedFault;
pub use session::{RunError, RunReport, Session};

use gpurf_isa::image::Kernel;
use gpurf_launch::{Cause, ExpectedFault};

use crate::context::Geometry;
use crate::fault::Fault;
use crate::launch::Launch;
use crate::memory::Memory;
use crate::meter::Parts;
use crate::oracle::Oracle;
use crate::program::{CodeError, Program};

/// A launch that an engine is to run.
#[derive(Clone, Copy, Debug)]
pub struct KernelLaunch<'a> {
    /// The kernel; addresses of variables are filled in.
    pub kernel: &'a Kernel,
    /// The PTX file, for messages.
    pub source: &'a str,
    /// The sizes of the launch, which the kernel allows.
    pub geometry: Geometry,
    /// The constant space: parameters, and `__constant__` variables after them.
    pub constant: &'a [u8],
    /// The fault that the launch is expected to end with; `None` if it runs to completion.
    pub fault: Option<ExpectedFault>,
}

/// A machine that runs kernels.
pub trait Engine {
    /// Why a launch failed.
    type Error: std::error::Error + 'static;

    /// Runs a launch to completion.
    ///
    /// # Errors
    /// When the launch does not run to completion. Memory may then hold anything.
    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), Self::Error>;

    /// The fault of the program that an error reports; `None` if the error has another cause, or the engine does not report faults.
    fn reported(_error: &Self::Error) -> Option<ReportedFault> {
        None
    }

    /// The fault that this engine has to report for a launch that ends with `fault` on an SM; `None` if the launch runs to completion on this engine.
    fn expects(fault: ExpectedFault) -> Option<ExpectedFault> {
        Some(fault)
    }
}

/// Why the oracle does not run a launch to completion.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// The image's code is not a valid program.
    #[error(transparent)]
    Program(#[from] CodeError),
    /// The program did something wrong.
    #[error(transparent)]
    Fault(Box<Fault>),
}

/// The oracle as an engine.
#[derive(Debug, Default)]
pub struct OracleEngine {
    oracle: Oracle,
    /// The last kernel, made ready to run: most launches repeat the kernel of the launch before.
    program: Option<(Kernel, Program)>,
    /// Whether reads of values that a thread has not written are faults ([`Oracle::run_checked`]).
    check_undefined: bool,
    /// Counts of the instructions that it has executed so far, those of a launch that ended with a fault included.
    pub counts: crate::context::Counts,
    /// Number of launches that have run to their end.
    pub launches: u64,
}

impl OracleEngine {
    /// An engine with this oracle.
    pub fn new(oracle: Oracle) -> Self {
        Self { oracle, ..Self::default() }
    }

    /// Sets whether reads of values that a thread has not written are faults.
    #[must_use]
    pub fn checking_undefined(self, check_undefined: bool) -> Self {
        Self { check_undefined, ..self }
    }
}

impl Engine for OracleEngine {
    type Error = OracleError;

    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), OracleError> {
        let (_, program) = match self.program.take() {
            Some(ready) if ready.0 == *launch.kernel => self.program.insert(ready),
            _ => {
                let program = Program::new(launch.kernel, launch.source)?;
                self.program.insert((launch.kernel.clone(), program))
            }
        };
        let meter = self.oracle.options.meter;
        if let Some(meter) = meter {
            meter.begin(&launch.kernel.name, Parts::Blocks, launch.geometry.blocks());
        }
        let launch = Launch { program, geometry: launch.geometry, constant: launch.constant };
        let run = if self.check_undefined { Oracle::run_checked } else { Oracle::run };
        let ran = run(&mut self.oracle, &launch, memory);
        if let Some(meter) = meter {
            meter.end();
        }
        self.counts = self.oracle.counts();
        ran.map_err(OracleError::Fault)?;
        self.launches += 1;
        Ok(())
    }

    fn reported(error: &OracleError) -> Option<ReportedFault> {
        match error {
            OracleError::Fault(fault) => ReportedFault::of_oracle(fault),
            OracleError::Program(_) => None,
        }
    }

    /// The oracle has no size limits that a block could exceed and no blocks that share memory, and it may find another fault first.
    fn expects(fault: ExpectedFault) -> Option<ExpectedFault> {
        match fault.oracle {
            Some(cause) => {
                Some(ExpectedFault { cause, value: None, block: None, warp: None, instruction: None, oracle: None })
            }
            None => (!matches!(fault.cause, Cause::DoesNotFit | Cause::Released)).then_some(fault),
        }
    }
}
