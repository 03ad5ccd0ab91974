//! The commands, one file each, and the functions that they share.

pub mod acceptance;
pub mod audit;
pub mod bench;
pub mod compare;
pub mod compile;
pub mod cosim;
mod cycles;
mod energy;
pub mod exec;
pub mod golden;
pub mod list;
pub mod mutate;
mod partition;
pub mod program;
pub mod regress;
pub mod report;
pub mod run;
mod simulate;
pub mod source;
mod statistics;
pub mod testbench;
mod trace;
pub mod wave;

use std::num::NonZeroUsize;

use gpurf_regress::Project;
use verilated::Toolchain;

use crate::failure::Failure;

/// The folders of the project.
///
/// # Errors
/// If there is no folder with the RTL.
pub fn project() -> Result<Project, Failure> {
    let project = Project::find();
    if project.rtl().is_dir() {
        return Ok(project);
    }
    let root = project.root.display();
    Err(Failure::bad_input(format!("there is no folder {root}/rtl: set GPURF_HOME to the folder of a gpurf checkout")))
}

/// Verilator and the compiler.
///
/// # Errors
/// If one of them is missing or too old.
pub fn toolchain(project: &Project) -> Result<Toolchain, Failure> {
    Toolchain::find(&project.cache()).map_err(|e| Failure::from(gpurf_regress::JobError::from(e)))
}

/// The number of jobs that run in parallel.
pub fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(|| std::thread::available_parallelism().map_or(1, NonZeroUsize::get), usize::from)
}
