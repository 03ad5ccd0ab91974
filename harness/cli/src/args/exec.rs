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
Link the application with `nvcc -cudart shared` and include PTX for compute capability 7.5 or less (`-gencode arch=compute_75,code=compute_75`). It loads gpurf's \
CUDA runtime in place of NVIDIA's: gpurf compiles its kernels, runs them on the engine and returns their results. gpurf ends with the application's exit status, \
or with 1 if a launch fails for a reason outside the application."
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
    /// Engine and options of the run
    #[command(flatten)]
    pub execution: Execution,
    /// Run the first N launches on the engine, and the rest on the functional engine
    #[arg(long, value_name = "N")]
    pub sample: Option<u64>,
    /// Record each launch in this folder, as a manifest with its memory
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Print a line for each launch
    #[arg(long)]
    pub verbose: bool,
    /// Print the folder of gpurf's CUDA runtime, for nvcc's -L, and exit
    #[arg(long, conflicts_with = "program")]
    pub library: bool,
    /// Write a summary as one JSON object into this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
