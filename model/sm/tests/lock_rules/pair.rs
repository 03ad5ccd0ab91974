//! A pair of block slots, the blocks that pass through it, and what each warp may do next.
//!
//! The state is where the warps are in their programs. Who has a lock and who holds the mutex follows: a warp keeps the
//! registers from its first access to its end, a block the scratchpad from the first access of a warp to the end of the last
//! one, and a warp has the mutex between its two operations.

use crate::kernel::{Kernel, Operation, Program, WARPS};
use crate::rule::Rule;

/// Slots of a pair.
const SLOTS: usize = 2;
/// Blocks of the grid. The third is started in the slot of the one that ends first.
const BLOCKS: u8 = 3;
/// Operations of a warp at most.
const LONGEST: usize = 5;

/// What is known of a warp from the number of operations that it has performed.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The operation that is next; none when the warp has ended.
    next: Option<Operation>,
    /// It has the lock of its shared registers.
    registers: bool,
    /// It has accessed the shared scratchpad.
    scratchpad: bool,
    /// It holds the mutex.
    mutex: bool,
}

/// All positions of the warps of a kernel.
pub struct Course([Vec<Position>; WARPS]);

impl Course {
    pub fn new(kernel: &Kernel) -> Self {
        Self(kernel.0.each_ref().map(Self::of_warp))
    }

    fn of_warp(program: &Program) -> Vec<Position> {
        assert!(program.len() <= LONGEST, "a state's number has no room for a longer program");
        let position = |at: usize| {
            let (passed, next) = (&program[..at], program.get(at).copied());
            let mutex = passed.iter().rev().find(|operation| matches!(operation, Operation::Lock | Operation::Unlock));
            Position {
                next,
                registers: next.is_some() && passed.contains(&Operation::Register),
                scratchpad: passed.contains(&Operation::Scratchpad),
                mutex: mutex == Some(&Operation::Lock),
            }
        };
        (0..=program.len()).map(position).collect()
    }
}

/// A block of the pair, as a rule sees it.
#[derive(Clone, Copy)]
pub struct Side {
    block: Option<u8>,
    warps: [Position; WARPS],
}

impl Side {
    /// Whether the warp has ended, or the slot is empty.
    pub fn has_ended(&self, warp: usize) -> bool {
        self.block.is_none() || self.warps[warp].next.is_none()
    }

    /// Whether the warp has the registers that it shares.
    pub fn has_registers(&self, warp: usize) -> bool {
        self.warps[warp].registers
    }

    /// Whether the block has the scratchpad that it shares. A block whose warps have all ended is not in its slot any more.
    pub fn has_scratchpad(&self) -> bool {
        self.warps.iter().any(|warp| warp.scratchpad)
    }

    /// Whether this block started before the other one. One that is alone did.
    pub fn is_older_than(&self, other: &Self) -> bool {
        other.block.is_none_or(|block| self.block.is_some_and(|mine| mine < block))
    }

    fn holds_mutex(&self) -> bool {
        self.warps.iter().any(|warp| warp.mutex)
    }
}

/// Where a warp is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Place {
    /// Operations that it has performed.
    performed: u8,
    /// It has arrived at the barrier that is next.
    waits: bool,
}

/// A slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Slot {
    /// Its block; none when the grid has no more.
    block: Option<u8>,
    warps: [Place; WARPS],
}

impl Slot {
    fn side(&self, course: &Course) -> Side {
        let position = |warp: usize| course.0[warp][usize::from(self.warps[warp].performed)];
        Side { block: self.block, warps: [position(0), position(1)] }
    }
}

/// The state of a pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    slots: [Slot; SLOTS],
    next_block: u8,
}

/// An operation that a warp performed, or waits to perform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Block of the warp.
    pub block: u8,
    /// Number of the warp in its block.
    pub warp: usize,
    /// What it does.
    pub operation: Operation,
}

impl Pair {
    /// Two blocks begin.
    pub fn start() -> Self {
        let slots = [0, 1].map(|block| Slot { block: Some(block), ..Slot::default() });
        Self { slots, next_block: SLOTS as u8 }
    }

    /// Whether the grid has ended.
    pub fn is_done(&self) -> bool {
        self.slots.iter().all(|slot| slot.block.is_none())
    }

    /// Gives what each warp that has not ended does next, and the state after it; none where the warp has to wait.
    pub fn steps(&self, course: &Course, rule: Rule, mut give: impl FnMut(Step, Option<Self>)) {
        let sides = self.slots.map(|slot| slot.side(course));
        let mutex_is_free = !sides.iter().any(Side::holds_mutex);
        for slot in 0..SLOTS {
            let (me, partner) = (&sides[slot], &sides[1 - slot]);
            let Some(block) = me.block else { continue };
            for warp in 0..WARPS {
                let Some(operation) = me.warps[warp].next else { continue };
                let may = !self.slots[slot].warps[warp].waits
                    && (operation != Operation::Lock || mutex_is_free)
                    && rule.permits(operation, warp, me, partner);
                let behind = may.then(|| self.behind(course, slot, warp, operation));
                give(Step { block, warp, operation }, behind);
            }
        }
    }

    /// The state when a warp has performed its operation.
    fn behind(&self, course: &Course, slot: usize, warp: usize, operation: Operation) -> Self {
        let mut pair = *self;
        let changed = &mut pair.slots[slot];
        match operation {
            Operation::Barrier => changed.warps[warp].waits = true,
            _ => changed.warps[warp].performed += 1,
        }
        // A barrier opens when every warp of the block waits or has ended.
        let side = changed.side(course);
        if (0..WARPS).all(|warp| changed.warps[warp].waits || side.has_ended(warp)) {
            for place in &mut changed.warps {
                *place = Place { performed: place.performed + u8::from(place.waits), waits: false };
            }
        }
        let side = changed.side(course);
        if (0..WARPS).all(|warp| side.has_ended(warp)) {
            let block = (pair.next_block < BLOCKS).then_some(pair.next_block);
            pair.next_block += u8::from(block.is_some());
            *changed = Slot { block, ..Slot::default() };
        }
        pair
    }

    /// A number of the state: none other has it. The next block's number follows from those in the slots.
    pub fn number(&self) -> usize {
        let mut number = 0;
        for slot in &self.slots {
            number = number * usize::from(BLOCKS + 1) + usize::from(slot.block.unwrap_or(BLOCKS));
            for place in &slot.warps {
                number = number * Self::PLACES + usize::from(place.performed) * 2 + usize::from(place.waits);
            }
        }
        number
    }

    const PLACES: usize = 2 * (LONGEST + 1);
    /// Numbers of states are less than this.
    pub const STATES: usize = ((BLOCKS as usize + 1) * Self::PLACES.pow(WARPS as u32)).pow(SLOTS as u32);
}
