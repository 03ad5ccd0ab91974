//! A program as a tree of statements.
//!
//! A statement is whole in itself: whatever the registers hold, it terminates and stays within its windows. So any statement can be left out, and what is
//! left is a program again; that is what shrinking lives on. Numbers that depend on the launch (how many warps there are, where a warp's part of
//! memory begins) are not in here: lowering puts them in.

use gpurf_isa::modifiers::{Atomic, LoadType, Scope, StoreType, Vote};
use gpurf_isa::{Instruction, Operand, Predicate, PredicateSource, Reg};

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    /// An instruction that neither touches memory nor decides where the program goes on.
    Do(Instruction),
    /// An access to memory with what computes its address.
    Access(Access),
    /// Two ways.
    If(If),
    /// Something several times.
    Loop(Loop),
    /// Out of the innermost loop, or on to its next round; nothing outside of loops.
    Leave(Leave),
    /// Lanes end; lane 0 of each warp never does, so that every warp goes on to its barriers.
    Exit(Test),
    /// Whole warps end, once their stores have been performed.
    EndWarp(Test),
    /// All warps of the block wait for each other, and the halves of shared memory change places.
    Barrier(Barrier),
    /// The warps below, or from, a number on wait for each other.
    Meeting(Meeting),
    /// The lanes of the warp that are there synchronise.
    Sync(Sync),
    /// Instructions that no lane executes, with a branch around them.
    Skip(Vec<Instruction>),
    /// Warp 0 raises a flag in shared memory; the others go round until they see it.
    Spin(Spin),
}

/// Two ways, by a condition.
#[derive(Clone, PartialEq, Debug)]
pub struct If {
    /// Which lanes go the first way.
    pub test: Test,
    /// The first way.
    pub then: Vec<Statement>,
    /// The second way; there may be none.
    pub otherwise: Vec<Statement>,
}

/// A loop that ends: its counter belongs to its depth, and nothing in it writes it.
#[derive(Clone, PartialEq, Debug)]
pub struct Loop {
    /// Loops around it, 0 to 2: which counter it has.
    pub depth: usize,
    /// How many rounds.
    pub trips: Trips,
    /// The predicate of its branch.
    pub predicate: Predicate,
    /// What it repeats.
    pub body: Vec<Statement>,
}

/// Rounds of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trips {
    /// The same for all.
    Fixed(u32),
    /// 1 more than some bits of the warp's number.
    Warp(u32),
    /// 1 more than some bits of the lane's number.
    Lane(u32),
    /// 1 more than some bits of a register.
    Data(Reg, u32),
}

/// Out of a loop, or on to its next round.
#[derive(Clone, PartialEq, Debug)]
pub struct Leave {
    /// Whether the loop ends.
    pub ends: bool,
    /// For which lanes.
    pub test: Test,
}

/// A condition, and the predicate that is to hold it.
#[derive(Clone, PartialEq, Debug)]
pub struct Test {
    /// Where it is computed.
    pub predicate: Predicate,
    /// What is asked.
    pub condition: Condition,
}

/// What is asked.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Condition {
    /// Nothing: it holds, or does not, for all.
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
    /// What a predicate says.
    Held(PredicateSource),
}

/// Who goes the same way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Flow {
    /// Lanes of a warp may be apart.
    Lane,
    /// Warps may be apart, the lanes of one are together.
    Warp,
    /// All of the block are together.
    Block,
}

impl Condition {
    /// Who gets the same answer.
    pub fn flow(&self) -> Flow {
        match self {
            Self::Always(_) | Self::Block(..) => Flow::Block,
            Self::Warp(..) | Self::Vote(..) => Flow::Warp,
            Self::Lanes(_) | Self::Bit(..) | Self::Below(..) | Self::Held(_) => Flow::Lane,
        }
    }
}

impl Trips {
    /// Who makes the same number of rounds.
    pub fn flow(&self) -> Flow {
        match self {
            Self::Fixed(_) => Flow::Block,
            Self::Warp(_) => Flow::Warp,
            Self::Lane(_) | Self::Data(..) => Flow::Lane,
        }
    }

    /// Rounds at most.
    pub fn most(&self) -> u32 {
        match *self {
            Self::Fixed(rounds) => rounds,
            Self::Warp(mask) | Self::Lane(mask) | Self::Data(_, mask) => mask + 1,
        }
    }
}

/// How the number of threads of a barrier stands in its instruction.
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
    /// Its number, 0 to 7.
    pub id: u8,
    /// How it says for whom it waits.
    pub count: Count,
}

/// A barrier of some warps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meeting {
    /// Warps below this one, 1 to 4, or the others. Barrier numbers from 8 on belong to it.
    pub warp: u32,
    /// Whether it is the others.
    pub others: bool,
    /// Whether the number of threads stands in a register.
    pub register: bool,
    /// Whether a branch leads around it, in place of a guard.
    pub branch: bool,
    /// Says who is concerned.
    pub predicate: Predicate,
}

/// Synchronisation within a warp, and what does nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sync {
    /// WARPSYNC with all lanes: only where the lanes of a warp are together.
    All,
    /// WARPSYNC with the lanes that are there, as S2R says.
    Active,
    /// WARPSYNC with the lanes that are there, as BALLOT says.
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
    /// Two predicates.
    pub predicates: [Predicate; 2],
}

/// An access to memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    /// Lanes that take part.
    pub guard: PredicateSource,
    /// Where.
    pub place: Place,
    /// Lanes in which a predicate is false access this place in place of the first: a generic access with two windows.
    pub other: Option<(Place, PredicateSource)>,
    /// Whether the address is a generic one.
    pub generic: bool,
    /// Whether the upper word of an address is in a register although it is zero.
    pub wide: bool,
    /// Whether a load is to pass the data cache by.
    pub bypass: bool,
    /// What.
    pub action: Action,
    /// What the instruction adds to the address, and the register therefore lacks.
    pub offset: i32,
    /// Which pair of address registers, 0 or 1.
    pub pair: usize,
}

/// A place in memory: a window, and where each lane goes in it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    /// The window.
    pub window: Window,
    /// Where the lanes go.
    pub pattern: Pattern,
    /// What is added, in bytes.
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
    /// Parameters.
    Constant,
    /// Words of global memory that only atomic operations touch.
    Sums,
    /// The same in shared memory.
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

/// Where the lanes of an access go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// All to one place.
    Uniform,
    /// Each so many bytes after the one before; negative: in front of it.
    Strided(i32),
    /// As strided, the lane's number exclusive or a constant.
    Exchanged(i32, u32),
    /// As strided, groups of 2 to the power of this many lanes together.
    Grouped(i32, u32),
    /// Where a register says: its value times a constant.
    Data(Reg, u32),
}

/// What an access does.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Loads; of words up to four, the parts of a vector.
    Load(LoadType, Vec<Reg>),
    /// Stores likewise.
    Store(StoreType, Vec<Reg>),
    /// An atomic operation: result, operand.
    Atomic(Atomic, Reg, Reg),
    /// Compare and swap: result, compared with, replaced by.
    Cas(Reg, Reg, Reg),
}

impl Action {
    /// Bytes of each lane.
    pub fn bytes(&self) -> u32 {
        match self {
            Self::Load(LoadType::U8 | LoadType::S8, _) | Self::Store(StoreType::B8, _) => 1,
            Self::Load(LoadType::U16 | LoadType::S16, _) | Self::Store(StoreType::B16, _) => 2,
            _ => 4,
        }
    }

    /// Instructions that it is.
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

    /// The same, to change them.
    pub fn children_mut(&mut self) -> Vec<&mut Vec<Statement>> {
        match self {
            Self::If(If { then, otherwise, .. }) => vec![then, otherwise],
            Self::Loop(Loop { body, .. }) => vec![body],
            _ => Vec::new(),
        }
    }
}

/// Calls `f` with every statement, those inside after the one around them.
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
