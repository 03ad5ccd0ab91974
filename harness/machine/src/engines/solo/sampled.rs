//! The model of the SM, which runs only a part of long launches.
//!
//! A launch with many more blocks than the SM holds is in the same state most of the time: blocks begin as others end. So the model runs a long launch for some
//! cycles and until its blocks have been replaced several times. Then no block begins any more, and the running ones complete. Until the first blocks
//! are replaced the SM fills: caches and registers are empty, and no block has ended. The counts between this point and the end represent the blocks that are left
//! out, in proportion to instructions.
//!
//! A launch that resembles an earlier one is not run: one of the same kernel with the same grid and parameters, and about as many instructions. It gets the counts of
//! that launch, in proportion.
//!
//! For both, the oracle supplies the contents of memory. All other launches run whole.

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use gpurf_oracle::host::{Engine, KernelLaunch, ReportedFault};
use gpurf_oracle::{Geometry, Launch, Memory, Options, Oracle, Program};
use gpurf_sm::residency::{Room, Sharing};

use super::foreseen::{self, Foreseen, Outcome};
use super::{ISSUED, Machine, ModelEngine, ROUNDS, Sample, Settings, Statistics, Stretch};
use crate::engines::LaunchError;
use crate::job::demand;
use crate::trace::Trace;

/// Launches of a kernel are alike if they have the same grid and parameters, and their instructions differ by less than one in this many.
const ALIKE: u64 = 50;

/// Divisor: a launch with fewer instructions than this part of the sample's cycles runs whole, on an SM that has run the launches before it.
const SHORT: u64 = 8;

/// A launch that the model ran, whole or in part.
struct Ran {
    kernel: String,
    geometry: Geometry,
    constant: Vec<u8>,
    instructions: u64,
    counted: Statistics,
}

impl Ran {
    /// Whether another launch resembles this one.
    fn is_like(&self, launch: &KernelLaunch<'_>, instructions: u64) -> bool {
        let apart = self.instructions.abs_diff(instructions);
        let same = self.kernel == launch.kernel.name && self.geometry == launch.geometry;
        same && self.constant == launch.constant && apart <= instructions / ALIKE
    }
}

/// The model alone, which runs samples of long launches.
pub struct SampledEngine {
    settings: Settings,
    /// Cycles after which no block of a long launch begins; checked at intervals.
    limit: u64,
    oracle: Oracle,
    foreseen: Arc<Foreseen>,
    /// Runs launches that have few instructions or few warps.
    whole: ModelEngine,
    /// Statistics of all launches, as if each had been run whole.
    sampled: Statistics,
    /// Launches that later ones may resemble.
    ran: Vec<Ran>,
    skipped: u64,
}

impl SampledEngine {
    /// An SM that has just been reset. No block of a long launch begins after `limit` cycles.
    pub fn new(settings: Settings, limit: u64) -> Self {
        Self::sharing(settings, limit, Arc::default())
    }

    /// An engine that shares the oracle's results with other engines.
    pub fn sharing(settings: Settings, limit: u64, foreseen: Arc<Foreseen>) -> Self {
        // One thread, because callers run several kernels at once.
        let options = Options { threads: NonZeroUsize::MIN, stop: Some(settings.stop), ..Options::default() };
        Self {
            whole: ModelEngine::new(settings.clone()),
            oracle: Oracle::new(options),
            foreseen,
            sampled: Statistics::default(),
            ran: Vec::new(),
            skipped: 0,
            settings,
            limit,
        }
    }

    /// The oracle's result of a launch; `None` if it has a fault, which the model has to report.
    fn ahead(&mut self, launch: &KernelLaunch<'_>, memory: &Memory) -> Option<Outcome> {
        let digest = foreseen::digest(launch, memory);
        if let Some(known) = self.foreseen.get(digest) {
            return Some(known);
        }
        let program = Program::new(launch.kernel, launch.source).ok()?;
        let after = Arc::new(memory.clone());
        let launch = Launch { program: &program, geometry: launch.geometry, constant: launch.constant };
        let instructions = self.oracle.run(&launch, &after).ok()?.counts.instructions;
        let outcome = Outcome { instructions, after };
        self.foreseen.keep(digest, &outcome);
        Some(outcome)
    }

    /// Number of its warps that the SM holds; `None` for a launch that runs whole because it has few instructions or few warps.
    fn warps_of_long(&self, launch: &KernelLaunch<'_>, instructions: u64) -> Option<u64> {
        if instructions <= self.limit / SHORT {
            return None;
        }
        let config = &self.settings.config;
        let demand = demand(launch.kernel, &launch.geometry);
        let room = Room::of_launch(config, launch.geometry.threads());
        let of_blocks = |blocks: u64| blocks * u64::from(demand.warps);
        let held = of_blocks(room.residency(&demand, Sharing::of(config)).blocks().into());
        (of_blocks(launch.geometry.blocks()) > ROUNDS * held).then_some(held)
    }

    /// Runs a launch; returns its statistics.
    fn run(
        &mut self,
        launch: &KernelLaunch<'_>,
        memory: &mut Memory,
        ahead: Option<&Outcome>,
    ) -> Result<Statistics, LaunchError> {
        // If the oracle has a result, it met no fault, and there is nothing to locate.
        let locate = ahead.is_none() && self.settings.locate;
        let long = ahead.and_then(|ahead| Some((ahead, self.warps_of_long(launch, ahead.instructions)?)));
        let Some((&Outcome { instructions, ref after }, warps)) = long else {
            self.whole.solo.settings.locate = locate;
            let before = self.whole.statistics();
            self.whole.launch(launch, memory)?;
            return Ok(self.whole.statistics().since(&before));
        };
        let mut sample = ModelEngine::new(Settings { locate, ..self.settings.clone() });
        sample.solo.sample = Some(Sample::new(self.limit, warps));
        if let Some(other) = &mut sample.other {
            other.limit(self.limit, warps);
        }
        sample.launch(launch, memory)?;
        self.skipped += sample.skipped();
        let mut counted = sample.statistics();
        // Otherwise the launch completed before the last phase of the sample.
        if let Some(Sample { stretch: Stretch::Draining { stands }, .. }) = sample.solo.sample {
            *memory = Memory::clone(after);
            let issued = |statistics: &Statistics| statistics.events.get(ISSUED).copied().unwrap_or(0);
            let (rest, of) = (instructions.saturating_sub(issued(&counted)), issued(&stands));
            counted.add(&stands.scaled(rest, of));
        }
        Ok(counted)
    }
}

impl Engine for SampledEngine {
    type Error = LaunchError;

    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), LaunchError> {
        let ahead = self.ahead(launch, memory);
        if let Some(Outcome { instructions, after }) = &ahead
            && let Some(ran) = self.ran.iter().rev().find(|ran| ran.is_like(launch, *instructions))
        {
            self.sampled.add(&ran.counted.clone().scaled(*instructions, ran.instructions));
            *memory = Memory::clone(after);
            return Ok(());
        }
        let counted = self.run(launch, memory, ahead.as_ref())?;
        if let Some(Outcome { instructions, .. }) = ahead {
            let (kernel, geometry, constant) = (launch.kernel.name.clone(), launch.geometry, launch.constant.to_vec());
            self.ran.push(Ran { kernel, geometry, constant, instructions, counted: counted.clone() });
        }
        self.sampled.add(&counted);
        Ok(())
    }

    fn reported(error: &LaunchError) -> Option<ReportedFault> {
        error.reported()
    }
}

impl Machine for SampledEngine {
    fn statistics(&self) -> Statistics {
        self.sampled.clone()
    }

    fn skipped(&self) -> u64 {
        self.whole.skipped() + self.skipped
    }

    /// Traces only the launches that run whole.
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
