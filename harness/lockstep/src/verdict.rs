//! The result of a run, in one word.

use serde::{Deserialize, Serialize};

use crate::Cause;

/// The result of a run: the words of `--json` and of a regression's journal. All commands use this one list; its order is that of a regression's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Equal, and all requirements of the run were met.
    Pass,
    /// Not run: it does not fit the configuration.
    Skipped,
    /// RTL and model differ.
    Diverged,
    /// The RTL failed an assertion or stopped.
    Assertion,
    /// No progress; the two sides are equal up to this point.
    Hang,
    /// The SM does not do what the oracle says: a commit or a count differs.
    OracleMismatch,
    /// A check failed: the results are not those expected.
    CheckFailed,
    /// The result differs from the golden.
    GoldenChanged,
    /// Equal, but a coverage point was reached too rarely.
    CoverageMissed,
    /// Not run: the RTL lacks a probe that is compared.
    ProbesAbsent,
    /// The time limit was exceeded.
    TimeLimit,
    /// The process of the run ended unexpectedly.
    Crashed,
    /// It could not be run, or the model panicked.
    Error,
    /// Stopped by the user.
    Interrupted,
}

impl Verdict {
    /// The verdict on a run that ended early.
    pub fn of(cause: &Cause) -> Self {
        match cause {
            Cause::Diverged(_) => Self::Diverged,
            Cause::Assertion { .. } => Self::Assertion,
            Cause::Panicked { .. } => Self::Error,
            Cause::Hung { .. } => Self::Hang,
            Cause::Interrupted => Self::Interrupted,
        }
    }

    /// Whether the verdict is not a failure.
    pub fn good(self) -> bool {
        matches!(self, Self::Pass | Self::Skipped)
    }

    /// The word used in `--json`.
    pub fn word(self) -> String {
        serde_json::to_value(self).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// The word used in tables, in which failures stand out.
    pub fn label(self) -> &'static str {
        match self {
            Self::Pass => "equal",
            Self::Skipped => "skipped",
            Self::Diverged => "DIVERGED",
            Self::Assertion => "ASSERTION",
            Self::Hang => "HANG",
            Self::OracleMismatch => "ORACLE MISMATCH",
            Self::CheckFailed => "CHECK FAILED",
            Self::GoldenChanged => "GOLDEN CHANGED",
            Self::CoverageMissed => "NOT COVERED",
            Self::ProbesAbsent => "PROBES ABSENT",
            Self::TimeLimit => "TIME LIMIT",
            Self::Crashed => "CRASHED",
            Self::Error => "ERROR",
            Self::Interrupted => "interrupted",
        }
    }
}
