//! Everything that a warp can access: its block, memory, the launch.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use crate::commit::{Observer, WarpId};
use crate::conflict::Conflicts;
use crate::fault::{Fault, FaultKind, LaneFault};
use crate::lanes::{Mask, WIDTH};
use crate::memory::Memory;
use crate::program::Program;
use crate::shared::Shared;
use crate::warp::{Waiting, Warp, lanes_of_warp};

/// A warp that executes this many instructions without a barrier is watched for a loop in which nothing changes, which would never end.
const WATCHED_AFTER: u64 = 1 << 16;

/// Sizes of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
}

impl Geometry {
    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Warps of a block; the last one may have fewer than 32 threads.
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(WIDTH as u32)
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// The coordinates of the block with this number, counted over x, then y, then z.
    pub fn block_at(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
    }

    /// The coordinates of the thread with this number in its block.
    pub fn thread_at(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.block;
        [number % x, number / x % y, number / x / y]
    }
}

/// How loads, stores and atomic operations are performed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accesses {
    /// Immediately.
    Free,
    /// The warp waits for its turn.
    Hold,
    /// These lanes perform the warp's present access.
    Grant(Mask),
}

/// Where the time comes from.
#[derive(Clone, Copy, Debug)]
pub enum Clock<'a> {
    /// The number of instructions that warps have executed; the value is the number before the launch.
    Instructions(u64),
    /// Recorded on another machine: for each warp the times that it has read, in order.
    Replayed(&'a Times),
}

/// The times that warps have read.
pub type Times = HashMap<WarpId, Vec<u64>>;

/// A barrier at which warps wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Barrier {
    /// Warps that wait.
    arrived: u32,
    /// Threads that it waits for; 0 means all.
    count: u32,
}

impl Barrier {
    /// Another warp arrives; returns whether its count differs from that of the warps before it.
    pub fn arrive(&mut self, count: u32) -> bool {
        if self.arrived > 0 && self.count != count {
            return true;
        }
        self.count = count;
        self.arrived += 1;
        false
    }

    /// Whether all warps that it waits for have arrived.
    pub fn is_complete(&self, living_warps: u32) -> bool {
        match (self.arrived, self.count) {
            (0, _) => false,
            (arrived, 0) => arrived == living_warps,
            (arrived, count) => arrived * WIDTH as u32 >= count,
        }
    }
}

/// The state of a block apart from its warps.
#[derive(Debug)]
pub struct State {
    /// Its number.
    pub index: u64,
    /// Its coordinates.
    pub block: [u32; 3],
    /// Its shared memory.
    pub shared: Shared,
    /// Its barriers.
    pub barriers: [Barrier; gpurf_isa::machine::BARRIERS],
    /// Instructions that its warps have issued.
    pub issued: u64,
}

impl State {
    /// A block before its start; `unwritten_shared` as in [`crate::Options`].
    pub fn new(program: &Program, geometry: &Geometry, index: u64, unwritten_shared: bool) -> Self {
        let shared = program.static_shared + geometry.dynamic_shared;
        Self {
            index,
            block: geometry.block_at(index),
            shared: Shared::new(shared, program.narrow_shared, unwritten_shared, !program.fenced),
            barriers: Default::default(),
            issued: 0,
        }
    }

    /// Resets the state to that of another block before its start.
    pub fn restart(&mut self, geometry: &Geometry, index: u64) {
        self.index = index;
        self.block = geometry.block_at(index);
        self.shared.reset();
        self.barriers = Default::default();
        self.issued = 0;
    }
}

/// The warps of a block before its start.
pub fn warps(program: &Program, geometry: &Geometry, first: u32) -> Vec<Warp> {
    let threads = geometry.threads();
    (0..geometry.warps()).map(|warp| Warp::new(program, warp, lanes_of_warp(warp, threads), first)).collect()
}

/// Counts of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Instructions that warps have issued.
    pub instructions: u64,
    /// Instructions, counted once for each thread that executed them: lanes whose guard was false do not count.
    pub thread_instructions: u64,
}

/// Everything that a warp can access.
pub struct Context<'a, O> {
    pub program: &'a Program,
    pub memory: &'a Memory,
    /// Conflict notes of a parallel run, and the note that stands for this block.
    pub conflicts: Option<(&'a Conflicts, u32)>,
    pub constant: &'a [u8],
    pub geometry: Geometry,
    pub step_limit: u64,
    pub stop: Option<&'a AtomicBool>,
    /// Initial value of a thread's registers and local memory.
    pub first_value: u32,
    pub accesses: Accesses,
    pub clock: Clock<'a>,
    /// Instructions that the present warp had issued before its turn.
    pub turn_began: u64,
    pub state: State,
    /// How often blocks have changed memory.
    pub changes: u64,
    pub counts: Counts,
    pub observer: &'a mut O,
}

impl<O: Observer> Context<'_, O> {
    /// A warp has executed an instruction in the lanes of `mask`.
    #[inline(always)]
    pub fn count(&mut self, warp: &mut Warp, mask: Mask) {
        warp.issued += 1;
        warp.watch.since += 1;
        self.counts.thread_instructions += u64::from(mask.count_ones());
    }

    /// The time that a warp reads. Counts the read.
    pub fn time(&self, warp: &mut Warp) -> Result<u64, LaneFault> {
        let read = warp.times;
        warp.times += 1;
        match self.clock {
            Clock::Instructions(before) => Ok(before + self.counts.instructions + (warp.issued - self.turn_began)),
            Clock::Replayed(times) => {
                let id = WarpId { block: self.state.index, warp: warp.number };
                times.get(&id).and_then(|times| times.get(read)).copied().ok_or_else(|| {
                    let problem = format!("warp {} reads the time more often than {read} times", warp.number);
                    LaneFault::new(warp.stack.top.mask.trailing_zeros() as usize, FaultKind::Replay(problem))
                })
            }
        }
    }

    /// A warp goes back to an earlier instruction. Returns whether it repeats a loop in which nothing changes.
    #[inline(always)]
    pub fn loops(&self, warp: &mut Warp) -> bool {
        // A loop that reads the time never returns to the same state.
        warp.watch.since >= WATCHED_AFTER && !self.program.timed && warp.watch_loop(self.changes)
    }

    /// The lanes of `mask` that perform the warp's present access now; `None` if the warp has to wait.
    pub fn grant(&self, warp: &mut Warp, mask: Mask) -> Result<Option<Mask>, LaneFault> {
        match self.accesses {
            Accesses::Free => Ok(Some(mask)),
            Accesses::Hold => {
                warp.waiting = Waiting::Access;
                Ok(None)
            }
            Accesses::Grant(lanes) => {
                let wrong = lanes & !(mask & !warp.performed);
                if wrong != 0 {
                    let problem = format!("lanes {wrong:#010x} do not take part, or have had their turn");
                    return Err(LaneFault::new(wrong.trailing_zeros() as usize, FaultKind::Replay(problem)));
                }
                Ok(Some(lanes))
            }
        }
    }

    /// Records that the lanes of `granted` have performed the access; returns whether all lanes of `mask` now have.
    pub fn is_whole(&self, warp: &mut Warp, mask: Mask, granted: Mask) -> bool {
        if let Accesses::Grant(_) = self.accesses {
            warp.performed |= granted;
            if warp.performed != mask {
                return false;
            }
            warp.performed = 0;
            warp.accesses += 1;
        }
        true
    }

    /// A fault of a warp's next instruction, for its first active thread.
    pub fn fault(&self, warp: &Warp, kind: FaultKind) -> Box<Fault> {
        self.locate(warp, LaneFault::new(warp.stack.top.mask.trailing_zeros() as usize, kind))
    }

    /// A fault of a warp's next instruction, with its place.
    pub fn locate(&self, warp: &Warp, fault: LaneFault) -> Box<Fault> {
        let pc = warp.stack.top.pc;
        let number = warp.number * WIDTH as u32 + (fault.lane % WIDTH) as u32;
        Box::new(Fault {
            kernel: self.program.name.clone(),
            block: self.state.block,
            thread: self.geometry.thread_at(number),
            warp: warp.number,
            pc,
            instruction: self.program.instructions.get(pc as usize).map_or_else(String::new, ToString::to_string),
            file: self.program.source.clone(),
            line: self.program.line(pc),
            cuda: self.program.sources.get(&pc).cloned(),
            kind: *fault.kind,
        })
    }
}
