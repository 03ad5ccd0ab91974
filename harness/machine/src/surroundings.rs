//! Surroundings of one side of the SM: memory and host together.

use std::sync::Arc;

use gpurf_blocks::config::Config;
use gpurf_blocks::{Twin, view, view_mut};
use gpurf_lockstep::{Environment, LostWord};
use gpurf_oracle::Memory;
use gpurf_sm::{SmIn, SmOut};

use crate::cycle::probe_of;
use crate::host::{Ended, Host};
use crate::job::Job;
use crate::lost::Lost;
use crate::memory::{GlobalMemory, MemoryFault, Moved, Outside};
use crate::reference::Periods;

/// How a launch ended, as memory and host see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// All blocks have ended.
    Done,
    /// The SM reports a fault.
    Fault {
        /// Warp of the SM.
        warp: u8,
        /// Cause (`docs/blocks/fault_unit.md`).
        cause: u8,
        /// The value that the table describes for this cause.
        value: u32,
        /// The access outside global memory, if that is the cause.
        outside: Option<Outside>,
    },
    /// Memory could not perform a request.
    Memory(MemoryFault),
}

/// Memory and host of one side.
#[derive(Clone)]
pub struct Surroundings {
    memory: GlobalMemory,
    host: Host,
    /// Registers that are switched off lose their values; `None` if none can be switched off, or if no oracle judges.
    lost: Option<Lost>,
    /// Present if non-owners are throttled.
    periods: Option<Periods>,
    /// Number of cycles for which a launch continues after a fault.
    after_fault: u64,
    /// How the launch ended at first.
    ended: Option<End>,
}

impl Surroundings {
    /// Surroundings of an SM that has just been reset.
    pub fn new(config: &Config) -> Self {
        let (memory, host) = (GlobalMemory::new(config.memory), Host::new(config));
        Self { memory, host, periods: Periods::new(config), lost: None, after_fault: 0, ended: None }
    }

    /// Surroundings in which registers that are switched off lose their values; `twin` has the memories of the SM.
    pub fn forgetful(config: &Config, twin: &mut dyn Twin) -> Self {
        let memories = twin.memories();
        let lost = Lost::new(config, memories.iter().map(|memory| memory.path.as_str()));
        Self { lost, ..Self::new(config) }
    }

    /// Starts a launch with these buffers; `reference`: the stalls of the throttle's reference in each period of the launch.
    pub fn begin(&mut self, job: Job, buffers: Memory, reference: Vec<u32>) {
        if let Some(periods) = &mut self.periods {
            periods.begin(reference);
        }
        self.memory.begin(buffers, Arc::clone(&job.constants));
        self.host.begin(job);
        (self.after_fault, self.ended) = (0, None);
    }

    /// The current launch continues for this many cycles after a fault.
    pub fn go_on_after_fault(&mut self, cycles: u64) {
        self.after_fault = cycles;
    }

    /// Stalls of each period that has ended in the launch; none without a throttle.
    pub fn stalls(&self) -> Vec<u32> {
        self.periods.as_ref().map_or_else(Vec::new, |periods| periods.ended().to_vec())
    }

    /// What memory has moved since reset.
    pub fn moved(&self) -> Moved {
        self.memory.moved()
    }

    /// Returns the buffers.
    pub fn take_buffers(&mut self) -> Memory {
        self.memory.take_buffers()
    }

    /// Whether and how the launch has ended, according to the outputs of the previous cycle.
    pub fn end(&self, previous: &SmOut) -> Option<End> {
        if self.ended.is_some() {
            return self.ended;
        }
        if let Some(fault) = self.memory.fault() {
            return Some(End::Memory(fault));
        }
        self.host.ended(previous).map(|ended| match ended {
            Ended::Done => End::Done,
            Ended::Fault { warp, cause, value } => {
                let outside = self.memory.answered_outside();
                End::Fault { warp, cause, value, outside }
            }
        })
    }

    /// Number of cycles after this one with the same inputs except for the time, if the SM does nothing. (The host waits: if it writes, something happens.)
    pub fn still(&self, inputs: &SmIn) -> u64 {
        self.memory.still(inputs)
    }

    /// Skips this many such cycles.
    pub fn skip(&mut self, cycles: u64) {
        self.memory.skip(cycles);
        self.host.skip(cycles);
    }
}

impl Environment for Surroundings {
    fn lost(&mut self, compared: &[u8]) -> &[LostWord] {
        self.lost.as_mut().map_or(&[], |lost| lost.observe(probe_of(compared)))
    }

    fn drive(&mut self, previous: Option<&[u8]>, inputs: &mut [u8]) -> bool {
        let previous = previous.map(view::<SmOut>);
        let inputs: &mut SmIn = view_mut(inputs);
        if let Some(periods) = &mut self.periods {
            periods.drive(previous, inputs);
        }
        self.ended = previous.and_then(|out| self.end(out));
        match self.ended {
            Some(End::Fault { .. } | End::Memory(_)) if self.after_fault > 0 => self.after_fault -= 1,
            Some(_) => return false,
            None => {}
        }
        self.memory.drive(previous, inputs);
        self.host.drive(inputs);
        true
    }
}
