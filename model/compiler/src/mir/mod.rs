//! The intermediate form between PTX and machine code: the machine's operations over virtual registers, in basic blocks.
//!
//! As a whole, it is not SSA. A value that is written once, without a guard, by an instruction that dominates its uses behaves as an SSA value does,
//! and the passes treat it as one; nvcc writes nearly all of its registers that way. The others (loop variables, guarded results) are plain
//! variables.

mod builder;
pub mod cfg;

use crate::scratchpad::Variables;
pub use builder::Builder;
use gpurf_isa::Op;

/// A virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct V(pub u32);

impl V {
    /// The value's index in the function's tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kind of a virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// 32 bits per lane.
    General,
    /// One bit per lane.
    Predicate,
}

/// A source operand. Before [`crate::passes::legalise`] runs, every slot may hold a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Val {
    /// A virtual register.
    Reg(V),
    /// A constant. Zero becomes the register `RZ` in slots that take no constant.
    Imm(u32),
    /// A word of a variable's address, as an index into [`Function::addresses`]; only in a `MOV`.
    Address(u32),
}

impl Val {
    /// Zero.
    pub const ZERO: Self = Self::Imm(0);

    /// The virtual register, if it is one.
    pub const fn register(self) -> Option<V> {
        match self {
            Self::Reg(v) => Some(v),
            Self::Imm(_) | Self::Address(_) => None,
        }
    }

    /// The constant, if it is one.
    pub const fn constant(self) -> Option<u32> {
        match self {
            Self::Imm(bits) => Some(bits),
            Self::Reg(_) | Self::Address(_) => None,
        }
    }
}

/// A predicate operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pred {
    /// A constant.
    Const(bool),
    /// A virtual register, inverted if the flag is true.
    Reg(V, bool),
}

impl Pred {
    /// Always true.
    pub const TRUE: Self = Self::Const(true);
    /// Always false.
    pub const FALSE: Self = Self::Const(false);

    /// The inverse.
    #[must_use]
    pub const fn not(self) -> Self {
        match self {
            Self::Const(value) => Self::Const(!value),
            Self::Reg(v, negated) => Self::Reg(v, !negated),
        }
    }

    /// The virtual register, if there is one.
    pub const fn register(self) -> Option<V> {
        match self {
            Self::Reg(v, _) => Some(v),
            Self::Const(_) => None,
        }
    }
}

/// An instruction over virtual registers. The slots are those of [`gpurf_isa::Instruction`]; slots that the operation does not use keep the values of
/// [`Inst::new`].
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// The operation with its modifiers.
    pub op: Op,
    /// The guard: lanes in which it is false do nothing.
    pub guard: Pred,
    /// The destination.
    pub d: Option<V>,
    /// The predicate destination.
    pub p: Option<V>,
    /// Sources a, b and c.
    pub src: [Val; 3],
    /// The first predicate source.
    pub s: Pred,
    /// The second predicate source.
    pub t: Pred,
    /// Offset of a memory access in bytes; it fits into the instruction's field.
    pub offset: i32,
    /// Whether a memory access keeps its order among the others, as volatile, relaxed, acquire and release accesses of PTX must.
    pub ordered: bool,
    /// The variables of shared memory that an access may touch. Other instructions have variables only directly after lowering, if a constant of the
    /// instruction is the address of one.
    pub variables: Variables,
    /// PTX line, from 1.
    pub line: u32,
    /// Why the instruction exists.
    pub origin: Origin,
}

/// Why an instruction exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The program contains it.
    Program,
    /// It sets this value to zero at the kernel's entry, since the program may read the value before writing it.
    Zero(V),
    /// It spills or reloads a value that has no register.
    Spill,
    /// It computes an operand of a guarded instruction of the program, without the guard, in all lanes.
    Ahead,
}

impl Inst {
    /// `op` without operands.
    pub const fn new(op: Op, line: u32) -> Self {
        Self {
            op,
            guard: Pred::TRUE,
            d: None,
            p: None,
            src: [Val::ZERO; 3],
            s: Pred::TRUE,
            t: Pred::TRUE,
            offset: 0,
            ordered: false,
            variables: Variables::NONE,
            line,
            origin: Origin::Program,
        }
    }

    /// The general registers that it reads; a register in several slots occurs several times.
    pub fn general_sources(&self) -> impl Iterator<Item = V> + use<> {
        self.src.into_iter().filter_map(Val::register)
    }

    /// The predicates that it reads: guard, s, t.
    pub fn predicate_sources(&self) -> impl Iterator<Item = V> + use<> {
        [self.guard, self.s, self.t].into_iter().filter_map(Pred::register)
    }

    /// All registers that it reads, except the old values that a guarded write keeps.
    pub fn uses(&self) -> impl Iterator<Item = V> + use<> {
        self.general_sources().chain(self.predicate_sources())
    }

    /// All registers that it writes.
    pub fn defs(&self) -> impl Iterator<Item = V> + use<> {
        [self.d, self.p].into_iter().flatten()
    }

    /// Whether it may touch shared memory.
    pub const fn may_be_shared(&self) -> bool {
        gpurf_isa::Instruction::new(self.op).may_be_shared()
    }

    /// Whether it is guarded, so that some lanes may keep the old values of its destinations.
    pub fn is_partial(&self) -> bool {
        self.guard != Pred::TRUE
    }

    /// Whether it must stay even if its results are not read. A load may be removed, since it changes nothing. A read of a clock must stay, as PTX
    /// requires.
    pub fn has_effect(&self) -> bool {
        use Op::*;
        self.op.reads_time()
            || matches!(
                self.op,
                St { .. }
                    | Atom { .. }
                    | Cas { .. }
                    | Bar { .. }
                    | Warpsync { .. }
                    | Membar { .. }
                    | Trap { .. }
                    | Nop {}
                    | Relssp {}
            )
    }

    /// Whether its result depends on its operands alone, so that one computation may serve several uses.
    pub fn is_pure(&self) -> bool {
        use Op::*;
        !self.has_effect()
            && !matches!(
                self.op,
                Ld { .. }
                    | Tex { .. }
                    | Shfl { .. }
                    | Vote { .. }
                    | Ballot { .. }
                    | S2r { source: gpurf_isa::modifiers::Special::ActiveMask }
            )
    }
}

/// The number of a basic block, which is also its place in the layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct BlockId(pub u32);

impl BlockId {
    /// The block's index in the function's blocks.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a block ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Term {
    /// Continues in a block.
    Jump(BlockId),
    /// Continues in `then` if the predicate is true, else in `otherwise`.
    Branch {
        /// The predicate.
        when: Pred,
        /// The next block if it is true.
        then: BlockId,
        /// The next block if it is false.
        otherwise: BlockId,
    },
    /// The thread ends.
    Exit,
}

impl Term {
    /// The blocks that may follow.
    pub fn successors(&self) -> impl Iterator<Item = BlockId> + use<> {
        let both = match *self {
            Self::Jump(to) => [Some(to), None],
            Self::Branch { then, otherwise, .. } => [Some(then), Some(otherwise)],
            Self::Exit => [None, None],
        };
        both.into_iter().flatten()
    }

    /// Replaces each successor.
    pub fn map(&mut self, mut f: impl FnMut(BlockId) -> BlockId) {
        match self {
            Self::Jump(to) => *to = f(*to),
            Self::Branch { then, otherwise, .. } => {
                *then = f(*then);
                *otherwise = f(*otherwise);
            }
            Self::Exit => {}
        }
    }

    /// The predicate that a branch reads.
    pub fn predicate(&self) -> Option<V> {
        match self {
            Self::Branch { when, .. } => when.register(),
            _ => None,
        }
    }
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its instructions, without the terminator.
    pub insts: Vec<Inst>,
    /// How it ends.
    pub term: Term,
    /// PTX line of the terminator.
    pub term_line: u32,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its blocks; the first one is the entry, and the order is the layout.
    pub blocks: Vec<Block>,
    /// The class of each virtual register.
    pub classes: Vec<Class>,
    /// Words of addresses that the loader fills in.
    pub addresses: Vec<Address>,
}

/// A word of the address of a variable in global memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    /// The variable.
    pub symbol: String,
    /// Bytes added to its address.
    pub addend: i64,
    /// Whether it is the upper word, not the lower one.
    pub upper: bool,
}

impl Function {
    /// Creates a virtual register.
    pub fn value(&mut self, class: Class) -> V {
        self.classes.push(class);
        V(self.classes.len() as u32 - 1)
    }

    /// All blocks with their numbers.
    pub fn block_ids(&self) -> impl DoubleEndedIterator<Item = BlockId> + use<> {
        (0..self.blocks.len() as u32).map(BlockId)
    }
}
