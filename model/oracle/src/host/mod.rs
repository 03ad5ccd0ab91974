//! What the host side of a CUDA program does: it places buffers and variables, packs arguments, launches kernels, repeats launches, and looks at
//! the results.
//!
//! A [`Session`] does it for a manifest and an image, and leaves the kernels to an [`Engine`]: the oracle ([`OracleEngine`]), or any other
//! machine that runs the same instructions. All of them see the same addresses.

mod assembled;
mod loader;
mod session;

pub use assembled::assembled;
pub use loader::{LoadError, named};
pub use session::{RunError, RunReport, Session};

use gpurf_isa::image::Kernel;

use crate::block::Geometry;
use crate::fault::Fault;
use crate::launch::{Launch, Oracle};
use crate::memory::Memory;
use crate::program::{Program, ProgramError};

/// A launch that an engine is to run.
#[derive(Clone, Copy, Debug)]
pub struct KernelLaunch<'a> {
    /// The kernel; addresses of variables are filled in.
    pub kernel: &'a Kernel,
    /// The PTX file, for messages.
    pub source: &'a str,
    /// Its sizes, which the kernel allows.
    pub geometry: Geometry,
    /// The constant space: parameters, and `__constant__` variables behind them.
    pub constant: &'a [u8],
}

/// What runs kernels.
pub trait Engine {
    /// Why a launch failed.
    type Error: std::error::Error + 'static;

    /// Runs a launch to its end.
    ///
    /// # Errors
    /// When it does not come to its end. Memory may then hold anything.
    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), Self::Error>;
}

/// Why the oracle does not run a launch to its end.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// The image's code is no program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The program did something wrong.
    #[error(transparent)]
    Fault(Box<Fault>),
}

/// The oracle as an engine.
#[derive(Debug, Default)]
pub struct OracleEngine {
    oracle: Oracle,
    /// The last kernel, made ready: launches that repeat are the rule.
    program: Option<(Kernel, Program)>,
    /// What it has executed so far.
    pub counts: crate::block::Counts,
}

impl OracleEngine {
    /// With this oracle.
    pub fn new(oracle: Oracle) -> Self {
        Self { oracle, ..Self::default() }
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
        let launch = Launch { program, geometry: launch.geometry, constant: launch.constant };
        let statistics = self.oracle.run(&launch, memory).map_err(OracleError::Fault)?;
        self.counts.instructions += statistics.counts.instructions;
        self.counts.thread_instructions += statistics.counts.thread_instructions;
        Ok(())
    }
}
