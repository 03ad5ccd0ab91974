//! The path of every instruction through the SM, from fetch to write, with its waits (`docs/trace.md`).
//!
//! [`Trace`] follows a run cycle by cycle on the nets that lockstep compares, so it is the same on the model, on the RTL and in lockstep. It stores an
//! instruction only while it is in flight, and passes it to a [`Sink`], which writes one of the [`Format`]s during the run.

mod chrome;
mod counters;
mod flight;
mod konata;
mod lanes;
mod perfetto;
mod pipeline;
mod sink;
mod waits;

use std::io::{self, Write};
use std::ops::RangeInclusive;

use gpurf_blocks::Declaration;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_oracle::host::KernelLaunch;

use crate::cycle::Cycle;
use counters::Counters;
use pipeline::Pipeline;
pub use sink::Sink;
use waits::{Stall, Waits};

pub use counters::bank_accesses;
pub use flight::{Flight, Stage, Step};

/// Number of cycles that one value of a counter represents.
pub const INTERVAL: u64 = 64;

/// File format of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Chrome's trace events: JSON, for Perfetto and for scripts.
    Chrome,
    /// Perfetto's own format: protobuf, less than half the size.
    Perfetto,
    /// Konata's format: text.
    Konata,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Chrome, Self::Perfetto, Self::Konata];

    /// The endings of files in this format.
    pub const fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Chrome => &["json"],
            Self::Perfetto => &["pftrace", "perfetto-trace"],
            Self::Konata => &["kanata", "konata"],
        }
    }

    /// The format of a file with this ending.
    pub fn of_ending(ending: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.endings().contains(&ending))
    }

    /// A writer for this format. `run` is the name of the traced run.
    ///
    /// # Errors
    /// When nothing can be written.
    fn sink(self, run: &str, out: Box<dyn Write + Send>) -> io::Result<Box<dyn Sink>> {
        Ok(match self {
            Self::Chrome => Box::new(chrome::Chrome::new(run, out)?),
            Self::Perfetto => Box::new(perfetto::Perfetto::new(run, out)?),
            Self::Konata => Box::new(konata::Konata::new(out)?),
        })
    }
}

/// Counts of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traced {
    /// Cycles.
    pub cycles: u64,
    /// Instructions that were in flight in these cycles.
    pub instructions: u64,
    /// Ends of instructions that could not be found: 0, unless the SM is broken.
    pub unknown: u64,
}

/// A trace that is being written.
pub struct Trace {
    sink: Box<dyn Sink>,
    cycles: RangeInclusive<u64>,
    pipeline: Pipeline,
    waits: Waits,
    counters: Counters,
    /// The reason for which each issue port waits in the last cycle.
    waiting: [Option<Stall>; MAX_PORTS],
    /// The reason last written for each port, and the cycle from which it holds.
    stalls: [Option<(Stall, u64)>; MAX_PORTS],
    /// The kernel of the current launch, and its first cycle.
    launch: Option<(String, u64)>,
    /// The next cycle.
    now: u64,
    traced: Traced,
    error: Option<io::Error>,
    over: bool,
}

impl Trace {
    /// A trace of an SM of this configuration that has just been reset. Only cycles in `cycles` are written; `run` is the name of the traced run.
    ///
    /// # Errors
    /// When nothing can be written.
    pub fn new(
        config: &Config,
        declaration: &Declaration,
        format: Format,
        cycles: RangeInclusive<u64>,
        run: &str,
        out: Box<dyn Write + Send>,
    ) -> io::Result<Self> {
        Ok(Self {
            sink: format.sink(run, out)?,
            cycles,
            pipeline: Pipeline::new(config),
            waits: Waits::new(config),
            counters: Counters::new(config, declaration),
            waiting: [None; MAX_PORTS],
            stalls: [None; MAX_PORTS],
            launch: None,
            now: 0,
            traced: Traced::default(),
            error: None,
            over: false,
        })
    }

    /// Whether the next cycle has to be observed. All cycles up to the last written one are.
    pub fn looks(&self) -> bool {
        !self.over
    }

    /// Called when a launch begins with the next cycle.
    pub fn begin(&mut self, launch: &KernelLaunch<'_>) {
        self.launch = Some((launch.kernel.name.clone(), self.now));
        self.pipeline.begin(launch);
    }

    /// Called when the launch has ended with the previous cycle.
    pub fn end_launch(&mut self) {
        let (now, cycles) = (self.now, self.cycles.clone());
        let Some((kernel, from)) = self.launch.take() else { return };
        if self.over || !self.pipeline.is_open() {
            return;
        }
        let from = from.max(*cycles.start());
        let written = self.sink.launch(&kernel, from, now);
        self.keep(written);
    }

    /// Observes the next cycle; `compared` is the compared part of its record.
    pub fn observe(&mut self, cycle: &Cycle<'_>, compared: &[u8]) {
        if self.over {
            return;
        }
        let now = self.now;
        if now == *self.cycles.start() {
            let written = self.pipeline.open(&mut *self.sink);
            self.keep(written);
        }
        let written = self.see(now, cycle, compared);
        self.keep(written);
        self.now = now + 1;
        if now >= *self.cycles.end() {
            self.close();
        }
    }

    fn see(&mut self, now: u64, cycle: &Cycle<'_>, compared: &[u8]) -> io::Result<()> {
        let seen = self.waits.of(cycle);
        self.pipeline.observe(now, cycle, &seen, &mut *self.sink)?;
        // Skipped cycles equal this one, and the first written cycle may be one of them.
        self.waiting = seen.ports;
        self.counters.add(compared, seen.alive, seen.ready);
        if !self.pipeline.is_open() {
            return Ok(());
        }
        self.traced.cycles += 1;
        for (port, stall) in seen.ports.into_iter().enumerate() {
            if self.stalls[port].map(|(stall, _)| stall) != stall {
                self.end_stall(port, now)?;
                self.stalls[port] = stall.map(|stall| (stall, now));
            }
        }
        self.counters.pass(1, now + 1, &mut *self.sink)
    }

    /// Skips this many cycles, which equal the last one: nothing happens in them.
    pub fn skip(&mut self, cycles: u64) {
        if self.over {
            return;
        }
        let (start, end) = (*self.cycles.start(), *self.cycles.end());
        // The first written cycle may be one of them.
        if self.now <= start && start < self.now + cycles {
            let before = start - self.now;
            self.now = start;
            let written = self.pipeline.open(&mut *self.sink);
            self.keep(written);
            self.stalls = self.waiting.map(|stall| stall.map(|stall| (stall, start)));
            return self.skip_open(cycles - before, end);
        }
        if self.pipeline.is_open() {
            return self.skip_open(cycles, end);
        }
        self.now += cycles;
    }

    fn skip_open(&mut self, cycles: u64, end: u64) {
        let cycles = cycles.min((end - self.now).saturating_add(1));
        self.traced.cycles += cycles;
        let written = self.counters.pass(cycles, self.now + cycles, &mut *self.sink);
        self.keep(written);
        self.now += cycles;
        if self.now > end {
            self.close();
        }
    }

    /// Marks the cycle in which something went wrong.
    pub fn mark(&mut self, cycle: u64, text: &str, details: &[(&'static str, String)]) {
        if !self.over && self.pipeline.is_open() {
            let written = self.sink.mark(cycle, text, details);
            self.keep(written);
        }
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// When something could not be written, now or earlier.
    pub fn finish(mut self) -> io::Result<Traced> {
        self.close();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.sink.finish(self.now)?;
        Ok(self.traced)
    }

    /// Ends the written part: instructions in flight end here.
    fn close(&mut self) {
        if self.over {
            return;
        }
        if self.launch.is_some() {
            self.end_launch();
        }
        let written = self.write_rest();
        self.keep(written);
        self.over = true;
        (self.traced.instructions, self.traced.unknown) = self.pipeline.counts();
    }

    fn write_rest(&mut self) -> io::Result<()> {
        for port in 0..MAX_PORTS {
            self.end_stall(port, self.now)?;
        }
        self.counters.finish(self.now, &mut *self.sink)?;
        self.pipeline.cut(self.now, &mut *self.sink)
    }

    fn end_stall(&mut self, port: usize, now: u64) -> io::Result<()> {
        match self.stalls[port].take() {
            Some((stall, from)) => self.sink.stall(port, stall.event(), from, now),
            None => Ok(()),
        }
    }

    /// Keeps the first error; nothing is observed after it.
    fn keep(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.error.get_or_insert(error);
            self.over = true;
        }
    }
}
