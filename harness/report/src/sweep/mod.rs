//! Sweeps: many runs of kernels on configurations of the model, and on the oracle.

mod kernel;
mod plan;
mod results;
mod task;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gpurf_machine::Foreseen;
use gpurf_regress::run_all;

pub use kernel::{Kernel, Ptx, Size};
pub use plan::{Point, SweepPlan};
pub use results::{Measured, Results};
pub(crate) use results::{by, mean_of};
pub(crate) use task::Outcome;
pub use task::RunName;
use task::{Task, What};

use crate::kept::Kept;

/// The default number of cycles after which no new block of a launch starts (docs/reports.md, "Samples").
pub const SAMPLE: u64 = 200_000;

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The configuration, the kernel, or their combination is invalid: the user's choice.
    #[error("{0}")]
    Input(String),
    /// The kernel's results on the model are wrong.
    #[error("{0}")]
    Failed(String),
    /// The user ended the run.
    #[error("interrupted")]
    Interrupted,
}

/// Receives the progress of a sweep.
pub trait Watcher: Sync {
    /// A run begins.
    fn begin(&self, index: usize, name: &RunName);
    /// A run has ended, or its result was already on disk.
    fn end(&self, index: usize, name: &RunName, how: Ended<'_>);
}

/// How a run has ended.
#[derive(Clone, Copy, Debug)]
pub enum Ended<'a> {
    /// It ran and has a result.
    Ran,
    /// Its result was already on disk.
    Kept,
    /// It has no result.
    Failed(&'a SweepError),
}

/// Makes all runs whose results are not on disk, on `threads` threads.
pub fn sweep<'a>(
    plan: &SweepPlan,
    kernels: &'a [Kernel],
    threads: usize,
    stop: &'static AtomicBool,
    kept: &Kept,
    watcher: &impl Watcher,
) -> Results<'a> {
    let tasks: Vec<Task<'_>> = plan.tasks(kernels);
    let digests: HashMap<&str, Option<String>> =
        kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.digest())).collect();
    let key = |task: &Task<'_>, what: What<'_>| {
        let kernel = digests[task.kernel.name.as_str()].as_ref()?;
        let sample = task.kernel.sample.filter(|_| matches!(what, What::Model(_)));
        let sample = sample.map_or_else(String::new, |limit| format!(", a sample of {limit} cycles"));
        Some(kept.key(&format!("kernel {} {kernel}, {}{sample}", task.kernel.name, what.key())))
    };
    let foreseen: HashMap<&str, Arc<Foreseen>> =
        kernels.iter().map(|kernel| (kernel.name.as_str(), Arc::default())).collect();
    let there = |task: &Task<'_>, what: What<'_>| kept.read(&key(task, what)?);
    let mut results = Results::none(kernels);
    let mut open: Vec<(usize, Task<'_>)> = Vec::new();
    for (index, task) in tasks.into_iter().enumerate() {
        let mut left = Vec::new();
        for &what in &task.whats {
            match there(&task, what) {
                Some(outcome) => results.put(task.kernel, what, outcome),
                None => left.push(what),
            }
        }
        if left.is_empty() {
            watcher.end(index, &task.name(), Ended::Kept);
        } else {
            open.push((index, Task { whats: left, ..task }));
        }
    }
    let work = |(index, task): &(usize, Task<'_>)| {
        if stop.load(Ordering::Relaxed) {
            return Err(SweepError::Interrupted);
        }
        watcher.begin(*index, &task.name());
        let outcomes = task.run(stop, &foreseen[task.kernel.name.as_str()])?;
        for (what, outcome) in task.whats.iter().zip(&outcomes) {
            if let Some(key) = key(task, *what) {
                kept.write(&key, outcome);
            }
        }
        Ok(outcomes)
    };
    let ended = |place: usize, outcome: &Result<Vec<Outcome>, SweepError>| {
        let (index, task) = &open[place];
        watcher.end(*index, &task.name(), outcome.as_ref().err().map_or(Ended::Ran, Ended::Failed));
    };
    let outcomes = run_all(&open, threads, work, ended);
    // Errors are in the order of the plan, whatever results were already on disk.
    for ((_, task), outcomes) in open.iter().zip(outcomes) {
        match outcomes {
            Ok(outcomes) => {
                task.whats.iter().zip(outcomes).for_each(|(&what, outcome)| results.put(task.kernel, what, outcome));
            }
            Err(error) => results.errors.push(error),
        }
    }
    results
}
