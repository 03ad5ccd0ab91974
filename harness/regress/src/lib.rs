//! Runs large numbers of lockstep jobs.
//!
//! A [`LockstepJob`] is one run of one block: shape, straps, seed, length, source of inputs. [`run_job`] builds the RTL, runs it, shrinks a failure and writes
//! the failure folder; its [`JobResult`] is what a table or `--json` shows. [`suite`] has the lists of jobs that `gpurf cosim` runs;
//! [`run_all`] runs a list on several threads, [`run_grouped`] a list whose items share builds.
//!
//! [`golden`] records the behaviour of the model, so that changes are detected; [`regression`] runs thousands of cases and groups the failures.
//!
//! [`audit`] and [`mutants`] check the opposite: that the comparison can fail. [`mod@bench`] measures its cost.

pub mod audit;
pub mod bench;
mod block;
mod code;
mod comparisons;
mod error;
pub mod files;
pub mod golden;
mod job;
mod kernels;
pub mod mutants;
mod parallel;
pub mod programs;
mod project;
pub mod regression;
mod run;
mod stop;
pub mod suite;
mod trained;

pub use code::{BlockSize, CodeError, compiled_for, compiled_for_sizes, launched, private_part_follows};
pub use comparisons::ComparisonCounts;
pub use error::JobError;
pub use gpurf_stimulus::program::compiler_options;
pub use job::{
    COVERAGE_FROM_CYCLES, Inputs, JobResult, KernelInputs, LockstepJob, ProgramInputs, REGISTERS, REQUIRED_HITS,
    RtlSources, ToggleCounts, file_name, is_built_from, is_called, is_package, packages, packages_of, request,
};
pub use parallel::{run_all, run_grouped, threads_of_each};
pub use project::Project;
pub use run::run_job;
pub use stop::is_raised_by_now;
pub use trained::build_sm;
pub use verilated::PACKAGE;
