//! `gpurf exec`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::Execution;

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
    /// What runs the kernels, and how
    #[command(flatten)]
    pub execution: Execution,
    /// Run the first N launches on the engine, and the rest on the functional one
    #[arg(long, value_name = "N")]
    pub sample: Option<u64>,
    /// Write each launch into this folder, as a manifest with its memory
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
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
