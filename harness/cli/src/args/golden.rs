//! The command line of `gpurf golden`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Run;

/// `gpurf golden`.
#[derive(Debug, Subcommand)]
pub enum Golden {
    /// Compare the model with its goldens: what changed, by how much, since which cycle
    Check(CheckGoldens),
    /// Accept changed behaviour as the new goldens
    Bless(BlessGoldens),
    /// Write digests of every cycle of a run; `golden check --before` runs this on the older program
    Trace(TraceGolden),
}

/// Selects goldens.
#[derive(Debug, Args)]
pub struct Goldens {
    /// Select this preset (may be repeated; default: all)
    #[arg(long, value_name = "NAME")]
    pub preset: Vec<String>,
    /// Select this launch manifest, or the test kernel of this name (may be repeated; default: all test kernels)
    #[arg(long, value_name = "LAUNCH.toml|NAME")]
    pub kernel: Vec<PathBuf>,
    /// Folder of the goldens (default: tests/goldens of the checkout)
    #[arg(long, value_name = "DIR")]
    pub goldens: Option<PathBuf>,
    /// How to run and print
    #[command(flatten)]
    pub run: Run,
}

/// `gpurf golden check`.
#[derive(Debug, Args)]
#[command(after_help = "\
A golden gives the interval in which a change begins. The trace of the golden's run gives the cycle. The build folder keeps this trace from the last check that passed, \
or from `bless`. If the trace is missing, --before makes it again with a program that was built before the change.")]
pub struct CheckGoldens {
    /// Selected goldens
    #[command(flatten)]
    pub which: Goldens,
    /// A gpurf program that was built before the change
    #[arg(long, value_name = "PROGRAM")]
    pub before: Option<PathBuf>,
}

/// `gpurf golden bless`.
#[derive(Debug, Args)]
pub struct BlessGoldens {
    /// Selected goldens
    #[command(flatten)]
    pub which: Goldens,
    /// Reason why the change is correct; the golden's file keeps it
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub reason: String,
}

/// `gpurf golden trace`.
#[derive(Debug, Args)]
pub struct TraceGolden {
    /// Preset to run
    #[arg(long, value_name = "NAME")]
    pub preset: String,
    /// Launch manifest, or name of a test kernel
    #[arg(long, value_name = "LAUNCH.toml|NAME")]
    pub kernel: PathBuf,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}
