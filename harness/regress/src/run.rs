//! Runs a job: a block, or on the SM a kernel or a random program.

use std::sync::atomic::AtomicBool;

use verilated::{Options, Toolchain};

use crate::{Inputs, JobError, JobResult, LockstepJob, Project, RtlSources, block, kernels, programs};

/// Builds and runs a job. `stop` ends it early.
///
/// # Errors
/// When it cannot run: wrong input, missing tools, a build that fails.
pub fn run_job(
    project: &Project,
    tools: &Toolchain,
    job: &LockstepJob,
    rtl: &RtlSources,
    options: &Options,
    stop: &'static AtomicBool,
) -> Result<JobResult, JobError> {
    match &job.inputs {
        Inputs::Kernel(kernel) => kernels::run(project, tools, job, kernel, rtl, options, stop),
        Inputs::Program(program) => programs::run(project, tools, job, program, rtl, options, stop),
        Inputs::Random | Inputs::Pinned(_) | Inputs::Replay(_) | Inputs::Directed(_) => {
            block::run(project, tools, job, rtl, options, stop)
        }
    }
}
