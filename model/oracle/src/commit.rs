//! What a warp does, instruction by instruction, in program order.

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

/// Sees what warps do. The effects of each warp come in program order; those of different warps are mixed.
pub trait Observer {
    /// Whether anything is to be reported; false lets the compiler leave all of it out.
    const ACTIVE: bool = true;

    /// An instruction has taken effect.
    fn commit(&mut self, commit: &Commit<'_>);
}

/// Nobody looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    const ACTIVE: bool = false;

    fn commit(&mut self, _: &Commit<'_>) {}
}

impl<F: FnMut(&Commit<'_>)> Observer for F {
    fn commit(&mut self, commit: &Commit<'_>) {
        self(commit);
    }
}
