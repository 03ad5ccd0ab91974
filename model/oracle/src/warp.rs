//! The state of a warp.

use crate::lanes::{Lanes, Mask, WIDTH};
use crate::program::{Condition, PREDICATE_ROWS, PREDICATE_SINK, Program, SourceB};
use crate::stack::Stack;

/// What a warp waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiting {
    /// Nothing.
    No,
    /// A barrier.
    Barrier(u8),
    /// Its turn to access memory in a replayed order.
    Access,
}

/// The state of a warp.
#[derive(Clone, Debug)]
pub struct Warp {
    /// Its number in the block.
    pub number: u32,
    /// Registers, the zero row and the row that receives writes to `RZ`.
    pub rows: Vec<Lanes>,
    /// Predicates, one bit per lane; row 7 is always true, row 8 receives writes to `PT`.
    pub predicates: [Mask; PREDICATE_ROWS],
    /// The SIMT stack: the lanes that execute and those that wait.
    pub stack: Stack,
    /// Local memory: for each word the lanes' words.
    pub local: Vec<Lanes>,
    /// What it waits for.
    pub waiting: Waiting,
    /// Instructions that it has issued.
    pub issued: u64,
    /// Atomic operations that it has performed.
    pub atomics: u64,
    /// How often it has read the time.
    pub times: usize,
    /// Accesses to memory that it has performed, in a replay: loads, stores and atomic operations.
    pub accesses: u64,
    /// Lanes that have performed the present access, where a replay performs it in several steps.
    pub performed: Mask,
    /// The values that these lanes have loaded.
    pub loaded: Lanes,
    /// The buffer that its last access to global memory was in.
    pub buffer_hint: usize,
    /// Detects whether the warp spins.
    pub watch: Watch,
}

/// Instructions from the first saved state of a warp to the second. Copying the registers takes far less time than executing these.
const FIRST_INTERVAL: u64 = 1 << 12;

/// An earlier state of a warp, to detect that the warp returns to it.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Instructions since it was last known to make progress.
    pub since: u64,
    /// The value of `since` at which the state was saved.
    pub saved: u64,
    /// Instructions from the last saved state to the next.
    pub interval: u64,
    /// The saved state, and how often memory had changed at that time.
    pub state: Option<(Stack, Vec<Lanes>, [Mask; PREDICATE_ROWS], u64)>,
    /// The number of changes of memory at which the warp was found to return to the saved state.
    pub spinning_at: Option<u64>,
}

impl Warp {
    /// A warp of `lanes` at the start of a program; `first` is the initial value of registers and local memory, its lowest bit that of predicates.
    pub fn new(program: &Program, number: u32, lanes: Mask, first: u32) -> Self {
        Self {
            number,
            rows: first_rows(program.rows(), first),
            predicates: first_predicates(first),
            stack: Stack::new(lanes),
            local: vec![Lanes::splat(first); program.local_bytes.div_ceil(4) as usize],
            waiting: Waiting::No,
            issued: 0,
            atomics: 0,
            times: 0,
            accesses: 0,
            performed: 0,
            loaded: Lanes::ZERO,
            buffer_hint: 0,
            watch: Watch::default(),
        }
    }

    /// Resets the warp to the start of the program.
    pub fn restart(&mut self, lanes: Mask, first: u32) {
        self.rows = first_rows(self.rows.len(), first);
        self.predicates = first_predicates(first);
        self.stack = Stack::new(lanes);
        self.local.fill(Lanes::splat(first));
        self.waiting = Waiting::No;
        (self.issued, self.atomics, self.times) = (0, 0, 0);
        (self.accesses, self.performed) = (0, 0);
        self.watch = Watch::default();
    }

    /// The values of a source row.
    #[inline(always)]
    pub fn row(&self, row: u16) -> &Lanes {
        &self.rows[row as usize]
    }

    /// The values of source b.
    #[inline(always)]
    pub fn b<'a>(&'a self, program: &'a Program, b: SourceB) -> &'a Lanes {
        match b {
            SourceB::Row(row) => &self.rows[row as usize],
            SourceB::Constant(row) => &program.constants[row as usize],
        }
    }

    /// The lanes in which a condition holds.
    #[inline(always)]
    pub fn condition(&self, condition: Condition) -> Mask {
        self.predicates[condition.row as usize] ^ condition.invert
    }

    /// Writes a predicate in the lanes of `mask`.
    #[inline(always)]
    pub fn set_predicate(&mut self, predicate: u8, values: Mask, mask: Mask) {
        let old = &mut self.predicates[predicate as usize];
        *old = *old & !mask | values & mask;
    }

    /// Called when a loop begins again; `changes` is the number of changes of memory so far. Records and returns whether the warp is in the saved state
    /// and memory has not changed since.
    pub fn watch_loop(&mut self, changes: u64) -> bool {
        let watch = &mut self.watch;
        if let Some((stack, rows, predicates, at)) = &watch.state
            && *at == changes
            && *stack == self.stack
            && *predicates == self.predicates
            && rows[..rows.len() - 1] == self.rows[..rows.len() - 1]
        {
            watch.spinning_at = Some(changes);
            return true;
        }
        // The interval doubles as long as memory does not change, so that a loop of any length is found eventually (Brent).
        let same = watch.state.as_ref().is_some_and(|(.., at)| *at == changes);
        let interval = if same { watch.interval } else { FIRST_INTERVAL };
        if watch.since >= watch.saved + interval {
            watch.interval = if same { 2 * interval } else { FIRST_INTERVAL };
            watch.saved = watch.since;
            watch.state = Some((self.stack.clone(), self.rows.clone(), self.predicates, changes));
        }
        false
    }
}

/// Rows of registers at the start; the last two are the zero row and the one that receives writes to `RZ`.
fn first_rows(count: usize, first: u32) -> Vec<Lanes> {
    let mut rows = vec![Lanes::splat(first); count];
    rows[count - 2..].fill(Lanes::ZERO);
    rows
}

/// Predicates at the start.
fn first_predicates(first: u32) -> [Mask; PREDICATE_ROWS] {
    let mut predicates = [0u32.wrapping_sub(first & 1); PREDICATE_ROWS];
    predicates[7] = Mask::MAX;
    predicates[usize::from(PREDICATE_SINK)] = 0;
    predicates
}

/// The lanes of a warp that exist in a block of this many threads.
pub fn lanes_of_warp(warp: u32, threads: u32) -> Mask {
    let left = threads.saturating_sub(warp * WIDTH as u32);
    if left >= WIDTH as u32 { Mask::MAX } else { (1 << left) - 1 }
}
