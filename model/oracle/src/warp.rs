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
    /// Registers, the zero row and the row that takes writes to `RZ`.
    pub rows: Vec<Lanes>,
    /// Predicates by bit of a lane; row 7 is true, row 8 takes writes to `PT`.
    pub predicates: [Mask; PREDICATE_ROWS],
    /// Who executes.
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
    /// Lanes that have performed the access at hand, where they do so one after the other.
    pub performed: Mask,
    /// What these lanes have loaded.
    pub loaded: Lanes,
    /// The buffer that its last access to global memory was in.
    pub buffer_hint: usize,
    /// What tells whether it spins.
    pub watch: Watch,
}

/// A state that a warp had, to see whether it comes back.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Instructions since it was last known to make progress.
    pub since: u64,
    /// When the state is taken again.
    pub next: u64,
    /// The state, and how often memory had changed then.
    pub state: Option<(Stack, Vec<Lanes>, [Mask; PREDICATE_ROWS], u64)>,
    /// The number of changes of memory at which the warp was seen to come back to the same state.
    pub spinning_at: Option<u64>,
}

impl Warp {
    /// A warp of `lanes` at the start of a program; `first` is what its registers and local memory hold, predicates its lowest bit.
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

    /// Makes it a warp at the start again.
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

    /// Notes that a loop begins again, `changes` being the number of changes of memory so far; whether the warp is where it was, with
    /// nothing changed.
    pub fn watch_loop(&mut self, changes: u64) {
        let watch = &mut self.watch;
        if let Some((stack, rows, predicates, at)) = &watch.state
            && *at == changes
            && *stack == self.stack
            && *predicates == self.predicates
            && rows[..rows.len() - 1] == self.rows[..rows.len() - 1]
        {
            watch.spinning_at = Some(changes);
            return;
        }
        if watch.since >= watch.next {
            // Twice as far each time: a loop of any length is found in the end (Brent).
            watch.next = 2 * watch.since;
            watch.state = Some((self.stack.clone(), self.rows.clone(), self.predicates, changes));
        }
    }
}

/// Rows of registers at the start; the last two are the zero row and the one that takes writes to `RZ`.
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

/// The lanes of a warp that exist in a block of so many threads.
pub fn lanes_of_warp(warp: u32, threads: u32) -> Mask {
    let left = threads.saturating_sub(warp * WIDTH as u32);
    if left >= WIDTH as u32 { Mask::MAX } else { (1 << left) - 1 }
}
