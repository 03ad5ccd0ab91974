//! The engines that run kernels: the model, the RTL, and both in lockstep. All implement the engine of `gpurf_oracle::host`.

mod lockstep;
mod solo;
mod verdict;
mod window;

use std::collections::BTreeMap;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use gpurf_blocks::Twin;
use gpurf_blocks::config::Config;
use gpurf_lockstep::report::DivergenceSummary;
use gpurf_lockstep::{Events, HISTORY, Spreads, Verdict};
use gpurf_oracle::host::{Engine, KernelLaunch, ReportedFault};
use gpurf_oracle::{CodeError, Fault, Meter, Parts};
use verilated::{Options, Request};

pub use lockstep::LockstepEngine;
pub use solo::{Foreseen, ModelEngine, RtlEngine, SampledEngine, Watch};
pub use verdict::{EngineError, verdict};

use crate::commits::{JudgeError, Mismatch};
use crate::fault::MachineFault;
use crate::hang::Hang;
use crate::job::Refusal;
use crate::trace::Trace;

/// Consecutive cycles without progress after which a launch counts as hung.
pub const IDLE_LIMIT: u64 = 20_000;

/// Settings of an engine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Sizes and policies.
    pub config: Config,
    /// Seed for the contents of memories and for the state that reset does not set.
    pub seed: u64,
    /// Consecutive cycles without progress after which a launch counts as hung.
    pub idle_limit: u64,
    /// Cycles after which a launch that has not ended counts as hung; `None`: it may take any time.
    pub cycle_limit: Option<u64>,
    /// Set to end the run early.
    pub stop: &'static AtomicBool,
    /// Counts the cycles of each launch, and its warps that have begun.
    pub meter: Option<&'static Meter>,
    /// Cycles to record, and the folder below which the waveform is written.
    pub wave: Option<(RangeInclusive<u64>, PathBuf)>,
    /// Whether the model alone may skip cycles in which nothing happens. Results and statistics do not change.
    pub skip: bool,
    /// Whether the model alone measures times of results ([`measures`](crate::measures)) and adds them to its statistics.
    pub measure: bool,
    /// Whether the model alone finds the instruction of a fault. It keeps a copy of the state before each launch, and runs a launch with a fault again.
    pub locate: bool,
    /// Threads that the lockstep may use ([`RunPlan::threads`](gpurf_lockstep::RunPlan::threads)).
    pub threads: usize,
    /// Cycles before a failure of the lockstep that the waveform shows ([`Trail::with_history`](gpurf_lockstep::Trail::with_history)).
    pub history: u64,
    /// The cycles that the lockstep compares; `None`: all. The model runs alone to the first one, and the run ends after the last one with
    /// [`LaunchError::Reached`].
    pub compare: Option<RangeInclusive<u64>>,
    /// Makes the model of the SM; tests replace the one of `gpurf-sm` here.
    pub model: fn(&Config) -> Box<dyn Twin>,
}

impl Settings {
    /// Default settings for a configuration.
    pub fn new(config: Config) -> Self {
        static GO: AtomicBool = AtomicBool::new(false);
        let model = gpurf_sm::ENTRY.twin;
        Self {
            config,
            seed: 1,
            idle_limit: IDLE_LIMIT,
            cycle_limit: None,
            stop: &GO,
            meter: None,
            wave: None,
            skip: true,
            measure: false,
            locate: true,
            threads: 1,
            history: HISTORY,
            compare: None,
            model,
        }
    }

    /// The meter begins to count a launch.
    fn begin_meter(&self, launch: &KernelLaunch<'_>) {
        if let Some(meter) = self.meter {
            let warps = launch.geometry.blocks().saturating_mul(launch.geometry.warps().into());
            meter.begin(&launch.kernel.name, Parts::Warps, warps);
        }
    }

    /// The launch has ended.
    fn end_meter(&self) {
        if let Some(meter) = self.meter {
            meter.end();
        }
    }
}

/// Statistics of a run so far.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Statistics {
    /// Launches that have ended.
    pub launches: u64,
    /// Cycles since reset; in lockstep only those found equal.
    pub cycles: u64,
    /// Sums of the event words, by name.
    pub events: Events,
    /// How often each value occurred, for those fields of event words whose values are counted separately.
    pub spreads: Spreads,
    /// The oracle's verdicts; `None` if the oracle was not used.
    pub judged: Option<Judged>,
}

impl Statistics {
    /// Adds the statistics of another run.
    pub fn add(&mut self, other: &Self) {
        self.launches += other.launches;
        self.cycles += other.cycles;
        for (name, count) in &other.events {
            *self.events.entry(name).or_default() += count;
        }
        for (name, values) in &other.spreads {
            let mine = self.spreads.entry(name).or_default();
            values.iter().for_each(|(value, times)| *mine.entry(*value).or_default() += times);
        }
    }

    /// The statistics since `before`, an earlier point of the same run.
    fn since(&self, before: &Self) -> Self {
        let event = |(name, count): (&&'static str, &u64)| (*name, count - before.events.get(name).unwrap_or(&0));
        let spread = |(name, values): (&&'static str, &BTreeMap<u64, u64>)| {
            let old = |value| before.spreads.get(name).and_then(|old| old.get(value)).unwrap_or(&0);
            let values = values.iter().map(|(value, times)| (*value, times - old(value)));
            (*name, values.filter(|(_, times)| *times > 0).collect())
        };
        Self {
            launches: self.launches - before.launches,
            cycles: self.cycles - before.cycles,
            events: self.events.iter().map(event).collect(),
            spreads: self.spreads.iter().map(spread).collect(),
            judged: self.judged,
        }
    }

    /// Cycles and events multiplied by `to` / `of`.
    fn scaled(self, to: u64, of: u64) -> Self {
        let scale = |count: u64| {
            let (count, to, of) = (u128::from(count), u128::from(to), u128::from(of.max(1)));
            ((count * to + of / 2) / of) as u64
        };
        let Self { launches, cycles, events, spreads, judged } = self;
        let values = |values: BTreeMap<u64, u64>| values.into_iter().map(|(value, times)| (value, scale(times)));
        Self {
            launches,
            cycles: scale(cycles),
            events: events.into_iter().map(|(name, count)| (name, scale(count))).collect(),
            spreads: spreads.into_iter().map(|(name, all)| (name, values(all).collect())).collect(),
            judged,
        }
    }
}

/// Counts of the oracle's verdicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Judged {
    /// Launches in which the SM committed what the oracle commits.
    pub equal: u64,
    /// Launches with inconclusive differences: their blocks see each other's plain stores.
    pub undecided: u64,
    /// Writes of warps that were compared.
    pub writes: u64,
    /// Event sums of the register file that a replay confirms; counted again for each launch.
    pub counts: u64,
}

/// Why a launch did not complete, or completed with wrong results.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The launch does not fit the SM.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The code of the image is not a valid program.
    #[error(transparent)]
    Program(CodeError),
    /// The program breaks a rule of the oracle.
    #[error(transparent)]
    Oracle(Box<Fault>),
    /// The SM reports a fault.
    #[error(transparent)]
    Fault(Box<MachineFault>),
    /// There is no progress, or the launch takes too long.
    #[error(transparent)]
    Hung(Box<Hang>),
    /// The SM does not do what the oracle does.
    #[error(transparent)]
    Mismatch(Box<Mismatch>),
    /// The two sides differ, or one of them failed.
    #[error("{}", .0.report.trim_end())]
    Broken(Box<Broken>),
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
    /// The run has reached its last cycle: not a failure.
    #[error("the launch has come to the cycle where the run ends")]
    Reached,
}

impl LaunchError {
    /// The fault that the SM reported; `None` for other errors.
    pub fn reported(&self) -> Option<ReportedFault> {
        match self {
            Self::Fault(fault) => fault.reported(),
            _ => None,
        }
    }
}

/// The result of a launch that stops, or was expected to: the SM's fault, and where the oracle disagrees.
fn stopped(fault: Option<MachineFault>, mismatch: Option<Mismatch>) -> Result<(), LaunchError> {
    match (fault, mismatch) {
        (_, Some(mismatch)) => Err(LaunchError::Mismatch(Box::new(mismatch))),
        (Some(fault), None) => Err(LaunchError::Fault(Box::new(fault))),
        (None, None) => Ok(()),
    }
}

impl From<JudgeError> for LaunchError {
    fn from(error: JudgeError) -> Self {
        match error {
            JudgeError::Program(error) => Self::Program(error),
            JudgeError::Fault(fault) => Self::Oracle(fault),
        }
    }
}

/// A failure of the lockstep, or of RTL that runs alone.
#[derive(Debug)]
pub struct Broken {
    /// The verdict.
    pub verdict: Verdict,
    /// The cycle, counted from reset.
    pub cycle: u64,
    /// The failure as text.
    pub report: String,
    /// The first difference.
    pub divergence: Option<DivergenceSummary>,
}

/// An engine that runs cycle by cycle.
pub trait Machine: Engine<Error = LaunchError> {
    /// Statistics of the run so far.
    fn statistics(&self) -> Statistics;

    /// Number of cycles that were skipped because nothing happened in them.
    fn skipped(&self) -> u64 {
        0
    }

    /// The situations that the SM's blocks met, and how often; empty if they are not counted.
    fn coverage(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Number of signals compared in each cycle, and the names of signals that this RTL lacks; `None` if nothing is compared.
    fn compared(&self) -> Option<(usize, Vec<String>)> {
        None
    }

    /// Writes the failure folder of the lockstep below `parent`, with these lines at the end of its report, and with a reproducer (file name and
    /// text); `None` if there was no failure.
    ///
    /// # Errors
    /// When the folder cannot be written.
    fn write_failure(
        &self,
        _parent: &Path,
        _notes: &[String],
        _reproducer: Option<(&str, &str)>,
    ) -> io::Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Writes a trace from now on; the engine must not have run anything yet.
    fn trace(&mut self, trace: Trace);

    /// Returns the trace, which the caller has to finish; `None` if there is none.
    fn take_trace(&mut self) -> Option<Trace>;

    /// Finishes the requested waveform and returns its folder; `None` if there is none, or if none of its cycles was run.
    ///
    /// # Errors
    /// When it cannot be written.
    fn finish_wave(&mut self) -> io::Result<Option<PathBuf>>;
}

/// The build request for the RTL of the SM; `rtl` is the RTL tree.
pub fn request(rtl: &Path, config: &Config, options: Options) -> Request {
    let mut twin = (gpurf_sm::ENTRY.twin)(config);
    let memories = twin.memories().iter().map(Into::into).collect();
    let mut request = Request::from_tree(twin.declaration().clone(), memories, rtl, &gpurf_sm::ENTRY.sources());
    request.options = options;
    request
}
