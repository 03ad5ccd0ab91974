//! Faults of a program, and where they occur.

use std::fmt;

/// Why a launch ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kernel.
    pub kernel: String,
    /// The thread block.
    pub block: [u32; 3],
    /// The thread in its block: the first one that the fault concerns.
    pub thread: [u32; 3],
    /// The warp of the block.
    pub warp: u32,
    /// The number of the instruction.
    pub pc: u32,
    /// The instruction as text.
    pub instruction: String,
    /// The PTX file.
    pub file: String,
    /// The line of the PTX file, from 1; 0 where it is not known.
    pub line: u32,
    /// File and line of the CUDA source, if the image has them, which it does for traps.
    pub cuda: Option<String>,
    /// What was wrong.
    pub kind: FaultKind,
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, block: [bx, by, bz], thread: [tx, ty, tz], pc, instruction, file, line, cuda, kind, .. } =
            self;
        write!(f, "{file}:{line}: kernel {kernel}, block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz}): {kind}")?;
        if let Some(place) = cuda {
            write!(f, ", at {place}")?;
        }
        write!(f, "; instruction {pc}: {instruction}")
    }
}

/// What was wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FaultKind {
    /// An access outside all buffers, or beyond the end of shared, local or constant memory.
    #[error("{access} of {bytes} bytes at {space} address {address:#x} is out of bounds: {nearest}")]
    OutOfBounds {
        /// Load, store or atomic.
        access: Access,
        /// Which memory.
        space: &'static str,
        /// The address.
        address: u64,
        /// Its size.
        bytes: u32,
        /// What lies near it.
        nearest: String,
    },
    /// An address that is no multiple of the size of the access.
    #[error("{access} at {space} address {address:#x} is not aligned to {align} bytes")]
    Misaligned {
        /// Load, store or atomic.
        access: Access,
        /// Which memory.
        space: &'static str,
        /// The address.
        address: u64,
        /// What the address must be a multiple of.
        align: u32,
    },
    /// A store or an atomic to the constant space.
    #[error("{access} to the constant space, which can only be read")]
    ConstantWrite {
        /// Store or atomic.
        access: Access,
    },
    /// An atomic operation on local memory.
    #[error("atomic operation on local memory, which only one thread sees")]
    LocalAtomic,
    /// A load from shared memory of bytes that nothing has written.
    #[error("load from shared address {address:#x}, which no thread has written")]
    UninitialisedShared {
        /// The address.
        address: u32,
    },
    /// A read of a register that the thread has not written.
    #[error("reads {0}, which this thread has not written")]
    UndefinedRegister(String),
    /// A load from local memory of bytes that the thread has not written.
    #[error("load from local address {address:#x}, which this thread has not written")]
    UndefinedLocal {
        /// The address.
        address: u32,
    },
    /// Two warps access a shared address without a barrier between them, and one of them writes.
    #[error(
        "data race: {access} at shared address {address:#x}, to which warp {other_warp} made a {other} without a barrier between them (line {other_line})"
    )]
    SharedRace {
        /// This access.
        access: Access,
        /// The address.
        address: u32,
        /// The other access.
        other: Access,
        /// The other warp.
        other_warp: u32,
        /// PTX line of the other access.
        other_line: u32,
    },
    /// A barrier that not all living threads of a warp have reached.
    #[error(
        "barrier {id} is reached by {arrived} of {living} living threads of the warp: the others are on another path"
    )]
    BarrierDivergence {
        /// The barrier.
        id: u8,
        /// Threads that have reached it.
        arrived: u32,
        /// Threads that have not ended.
        living: u32,
    },
    /// A thread count that is not valid for a barrier.
    #[error("barrier {id} has the thread count {count}, which {problem}")]
    BarrierCount {
        /// The barrier.
        id: u8,
        /// The count.
        count: u32,
        /// Why it is not valid.
        problem: &'static str,
    },
    /// All warps that have not ended wait at barriers.
    #[error("deadlock: every warp of the block that has not ended waits at a barrier ({waiting})")]
    BarrierDeadlock {
        /// The waiting warps with their barriers.
        waiting: String,
    },
    /// A warp-wide operation whose mask names threads that are on another path.
    #[error(
        "the mask {mask:#010x} of a warp-wide operation includes threads that are not active: {active:#010x} of {living:#010x} living threads are active"
    )]
    WarpDivergence {
        /// The mask.
        mask: u32,
        /// The lanes that execute the instruction.
        active: u32,
        /// The lanes that have not ended.
        living: u32,
    },
    /// The running warps of a block repeat loops in which nothing changes any more.
    #[error("hang: {warps} warps of the block repeat a loop in which neither their registers nor memory change")]
    Spin {
        /// How many warps spin.
        warps: u32,
    },
    /// More instructions than allowed.
    #[error("hang: the block has executed {limit} instructions of its warps, the limit")]
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// A TRAP.
    #[error("trap {code}: {}", gpurf_isa::machine::trap::reason(*code))]
    Trap {
        /// Its code.
        code: u32,
    },
    /// The program counter is beyond the last instruction.
    #[error("execution runs past the end of the kernel")]
    PastEnd,
    /// The user ended the run ([`crate::Options::stop`]).
    #[error("stopped by the user")]
    Stopped,
    /// The order of accesses or the times of a recording do not fit the program.
    #[error("the recording does not fit the program: {0}")]
    Replay(String),
}

/// Kinds of memory access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic operation.
    Atomic,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic operation",
        })
    }
}

/// A fault of a lane, before the place is known.
#[derive(Debug)]
pub struct LaneFault {
    /// The lane.
    pub lane: usize,
    /// What was wrong.
    pub kind: Box<FaultKind>,
}

impl LaneFault {
    /// A fault in a lane.
    pub fn new(lane: usize, kind: FaultKind) -> Self {
        Self { lane, kind: Box::new(kind) }
    }
}
