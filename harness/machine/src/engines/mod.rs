//! What runs kernels: the model, the RTL, both in lockstep. All of them are engines of `gpurf_oracle::host`.

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
use gpurf_oracle::host::{Engine, ReportedFault};
use gpurf_oracle::{CodeError, Fault};
use verilated::{Options, Request};

pub use lockstep::LockstepEngine;
pub use solo::{Foreseen, ModelEngine, RtlEngine, SampledEngine, Watch};
pub use verdict::{EngineError, verdict};

use crate::commits::{JudgeError, Mismatch};
use crate::fault::MachineFault;
use crate::hang::Hang;
use crate::job::Refusal;
use crate::trace::Trace;

/// Cycles in a row without progress after which a launch counts as hung.
pub const IDLE_LIMIT: u64 = 20_000;

/// How kernels are run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Sizes and policies.
    pub config: Config,
    /// Fills memories and the state that reset does not set.
    pub seed: u64,
    /// Cycles in a row without progress after which a launch counts as hung.
    pub idle_limit: u64,
    /// Raised to end the run early.
    pub stop: &'static AtomicBool,
    /// Cycles to record, and the folder below which the waveform goes.
    pub wave: Option<(RangeInclusive<u64>, PathBuf)>,
    /// Whether the model alone may skip cycles in which nothing happens. Results and statistics are the same.
    pub skip: bool,
    /// Whether the model alone measures times of results ([`measures`](crate::measures)); its statistics have them then.
    pub measure: bool,
    /// Whether the model alone finds the instruction of a fault. It keeps a copy of what each launch begins with, and runs a launch with a fault once more.
    pub locate: bool,
    /// Threads that the lockstep may use ([`RunPlan::threads`](gpurf_lockstep::RunPlan::threads)).
    pub threads: usize,
    /// Cycles before a failure of the lockstep that its waveform has ([`Trail::with_history`](gpurf_lockstep::Trail::with_history)).
    pub history: u64,
    /// The cycles that the lockstep compares; `None`: all. The model comes to the first of them alone, and the run ends after the last one with
    /// [`LaunchError::Reached`].
    pub compare: Option<RangeInclusive<u64>>,
    /// Makes a model of the SM; another one than that of `gpurf-sm` for tests.
    pub model: fn(&Config) -> Box<dyn Twin>,
}

impl Settings {
    /// Of this configuration; nothing else out of the ordinary.
    pub fn new(config: Config) -> Self {
        static GO: AtomicBool = AtomicBool::new(false);
        let model = gpurf_sm::ENTRY.twin;
        Self {
            config,
            seed: 1,
            idle_limit: IDLE_LIMIT,
            stop: &GO,
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
}

/// What was run so far.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Statistics {
    /// Launches that have ended.
    pub launches: u64,
    /// Cycles since reset; in lockstep those found equal.
    pub cycles: u64,
    /// Sums of the event words, by name.
    pub events: Events,
    /// Values of the fields of event words whose values are counted one by one.
    pub spreads: Spreads,
    /// What the oracle has said; nothing where it was not asked.
    pub judged: Option<Judged>,
}

impl Statistics {
    /// Adds those of another run.
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

    /// What was counted after `before`, of the same run.
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

    /// Cycles and events in proportion: so many for each of so many.
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

/// What the oracle has said about launches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Judged {
    /// Launches in which the SM committed what the oracle says.
    pub equal: u64,
    /// Launches with differences that say nothing: blocks see each other's plain stores.
    pub undecided: u64,
    /// Writes of warps that were compared.
    pub writes: u64,
    /// Sums of the register file's events that a count of what was done confirms, of each launch anew.
    pub counts: u64,
}

/// Why a launch does not come to its end, or comes to a wrong one.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// It does not fit the SM.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The image's code is no program.
    #[error(transparent)]
    Program(CodeError),
    /// The program does something wrong, by the oracle's rules.
    #[error(transparent)]
    Oracle(Box<Fault>),
    /// The SM says that something is wrong.
    #[error(transparent)]
    Fault(Box<MachineFault>),
    /// There is no progress.
    #[error(transparent)]
    Hung(Box<Hang>),
    /// The SM does not do what the oracle says.
    #[error(transparent)]
    Mismatch(Box<Mismatch>),
    /// The two sides differ, or one of them broke down.
    #[error("{}", .0.report.trim_end())]
    Broken(Box<Broken>),
    /// The user ended the run.
    #[error("interrupted")]
    Interrupted,
    /// The run has come to the end of what it was to do: no failure.
    #[error("the launch has come to the cycle where the run ends")]
    Reached,
}

impl LaunchError {
    /// The SM's fault; nothing where this is about something else.
    pub fn reported(&self) -> Option<ReportedFault> {
        match self {
            Self::Fault(fault) => fault.reported(),
            _ => None,
        }
    }
}

/// What comes of a launch that stops, or was expected to: the SM's fault, and in what the oracle does not agree.
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

/// A lockstep that failed, or RTL that did.
#[derive(Debug)]
pub struct Broken {
    /// In a word.
    pub verdict: Verdict,
    /// In which cycle since reset.
    pub cycle: u64,
    /// In words.
    pub report: String,
    /// The first difference.
    pub divergence: Option<DivergenceSummary>,
}

/// An engine that has cycles.
pub trait Machine: Engine<Error = LaunchError> {
    /// What was run so far.
    fn statistics(&self) -> Statistics;

    /// Cycles that were not run one by one, because nothing happened in them.
    fn skipped(&self) -> u64 {
        0
    }

    /// The situations that the SM's blocks met, and how often; nothing where they are not counted.
    fn coverage(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Signals compared in each cycle, and the names of those that this RTL does not have; nothing where nothing is compared.
    fn compared(&self) -> Option<(usize, Vec<String>)> {
        None
    }

    /// Writes the folder of a failure of the lockstep below a folder, with these lines at the end of its report, and with a file that reproduces it (its
    /// name and its text); nothing where there was none.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write_failure(
        &self,
        _parent: &Path,
        _notes: &[String],
        _reproducer: Option<(&str, &str)>,
    ) -> io::Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Writes a trace of what is run from now on; it is for an engine that has run nothing yet.
    fn trace(&mut self, trace: Trace);

    /// Gives the trace back, which is to be finished; nothing where there is none.
    fn take_trace(&mut self) -> Option<Trace>;

    /// Ends the waveform that was asked for and gives its folder; nothing if there is none, or none of its cycles took place.
    ///
    /// # Errors
    /// When it cannot be written.
    fn finish_wave(&mut self) -> io::Result<Option<PathBuf>>;
}

/// What to build for the RTL of the SM; `rtl` is the RTL tree.
pub fn request(rtl: &Path, config: &Config, options: Options) -> Request {
    let mut twin = (gpurf_sm::ENTRY.twin)(config);
    let memories = twin.memories().iter().map(Into::into).collect();
    let mut request = Request::from_tree(twin.declaration().clone(), memories, rtl, &gpurf_sm::ENTRY.sources());
    request.options = options;
    request
}
