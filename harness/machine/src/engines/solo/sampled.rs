//! The model of the SM, which runs long launches only in part.
//!
//! A launch of many more blocks than fit the SM is the same for most of its time: blocks come as others end. So the model runs a long one until it has issued a
//! number of instructions, and what it has counted stands for the rest in proportion. The launch's effect on memory is the oracle's. Other launches run whole.

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use gpurf_oracle::host::{Engine, KernelLaunch, ReportedFault};
use gpurf_oracle::{Launch, Memory, Options, Oracle, Program};

use super::{Machine, ModelEngine, Settings, Statistics};
use crate::engines::LaunchError;
use crate::trace::Trace;

/// The model alone, of long launches a sample.
pub struct SampledEngine {
    settings: Settings,
    /// Instructions of warps that a launch runs at most; a few more are run until it is noticed.
    limit: u64,
    oracle: Oracle,
    /// Runs the launches that are no longer than that.
    whole: ModelEngine,
    /// Counts of the others, each as long as it would have been.
    sampled: Statistics,
    skipped: u64,
}

impl SampledEngine {
    /// An SM that has just been reset. Launches of more instructions of warps than `limit` end early.
    pub fn new(settings: Settings, limit: u64) -> Self {
        // One thread: whoever runs kernels runs several at once.
        let options = Options { threads: NonZeroUsize::MIN, stop: Some(settings.stop), ..Options::default() };
        Self {
            whole: ModelEngine::new(settings.clone()),
            oracle: Oracle::new(options),
            sampled: Statistics::default(),
            skipped: 0,
            settings,
            limit,
        }
    }

    /// The instructions of a launch, and what it leaves in memory; nothing where it has a fault, which is the model's to report.
    fn ahead(&mut self, launch: &KernelLaunch<'_>, memory: &Memory) -> Option<(u64, Memory)> {
        let program = Program::new(launch.kernel, launch.source).ok()?;
        let after = memory.clone();
        let launch = Launch { program: &program, geometry: launch.geometry, constant: launch.constant };
        let statistics = self.oracle.run(&launch, &after).ok()?;
        Some((statistics.counts.instructions, after))
    }
}

impl Engine for SampledEngine {
    type Error = LaunchError;

    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), LaunchError> {
        let ahead = self.ahead(launch, memory);
        // The oracle has met no fault then.
        let locate = ahead.is_none() && self.settings.locate;
        let long = ahead.filter(|(instructions, _)| *instructions > self.limit);
        let Some((instructions, after)) = long else {
            self.whole.solo.settings.locate = locate;
            return self.whole.launch(launch, memory);
        };
        let mut sample = ModelEngine::new(Settings { locate, ..self.settings.clone() });
        sample.solo.enough = Some(self.limit);
        if let Some(other) = &mut sample.other {
            other.limit(self.limit);
        }
        sample.launch(launch, memory)?;
        let mut counted = sample.statistics();
        if sample.solo.cut {
            *memory = after;
            let issued = sample.solo.totals.sum(super::ISSUED);
            counted = counted.scaled(instructions, issued);
        }
        self.sampled.add(&counted);
        self.skipped += sample.skipped();
        Ok(())
    }

    fn reported(error: &LaunchError) -> Option<ReportedFault> {
        error.reported()
    }
}

impl Machine for SampledEngine {
    fn statistics(&self) -> Statistics {
        let mut all = self.whole.statistics();
        all.add(&self.sampled);
        all
    }

    fn skipped(&self) -> u64 {
        self.whole.skipped() + self.skipped
    }

    /// Of the launches that run whole.
    fn trace(&mut self, trace: Trace) {
        self.whole.trace(trace);
    }

    fn take_trace(&mut self) -> Option<Trace> {
        self.whole.take_trace()
    }

    fn finish_wave(&mut self) -> io::Result<Option<PathBuf>> {
        self.whole.finish_wave()
    }
}
