//! Runs launches: all blocks of a grid.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::commit::{Observer, Unobserved};
use crate::conflict::Conflicts;
use crate::context::{Accesses, Clock, Context, Counts, State, warps};
use crate::fault::Fault;
use crate::launch::Launch;
use crate::memory::Memory;
use crate::meter::Meter;
use crate::turns::in_turns;
use crate::undefined::Undefined;

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Number of host threads.
    pub threads: NonZeroUsize,
    /// Instructions that the warps of a block may issue before it counts as a hang.
    pub step_limit: u64,
    /// Raised to end the run early.
    pub stop: Option<&'static AtomicBool>,
    /// Counts the blocks that have ended.
    pub meter: Option<&'static Meter>,
    /// Initial value of a thread's registers and local memory; its lowest bit is that of predicates. The results of a program that reads only what it
    /// has written do not depend on it.
    pub first_value: u32,
    /// Whether bytes of shared memory that nothing has written since the block's start may be read: they are zero. Else such a read is a fault.
    pub unwritten_shared: bool,
}

impl Default for Options {
    /// A thread for each processor; a billion instructions; zero in registers.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self { threads, step_limit: 1_000_000_000, stop: None, meter: None, first_value: 0, unwritten_shared: false }
    }
}

impl Options {
    /// A block has ended.
    pub(crate) fn count_block(&self) {
        if let Some(meter) = self.meter {
            meter.add();
        }
    }
}

/// Statistics of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Counts of instructions.
    pub counts: Counts,
    /// Whether blocks ran at the same time.
    pub parallel: bool,
}

/// Launches of fewer threads run their blocks one after the other: starting host threads costs more.
const SMALL: u64 = 4096;

/// Runs launches, one after the other.
#[derive(Debug, Default)]
pub struct Oracle {
    pub(crate) options: Options,
    /// Kernels whose blocks have been seen to depend on each other.
    dependent: HashSet<String>,
    conflicts: Option<Conflicts>,
    /// Memory before the last launch whose blocks ran at the same time.
    before: Vec<Vec<u32>>,
    /// Counts of all launches so far; the instructions are the time.
    total: Counts,
}

impl Oracle {
    /// An oracle with these options.
    pub fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    /// Counts of all launches so far, those that ended with a fault included.
    pub fn counts(&self) -> Counts {
        self.total
    }

    /// Runs a launch. The result is that of its blocks run one after the other, in ascending order; several run at the same time where that makes no
    /// difference, and in turns where one waits for another.
    ///
    /// # Errors
    /// The first fault. Memory then holds what was written before it.
    pub fn run(&mut self, launch: &Launch<'_>, memory: &Memory) -> Result<Statistics, Box<Fault>> {
        if self.may_be_parallel(launch)
            && let Some(counts) = self.run_parallel(launch, memory)
        {
            self.total = add(self.total, counts);
            return Ok(Statistics { counts, parallel: true });
        }
        self.run_observed(launch, memory, &mut Unobserved)
    }

    /// Runs a launch block after block, and in turns where one waits for another; reports to an observer what each warp does.
    ///
    /// # Errors
    /// The first fault. Memory then holds what was written before it.
    pub fn run_observed<O: Observer>(
        &mut self,
        launch: &Launch<'_>,
        memory: &Memory,
        observer: &mut O,
    ) -> Result<Statistics, Box<Fault>> {
        let options = self.options;
        if let Some(meter) = options.meter {
            // Blocks that ran at the same time before may run again.
            meter.set(0, 0);
        }
        self.counted(launch, memory, observer, |context| in_turns(context, launch, &options))
    }

    /// Runs a launch with a context of its own, and adds its counts to those of all launches.
    fn counted<O: Observer>(
        &mut self,
        launch: &Launch<'_>,
        memory: &Memory,
        observer: &mut O,
        run: impl FnOnce(&mut Context<'_, O>) -> Result<(), Box<Fault>>,
    ) -> Result<Statistics, Box<Fault>> {
        let mut context = self.context(launch, memory, None, observer);
        let ended = run(&mut context);
        let counts = context.counts;
        self.total = add(self.total, counts);
        ended.map(|()| Statistics { counts, parallel: false })
    }

    /// Runs a launch block after block, and looks for reads of registers, predicates and local memory that the thread has not written. A block that
    /// waits for a later one is a hang.
    ///
    /// # Errors
    /// The first of these reads, whatever comes after it; else the first fault. Memory then holds what was written before the run ended.
    pub fn run_checked(&mut self, launch: &Launch<'_>, memory: &Memory) -> Result<Statistics, Box<Fault>> {
        let mut check = Undefined::new(launch);
        let options = self.options;
        let ran = self.counted(launch, memory, &mut check, |context| {
            let mut warps = warps(launch.program, &launch.geometry, options.first_value);
            (0..launch.geometry.blocks()).try_for_each(|index| {
                restart(context, &mut warps, index);
                context.run(&mut warps).map(|_| options.count_block())
            })
        });
        match check.finish() {
            Some(fault) => Err(fault),
            None => ran,
        }
    }

    /// Runs a launch, and returns whether its blocks read or write words of global memory that other blocks write: then the result depends on the
    /// order of the blocks. Atomic operations of one kind that commute and whose results are unused do not interfere with each other; all other
    /// atomic operations are ignored.
    ///
    /// # Errors
    /// The first fault. Memory then holds what was written before it.
    pub fn blocks_interfere(&self, launch: &Launch<'_>, memory: &Memory) -> Result<bool, Box<Fault>> {
        let mut conflicts = Conflicts::new(memory);
        let blocks = launch.geometry.blocks();
        if !conflicts.begin(blocks) {
            // There are too many blocks for each to have its own note.
            return Ok(true);
        }
        let mut observer = Unobserved;
        let mut context = self.context(launch, memory, None, &mut observer);
        let mut warps = warps(launch.program, &launch.geometry, self.options.first_value);
        for index in 0..blocks {
            restart(&mut context, &mut warps, index);
            context.conflicts = Some((&conflicts, conflicts.note(index)));
            context.run(&mut warps)?;
        }
        Ok(conflicts.found())
    }

    fn may_be_parallel(&self, launch: &Launch<'_>) -> bool {
        let geometry = &launch.geometry;
        self.options.threads.get() > 1
            && geometry.blocks() > 1
            && geometry.blocks().saturating_mul(geometry.threads().into()) >= SMALL
            && !launch.program.ordered
            && !self.dependent.contains(&launch.program.name)
    }

    /// Runs the blocks at the same time. `None` if they depend on each other, or if there was a fault: memory is then as it was before.
    fn run_parallel(&mut self, launch: &Launch<'_>, memory: &Memory) -> Option<Counts> {
        let mut conflicts = self.conflicts.take().filter(|notes| notes.covers(memory));
        let blocks = launch.geometry.blocks();
        if !conflicts.as_mut().is_some_and(|conflicts| conflicts.begin(blocks)) {
            let mut fresh = Conflicts::new(memory);
            if !fresh.begin(blocks) {
                return None;
            }
            conflicts = Some(fresh);
        }
        let conflicts = conflicts?;
        let mut before = std::mem::take(&mut self.before);
        memory.snapshot(&mut before);
        let next = AtomicU64::new(0);
        let faulty = AtomicBool::new(false);
        let this = &*self;
        let worker = || {
            let mut observer = Unobserved;
            let mut context = this.context(launch, memory, Some((&conflicts, 0)), &mut observer);
            let mut warps = warps(launch.program, &launch.geometry, self.options.first_value);
            while !conflicts.found() && !faulty.load(Relaxed) {
                let index = next.fetch_add(1, Relaxed);
                if index >= blocks {
                    break;
                }
                restart(&mut context, &mut warps, index);
                context.conflicts = Some((&conflicts, conflicts.note(index)));
                if context.run(&mut warps).is_err() {
                    faulty.store(true, Relaxed);
                }
                this.options.count_block();
            }
            context.counts
        };
        let threads = (self.options.threads.get() as u64).min(blocks);
        let counts = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            let counts = workers.into_iter().map(|worker| worker.join());
            // A defect of the oracle stays one: blocks of a worker that has panicked did not run.
            counts.map(|counts| counts.unwrap_or_else(|panic| resume_unwind(panic))).fold(Counts::default(), add)
        });
        let dependent = conflicts.found();
        let failed = dependent || faulty.load(Relaxed);
        self.conflicts = Some(conflicts);
        if dependent {
            self.dependent.insert(launch.program.name.clone());
        }
        if failed {
            memory.restore(&before);
        }
        self.before = before;
        (!failed).then_some(counts)
    }

    pub(crate) fn context<'a, O>(
        &self,
        launch: &Launch<'a>,
        memory: &'a Memory,
        conflicts: Option<(&'a Conflicts, u32)>,
        observer: &'a mut O,
    ) -> Context<'a, O> {
        Context {
            program: launch.program,
            memory,
            conflicts,
            constant: launch.constant,
            geometry: launch.geometry,
            step_limit: self.options.step_limit,
            stop: self.options.stop,
            first_value: self.options.first_value,
            accesses: Accesses::Free,
            clock: Clock::Instructions(self.total.instructions),
            turn_began: 0,
            state: State::new(launch.program, &launch.geometry, 0, self.options.unwritten_shared),
            changes: 0,
            counts: Counts::default(),
            observer,
        }
    }
}

fn add(a: Counts, b: Counts) -> Counts {
    Counts {
        instructions: a.instructions + b.instructions,
        thread_instructions: a.thread_instructions + b.thread_instructions,
    }
}

/// Resets context and warps for another block.
pub(crate) fn restart<O>(context: &mut Context<'_, O>, warps: &mut [crate::warp::Warp], index: u64) {
    let geometry = context.geometry;
    context.state.restart(&geometry, index);
    for warp in warps {
        warp.restart(crate::warp::lanes_of_warp(warp.number, geometry.threads()), context.first_value);
    }
}
