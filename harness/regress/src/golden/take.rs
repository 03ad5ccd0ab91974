//! Runs a kernel on the model and makes a golden of the run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use gpurf_blocks::config::Config;
use gpurf_launch::{BufferId, Manifest};
use gpurf_lockstep::golden::{Recorder, Trace, of_bytes, signals};
use gpurf_machine::{LaunchError, Machine, ModelEngine, Settings, Statistics};
use gpurf_oracle::host::{RunError, Session};

use super::{Golden, MARKS, SHORTEST_INTERVAL};
use crate::kernels::{image, input};
use crate::{JobError, KernelInputs, Project};

/// Computes further numbers of a run besides events, by name.
pub type Numbers<'a> = &'a (dyn Fn(&Config, &Statistics) -> BTreeMap<String, String> + Sync);

/// A golden, and the trace of its run.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The golden, still without a reason.
    pub golden: Golden,
    /// The trace of its cycles.
    pub trace: Trace,
}

/// Why no golden could be made.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    /// The kernel does not fit the preset.
    #[error("{0}")]
    Misfit(String),
    /// The run does not complete, or has wrong results.
    #[error("{0}")]
    Failed(String),
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
    /// It could not be run.
    #[error(transparent)]
    Job(#[from] JobError),
}

/// Runs a kernel on the model of a preset.
///
/// # Errors
/// When the run does not complete with the results that its manifest expects: wrong behaviour must not become a golden.
pub fn take(
    project: &Project,
    preset: &str,
    config: &Config,
    kernel: &KernelInputs,
    numbers: Numbers<'_>,
    stop: &'static AtomicBool,
) -> Result<Taken, NotTaken> {
    let manifest = Manifest::load(&kernel.manifest).map_err(|e| input(&e))?;
    let image = image(&manifest, kernel, config)?;
    let mut session = Session::new(&manifest, &image).map_err(|e| input(&e))?;
    let declaration = (gpurf_sm::ENTRY.twin)(config).declaration().clone();
    let recorder = Rc::new(RefCell::new(Recorder::new(&declaration)));
    let watch = recorder.clone();
    let settings = Settings { stop, ..Settings::new(*config) };
    let mut engine = ModelEngine::watched(settings, Box::new(move |record| watch.borrow_mut().cycle(record)));
    match session.run(&mut engine) {
        Ok(_) => {}
        Err(RunError::Engine(LaunchError::Interrupted)) => return Err(NotTaken::Interrupted),
        Err(RunError::Engine(LaunchError::Refused(refusal))) => return Err(NotTaken::Misfit(refusal.to_string())),
        Err(error) => return Err(NotTaken::Failed(error.to_string())),
    }
    let wrong = session.checks().map_err(|e| input(&e))?.into_iter().find(|row| !row.ok);
    if let Some(row) = wrong {
        return Err(NotTaken::Failed(format!("buffer {} differs from the manifest's expected contents", row.buffer)));
    }
    let statistics = engine.statistics();
    let commits: Vec<u8> = engine.commits().iter().flat_map(|digest| digest.to_le_bytes()).collect();
    drop(engine);
    let recorder = Rc::into_inner(recorder).expect("the engine had the only other one").into_inner();
    let trace = recorder.finish();
    let outputs = manifest.buffers.iter().enumerate().filter(|(_, buffer)| buffer.output);
    let (interval, marks) = marks(&trace);
    let golden = Golden {
        preset: preset.to_owned(),
        kernel: shown(project, kernel),
        reason: String::new(),
        cycles: statistics.cycles,
        signals: signals(&declaration),
        commits: of_bytes(&commits),
        state: format!("{:016x}", trace.whole),
        interval,
        marks,
        outputs: outputs.map(|(i, b)| (b.name.clone(), of_bytes(&session.bytes(BufferId(i))))).collect(),
        stats: numbers(config, &statistics),
        events: statistics.events.iter().filter(|(_, n)| **n > 0).map(|(name, n)| ((*name).to_owned(), *n)).collect(),
    };
    Ok(Taken { golden, trace })
}

/// The length of an interval, and the digests at the ends of the intervals.
fn marks(trace: &Trace) -> (u64, String) {
    let mut interval = SHORTEST_INTERVAL;
    while trace.len().div_ceil(interval) > MARKS {
        interval *= 2;
    }
    let ends = (1..=trace.len() / interval).map(|number| number * interval - 1);
    let marks: Vec<String> =
        ends.filter_map(|end| trace.digest_at(end)).map(|digest| format!("{digest:08x}")).collect();
    (interval, marks.join(" "))
}

/// The manifest's path, relative to the checkout if it is inside.
fn shown(project: &Project, kernel: &KernelInputs) -> String {
    let path = verilated::absolute(&kernel.manifest);
    path.strip_prefix(&project.root).unwrap_or(&path).display().to_string()
}
