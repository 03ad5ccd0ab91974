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
        /// Its values, undefined in lanes outside the mask.
        values: &'a Lanes,
    },
    /// A predicate takes these values in the lanes of the commit.
    Predicate {
        /// The predicate's number.
        predicate: u8,
        /// Its values, undefined in lanes outside the mask.
        values: Mask,
    },
    /// Memory receives the low bytes of these values. Where several lanes store to the same address, the value of the highest lane remains.
    Store {
        /// The generic address of each lane.
        addresses: &'a [u64; 32],
        /// The values.
        values: &'a Lanes,
        /// Number of bytes that each lane stores.
        bytes: u32,
    },
    /// An atomic operation: the addresses that it accessed. Its result, if used, is a separate [`Effect::Register`].
    Atomic {
        /// The generic address of each lane.
        addresses: &'a [u64; 32],
        /// How many atomic operations the warp has performed before.
        occurrence: u64,
    },
}

/// An effect, with the warp and the instruction that cause it.
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
    /// The effect.
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
    /// The active lanes in which the guard is true.
    pub mask: Mask,
    /// The lanes of the warp that have not ended.
    pub living: Mask,
    /// Groups that wait on the SIMT stack.
    pub depth: usize,
    /// The values of sources a, b and c; zero for a source that the instruction does not have.
    pub sources: [&'a Lanes; 3],
    /// The lanes in which predicate source s is true.
    pub s: Mask,
}

/// Observes what warps do. The effects of each warp come in program order; those of different warps are interleaved.
pub trait Observer {
    /// Whether effects are to be reported; false lets the compiler remove all reports.
    const ACTIVE: bool = true;

    /// Whether instructions are to be reported before they take effect.
    const TRACES: bool = false;

    /// An instruction has taken effect.
    fn commit(&mut self, _: &Commit<'_>) {}

    /// An instruction is about to take effect. Instructions without active lanes or without a result are reported too. In a replay a memory access is
    /// reported each time the warp attempts it.
    fn issue(&mut self, _: &Issue<'_>) {}
}

/// An observer that ignores everything.
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
