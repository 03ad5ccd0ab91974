//! The program between PTX and machine code: the machine's operations over virtual registers, in basic blocks.
//!
//! Not SSA as a whole. A value that is written once, without a guard, by an instruction that dominates its uses behaves
//! as an SSA value does, and the passes treat it as one; nvcc writes nearly all of its registers that way. The others
//! (loop variables, guarded results) are plain variables.

mod builder;
pub mod cfg;

use crate::scratchpad::Variables;
pub use builder::Builder;
use gpurf_isa::Op;

/// A virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct V(pub u32);

impl V {
    /// As an index into the function's values.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a virtual register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// 32 bits a lane.
    General,
    /// One bit a lane.
    Predicate,
}

/// A source operand. Until [`crate::passes::legalise`] a constant may stand in every slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Val {
    /// A virtual register.
    Reg(V),
    /// A constant; zero is the register `RZ` where the slot takes no constant.
    Imm(u32),
    /// A word of a variable's address, an index into [`Function::addresses`]; only in a `MOV`.
    Address(u32),
}

impl Val {
    /// Zero.
    pub const ZERO: Self = Self::Imm(0);

    /// The virtual register, where it is one.
    pub const fn register(self) -> Option<V> {
        match self {
            Self::Reg(v) => Some(v),
            Self::Imm(_) | Self::Address(_) => None,
        }
    }

    /// The constant, where it is one.
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
    /// Always this.
    Const(bool),
    /// A virtual register, or its inverse if true.
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

    /// The virtual register, where there is one.
    pub const fn register(self) -> Option<V> {
        match self {
            Self::Reg(v, _) => Some(v),
            Self::Const(_) => None,
        }
    }
}

/// An instruction over virtual registers. Slots as in [`gpurf_isa::Instruction`]; what the operation does not use keeps
/// the value of [`Inst::new`].
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// The operation with its modifiers.
    pub op: Op,
    /// Lanes in which it is false do nothing.
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
    /// What a memory access adds to its address, in bytes; fits the instruction's field.
    pub offset: i32,
    /// A memory access that keeps its place among the others: PTX says volatile, relaxed, acquire or release.
    pub ordered: bool,
    /// Variables of shared memory that an access may touch; of other instructions only right after lowering, where a constant of the
    /// instruction is the address of one.
    pub variables: Variables,
    /// PTX line, from 1.
    pub line: u32,
    /// Who asked for it.
    pub origin: Origin,
}

/// Why an instruction is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The program says so.
    Program,
    /// This value is zero at the kernel's entry, as the program may read it before it writes it.
    Zero(V),
    /// The value has no register.
    Spill,
    /// It computes what a guarded instruction of the program needs, in all lanes.
    Ahead,
}

impl Inst {
    /// `op` with no operands.
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

    /// The general registers that it reads, once for each slot.
    pub fn general_sources(&self) -> impl Iterator<Item = V> + use<> {
        self.src.into_iter().filter_map(Val::register)
    }

    /// The predicates that it reads: guard, s, t.
    pub fn predicate_sources(&self) -> impl Iterator<Item = V> + use<> {
        [self.guard, self.s, self.t].into_iter().filter_map(Pred::register)
    }

    /// All registers that it reads; not the old values that a guarded write keeps.
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

    /// Whether lanes may keep the old value of what it writes.
    pub fn is_partial(&self) -> bool {
        self.guard != Pred::TRUE
    }

    /// Whether it must stay even if what it writes is not read. A load may go: reading changes nothing. A clock is read where
    /// the program reads it, as volatile as PTX has it.
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

    /// Whether its result depends on its operands alone, so that it may be computed once for several uses.
    pub fn is_pure(&self) -> bool {
        use Op::*;
        !self.has_effect()
            && !matches!(
                self.op,
                Ld { .. }
                    | Shfl { .. }
                    | Vote { .. }
                    | Ballot { .. }
                    | S2r { source: gpurf_isa::modifiers::Special::ActiveMask }
            )
    }
}

/// A basic block's number, which is its place in the layout too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct BlockId(pub u32);

impl BlockId {
    /// As an index into the function's blocks.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a block ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Term {
    /// Goes on in a block.
    Jump(BlockId),
    /// Goes on in `then` where the predicate is true, else in `otherwise`.
    Branch {
        /// The predicate.
        when: Pred,
        /// Where it is true.
        then: BlockId,
        /// Where it is false.
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

    /// Changes each successor.
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

    /// The predicate that it reads.
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
    /// Its instructions, without the one that ends it.
    pub insts: Vec<Inst>,
    /// How it ends.
    pub term: Term,
    /// PTX line of the end.
    pub term_line: u32,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its blocks; the first one is the entry, and the order is the layout.
    pub blocks: Vec<Block>,
    /// What each virtual register holds.
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
    /// The upper word in place of the lower one.
    pub upper: bool,
}

impl Function {
    /// A new virtual register.
    pub fn value(&mut self, class: Class) -> V {
        self.classes.push(class);
        V(self.classes.len() as u32 - 1)
    }

    /// All blocks with their numbers.
    pub fn block_ids(&self) -> impl DoubleEndedIterator<Item = BlockId> + use<> {
        (0..self.blocks.len() as u32).map(BlockId)
    }
}
