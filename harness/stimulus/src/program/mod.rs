//! Random programs for the whole SM: valid by construction, with weights for what they are made of, and counts of what they execute.
//!
//! * [`Program::random`] makes a program from a seed and [`Weights`]; it has a kernel, a launch, buffers with their contents. It terminates, stays in bounds, has no races,
//!   and reads nothing that it has not written, whatever values come up ([`tree`]).
//! * [`Program::manifest`] is the program as a launch manifest with the machine's own instructions, which everything that takes manifests can run.
//! * [`Coverage`] counts, on a run of the functional oracle, what a program executes. Quotas are such counts that a program has to reach.
//! * [`shrink`] makes a program shorter as long as it fails.
//!
//! The page `docs/programs.md` says what weights, quotas and points mean.

mod coverage;
mod generate;
mod levels;
mod lower;
mod run;
mod shrink;
mod text;
pub mod themes;
pub mod tree;
mod weights;

use gpurf_blocks::config::{Config, LockRule, ShareConfig, SharedResource};
use gpurf_blocks::front::roles;
use gpurf_blocks::instruction::{NO_REG, unit};
use gpurf_compiler::Options;
use gpurf_isa::modifiers::Rounding;
use gpurf_isa::{Instruction, Op, Reg};

pub use coverage::{Coverage, POINTS, wanted};
pub use levels::compiler_options;
pub use lower::Lowered;
pub use run::ProgramError;
pub use shrink::{Shrunk, shrink};
pub use weights::{Weights, WeightsError};

use tree::Statement;

/// Registers with a meaning of their own, which no other statement writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fixed {
    /// The lane's number.
    Lane,
    /// The address of the warp's own words of global memory.
    Own,
    /// The address of the warp's own words in the half of shared memory that is being written.
    Write,
    /// The address of the other half.
    Read,
    /// Addresses and conditions.
    T0,
    T1,
    T2,
    T3,
    /// Counters of loops, by depth.
    C0,
}

impl Fixed {
    /// Number of these registers.
    const COUNT: usize = Self::C0 as usize + 3;
}

/// What a register holds at first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum First {
    /// This value.
    Constant(u32),
    /// The thread's number times this.
    Hash(u32),
}

/// Sizes of the memories of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Layout {
    /// Words of a warp's part of a half of shared memory.
    shared_words: u32,
    /// Words of a warp's part of global memory.
    own_words: u32,
    /// Words of local memory of a thread.
    local_words: u32,
    /// Bytes of shared memory that are dynamic, at most.
    dynamic: u32,
    /// The words of warps and those of atomic operations lie in one buffer, [`UNIT`](lower::UNIT) bytes of each in turn, so that they have lines in common.
    interleaved: bool,
}

/// A random program.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// Where it comes from.
    pub seed: u64,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// General registers of a thread.
    pub registers: u16,
    /// Whether the order in which atomic operations are performed may show in the statements that it is given.
    ordered: bool,
    /// Whether special registers may be words of the time.
    timed: bool,
    /// Its statements.
    pub body: Vec<Statement>,
    fixed: [Reg; Fixed::COUNT],
    first: Vec<First>,
    first_predicates: [u32; 7],
    layout: Layout,
    /// Where each buffer lies that does not lie at the next free address.
    addresses: [Option<u32>; lower::BufferKind::ALL.len()],
    constants: [u32; lower::CONSTANT_WORDS as usize],
    floats: Vec<u32>,
    split_end: bool,
    /// Where its threads release the shared memory that two blocks have in common.
    release: Release,
    /// What blocks of the machine share, if it is shared memory.
    scratchpad: Option<ShareConfig>,
    /// Options of the compiler that follow from the machine.
    compiler: Options,
}

/// Where threads release the shared memory that two blocks have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Release {
    /// Nowhere: their ends do it.
    Never,
    /// As soon as no statement that follows accesses shared memory, on each of the ways of a branch.
    Early,
    /// In front of their ends.
    Last,
}

/// What the SM has room and units for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Warps.
    pub warps: u32,
    /// Rows of the register file.
    pub rows: u32,
    /// Its banks.
    pub banks: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory.
    pub shared: u32,
    /// Instructions.
    pub code: usize,
    /// Whether there is a unit for floating point.
    pub floats: bool,
    /// Whether there is a data cache.
    pub caches: bool,
    /// Whether atomic operations may have results: blocks may wait for each other with them.
    pub atomic_results: bool,
    /// What blocks share, if it is shared memory.
    pub scratchpad: Option<ShareConfig>,
    /// Options of the compiler that follow from the machine.
    pub compiler: Options,
}

impl Limits {
    /// Those of a configuration.
    pub fn of(config: &Config) -> Self {
        let shape = config.sm_shape();
        let add = Op::Fadd { rounding: Rounding::NearestEven, ftz: false, sat: false, neg_a: false, neg_b: false };
        let [op, ctl] = Instruction::new(add).encode();
        Self {
            warps: shape.warps as u32,
            rows: shape.mrf.depth as u32,
            banks: shape.mrf.banks as u32,
            registers: (shape.services().max_registers as u32).min(NO_REG.into()),
            shared: 4 * shape.shared_words as u32,
            code: shape.code_words,
            floats: roles(op, ctl).unit() != unit::UNSUPPORTED,
            caches: shape.caches(),
            atomic_results: !config.share.present || config.share.lock != LockRule::First,
            scratchpad: Some(config.share).filter(|s| s.present && s.resource == SharedResource::Scratchpad),
            compiler: compiler_options(config, Options::MOST),
        }
    }
}

impl Program {
    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Warps of a block.
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(32)
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u32 {
        self.grid.iter().product()
    }

    /// Columns of interleaved words: one for each warp of the grid, one for atomic operations.
    fn columns(&self) -> u32 {
        self.warps() * self.blocks() + 1
    }

    /// Words of the buffer of the warps' own words.
    fn own_buffer_words(&self) -> u32 {
        let own = self.layout.own_words;
        match self.layout.interleaved {
            true => (lower::LEAD + (4 * own).max(lower::SUM_BYTES) * self.columns()) / 4,
            false => own * self.warps() * self.blocks(),
        }
    }

    /// Its instructions, and what it takes.
    pub fn lower(&self) -> Lowered {
        lower::lower(self)
    }
}

#[cfg(test)]
mod tests;
