//! What surrounds one side of the SM: memory and host together.

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
    /// All blocks have.
    Done,
    /// The SM says that something is wrong.
    Fault {
        /// Warp of the SM.
        warp: u8,
        /// Cause (`docs/blocks/fault_unit.md`).
        cause: u8,
        /// What the cause's row of the table says.
        value: u32,
        /// Where there is no place in global memory, if that is the cause.
        outside: Option<Outside>,
    },
    /// Memory could not do what it was asked.
    Memory(MemoryFault),
}

/// Memory and host of one side.
#[derive(Clone)]
pub struct Surroundings {
    memory: GlobalMemory,
    host: Host,
    /// Registers that are switched off lose their values; nothing where none is, or where no oracle judges.
    lost: Option<Lost>,
    /// Where non-owners are throttled.
    periods: Option<Periods>,
    /// Cycles that a launch goes on after a fault.
    after_fault: u64,
    /// How the launch has ended first.
    ended: Option<End>,
}

impl Surroundings {
    /// Of an SM that has just been reset.
    pub fn new(config: &Config) -> Self {
        let (memory, host) = (GlobalMemory::new(config.memory), Host::new(config));
        Self { memory, host, periods: Periods::new(config), lost: None, after_fault: 0, ended: None }
    }

    /// The same, in which registers that are switched off lose their values; `twin` has the memories of the SM.
    pub fn forgetful(config: &Config, twin: &mut dyn Twin) -> Self {
        let memories = twin.memories();
        let lost = Lost::new(config, memories.iter().map(|memory| memory.path.as_str()));
        Self { lost, ..Self::new(config) }
    }

    /// A launch is to run, with these buffers; the reference of the throttle has so many stalls in each period of the launch.
    pub fn begin(&mut self, job: Job, buffers: Memory, reference: Vec<u32>) {
        if let Some(periods) = &mut self.periods {
            periods.begin(reference);
        }
        self.host.begin(job);
        self.memory.begin(buffers);
        (self.after_fault, self.ended) = (0, None);
    }

    /// The launch that has begun goes on for so many cycles after a fault.
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

    /// Gives the buffers back.
    pub fn take_buffers(&mut self) -> Memory {
        self.memory.take_buffers()
    }

    /// Whether and how the launch has ended, by the outputs of the cycle before.
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

    /// How many cycles after this one have the same inputs but for the time, if the SM does nothing in them. (The host waits: where it writes, something happens.)
    pub fn still(&self, inputs: &SmIn) -> u64 {
        self.memory.still(inputs)
    }

    /// Lets that many such cycles pass.
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
