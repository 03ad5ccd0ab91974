//! The separate SM whose stalls are the reference of a throttle.

use gpurf_blocks::Twin;
use gpurf_oracle::Memory;

use super::{Sample, Settings, Solo, solo_model};
use crate::job::Job;
use crate::reference::held;

/// The model of an SM whose non-owners never use memory. It runs each launch before the SM that is compared with it.
pub(in crate::engines) struct Other(Solo<Box<dyn Twin>>);

impl Other {
    /// The reference for an SM; `None` if its throttle has no external reference.
    pub(in crate::engines) fn new(settings: &Settings) -> Option<Self> {
        let config = held(&settings.config)?;
        Some(Self(solo_model(Settings { config, wave: None, measure: false, ..settings.clone() })))
    }

    /// No block of a launch begins after this many cycles, if the SM holds this many of its warps.
    pub(super) fn limit(&mut self, cycles: u64, warps: u64) {
        self.0.sample = Some(Sample::new(cycles, warps));
    }

    /// Runs a launch without changing the memory; returns the stalls of each period.
    pub(in crate::engines) fn run(&mut self, job: &Job, memory: &Memory) -> Vec<u32> {
        // The outcome does not matter: all stalls up to its end are counted, and the compared SM reports the same outcome.
        let _ = self.0.run(job.clone(), memory.clone(), Vec::new(), None);
        self.0.surroundings.stalls()
    }
}
