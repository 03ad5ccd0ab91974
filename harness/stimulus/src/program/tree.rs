//! A program as a tree of statements.
//!
//! A statement is self-contained: whatever the registers hold, it terminates and stays within its windows. So any statement can be left out, and the
//! rest is a valid program again; shrinking relies on this. Numbers that depend on the launch (how many warps there are, where a warp's part of
//! memory begins) are not in the tree: lowering adds them.

use gpurf_isa::modifiers::{Atomic, LoadType, Scope, StoreType, Vote};
use gpurf_isa::{Instruction, Operand, Predicate, PredicateSource, Reg};

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    /// An instruction that neither accesses memory nor changes the control flow.
    Do(Instruction),
    /// An access to memory, with the computation of its address.
    Access(Access),
    /// A branch.
    If(If),
    /// A loop.
    Loop(Loop),
    /// Leaves the innermost loop, or continues with its next round; does nothing outside of loops.
    Leave(Leave),
    /// Ends lanes. Lane 0 of each warp never ends, so that every warp reaches its barriers.
    Exit(Test),
    /// Ends whole warps, once their stores have been performed.
    EndWarp(Test),
    /// All warps of the block wait for each other, and the halves of shared memory change places.
    Barrier(Barrier),
    /// The warps below a number, or those from it on, wait for each other.
    Meeting(Meeting),
    /// Synchronises the active lanes of the warp; or a fence, or NOP.
    Sync(Sync),
    /// Instructions that no lane executes: a branch jumps over them.
    Skip(Vec<Instruction>),
    /// Warp 0 raises a flag in shared memory; the others loop until they see it.
    Spin(Spin),
}

/// A branch on a condition.
#[derive(Clone, PartialEq, Debug)]
pub struct If {
    /// Lanes that take the first side.
    pub test: Test,
    /// The first side.
    pub then: Vec<Statement>,
    /// The second side; it may be empty.
    pub otherwise: Vec<Statement>,
}

/// A loop that terminates: its depth selects its counter, which no statement inside the loop writes.
#[derive(Clone, PartialEq, Debug)]
pub struct Loop {
    /// Number of loops around it, 0 to 2; it selects the counter.
    pub depth: usize,
    /// How many rounds.
    pub trips: Trips,
    /// The predicate of its branch.
    pub predicate: Predicate,
    /// The statements that it repeats.
    pub body: Vec<Statement>,
}

/// Rounds of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trips {
    /// The same number for all threads.
    Fixed(u32),
    /// 1 more than some bits of the warp's number.
    Warp(u32),
    /// 1 more than some bits of the lane's number.
    Lane(u32),
    /// 1 more than some bits of a register.
    Data(Reg, u32),
}

/// Leaves a loop, or continues with its next round.
#[derive(Clone, PartialEq, Debug)]
pub struct Leave {
    /// Whether lanes leave the loop.
    pub ends: bool,
    /// The lanes that do so.
    pub test: Test,
}

/// A condition, and the predicate that is to hold it.
#[derive(Clone, PartialEq, Debug)]
pub struct Test {
    /// The predicate that holds the result.
    pub predicate: Predicate,
    /// The condition.
    pub condition: Condition,
}

/// A condition.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Condition {
    /// True for all threads, or false for all.
    Always(bool),
    /// Whether some bits of the block's number in x are these.
    Block(u32, u32),
    /// Whether some bits of the warp's number are these.
    Warp(u32, u32),
    /// A vote on a predicate.
    Vote(Vote, PredicateSource),
    /// Whether the lane is in a mask.
    Lanes(u32),
    /// Whether a bit of a register is set.
    Bit(Reg, u32),
    /// Whether a register is below a value, unsigned.
    Below(Reg, Operand),
    /// The value of a predicate.
    Held(PredicateSource),
}

/// Threads that are certain to take the same path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Flow {
    /// Lanes of a warp may diverge.
    Lane,
    /// Warps may take different paths; the lanes of a warp stay together.
    Warp,
    /// All threads of the block stay together.
    Block,
}

impl Condition {
    /// Threads that get the same result.
    pub fn flow(&self) -> Flow {
        match self {
            Self::Always(_) | Self::Block(..) => Flow::Block,
            Self::Warp(..) | Self::Vote(..) => Flow::Warp,
            Self::Lanes(_) | Self::Bit(..) | Self::Below(..) | Self::Held(_) => Flow::Lane,
        }
    }
}

impl Trips {
    /// Threads that make the same number of rounds.
    pub fn flow(&self) -> Flow {
        match self {
            Self::Fixed(_) => Flow::Block,
            Self::Warp(_) => Flow::Warp,
            Self::Lane(_) | Self::Data(..) => Flow::Lane,
        }
    }

    /// Most rounds.
    pub fn most(&self) -> u32 {
        match *self {
            Self::Fixed(rounds) => rounds,
            Self::Warp(mask) | Self::Lane(mask) | Self::Data(_, mask) => mask + 1,
        }
    }
}

/// How a barrier's instruction encodes its number of threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// `RZ`: all.
    All,
    /// 0: all.
    Zero,
    /// The number.
    Constant,
    /// The number, in a register.
    Register,
}

/// A barrier of all warps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrier {
    /// Number of the barrier, 0 to 7.
    pub id: u8,
    /// How it encodes the number of threads that it waits for.
    pub count: Count,
}

/// A barrier of some warps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meeting {
    /// It is for the warps below this number, 1 to 4, or for the others. It uses barrier numbers from 8 on.
    pub warp: u32,
    /// Whether it is for the others.
    pub others: bool,
    /// Whether the number of threads is in a register.
    pub register: bool,
    /// Whether a branch jumps over it, in place of a guard.
    pub branch: bool,
    /// Is true in the warps that take part.
    pub predicate: Predicate,
}

/// Synchronisation within a warp, fences, and NOP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sync {
    /// WARPSYNC with all lanes: only where the lanes of a warp are together.
    All,
    /// WARPSYNC with the active lanes, read by S2R.
    Active,
    /// WARPSYNC with the active lanes, computed by BALLOT.
    Ballot,
    /// MEMBAR.
    Fence(Scope),
    /// NOP.
    Nothing,
}

/// A wait for a flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spin {
    /// Which flag, 0 to 7; each is raised once.
    pub flag: u32,
    /// The two predicates that it writes.
    pub predicates: [Predicate; 2],
}

/// An access to memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    /// Lanes that take part.
    pub guard: PredicateSource,
    /// The place that it accesses.
    pub place: Place,
    /// Lanes in which the predicate is false access this place instead of the first: a generic access with two windows.
    pub other: Option<(Place, PredicateSource)>,
    /// Whether the address is a generic one.
    pub generic: bool,
    /// Whether the upper word of an address is in a register although it is zero.
    pub wide: bool,
    /// Whether a load bypasses the data cache.
    pub bypass: bool,
    /// What it does.
    pub action: Action,
    /// Offset that the instruction adds to the address; the register holds the address minus this offset.
    pub offset: i32,
    /// Which pair of address registers, 0 or 1.
    pub pair: usize,
}

/// A place in memory: a window, and where each lane goes in it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    /// The window.
    pub window: Window,
    /// The lanes' addresses in the window.
    pub pattern: Pattern,
    /// Bytes that are added.
    pub start: u32,
}

/// A part of memory in which an access stays, whatever the registers hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Window {
    /// The warp's own part of global memory.
    Own,
    /// Global memory that no program writes.
    Input,
    /// Floats of all kinds in global memory that no program writes.
    Floats,
    /// The thread's local memory.
    Local,
    /// The warp's own part of the half of shared memory that is being written.
    SharedOwn,
    /// The half of shared memory that was written before the last barrier.
    SharedOther,
    /// The table of constants among the parameters.
    Constant,
    /// Words of global memory that only atomic operations touch.
    Sums,
    /// Words of shared memory that only atomic operations touch.
    SharedSums,
}

impl Window {
    /// Whether only loads may go there.
    pub fn is_read_only(self) -> bool {
        matches!(self, Self::Input | Self::Floats | Self::SharedOther | Self::Constant)
    }

    /// Whether it is in shared memory.
    pub fn is_shared(self) -> bool {
        matches!(self, Self::SharedOwn | Self::SharedOther | Self::SharedSums)
    }

    /// Whether it answers within some tens of cycles.
    pub fn is_quick(self) -> bool {
        self.is_shared() || self == Self::Constant
    }

    /// Whether it is in global memory.
    pub fn is_global(self) -> bool {
        matches!(self, Self::Own | Self::Input | Self::Floats | Self::Sums)
    }
}

/// Address pattern of the lanes of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// All lanes at one address.
    Uniform,
    /// Each lane is this many bytes after the previous one; negative: before it.
    Strided(i32),
    /// As strided, with the lane's number exclusive or a constant in place of the lane's number.
    Exchanged(i32, u32),
    /// As strided, by groups of 2 to the power of this many lanes, which share an address.
    Grouped(i32, u32),
    /// At the value of a register times a constant.
    Data(Reg, u32),
}

/// What an access does.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Loads, one for each register: of words, they may be the parts of a vector or a burst.
    Load(LoadType, Vec<Reg>),
    /// Stores likewise.
    Store(StoreType, Vec<Reg>),
    /// An atomic operation: result, operand.
    Atomic(Atomic, Reg, Reg),
    /// Compare and swap: result, compared with, replaced by.
    Cas(Reg, Reg, Reg),
}

impl Action {
    /// Bytes of each lane in each part.
    pub fn bytes(&self) -> u32 {
        match self {
            Self::Load(LoadType::U8 | LoadType::S8, _) | Self::Store(StoreType::B8, _) => 1,
            Self::Load(LoadType::U16 | LoadType::S16, _) | Self::Store(StoreType::B16, _) => 2,
            _ => 4,
        }
    }

    /// Number of its instructions.
    pub fn parts(&self) -> usize {
        match self {
            Self::Load(_, registers) | Self::Store(_, registers) => registers.len(),
            Self::Atomic(..) | Self::Cas(..) => 1,
        }
    }

    /// Whether it changes memory.
    pub fn writes(&self) -> bool {
        !matches!(self, Self::Load(..))
    }
}

impl Statement {
    /// The lists of statements inside.
    pub fn children(&self) -> Vec<&Vec<Statement>> {
        match self {
            Self::If(If { then, otherwise, .. }) => vec![then, otherwise],
            Self::Loop(Loop { body, .. }) => vec![body],
            _ => Vec::new(),
        }
    }

    /// The same lists, mutable.
    pub fn children_mut(&mut self) -> Vec<&mut Vec<Statement>> {
        match self {
            Self::If(If { then, otherwise, .. }) => vec![then, otherwise],
            Self::Loop(Loop { body, .. }) => vec![body],
            _ => Vec::new(),
        }
    }
}

/// Calls `f` with every statement; a statement comes before those inside it.
pub fn visit<'a>(statements: &'a [Statement], f: &mut dyn FnMut(&'a Statement)) {
    for statement in statements {
        f(statement);
        for child in statement.children() {
            visit(child, f);
        }
    }
}

/// Number of statements, those inside others counted too.
pub fn count(statements: &[Statement]) -> usize {
    let mut count = 0;
    visit(statements, &mut |_| count += 1);
    count
}
