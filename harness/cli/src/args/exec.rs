//! `gpurf exec`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{EngineKind, Selection, cycles, number};

/// `gpurf exec`.
#[derive(Debug, Args)]
#[command(
    override_usage = "gpurf exec [OPTIONS] -- PROGRAM [ARGUMENTS]...",
    after_help = "\
The application is linked with `nvcc -cudart shared`, and has PTX for compute capability 7.5 or less (`-gencode arch=compute_75,code=compute_75`). It finds gpurf's \
CUDA runtime in place of NVIDIA's: its kernels are compiled for the machine and run on the engine, and it gets their results. Its exit status is that of gpurf, \
unless a launch fails for a reason that is not the application's (1)."
)]
pub struct RunProgram {
    /// The application and its arguments
    #[arg(
        value_name = "PROGRAM",
        required_unless_present = "library",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub program: Vec<OsString>,
    /// Sizes and policies
    #[command(flatten)]
    pub selection: Selection,
    /// What executes the kernels
    #[arg(long, value_enum, default_value = "functional")]
    pub engine: EngineKind,
    /// Run the first N launches on the engine, and the rest on the functional one
    #[arg(long, value_name = "N")]
    pub sample: Option<u64>,
    /// Registers of a thread at most; values that find none live in local memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(16..=255))]
    pub registers: Option<u16>,
    /// Write each launch into this folder, as a manifest with its memory
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Optimise the RTL's build for a long run: it takes longer, and the run two thirds of the time
    #[arg(long)]
    pub optimise: bool,
    /// Cycles in a row without progress after which a launch counts as hung
    #[arg(long, value_name = "N", value_parser = cycles, default_value = "20000")]
    pub idle_limit: u64,
    /// Seed of memories and unreset state
    #[arg(long, value_name = "S", value_parser = number, default_value = "1", allow_negative_numbers = true)]
    pub seed: u64,
    /// Write failure folders into this one (default: failures/ of the checkout)
    #[arg(long, value_name = "DIR")]
    pub failures: Option<PathBuf>,
    /// A line for each launch
    #[arg(long)]
    pub verbose: bool,
    /// Print the folder with gpurf's CUDA runtime, for nvcc's -L, and run nothing
    #[arg(long, conflicts_with = "program")]
    pub library: bool,
    /// Write a summary as one JSON object into this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
