//! The command line of `gpurf golden`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Run;

/// `gpurf golden`.
#[derive(Debug, Subcommand)]
pub enum Golden {
    /// Say what has changed, by how much, and since which cycle
    Check(CheckGoldens),
    /// Accept what has changed
    Bless(BlessGoldens),
    /// Write every cycle of a run in short: what `golden check --before` asks of the other program
    Trace(TraceGolden),
}

/// Which goldens.
#[derive(Debug, Args)]
pub struct Goldens {
    /// Of this preset (may be repeated; default: all)
    #[arg(long, value_name = "NAME")]
    pub preset: Vec<String>,
    /// Of this launch manifest, or of the test kernel of this name (may be repeated; default: all test kernels)
    #[arg(long, value_name = "LAUNCH.toml|NAME")]
    pub kernel: Vec<PathBuf>,
    /// The folder they are in (default: tests/goldens of the checkout)
    #[arg(long, value_name = "DIR")]
    pub goldens: Option<PathBuf>,
    /// How to run and print
    #[command(flatten)]
    pub run: Run,
}

/// `gpurf golden check`.
#[derive(Debug, Args)]
#[command(after_help = "\
A golden says in which interval a change begins. The cycle comes from the run that the golden was made of: the build folder keeps it from the last check that passed, \
or from `bless`. Where it is not there, --before runs it again, on a program that was built before the change.")]
pub struct CheckGoldens {
    /// Which
    #[command(flatten)]
    pub which: Goldens,
    /// A gpurf that was built before the change
    #[arg(long, value_name = "PROGRAM")]
    pub before: Option<PathBuf>,
}

/// `gpurf golden bless`.
#[derive(Debug, Args)]
pub struct BlessGoldens {
    /// Which
    #[command(flatten)]
    pub which: Goldens,
    /// Why the change is right; it is kept in the file
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub reason: String,
}

/// `gpurf golden trace`.
#[derive(Debug, Args)]
pub struct TraceGolden {
    /// On this preset
    #[arg(long, value_name = "NAME")]
    pub preset: String,
    /// The launch manifest, or the test kernel's name
    #[arg(long, value_name = "LAUNCH.toml|NAME")]
    pub kernel: PathBuf,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}
