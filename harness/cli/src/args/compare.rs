//! The command line of `gpurf compare`.

use std::path::PathBuf;

use clap::Args;

use super::{Run, cycles, from_to, number, replacement};

/// `gpurf compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Both machines run the same kernels on the model. A change is the difference of B relative to A. With --rtl both run as RTL under Verilator, B with the replaced modules; A and B may \
then be the same preset. docs/compare.md defines each number.")]
pub struct Compare {
    /// Baseline machine: a preset, or a TOML file
    #[arg(value_name = "A")]
    pub a: String,
    /// Machine to compare with A: a preset, or a TOML file
    #[arg(value_name = "B")]
    pub b: String,
    /// Override one value in both machines, e.g. sm.warps=16
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Run the kernels of this launch manifest, or the test kernel of this name (may be repeated; default: six test kernels)
    #[arg(long, value_name = "LAUNCH.toml|NAME")]
    pub kernel: Vec<PathBuf>,
    /// Put a file in place of a module's or a package's source in B, and run both as RTL (may be repeated)
    #[arg(long = "rtl", value_name = "MODULE=FILE", value_parser = replacement)]
    pub rtl: Vec<(String, PathBuf)>,
    /// Maximum number of registers per thread; values without a register are spilled to local memory
    #[arg(long, value_name = "N", value_parser = from_to::<u16>(16..=255), allow_negative_numbers = true)]
    pub registers: Option<u16>,
    /// Seed of memories and unreset state
    #[arg(long, value_name = "S", value_parser = number, default_value = "1", allow_negative_numbers = true)]
    pub seed: u64,
    /// Cycles in a row without progress after which a launch counts as hung
    #[arg(long, value_name = "N", value_parser = cycles, default_value = "20000", allow_negative_numbers = true)]
    pub idle_limit: u64,
    /// Energies: paper, rtl (the project's RTL), or a TOML file of pJ by event; without it the papers', not by event (docs/energy.md)
    #[arg(long, value_name = "paper|rtl|FILE")]
    pub energy: Option<String>,
    /// Show equal numbers too
    #[arg(long)]
    pub all: bool,
    /// Write an HTML page with all numbers
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// How to run and print
    #[command(flatten)]
    pub run: Run,
}
