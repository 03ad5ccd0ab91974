//! Why a job could not run.

/// Why a job could not run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JobError {
    /// The user's input is wrong (exit status 2).
    #[error("{0}")]
    Input(String),
    /// A tool is missing or a build failed (exit status 3).
    #[error("{0}")]
    Build(String),
}

impl From<verilated::Error> for JobError {
    fn from(error: verilated::Error) -> Self {
        match error {
            verilated::Error::Ports { .. }
            | verilated::Error::Source { .. }
            | verilated::Error::Memory { .. }
            | verilated::Error::OnlyVerilator { .. } => Self::Input(error.to_string()),
            _ => Self::Build(error.to_string()),
        }
    }
}
