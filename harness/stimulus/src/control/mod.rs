//! Blocks of a grid, barriers, faults.

pub(crate) mod barrier_unit;
pub(crate) mod block_launcher;
pub(crate) mod fault_unit;

/// Stimulus of its blocks.
pub(crate) const BLOCKS: &[crate::Entry] = &[
    crate::entry::<barrier_unit::BarrierUnitDriver, barrier_unit::BarrierUnitCover>("barrier_unit"),
    crate::entry::<block_launcher::BlockLauncherDriver, block_launcher::BlockLauncherCover>("block_launcher"),
    crate::entry::<fault_unit::FaultUnitDriver, fault_unit::FaultUnitCover>("fault_unit"),
];
