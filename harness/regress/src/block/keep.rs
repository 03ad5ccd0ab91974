//! Keeps a block's failure: a shorter run that fails in the same way, and a folder.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gpurf_blocks::shape::straps_of;
use gpurf_lockstep::{
    Cause, FailureContext, Lockstep, Records, Reproducer, RunOutcome, RunPlan, Sequence, Shrunk, shrink, write_failure,
};

use super::Runner;
use crate::job::{allowed, overrides, replay_options};
use crate::kernels::cannot_write;
use crate::{Inputs, JobError, LockstepJob, Project, RtlSources};

/// Number of cycles before a failure at which shrinking may begin; a longer history raises it.
const SHRINK_WINDOW: u64 = 16_384;
/// Time limit of shrinking.
const SHRINK_LIMIT: Duration = Duration::from_secs(20);
/// File name of the reproducer.
const FILE: &str = "reproducer.json";

/// A short failing run, as a file; or the reason why there is none.
enum Short {
    Found { text: String, inputs: Records, minimal: bool },
    None(String),
}

impl Runner<'_> {
    /// Shrinks a failure and writes its folder. If that cannot be written, the result is the reason; the failure is reported all the same.
    pub(super) fn keep(
        &self,
        project: &Project,
        rtl: &RtlSources,
        sides: &Lockstep,
        outcome: &RunOutcome,
        report: &str,
        stop: &AtomicBool,
    ) -> Result<Result<PathBuf, String>, JobError> {
        let cause = outcome.cause.as_ref().expect("called for failures");
        let job = self.job;
        let mut run: Vec<String> = self.declaration.parameters.iter().map(|(n, v)| format!("{n}={v}")).collect();
        run.extend(straps_of(self.declaration, &job.config).iter().map(|(port, value)| format!("{port}={value:#x}")));
        run.push(format!("seed {}", job.seed));
        let mut notes = vec![format!("  {:<9} {}", "run", run.join(" "))];
        notes.extend(allowed(self.library.absent_names()));
        let short = if matches!(cause, Cause::Interrupted) { None } else { Some(self.short(cause, rtl, stop)?) };
        match &short {
            Some(Short::Found { inputs, minimal, .. }) => {
                let cycles = inputs.len();
                let minimal = if *minimal { "locally minimal" } else { "not yet minimal: time ran out" };
                let plural = if cycles == 1 { "cycle" } else { "cycles" };
                let command = format!("gpurf cosim --replay {{}}/{FILE}{}", replay_options(&rtl.options));
                notes.push(format!("  {:<9} {cycles} {plural} ({minimal}): {command}", "reproduce"));
            }
            Some(Short::None(why)) => {
                notes.push(format!("  {:<9} none: {why}", "reproduce"));
                if !matches!(job.inputs, Inputs::Replay(_)) {
                    let cycles = cause.cycle().map_or(job.cycles, |cycle| cycle + 1);
                    notes.push(format!("  {:<9} the whole run: {}", "", job.command(cycles, &rtl.options)));
                }
            }
            None => {}
        }
        notes.push(format!("  {:<9} gpurf wave {{}}", "waveform"));
        let context = FailureContext {
            comparator: &sides.comparator,
            cause,
            report,
            capture: outcome.capture.as_ref(),
            reproducer: match &short {
                Some(Short::Found { text, .. }) => Some((FILE, text)),
                _ => None,
            },
            inputs: match &short {
                Some(Short::Found { inputs, .. }) => Some(inputs),
                _ => None,
            },
            notes: &notes,
        };
        Ok(write_failure(&project.failures, &context).map_err(|e| cannot_write(project, &e)))
    }

    /// Finds a shorter run that fails in the same way. It is read back from its text and run again before it is reported.
    fn short(&self, cause: &Cause, rtl: &RtlSources, stop: &AtomicBool) -> Result<Short, JobError> {
        let Some(failing) = cause.cycle() else {
            return Ok(Short::None("the failure has no cycle".to_owned()));
        };
        let wanted = signature(cause);
        let inputs = self.inputs_before(failing)?;
        let mut broken = None;
        let mut fails = |inputs: &Records| match self.fails(&wanted, inputs, stop) {
            Ok(cycle) => cycle,
            Err(error) => {
                broken = Some(error);
                None
            }
        };
        if fails(&inputs).is_none() {
            let reset = if self.declaration.signal("rst_ni").is_some() { "from reset " } else { "" };
            let why = match failing.checked_sub(self.window()) {
                Some(_) => format!(
                    "the {} cycles before the failure, which is as many as shrinking begins with, do not fail {reset}on their own; \
                     with --history CYCLES it begins with more",
                    inputs.len()
                ),
                None => "the inputs of the run, given again, do not fail in the same way: a defect of gpurf".to_owned(),
            };
            return broken.map_or(Ok(Short::None(why)), Err);
        }
        let shrunk = shrink(self.declaration, &inputs, SHRINK_LIMIT, &mut fails);
        if let Some(error) = broken {
            return Err(error);
        }
        let Shrunk { inputs, minimal, .. } = shrunk;
        let job = self.job;
        let text = Reproducer::new(self.declaration, &job.config, job.seed, overrides(rtl), &inputs).to_json();
        if !self.replays(&text, &wanted, stop)? && !stop.load(Ordering::Relaxed) {
            let why =
                "the shortest run does not fail in the same way when it is read back from its file: a defect of gpurf";
            return Ok(Short::None(why.to_owned()));
        }
        Ok(Short::Found { text, inputs, minimal })
    }

    /// The cycle in which these inputs, run from reset, fail in the wanted way, if they do.
    fn fails(&self, wanted: &(u8, String), inputs: &Records, stop: &AtomicBool) -> Result<Option<u64>, JobError> {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        // There are many short runs: starting a thread for each would cost more than it saves.
        let plan = RunPlan { threads: 1, ..self.plan(inputs.len() as u64) };
        let outcome = self.sides()?.run(&mut Sequence::new(inputs.clone()), &plan, &mut |_, _| {}, stop);
        Ok(outcome.cause.filter(|cause| signature(cause) == *wanted).as_ref().and_then(Cause::cycle))
    }

    /// Whether the run in a reproducer's text fails in the wanted way.
    fn replays(&self, text: &str, wanted: &(u8, String), stop: &AtomicBool) -> Result<bool, JobError> {
        let unreadable = |e: &dyn std::fmt::Display| JobError::Build(format!("the reproducer that was written: {e}"));
        let read = Reproducer::parse(text, FILE).map_err(|e| unreadable(&e))?;
        let inputs = read.inputs(self.declaration).map_err(|e| unreadable(&e))?;
        let job = LockstepJob::of_reproducer(read)?;
        if (&job.block, &job.config) != (&self.job.block, &self.job.config) {
            return Ok(false);
        }
        let runner = Runner { job: &job, ..*self };
        Ok(runner.fails(wanted, &inputs, stop)?.is_some())
    }

    /// Number of cycles before the failure with which shrinking begins.
    fn window(&self) -> u64 {
        SHRINK_WINDOW.max(self.job.history)
    }

    /// The inputs of the cycles up to and including `failing`, at most as many as the window.
    fn inputs_before(&self, failing: u64) -> Result<Records, JobError> {
        let mut stimulus = self.stimulus()?;
        let count = failing + 1;
        let skipped = count.saturating_sub(self.window());
        let mut scratch = Records::zeroed(self.declaration.input_bytes, 1);
        let mut inputs = Records::new(self.declaration.input_bytes);
        for cycle in 0..count {
            if !stimulus.next(scratch.get_mut(0)) {
                break;
            }
            if cycle >= skipped {
                inputs.push(scratch.get(0));
            }
        }
        Ok(inputs)
    }
}

/// What two failures have in common if they count as the same: the kind, and the block or the message.
fn signature(cause: &Cause) -> (u8, String) {
    match cause {
        Cause::Diverged(d) if d.differences.is_empty() => (0, d.blame.block.clone()),
        Cause::Diverged(d) => (1, d.blame.block.clone()),
        Cause::Assertion { failure, .. } => (2, failure.message.lines().next().unwrap_or_default().to_owned()),
        Cause::Panicked { message, .. } => (3, message.clone()),
        Cause::Hung { .. } => (4, String::new()),
        Cause::Interrupted => (5, String::new()),
    }
}
