//! Random programs for the whole SM: valid by construction, with weights for what they are made of, and counts of what they execute.
//!
//! * [`Program::random`] makes a program from a seed and [`Weights`]: a kernel, a launch, and buffers with their contents. Whatever values come up,
//!   it terminates, stays in bounds, has no races, and reads nothing that it has not written ([`tree`]).
//! * [`Program::manifest`] is the program as a launch manifest with the machine's own instructions, which everything that takes manifests can run.
//! * [`Coverage`] counts, on a run of the functional oracle, what a program executes. Quotas are such counts that a program has to reach.
//! * [`shrink`] shortens a program that fails, as long as it keeps failing.
//!
//! The page `docs/programs.md` says what weights, quotas and points mean.

mod coverage;
mod generate;
mod levels;
mod lower;
mod run;
mod shrink;
mod text;
mod textures;
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

/// Registers with a fixed role, which the instructions of statements do not write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fixed {
    /// The lane's number.
    Lane,
    /// The address of the warp's own words of global memory.
    Own,
    /// The address of the warp's own words in the half of shared memory that is being written.
    Write,
    /// The address of the other half, which was written before the last barrier.
    Read,
    /// Temporaries for addresses and conditions.
    T0,
    T1,
    T2,
    T3,
    /// Counters of loops, by depth: this register and the next two.
    C0,
}

impl Fixed {
    /// Number of these registers.
    const COUNT: usize = Self::C0 as usize + 3;
}

/// Initial value of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum First {
    /// This value.
    Constant(u32),
    /// The thread's number in the grid, counted from 1, times this, plus the warp's number.
    Hash(u32),
}

/// Sizes of the memories of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Layout {
    /// Words of a warp's part of each half of shared memory.
    shared_words: u32,
    /// Words of a warp's part of global memory.
    own_words: u32,
    /// Words of local memory of a thread.
    local_words: u32,
    /// Most bytes of shared memory that are dynamic.
    dynamic: u32,
    /// Whether the words of warps and those of atomic operations share one buffer, and therefore lines: [`UNIT`](lower::UNIT) bytes of each in turn.
    interleaved: bool,
}

/// A random program.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The seed that it was made from.
    pub seed: u64,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// General registers of a thread.
    pub registers: u16,
    /// Whether its statements may be such that the order of atomic operations affects results.
    ordered: bool,
    /// Whether its statements may read special registers with the time.
    timed: bool,
    /// Statements of the program.
    pub body: Vec<Statement>,
    fixed: [Reg; Fixed::COUNT],
    first: Vec<First>,
    first_predicates: [u32; 7],
    layout: Layout,
    /// Addresses of buffers; `None`: the next free address.
    addresses: [Option<u32>; lower::BufferKind::ALL.len()],
    constants: [u32; lower::CONSTANT_WORDS as usize],
    floats: Vec<u32>,
    textures: Vec<textures::Texture>,
    split_end: bool,
    /// Where its threads release the shared memory that two blocks share.
    release: Release,
    /// The machine's sharing, if its blocks share shared memory.
    scratchpad: Option<ShareConfig>,
    /// Options of the compiler that follow from the machine.
    compiler: Options,
}

/// Where threads release the shared memory that two blocks share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Release {
    /// Nowhere: it is released when they end.
    Never,
    /// As soon as no later statement accesses shared memory, on each side of a branch.
    Early,
    /// Right before they end.
    Last,
}

/// Sizes and units of the SM that limit programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Warps.
    pub warps: u32,
    /// Rows of the register file.
    pub rows: u32,
    /// Banks of the register file.
    pub banks: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory.
    pub shared: u32,
    /// Instructions of a kernel.
    pub code: usize,
    /// Whether there is a unit for floating point.
    pub floats: bool,
    /// Whether there is a data cache.
    pub caches: bool,
    /// Whether atomic operations may have results; with results, blocks can wait for each other.
    pub atomic_results: bool,
    /// The sharing, if blocks share shared memory.
    pub scratchpad: Option<ShareConfig>,
    /// Options of the compiler that follow from the machine.
    pub compiler: Options,
}

impl Limits {
    /// The limits of a configuration.
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

    /// Words of the buffer that holds the warps' own words.
    fn own_buffer_words(&self) -> u32 {
        let own = self.layout.own_words;
        match self.layout.interleaved {
            true => (lower::LEAD + (4 * own).max(lower::SUM_BYTES) * self.columns()) / 4,
            false => own * self.warps() * self.blocks(),
        }
    }

    /// Its instructions, and the memory that it needs.
    pub fn lower(&self) -> Lowered {
        lower::lower(self)
    }
}

#[cfg(test)]
mod tests;
