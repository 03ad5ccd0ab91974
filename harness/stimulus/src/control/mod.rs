//! Blocks of a grid, barriers, faults.

pub(crate) mod barrier_unit;
pub(crate) mod block_launcher;
pub(crate) mod fault_unit;
