//! The verdict on launches that did not complete.

use gpurf_lockstep::Verdict;
use gpurf_oracle::host::{OracleError, RunError};
use gpurf_oracle::{Fault, FaultKind};

use super::LaunchError;

/// Why an engine ended a launch.
pub trait EngineError: std::error::Error + 'static {
    /// The verdict on the launch; `None` if it could not be run.
    fn verdict(&self) -> Option<Verdict>;
}

impl EngineError for OracleError {
    fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::Program(_) => None,
            Self::Fault(fault) => Some(of_fault(fault)),
        }
    }
}

impl EngineError for LaunchError {
    fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::Refused(_) | Self::Program(_) => None,
            Self::Oracle(fault) => Some(of_fault(fault)),
            Self::Fault(_) => Some(Verdict::CheckFailed),
            Self::Hung(_) => Some(Verdict::Hang),
            Self::Mismatch(_) => Some(Verdict::OracleMismatch),
            Self::Broken(broken) => Some(broken.verdict),
            Self::Interrupted => Some(Verdict::Interrupted),
            Self::Reached => Some(Verdict::Pass),
        }
    }
}

/// The verdict on a manifest with a launch that did not complete; `None` if it could not be run.
pub fn verdict<E: EngineError>(error: &RunError<E>) -> Option<Verdict> {
    match error {
        RunError::Engine(error) => error.verdict(),
        RunError::Passes { .. } => Some(Verdict::Hang),
        RunError::Fault { .. } => Some(Verdict::CheckFailed),
    }
}

fn of_fault(fault: &Fault) -> Verdict {
    match fault.kind {
        FaultKind::Spin { .. } | FaultKind::StepLimit { .. } | FaultKind::BarrierDeadlock { .. } => Verdict::Hang,
        FaultKind::Stopped => Verdict::Interrupted,
        _ => Verdict::CheckFailed,
    }
}
