//! What a warp does, instruction by instruction, in program order.

use gpurf_isa::Instruction;

use crate::lanes::{Lanes, Mask};

/// A warp of a launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WarpId {
    /// The block, counted over x, then y, then z.
    pub block: u64,
    /// The warp in its block.
    pub warp: u32,
}

/// An effect of an instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Effect<'a> {
    /// A general register takes these values in the lanes of the commit.
    Register {
        /// The register's number.
        register: u8,
        /// Its values; lanes outside the mask hold anything.
        values: &'a Lanes,
    },
    /// A predicate takes these values in the lanes of the commit.
    Predicate {
        /// The predicate's number.
        predicate: u8,
        /// Its values; lanes outside the mask hold anything.
        values: Mask,
    },
    /// Memory takes the low bytes of these values. Of lanes that store to the same address the highest one's value stays.
    Store {
        /// The generic address of each lane.
        addresses: &'a [u64; 32],
        /// The values.
        values: &'a Lanes,
        /// Bytes of each.
        bytes: u32,
    },
    /// An atomic operation: the addresses it touched. What it gives is a register of its own, if used.
    Atomic {
        /// The generic address of each lane.
        addresses: &'a [u64; 32],
        /// How many atomic operations the warp has performed before.
        occurrence: u64,
    },
}

/// An effect, and whose it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Commit<'a> {
    /// The warp.
    pub warp: WarpId,
    /// How many instructions the warp has issued before.
    pub number: u64,
    /// The instruction.
    pub pc: u32,
    /// The lanes that take part.
    pub mask: Mask,
    /// What it does.
    pub effect: Effect<'a>,
}

/// An instruction that a warp is about to execute.
#[derive(Clone, Copy, Debug)]
pub struct Issue<'a> {
    /// The warp.
    pub warp: WarpId,
    /// How many instructions the warp has issued before.
    pub number: u64,
    /// The instruction's number.
    pub pc: u32,
    /// The instruction.
    pub instruction: &'a Instruction,
    /// The lanes of the group that executes.
    pub active: Mask,
    /// Those in which the guard is true.
    pub mask: Mask,
    /// The lanes of the warp that have not ended.
    pub living: Mask,
    /// Groups that wait on the SIMT stack.
    pub depth: usize,
    /// The values of sources a, b and c; zero where it has none.
    pub sources: [&'a Lanes; 3],
    /// The lanes in which predicate source s is true.
    pub s: Mask,
}

/// Sees what warps do. The effects of each warp come in program order; those of different warps are mixed.
pub trait Observer {
    /// Whether anything is to be reported; false lets the compiler leave all of it out.
    const ACTIVE: bool = true;

    /// Whether instructions are to be reported before they take effect.
    const TRACES: bool = false;

    /// An instruction has taken effect.
    fn commit(&mut self, _: &Commit<'_>) {}

    /// An instruction is about to take effect: also one without lanes, and one without a result. In a replay an access to memory is reported
    /// whenever the warp is at it.
    fn issue(&mut self, _: &Issue<'_>) {}
}

/// Without an observer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    const ACTIVE: bool = false;
}

impl<F: FnMut(&Commit<'_>)> Observer for F {
    fn commit(&mut self, commit: &Commit<'_>) {
        self(commit);
    }
}
