//! The SM whose stalls are the reference of a throttle.

use gpurf_blocks::Twin;
use gpurf_oracle::Memory;

use super::{Sample, Settings, Solo, solo_model};
use crate::job::Job;
use crate::reference::held;

/// The model of an SM whose non-owners never use memory. It runs the same launches, each ahead of the SM that is compared with it.
pub(in crate::engines) struct Other(Solo<Box<dyn Twin>>);

impl Other {
    /// That of an SM; nothing where it has no external reference.
    pub(in crate::engines) fn new(settings: &Settings) -> Option<Self> {
        let config = held(&settings.config)?;
        Some(Self(solo_model(Settings { config, wave: None, measure: false, ..settings.clone() })))
    }

    /// No block of a launch begins after so many cycles, if the SM holds so many of its warps.
    pub(super) fn limit(&mut self, cycles: u64, warps: u64) {
        self.0.sample = Some(Sample::new(cycles, warps));
    }

    /// Runs a launch, and leaves the memory; gives the stalls of each period.
    pub(in crate::engines) fn run(&mut self, job: &Job, memory: &Memory) -> Vec<u32> {
        // However it ends: what was counted until then is there, and the SM that is compared with it has the same end to report.
        let _ = self.0.run(job.clone(), memory.clone(), Vec::new(), None);
        self.0.surroundings.stalls()
    }
}
