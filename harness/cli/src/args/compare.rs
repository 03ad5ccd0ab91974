//! The command line of `gpurf compare`.

use std::path::PathBuf;

use clap::Args;

use super::{Run, cycles, number, replacement};

/// `gpurf compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Both machines run the same kernels on the model. Changes are those of B, by A. With --rtl both run as RTL under Verilator, B with the replaced modules; A and B may \
then be one preset. docs/compare.md says what each number is.")]
pub struct Compare {
    /// The machine that B is compared with: a preset, or a TOML file
    #[arg(value_name = "A")]
    pub a: String,
    /// The other one
    #[arg(value_name = "B")]
    pub b: String,
    /// Override one value in both, e.g. sm.warps=16
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Run the kernels of this launch manifest, or the test kernel of this name (may be repeated; default: six test kernels)
    #[arg(long, value_name = "LAUNCH.toml|NAME")]
    pub kernel: Vec<PathBuf>,
    /// Put a file in place of a module's or a package's source in B, and run both as RTL (may be repeated)
    #[arg(long = "rtl", value_name = "MODULE=FILE", value_parser = replacement)]
    pub rtl: Vec<(String, PathBuf)>,
    /// Registers of a thread at most; values without a register are kept in local memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(16..=255))]
    pub registers: Option<u16>,
    /// Seed of memories and unreset state
    #[arg(long, value_name = "S", value_parser = number, default_value = "1", allow_negative_numbers = true)]
    pub seed: u64,
    /// Cycles in a row without progress after which a launch counts as hung
    #[arg(long, value_name = "N", value_parser = cycles, default_value = "20000")]
    pub idle_limit: u64,
    /// Show what is equal too
    #[arg(long)]
    pub all: bool,
    /// Write a page with all numbers
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// How to run and print
    #[command(flatten)]
    pub run: Run,
}
