//! Exit statuses, and failures that end a command.

use std::process::ExitCode;

use gpurf_lockstep::Verdict;

/// The documented exit statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Equal, or passed.
    Pass = 0,
    /// Diverged, or an assertion or a check failed.
    Failed = 1,
    /// Bad input or usage.
    BadInput = 2,
    /// A tool is missing, or a build failed.
    Tool = 3,
    /// Interrupted.
    Interrupted = 130,
}

impl From<Verdict> for Status {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Interrupted => Self::Interrupted,
            good if good.good() => Self::Pass,
            _ => Self::Failed,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status as u8)
    }
}

/// A failure that ends a command early.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The exit status.
    pub status: Status,
    /// A sentence that the user can act on.
    pub message: String,
}

impl Failure {
    /// The user's input is at fault.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self { status: Status::BadInput, message: message.into() }
    }

    /// This failure, or an interruption if Ctrl-C was pressed: that also ends compilers, and then their failure is no defect.
    pub fn or_interrupted(self, requested: impl FnOnce() -> bool) -> Self {
        if self.status != Status::Tool || !requested() {
            return self;
        }
        let step = self.message.lines().next().unwrap_or_default().trim_end_matches(':');
        Self { status: Status::Interrupted, message: format!("interrupted ({step})") }
    }

    /// A tool, a build or the file system is at fault.
    pub fn tool(message: impl Into<String>) -> Self {
        Self { status: Status::Tool, message: message.into() }
    }
}

impl From<gpurf_launch::ManifestError> for Failure {
    fn from(error: gpurf_launch::ManifestError) -> Self {
        Self::bad_input(error.to_string())
    }
}

impl From<gpurf_blocks::config::ConfigError> for Failure {
    fn from(error: gpurf_blocks::config::ConfigError) -> Self {
        Self::bad_input(error.to_string())
    }
}

impl From<gpurf_lockstep::ReproducerError> for Failure {
    fn from(error: gpurf_lockstep::ReproducerError) -> Self {
        Self::bad_input(error.to_string())
    }
}

impl From<gpurf_regress::JobError> for Failure {
    fn from(error: gpurf_regress::JobError) -> Self {
        match error {
            gpurf_regress::JobError::Input(message) => Self::bad_input(message),
            gpurf_regress::JobError::Build(message) => Self::tool(message),
        }
    }
}
