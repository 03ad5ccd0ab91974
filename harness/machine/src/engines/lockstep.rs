//! RTL and model in lockstep, each with its own surroundings, judged by the oracle.

use std::io;
use std::path::{Path, PathBuf};

use gpurf_blocks::view;
use gpurf_lockstep::wave::Scopes;
use gpurf_lockstep::{
    Capture, Cause, Events, FailureContext, Idle, Lockstep, Records, RunOutcome, RunPlan, Spreads, Trail, Verdict,
    report, write_failure,
};
use gpurf_oracle::Memory;
use gpurf_oracle::host::{Engine, KernelLaunch, ReportedFault};
use gpurf_sm::{SmIn, SmOut};
use verilated::{Library, RtlFailure};

use super::solo::{ModelEngine, ModelParts, Other, oracle, rerun};
use super::window::Window;
use super::{Broken, Judged, LaunchError, Machine, Settings, Statistics, stopped};
use crate::commits::Judge;
use crate::coverage::Coverage;
use crate::cycle::{Cycle, progress, starts};
use crate::fault::MachineFault;
use crate::hang::{self, Hang};
use crate::job::Job;
use crate::memory::Moved;
use crate::surroundings::{End, Surroundings};
use crate::trace::Trace;
use crate::whereabouts::Whereabouts;

/// Memories are compared whole after every this many cycles, and at the end of every launch.
const MEMORY_EVERY: u64 = 65_536;

/// Interval at which the meter is set.
const METER_EVERY: u64 = 4096;

/// Cycles that are compared after an expected fault: more than memory needs to answer a full queue of requests.
const AFTER_FAULT: u64 = 1000;

/// Both sides of the SM, with the oracle as the judge of their commits.
///
/// The SM keeps its state from launch to launch: all launches are one run, in stretches.
pub struct LockstepEngine {
    settings: Settings,
    lockstep: Lockstep,
    trail: Trail,
    rtl: Surroundings,
    model: Surroundings,
    /// The SM that is the reference of the throttle, if the configuration has one.
    other: Option<Other>,
    /// The model, while it runs alone to the first compared cycle.
    ahead: Option<ModelEngine>,
    /// The run ends before this cycle.
    until: u64,
    /// `None` if only some cycles are compared.
    judge: Option<Judge>,
    judged: Judged,
    absent: Vec<String>,
    window: Window,
    /// Bytes that memory had moved before the first compared cycle.
    moved: Moved,
    launches: u64,
    /// Cycles since reset; `first`: those before the first compared cycle.
    cycles: u64,
    first: u64,
    events: Events,
    spreads: Spreads,
    coverage: Coverage,
    trace: Option<Trace>,
    /// The failure of the lockstep, if it failed.
    failure: Option<LockstepFailure>,
}

/// A failure of the lockstep.
struct LockstepFailure {
    cause: Cause,
    /// The cycles around the failure.
    capture: Option<Capture>,
    /// The failure in words.
    report: String,
}

impl LockstepEngine {
    /// Before reset. The library was built from [`request`](super::request) with probes, and with [`state`](verilated::Options::state) if only some
    /// cycles are compared ([`Settings::compare`]). The oracle cannot judge parts of launches: then it judges nothing, and registers that are switched off
    /// do not lose their values.
    ///
    /// # Errors
    /// When the RTL fails while it is constructed.
    pub fn new(settings: Settings, library: &Library) -> Result<Self, RtlFailure> {
        let mut model = (settings.model)(&settings.config);
        let config = &settings.config;
        let [of_rtl, of_model] = [(); 2].map(|()| match settings.compare {
            None => Surroundings::forgetful(config, &mut *model),
            Some(_) => Surroundings::new(config),
        });
        let until = settings.compare.as_ref().map_or(u64::MAX, |cycles| cycles.end().saturating_add(1));
        let judge = settings.compare.is_none().then(|| Judge::new(oracle(&settings), config));
        let lockstep = Lockstep::new(model, library.instance(settings.seed)?);
        Ok(Self {
            trail: Trail::with_history(&lockstep, settings.history),
            rtl: of_rtl,
            model: of_model,
            other: Other::new(&settings),
            ahead: ahead(&settings),
            until,
            judge,
            judged: Judged::default(),
            absent: library.absent_names().to_vec(),
            window: Window::new(&settings, lockstep.comparator.declaration(), Some(library), Scopes::Both),
            moved: Moved::default(),
            launches: 0,
            cycles: 0,
            first: 0,
            events: Events::new(),
            spreads: Spreads::new(),
            coverage: Coverage::new(&settings.config),
            trace: None,
            failure: None,
            settings,
            lockstep,
        })
    }

    /// The model has reached the first compared cycle, in the middle of a launch: both sides continue from there.
    fn meet(&mut self, alone: ModelParts) -> Result<(), LaunchError> {
        let ModelParts { twin, surroundings, last, cycles, other } = alone;
        (self.lockstep.twin, self.other) = (twin, other);
        self.moved = surroundings.moved();
        (self.rtl, self.model) = (surroundings.clone(), surroundings);
        (self.cycles, self.first) = (cycles, cycles);
        self.trail = Trail::met(&self.lockstep, self.settings.history, cycles, last.get(0));
        self.lockstep.meet().map_err(|error| {
            let report = format!("the RTL does not get the state of the model in cycle {cycles}: {error}");
            let verdict = Verdict::Assertion;
            LaunchError::Broken(Box::new(Broken { verdict, cycle: cycles, report, divergence: None }))
        })
    }

    /// Records the requested cycles around a failure; the two sides may differ in them.
    fn record_failure(&mut self, outcome: &RunOutcome) {
        let Some(capture) = &outcome.capture else { return };
        for index in capture.before()..capture.len() {
            let cycle = capture.first_cycle + index as u64;
            self.window.cycle(cycle, capture.model(index), capture.rtl(index));
        }
    }

    /// Puts a mark at the failure into the trace, and the model's cycles from there on, as far as they are known.
    fn trace_failure(&mut self, error: &LaunchError, failure: &LockstepFailure, equal: u64) {
        let Some(trace) = &mut self.trace else { return };
        let mut details = vec![("report", failure.report.trim_end().to_owned())];
        let (cycle, text) = match error {
            LaunchError::Broken(broken) => {
                if let Some(found) = &broken.divergence {
                    let found = [
                        ("block", found.block.clone()),
                        ("port", found.port.clone()),
                        ("model", found.model.clone()),
                        ("rtl", found.rtl.clone()),
                    ];
                    details.extend(found);
                }
                (broken.cycle, if broken.divergence.is_some() { "RTL and model diverge" } else { "failure" })
            }
            LaunchError::Hung(hang) => (hang.cycle, "hang"),
            _ => (equal.saturating_sub(1), "interrupted"),
        };
        if let Some(capture) = &failure.capture {
            let input_bytes = self.lockstep.comparator.declaration().input_bytes;
            for index in capture.before()..capture.len() {
                let (inputs, compared) = capture.model(index).split_at(input_bytes);
                trace.observe(&Cycle::of(inputs, compared), compared);
            }
        }
        trace.mark(cycle, text, &details);
        trace.end_launch();
    }

    /// The error for a launch in which the lockstep failed.
    fn error(&self, launch: &KernelLaunch<'_>, failure: &LockstepFailure) -> LaunchError {
        let LockstepFailure { cause, capture, report } = failure;
        let broken = |cycle, divergence| {
            let (verdict, report) = (Verdict::of(cause), report.clone());
            LaunchError::Broken(Box::new(Broken { verdict, cycle, report, divergence }))
        };
        match cause {
            Cause::Diverged(divergence) => {
                let declaration = self.lockstep.comparator.declaration();
                let summary = |capture| report::summary(declaration, divergence, capture);
                broken(divergence.cycle, capture.as_ref().map(summary))
            }
            Cause::Assertion { cycle, .. } | Cause::Panicked { cycle, .. } => broken(*cycle, None),
            Cause::Hung { cycle, since } => {
                let last = self.last();
                let shape = self.settings.config.sm_shape();
                let waits = hang::waits(last.out, last.probe, &shape, launch);
                let kernel = launch.kernel.name.clone();
                LaunchError::Hung(Box::new(Hang { kernel, since: Some(*since), cycle: *cycle, waits }))
            }
            Cause::Interrupted => LaunchError::Interrupted,
        }
    }

    /// The model's last cycle.
    fn last(&self) -> Cycle<'_> {
        let (inputs, compared) = self.trail.last().split_at(self.lockstep.comparator.declaration().input_bytes);
        Cycle::of(inputs, compared)
    }
}

/// The model that runs alone to the first compared cycle; `None` if this is the first cycle of the run.
fn ahead(settings: &Settings) -> Option<ModelEngine> {
    let first = *settings.compare.as_ref()?.start();
    let mut alone = ModelEngine::new(Settings { wave: None, measure: false, ..settings.clone() });
    alone.until(first);
    (first > 0).then_some(alone)
}

impl Engine for LockstepEngine {
    type Error = LaunchError;

    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), LaunchError> {
        if self.cycles == self.until {
            return Err(LaunchError::Reached);
        }
        let job = Job::new(&self.settings.config, launch)?;
        let mut case = self.judge.as_mut().map(|judge| judge.begin(launch, &job, memory)).transpose()?;
        let mut reference = Vec::new();
        if let Some(mut alone) = self.ahead.take() {
            match alone.launch(launch, memory) {
                Err(LaunchError::Reached) => self.meet(alone.into_parts())?,
                ended => {
                    self.ahead = Some(alone);
                    return ended;
                }
            }
        } else {
            reference = self.other.as_mut().map_or_else(Vec::new, |other| other.run(&job, memory));
            self.rtl.begin(job.clone(), memory.clone(), reference.clone());
            self.model.begin(job.clone(), std::mem::take(memory), reference.clone());
        }
        if launch.fault.is_some() {
            self.rtl.go_on_after_fault(AFTER_FAULT);
            self.model.go_on_after_fault(AFTER_FAULT);
        }
        let limit = self.settings.cycle_limit.map_or(u64::MAX, |limit| self.cycles.saturating_add(limit));
        let plan = RunPlan {
            seed: self.settings.seed,
            cycles: self.until.min(limit),
            memory_every: MEMORY_EVERY,
            // An SM that has stopped makes no progress, but this is not a hang.
            idle: Some(Idle {
                limit: self.settings.idle_limit.saturating_add(if launch.fault.is_some() { AFTER_FAULT } else { 0 }),
                progress: |inputs, compared| progress(view::<SmIn>(inputs), view::<SmOut>(compared)),
            }),
            threads: self.settings.threads,
        };
        let mut places = Whereabouts::new(&self.settings.config);
        let mut both = Records::zeroed(self.lockstep.comparator.declaration().record_bytes, 1);
        if let Some(trace) = &mut self.trace {
            trace.begin(launch);
        }
        let (window, coverage, mut now) = (&mut self.window, &mut self.coverage, self.cycles);
        let (trace, meter) = (&mut self.trace, self.settings.meter);
        self.settings.begin_meter(launch);
        let (first, mut started) = (now, 0);
        let mut observe = |inputs: &[u8], compared: &[u8]| {
            let cycle = Cycle::of(inputs, compared);
            started += u64::from(starts(cycle.out));
            if let Some(meter) = meter
                && now.is_multiple_of(METER_EVERY)
            {
                meter.set(started, now - first);
            }
            if let Some(case) = &mut case {
                case.observe(&cycle);
            }
            places.observe(&cycle);
            coverage.observe(&cycle);
            if let Some(trace) = trace {
                trace.observe(&cycle, compared);
            }
            if window.has(now) {
                let record = both.get_mut(0);
                record[..inputs.len()].copy_from_slice(inputs);
                record[inputs.len()..].copy_from_slice(compared);
                window.cycle(now, record, record);
            }
            now += 1;
        };
        let (rtl, model) = (&mut self.rtl, &mut self.model);
        let mut outcome = self.lockstep.go_on(&mut self.trail, rtl, model, &plan, &mut observe, self.settings.stop);
        self.settings.end_meter();
        // The RTL's memory: after a failure the model may be any number of cycles ahead.
        *memory = self.rtl.take_buffers();
        self.cycles = outcome.cycles;
        self.events = std::mem::take(&mut outcome.events);
        self.spreads = std::mem::take(&mut outcome.spreads);
        if outcome.cause.is_some() {
            self.record_failure(&outcome);
        }
        if let Some(cause) = outcome.cause {
            let capture = outcome.capture;
            let report = report::text(self.lockstep.comparator.declaration(), &cause, capture.as_ref());
            let failure = LockstepFailure { cause, capture, report };
            let error = self.error(launch, &failure);
            self.trace_failure(&error, &failure, outcome.cycles);
            self.failure = Some(failure);
            return Err(error);
        }
        if let Some(trace) = &mut self.trace {
            trace.end_launch();
        }
        let last = self.last();
        let end = match self.model.end(last.out) {
            Some(end) => end,
            None if self.cycles == self.until => return Err(LaunchError::Reached),
            None if self.cycles == limit => {
                let waits = hang::waits(last.out, last.probe, &self.settings.config.sm_shape(), launch);
                let (kernel, cycle) = (launch.kernel.name.clone(), self.cycles - 1);
                return Err(LaunchError::Hung(Box::new(Hang { kernel, since: None, cycle, waits })));
            }
            None => End::Done,
        };
        let pc = match end {
            End::Fault { warp, cause, .. } => places.of_fault(warp, cause),
            End::Done | End::Memory(_) => None,
        };
        let fault = MachineFault::new(&end, launch, memory, Some(last.probe), pc);
        self.launches += u64::from(fault.is_none() || launch.fault.is_some());
        let Some((judge, case)) = self.judge.as_mut().zip(case) else {
            return fault.map_or(Ok(()), |fault| Err(LaunchError::Fault(Box::new(fault))));
        };
        if fault.is_some() || launch.fault.is_some() {
            let mismatch = judge.conclude_fault(&case, fault.as_ref())?;
            return stopped(fault, mismatch);
        }
        let settings = &self.settings;
        let verdict =
            judge.conclude(case, memory, |memory, writes| rerun(settings, &job, memory, reference, writes))?;
        self.judged.add(verdict)
    }

    fn reported(error: &LaunchError) -> Option<ReportedFault> {
        error.reported()
    }
}

impl Machine for LockstepEngine {
    fn statistics(&self) -> Statistics {
        let Self { launches, judged, .. } = *self;
        let cycles = self.cycles - self.first;
        let (mut events, spreads) = (self.events.clone(), self.spreads.clone());
        self.rtl.moved().since(self.moved).add_to(&mut events);
        Statistics { launches, cycles, events, spreads, judged: self.judge.as_ref().map(|_| judged) }
    }

    fn coverage(&self) -> Vec<(&'static str, u64)> {
        self.coverage.counts(&self.events)
    }

    fn compared(&self) -> Option<(usize, Vec<String>)> {
        Some((self.lockstep.comparator.signals_compared(), self.absent.clone()))
    }

    fn write_failure(
        &self,
        parent: &Path,
        notes: &[String],
        reproducer: Option<(&str, &str)>,
    ) -> io::Result<Option<PathBuf>> {
        let Some(LockstepFailure { cause, capture, report }) = &self.failure else { return Ok(None) };
        let context = FailureContext {
            comparator: &self.lockstep.comparator,
            cause,
            report,
            capture: capture.as_ref(),
            reproducer,
            inputs: None,
            notes,
        };
        write_failure(parent, &context).map(Some)
    }

    fn trace(&mut self, trace: Trace) {
        self.trace = Some(trace);
    }

    fn take_trace(&mut self) -> Option<Trace> {
        self.trace.take()
    }

    fn finish_wave(&mut self) -> io::Result<Option<PathBuf>> {
        self.window.finish()
    }
}
