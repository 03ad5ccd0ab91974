//! Engines that run launches, and the CUDA error for a launch that does not complete.

use std::path::PathBuf;

use gpurf_launch::Cause;
use gpurf_lockstep::Verdict;
use gpurf_machine::{EngineError, LaunchError, Machine};
use gpurf_oracle::FaultKind;
use gpurf_oracle::Memory;
use gpurf_oracle::host::{Engine, KernelLaunch, OracleEngine, OracleError, ReportedFault};

use crate::CudaError;

/// Runs launches, one after the other.
pub trait Runner {
    /// Runs a launch to its end.
    ///
    /// # Errors
    /// When it does not complete. Memory may then hold anything.
    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), Stopped>;

    /// Cycles of all launches so far; `None` for an engine that has none.
    fn cycles(&self) -> Option<u64>;

    /// Name of the engine that runs the next launch.
    fn name(&self) -> &'static str;
}

/// A launch that did not complete.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// The error that the application receives.
    pub error: CudaError,
    /// The message for the user.
    pub message: String,
    /// The verdict, if it is not the application's fault: the sides differ, for example, or the machine and the oracle.
    pub verdict: Option<Verdict>,
    /// Whether it was refused before it ran: memory is as it was, and other launches may run.
    pub refused: bool,
}

/// The CUDA error for a fault of the program.
fn of_fault(fault: Option<ReportedFault>) -> CudaError {
    match fault.map(|fault| fault.cause) {
        Some(Cause::Misaligned) => CudaError::MisalignedAddress,
        Some(
            Cause::OutOfBounds | Cause::NoSuchPlace | Cause::WideAddress | Cause::ConstantWritten | Cause::LocalAtomic,
        ) => CudaError::IllegalAddress,
        Some(Cause::Unsupported) => CudaError::IllegalInstruction,
        Some(_) | None => CudaError::LaunchFailure,
    }
}

/// Runs launches on the oracle.
#[derive(Default)]
pub struct Functional(OracleEngine);

impl Functional {
    /// Runs launches on this oracle.
    pub fn new(engine: OracleEngine) -> Self {
        Self(engine)
    }
}

impl Runner for Functional {
    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), Stopped> {
        self.0.launch(launch, memory).map_err(|error| {
            let verdict = error.verdict().filter(|verdict| *verdict == Verdict::Interrupted);
            let cuda = match &error {
                OracleError::Program(_) => CudaError::InvalidImage,
                OracleError::Fault(fault) => match fault.kind {
                    FaultKind::Spin { .. } | FaultKind::StepLimit { .. } | FaultKind::BarrierDeadlock { .. } => {
                        CudaError::LaunchTimeout
                    }
                    FaultKind::Stopped => CudaError::Unknown,
                    _ => of_fault(ReportedFault::of_oracle(fault)),
                },
            };
            Stopped {
                error: cuda,
                message: with_advice(&error),
                verdict,
                refused: matches!(error, OracleError::Program(_)),
            }
        })
    }

    fn cycles(&self) -> Option<u64> {
        None
    }

    fn name(&self) -> &'static str {
        "functional"
    }
}

/// What happened, and what the user can do where the check of the functional engine may be too strict.
fn with_advice(error: &OracleError) -> String {
    let advice = match error {
        OracleError::Fault(fault) if matches!(fault.kind, FaultKind::SharedRace { .. }) => {
            "\n--engine model runs such a kernel, as do GPUs. Volatile accesses that synchronise warps are \
             reported too (docs/oracle.md)"
        }
        _ => "",
    };
    format!("{error}{advice}")
}

/// Runs launches on the SM's model, its RTL, or both.
pub struct OnMachine<M> {
    machine: M,
    name: &'static str,
    failures: PathBuf,
    notes: Vec<String>,
}

impl<M: Machine> OnMachine<M> {
    /// A runner on a machine with this name. Failure folders are written into `failures`; their reports end with `notes`.
    pub fn new(machine: M, name: &'static str, failures: PathBuf, notes: Vec<String>) -> Self {
        Self { machine, name, failures, notes }
    }

    fn stopped(&self, error: &LaunchError) -> Stopped {
        let own = matches!(error, LaunchError::Oracle(_) | LaunchError::Fault(_));
        let refused = matches!(error, LaunchError::Refused(_) | LaunchError::Program(_));
        let cuda = match error {
            LaunchError::Refused(_) => CudaError::OutOfResources,
            LaunchError::Program(_) => CudaError::InvalidImage,
            LaunchError::Oracle(fault) => of_fault(ReportedFault::of_oracle(fault)),
            LaunchError::Fault(_) => of_fault(error.reported()),
            LaunchError::Hung(_) => CudaError::LaunchTimeout,
            LaunchError::Mismatch(_) | LaunchError::Broken(_) => CudaError::Unknown,
            LaunchError::Interrupted | LaunchError::Reached => CudaError::Unknown,
        };
        let mut message = error.to_string();
        match self.machine.write_failure(&self.failures, &self.notes, None) {
            Ok(Some(folder)) => message.push_str(&format!("\n{}", folder.display())),
            Ok(None) => {}
            Err(error) => {
                message.push_str(&format!("\ncannot write a failure folder in {}: {error}", self.failures.display()));
            }
        }
        let verdict = error.verdict().filter(|_| !own && !refused);
        Stopped { error: cuda, message, verdict, refused }
    }
}

impl<M: Machine> Runner for OnMachine<M> {
    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), Stopped> {
        self.machine.launch(launch, memory).map_err(|error| self.stopped(&error))
    }

    fn cycles(&self) -> Option<u64> {
        Some(self.machine.statistics().cycles)
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

/// Runs the first launches on one engine, and later ones on another.
pub struct Sampled {
    first: Box<dyn Runner>,
    rest: Box<dyn Runner>,
    left: u64,
}

impl Sampled {
    /// `first` runs this number of launches, `rest` all others.
    pub fn new(first: Box<dyn Runner>, launches: u64, rest: Box<dyn Runner>) -> Self {
        Self { first, rest, left: launches }
    }
}

impl Runner for Sampled {
    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), Stopped> {
        if self.left == 0 {
            return self.rest.launch(launch, memory);
        }
        self.left -= 1;
        self.first.launch(launch, memory)
    }

    fn cycles(&self) -> Option<u64> {
        match (self.first.cycles(), self.rest.cycles()) {
            (None, None) => None,
            (first, rest) => Some(first.unwrap_or(0) + rest.unwrap_or(0)),
        }
    }

    fn name(&self) -> &'static str {
        if self.left == 0 { self.rest.name() } else { self.first.name() }
    }
}

#[cfg(test)]
mod tests {
    use gpurf_oracle::{Access, Fault};

    use super::*;

    #[test]
    fn a_race_names_the_engine_that_runs_the_kernel() {
        let kind = FaultKind::SharedRace {
            access: Access::Load,
            address: 16,
            other: Access::Store,
            other_warp: 1,
            other_line: 9,
        };
        let fault = |kind| {
            OracleError::Fault(Box::new(Fault {
                kernel: "k".into(),
                block: [0; 3],
                thread: [0; 3],
                warp: 0,
                pc: 0,
                instruction: "NOP".into(),
                file: "a.ptx".into(),
                line: 7,
                cuda: None,
                kind,
            }))
        };
        assert!(with_advice(&fault(kind)).contains("--engine model"));
        assert!(!with_advice(&fault(FaultKind::PastEnd)).contains("--engine"));
    }
}
