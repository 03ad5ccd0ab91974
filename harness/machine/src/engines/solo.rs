//! One side of the SM, running alone.

mod foreseen;
mod other;
mod rtl;
mod sampled;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use gpurf_blocks::control::CAUSES;
use gpurf_blocks::{Declaration, Twin, view};
use gpurf_lockstep::wave::Scopes;
use gpurf_lockstep::{Environment, EventTotals, LostWord, Records, Side, Verdict, fill_twin, lose_in_twin};
use gpurf_oracle::host::{Engine, KernelLaunch, ReportedFault};
use gpurf_oracle::{Memory, Options, Oracle, Recording};
use gpurf_sm::{SmIn, SmOut};
use verilated::{Instance, Library, RtlFailure};

pub use foreseen::Foreseen;
pub(super) use other::Other;
pub use rtl::RtlEngine;
pub use sampled::SampledEngine;

use super::window::Window;
use super::{Broken, Judged, LaunchError, Machine, Settings, Statistics, stopped};
use crate::commits::{Judge, Judgement, Sequences, Tracker, Writes};
use crate::coverage::Coverage;
use crate::cycle::{Cycle, progress};
use crate::fault::MachineFault;
use crate::hang::{self, Hang};
use crate::job::Job;
use crate::measures::Measures;
use crate::surroundings::{End, Surroundings};
use crate::trace::Trace;
use crate::whereabouts::Whereabouts;

/// Interval at which the run checks whether it has to stop.
const STOP_EVERY: u64 = 4096;

/// In a sample, blocks begin until this many times as many warps have begun as the SM holds: a launch with fewer warps is run whole.
const ROUNDS: u64 = 4;

/// The event of a warp that issues an instruction.
const ISSUED: &str = "issue";
/// The event of a warp that begins.
const STARTED: &str = "warp_start";

/// An observer that is called with the record of each cycle, probes included.
pub type Watch = Box<dyn FnMut(&[u8])>;

/// One side: the model or the RTL.
trait Runner {
    /// Fills the compared part of a record from its input part and takes the edge; probes too if `probed`.
    fn cycle(&mut self, record: &mut [u8], input_bytes: usize, probed: bool) -> Result<(), RtlFailure>;

    /// Number of cycles, from the next one on, that are certain to be equal while the inputs do not change: nothing happens in them. The cycles after the first
    /// one may be skipped.
    fn still(&self, _inputs: &[u8]) -> u64 {
        0
    }

    /// Skips this many cycles.
    fn skip(&mut self, _cycles: u64) {}

    /// From now on no block of the launch begins.
    fn drain(&mut self) {}

    /// Memory words lose their values.
    fn lose(&mut self, _lost: &[LostWord]) {}
}

impl Runner for Box<dyn Twin> {
    fn cycle(&mut self, record: &mut [u8], input_bytes: usize, probed: bool) -> Result<(), RtlFailure> {
        let (inputs, compared) = record.split_at_mut(input_bytes);
        if probed {
            Twin::cycle(&mut **self, inputs, compared);
        } else {
            self.cycle_unprobed(inputs, compared);
        }
        Ok(())
    }

    fn still(&self, inputs: &[u8]) -> u64 {
        Twin::still(&**self, inputs)
    }

    fn skip(&mut self, cycles: u64) {
        Twin::skip(&mut **self, cycles);
    }

    fn drain(&mut self) {
        Twin::drain(&mut **self);
    }

    fn lose(&mut self, lost: &[LostWord]) {
        lose_in_twin(&mut **self, lost);
    }
}

impl Runner for Instance {
    fn cycle(&mut self, record: &mut [u8], _: usize, _: bool) -> Result<(), RtlFailure> {
        self.cycles(record, 1).1
    }
}

/// Why a launch did not complete.
enum Halt {
    /// No progress since this cycle; `None`: the launch takes too long.
    Hung(Option<u64>),
    /// The RTL failed.
    Rtl(RtlFailure),
    /// The user stopped the run.
    Interrupted,
    /// The launch has reached the cycle before which the run ends.
    Reached,
}

/// Limits of a launch that is run in part, on an SM that has just been reset.
struct Sample {
    /// Number of cycles after which no block begins.
    cycles: u64,
    /// Number of warps of the launch that the SM holds.
    warps: u64,
    stretch: Stretch,
}

/// The phase of a launch that is run in part.
enum Stretch {
    /// The SM fills up, and the first blocks are running.
    Warming,
    /// Blocks begin as others end, as they will until the launch's end. `since`: the statistics before this phase.
    Standing { since: Statistics },
    /// No block begins any more. `stands`: the statistics of the phase before, which represent the blocks that are left out.
    Draining { stands: Statistics },
}

impl Sample {
    fn new(cycles: u64, warps: u64) -> Self {
        Self { cycles, warps, stretch: Stretch::Warming }
    }

    /// Whether the first blocks have been replaced: after a third of the cycles, with twice as many warps as the SM holds.
    fn is_warm(&self, cycles: u64, started: u64) -> bool {
        cycles >= self.cycles / 3 && started >= 2 * self.warps
    }

    /// Whether enough of the middle phase was run: all cycles, and a multiple of the warps that the SM holds.
    fn is_enough(&self, cycles: u64, started: u64) -> bool {
        cycles >= self.cycles && started >= ROUNDS * self.warps
    }
}

/// One side with its surroundings.
struct Solo<R> {
    settings: Settings,
    runner: R,
    input_bytes: usize,
    surroundings: Surroundings,
    record: Records,
    totals: EventTotals,
    window: Window,
    watch: Option<Watch>,
    coverage: Option<Coverage>,
    measures: Option<Measures>,
    trace: Option<Trace>,
    /// Cycles since reset.
    cycles: u64,
    /// Number of these cycles that were skipped.
    skipped: u64,
    launches: u64,
    /// Present if a launch may leave out blocks; checked at intervals.
    sample: Option<Sample>,
    /// The run ends before this cycle.
    until: Option<u64>,
}

impl<R: Runner> Solo<R> {
    fn new(settings: Settings, runner: R, declaration: &Declaration, library: Option<&Library>, side: Side) -> Self {
        Self {
            surroundings: Surroundings::new(&settings.config),
            record: Records::zeroed(declaration.record_bytes, 1),
            totals: EventTotals::new(declaration),
            window: Window::new(&settings, declaration, library, Scopes::Only(side)),
            watch: None,
            coverage: None,
            measures: None,
            trace: None,
            input_bytes: declaration.input_bytes,
            cycles: 0,
            skipped: 0,
            launches: 0,
            sample: None,
            until: None,
            settings,
            runner,
        }
    }

    /// The last cycle.
    fn last(&self) -> Cycle<'_> {
        let (inputs, compared) = self.record.get(0).split_at(self.input_bytes);
        Cycle::of(inputs, compared)
    }

    /// Runs a launch. `observe`, if given, is called for each cycle, with probes.
    fn run(
        &mut self,
        job: Job,
        buffers: Memory,
        reference: Vec<u32>,
        mut observe: Option<&mut dyn FnMut(&Cycle<'_>)>,
    ) -> Result<End, Halt> {
        let expects_fault = job.fault;
        self.surroundings.begin(job, buffers, reference);
        if let Some(measures) = &mut self.measures {
            measures.begin();
        }
        let input_bytes = self.input_bytes;
        let every = observe.is_some() || self.watch.is_some() || self.coverage.is_some();
        let skips = self.settings.skip && self.settings.wave.is_none() && !every;
        let probed = every || self.measures.is_some();
        let idle_limit = self.settings.idle_limit.max(1);
        let (began, started) = (self.cycles, self.totals.sum(STARTED));
        let limit = self.settings.cycle_limit.map_or(u64::MAX, |limit| began.saturating_add(limit));
        let last = limit.min(self.until.unwrap_or(u64::MAX));
        let mut idle = 0;
        loop {
            if self.until == Some(self.cycles) {
                return Err(Halt::Reached);
            }
            let record = self.record.get_mut(0);
            let (inputs, compared) = record.split_at_mut(input_bytes);
            if !self.surroundings.drive((self.cycles > 0).then_some(&*compared), inputs) {
                let end = self.surroundings.end(view::<SmOut>(compared));
                self.launches += u64::from(expects_fault || end == Some(End::Done));
                return Ok(end.unwrap_or(End::Done));
            }
            if self.cycles == limit {
                return Err(Halt::Hung(None));
            }
            // If nothing happened in the previous cycle, this may continue for a while.
            let alike = if idle > 0 && skips { self.runner.still(inputs) } else { 0 };
            let recorded = self.window.has(self.cycles);
            let traced = self.trace.as_ref().is_some_and(Trace::looks);
            let result = self.runner.cycle(record, input_bytes, recorded || probed || traced);
            self.cycles += 1;
            if recorded {
                self.window.cycle(self.cycles - 1, record, record);
            }
            result.map_err(Halt::Rtl)?;
            self.totals.add(record);
            if let Some(watch) = &mut self.watch {
                watch(record);
            }
            let (inputs, compared) = record.split_at(input_bytes);
            if let Some(observe) = &mut observe {
                observe(&Cycle::of(inputs, compared));
                self.runner.lose(self.surroundings.lost(compared));
            }
            if let Some(coverage) = &mut self.coverage {
                coverage.observe(&Cycle::of(inputs, compared));
            }
            if let Some(measures) = &mut self.measures {
                measures.observe(&Cycle::of(inputs, compared));
            }
            if let Some(trace) = &mut self.trace {
                trace.observe(&Cycle::of(inputs, compared), compared);
            }
            idle = if progress(view::<SmIn>(inputs), view::<SmOut>(compared)) { 0 } else { idle + 1 };
            let before = self.cycles - 1;
            if alike > 1 {
                idle += self.skip(alike - 1, (last - self.cycles).min(idle_limit - idle));
            }
            if idle >= idle_limit {
                return Err(Halt::Hung(Some(self.cycles - idle)));
            }
            if before / STOP_EVERY != self.cycles / STOP_EVERY {
                if self.settings.stop.load(Ordering::Relaxed) {
                    return Err(Halt::Interrupted);
                }
                if let Some(meter) = self.settings.meter {
                    meter.set(self.totals.sum(STARTED) - started, self.cycles - began);
                }
                self.advance_sample();
            }
        }
    }

    /// Advances the phase of a sample, if its limits are reached.
    fn advance_sample(&mut self) {
        let Some(mut sample) = self.sample.take() else { return };
        let started = self.totals.sum(STARTED);
        match &sample.stretch {
            Stretch::Warming if sample.is_warm(self.cycles, started) => {
                sample.stretch = Stretch::Standing { since: self.statistics() };
            }
            Stretch::Standing { since } if sample.is_enough(self.cycles, started) => {
                sample.stretch = Stretch::Draining { stands: self.statistics().since(since) };
                self.runner.drain();
            }
            _ => {}
        }
        self.sample = Some(sample);
    }

    /// Skips cycles that equal the last one: as many as the SM guarantees, while its inputs stay the same, up to `limit`. Returns their number.
    fn skip(&mut self, alike: u64, limit: u64) -> u64 {
        let inputs = view::<SmIn>(self.record.get(0));
        let cycles = self.surroundings.still(inputs).min(alike).min(limit);
        self.surroundings.skip(cycles);
        self.runner.skip(cycles);
        self.totals.add_times(self.record.get(0), cycles);
        if let Some(measures) = &mut self.measures {
            measures.skip(cycles);
        }
        if let Some(trace) = &mut self.trace {
            trace.skip(cycles);
        }
        self.cycles += cycles;
        self.skipped += cycles;
        cycles
    }

    /// Notes the start of a launch in meter and trace.
    fn begin(&mut self, launch: &KernelLaunch<'_>) {
        self.settings.begin_meter(launch);
        if let Some(trace) = &mut self.trace {
            trace.begin(launch);
        }
    }

    /// Notes the end of a launch in meter and trace, or why it did not complete.
    fn end(&mut self, ended: &Result<End, Halt>) {
        self.settings.end_meter();
        let Some(trace) = &mut self.trace else { return };
        let cycle = self.cycles.saturating_sub(1);
        match ended {
            Ok(End::Done) | Err(Halt::Reached) => {}
            Ok(End::Fault { warp, cause, .. }) => {
                let name = CAUSES.get(usize::from(*cause)).copied().unwrap_or("unknown cause");
                trace.mark(cycle, "fault", &[("slot", warp.to_string()), ("cause", name.to_owned())]);
            }
            Ok(End::Memory(_)) => trace.mark(cycle, "fault of memory", &[]),
            Err(Halt::Hung(Some(since))) => {
                trace.mark(cycle, "hang", &[("no progress since cycle", since.to_string())])
            }
            Err(Halt::Hung(None)) => trace.mark(cycle, "hang", &[("not ended", "in the limit of cycles".to_owned())]),
            Err(Halt::Rtl(failure)) => trace.mark(cycle, "assertion", &[("report", failure.to_string())]),
            Err(Halt::Interrupted) => trace.mark(cycle, "interrupted", &[]),
        }
        trace.end_launch();
    }

    /// Runs one more cycle, to see inner signals if no record was taken.
    fn look_inside(&mut self) {
        let input_bytes = self.input_bytes;
        // A failure of this cycle does not matter any more.
        let _ = self.runner.cycle(self.record.get_mut(0), input_bytes, true);
    }

    fn statistics(&self) -> Statistics {
        let (mut events, mut spreads) = (self.totals.by_name(), self.totals.spreads());
        self.surroundings.moved().add_to(&mut events);
        if let Some(measures) = &self.measures {
            measures.add_to(&mut events, &mut spreads);
        }
        Statistics { launches: self.launches, cycles: self.cycles, events, spreads, judged: None }
    }

    fn hang(&self, launch: &KernelLaunch<'_>, since: Option<u64>, waits: Vec<String>) -> LaunchError {
        let kernel = launch.kernel.name.clone();
        LaunchError::Hung(Box::new(Hang { kernel, since, cycle: self.cycles - 1, waits }))
    }

    fn broken(&self, failure: &RtlFailure) -> LaunchError {
        let cycle = self.cycles.saturating_sub(1);
        let report = format!("the RTL stopped in cycle {cycle}: {failure}");
        LaunchError::Broken(Box::new(Broken { verdict: Verdict::Assertion, cycle, report, divergence: None }))
    }
}

/// The fault as an error, or `Ok`.
fn fault(
    end: &End,
    launch: &KernelLaunch<'_>,
    memory: &Memory,
    inside: Option<&Cycle<'_>>,
    places: Option<&Whereabouts>,
) -> Option<MachineFault> {
    let pc = match end {
        End::Fault { warp, cause, .. } => places.and_then(|places| places.of_fault(*warp, *cause)),
        End::Done | End::Memory(_) => None,
    };
    MachineFault::new(end, launch, memory, inside.map(|cycle| cycle.probe), pc)
}

/// A model before a cycle.
pub(super) struct ModelParts {
    pub twin: Box<dyn Twin>,
    pub surroundings: Surroundings,
    /// The record of the previous cycle.
    pub last: Records,
    /// Cycles since reset.
    pub cycles: u64,
    /// The SM that is the reference of the throttle, if the configuration has one.
    pub other: Option<Other>,
}

/// The model of the SM alone.
pub struct ModelEngine {
    solo: Solo<Box<dyn Twin>>,
    /// The SM that is the reference of the throttle, if the configuration has one.
    other: Option<Other>,
    judge: Option<(Judge, Judged)>,
    /// A digest of the commits of each launch; only recorded with an observer.
    commits: Vec<u64>,
}

impl ModelEngine {
    /// An engine with an SM that has just been reset.
    pub fn new(settings: Settings) -> Self {
        let measures = settings.measure.then(|| Measures::new(&settings.config));
        let other = Other::new(&settings);
        let mut solo = solo_model(settings);
        solo.measures = measures;
        Self { solo, other, judge: None, commits: Vec::new() }
    }

    /// An engine whose commits are judged by the oracle: slower, because the inner signals of every cycle are read.
    pub fn judged(settings: Settings) -> Self {
        let judge = Judge::new(oracle(&settings), &settings.config);
        let mut engine = Self { judge: Some((judge, Judged::default())), ..Self::new(settings) };
        engine.solo.forget();
        engine
    }

    /// As [`new`](Self::new), with an observer: no cycle is skipped, and commits are digested.
    pub fn watched(settings: Settings, watch: Watch) -> Self {
        let mut engine = Self::new(settings);
        engine.solo.watch = Some(watch);
        engine
    }

    /// As [`new`](Self::new), and counts situations of the SM's blocks: no cycle is skipped.
    pub fn covered(settings: Settings) -> Self {
        let coverage = Coverage::new(&settings.config);
        let mut engine = Self::new(settings);
        engine.solo.coverage = Some(coverage);
        engine
    }

    /// Ends the run before this cycle with [`LaunchError::Reached`]: the launch is then not complete.
    pub(super) fn until(&mut self, cycle: u64) {
        self.solo.until = Some(cycle);
    }

    /// The parts of the engine, to continue in lockstep.
    pub(super) fn into_parts(self) -> ModelParts {
        let Solo { runner, surroundings, record, cycles, .. } = self.solo;
        ModelParts { twin: runner, surroundings, last: record, cycles, other: self.other }
    }

    /// A digest of the commits of each completed launch; empty without an observer.
    pub fn commits(&self) -> &[u64] {
        &self.commits
    }
}

fn solo_model(settings: Settings) -> Solo<Box<dyn Twin>> {
    let mut twin = (settings.model)(&settings.config);
    fill_twin(&mut *twin, settings.seed);
    let declaration = twin.declaration().clone();
    Solo::new(settings, twin, &declaration, None, Side::Model)
}

impl Solo<Box<dyn Twin>> {
    /// A copy of the present state, to run a launch again from here.
    fn parts(&self) -> ModelParts {
        let mut last = Records::zeroed(self.record.size(), 1);
        last.get_mut(0).copy_from_slice(self.record.get(0));
        let (twin, surroundings) = (self.runner.duplicate(), self.surroundings.clone());
        ModelParts { twin, surroundings, last, cycles: self.cycles, other: None }
    }

    /// A model that continues from these parts; it is not recorded or counted.
    fn of_parts(parts: ModelParts, settings: &Settings) -> Self {
        let ModelParts { twin, surroundings, last: record, cycles, .. } = parts;
        let declaration = twin.declaration().clone();
        let settings = Settings { wave: None, ..settings.clone() };
        Self { surroundings, record, cycles, ..Self::new(settings, twin, &declaration, None, Side::Model) }
    }

    /// From now on registers that are switched off lose their values.
    fn forget(&mut self) {
        self.surroundings = Surroundings::forgetful(&self.settings.config, &mut *self.runner);
    }
}

/// The oracle that judges.
pub(super) fn oracle(settings: &Settings) -> Oracle {
    Oracle::new(Options { stop: Some(settings.stop), ..Options::default() })
}

/// Runs a launch again on a separate model, to record the values of one sequence.
pub(super) fn rerun(
    settings: &Settings,
    job: &Job,
    memory: Memory,
    reference: Vec<u32>,
    writes: Writes,
) -> (Writes, Recording) {
    let mut solo = solo_model(Settings { wave: None, ..settings.clone() });
    solo.forget();
    let mut tracker = Tracker::new(job, writes, true);
    // The outcome does not matter: all writes up to its end are recorded.
    let _ = solo.run(job.clone(), memory, reference, Some(&mut |cycle| tracker.observe(cycle)));
    let (writes, recording) = tracker.finish();
    (writes, recording.unwrap_or_default())
}

impl Engine for ModelEngine {
    type Error = LaunchError;

    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), LaunchError> {
        let job = Job::new(&self.solo.settings.config, launch)?;
        let mut case = match &mut self.judge {
            Some((judge, _)) => Some(judge.begin(launch, &job, memory)?),
            None => None,
        };
        let reference = self.other.as_mut().map_or_else(Vec::new, |other| other.run(&job, memory));
        let mut places = Whereabouts::new(&self.solo.settings.config);
        let is_followed = case.is_some() || self.solo.watch.is_some();
        let start = (self.solo.settings.locate && !is_followed).then(|| (self.solo.parts(), memory.clone()));
        let buffers = std::mem::take(memory);
        self.solo.begin(launch);
        let ended = match &mut case {
            Some(case) => {
                let mut observe = |cycle: &Cycle<'_>| {
                    case.observe(cycle);
                    places.observe(cycle);
                };
                self.solo.run(job.clone(), buffers, reference.clone(), Some(&mut observe))
            }
            None if self.solo.watch.is_some() => {
                let mut tracker = Tracker::new(&job, Sequences::new(), false);
                let mut observe = |cycle: &Cycle<'_>| {
                    tracker.observe(cycle);
                    places.observe(cycle);
                };
                let ended = self.solo.run(job.clone(), buffers, reference.clone(), Some(&mut observe));
                self.commits.push(tracker.finish().0.digest());
                ended
            }
            None => self.solo.run(job.clone(), buffers, reference.clone(), None),
        };
        self.solo.end(&ended);
        if !matches!(ended, Err(Halt::Reached)) {
            // A launch that has not completed keeps its buffers.
            *memory = self.solo.surroundings.take_buffers();
        }
        let end = match ended {
            Ok(end) => end,
            Err(Halt::Reached) => return Err(LaunchError::Reached),
            Err(Halt::Hung(since)) => {
                self.solo.look_inside();
                let (last, shape) = (self.solo.last(), self.solo.settings.config.sm_shape());
                let waits = hang::waits(last.out, last.probe, &shape, launch);
                return Err(self.solo.hang(launch, since, waits));
            }
            Err(Halt::Rtl(failure)) => return Err(self.solo.broken(&failure)),
            Err(Halt::Interrupted) => return Err(LaunchError::Interrupted),
        };
        if end != End::Done && case.is_none() {
            self.solo.look_inside();
        }
        if let (End::Fault { .. }, Some((start, before))) = (end, start) {
            // Runs the launch again and follows each instruction: this takes time, which launches without a fault need not spend.
            let mut again = Solo::of_parts(start, &self.solo.settings);
            let _ = again.run(job.clone(), before, reference.clone(), Some(&mut |cycle| places.observe(cycle)));
        }
        let fault = fault(&end, launch, memory, Some(&self.solo.last()), Some(&places));
        let (Some((judge, judged)), Some(case)) = (&mut self.judge, case) else {
            return fault.map_or(Ok(()), |fault| Err(LaunchError::Fault(Box::new(fault))));
        };
        if fault.is_some() || launch.fault.is_some() {
            let mismatch = judge.conclude_fault(&case, fault.as_ref())?;
            return stopped(fault, mismatch);
        }
        let settings = &self.solo.settings;
        let verdict =
            judge.conclude(case, memory, |memory, writes| rerun(settings, &job, memory, reference, writes))?;
        judged.add(verdict)
    }

    fn reported(error: &LaunchError) -> Option<ReportedFault> {
        error.reported()
    }
}

impl Judged {
    /// Counts a verdict.
    pub(super) fn add(&mut self, verdict: Judgement) -> Result<(), LaunchError> {
        match verdict {
            Judgement::Equal { writes, counts } => {
                self.equal += 1;
                self.writes += writes;
                self.counts += counts;
            }
            Judgement::Undecided => self.undecided += 1,
            Judgement::Wrong(mismatch) => return Err(LaunchError::Mismatch(Box::new(mismatch))),
        }
        Ok(())
    }
}

impl Machine for ModelEngine {
    fn statistics(&self) -> Statistics {
        Statistics { judged: self.judge.as_ref().map(|(_, judged)| *judged), ..self.solo.statistics() }
    }

    fn coverage(&self) -> Vec<(&'static str, u64)> {
        let coverage = self.solo.coverage.as_ref();
        coverage.map_or_else(Vec::new, |coverage| coverage.counts(&self.solo.totals.by_name()))
    }

    fn skipped(&self) -> u64 {
        self.solo.skipped
    }

    fn trace(&mut self, trace: Trace) {
        self.solo.trace = Some(trace);
    }

    fn take_trace(&mut self) -> Option<Trace> {
        self.solo.trace.take()
    }

    fn finish_wave(&mut self) -> io::Result<Option<PathBuf>> {
        self.solo.window.finish()
    }
}
