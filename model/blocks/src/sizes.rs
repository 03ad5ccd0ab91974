//! Sizes that need no design of the register file: what the designs and the SM around them share.

use crate::mrf::MrfShape;

/// Capacity of the twins: the largest number of warps.
pub const MAX_WARPS: usize = 48;
/// Numbers that fit into a port for a warp: what is kept for each of them needs no check of the number.
pub(crate) const WARP_NUMBERS: usize = 1 << crate::WARP_BITS;
/// Capacity of the twins: slots of active warps.
pub const MAX_ACTIVE: usize = MAX_WARPS;
/// Parities of a warp's number: slots of the alternating scheduler; banks and buffers of a file that pairs rows.
pub const PARITIES: usize = 2;

/// The sizes of an SM that a design's shape follows from, besides the design's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageSizes {
    /// The main register file; its tag is the number of an instruction's place in the operand stage.
    pub mrf: MrfShape,
    /// Resident warps.
    pub warps: usize,
    /// Slots that there are ports for: one at least.
    pub slots: usize,
}

/// Those of a set whose numbers modulo the number of issue ports are the port's.
pub(crate) fn own_of(all: u64, p: usize, ports: usize) -> u64 {
    const EVEN: u64 = u64::MAX / 3;
    match (ports, p) {
        (1, 0) => all,
        (1, _) => 0,
        _ => all & EVEN << p,
    }
}

/// Bits that count `n` things from 0.
pub(crate) const fn width(n: usize) -> u32 {
    usize::BITS - (n - 1).leading_zeros()
}
