//! Blocks of a grid, barriers, faults: `docs/sm.md`.

mod barrier_unit;
mod block_launcher;
mod fault_unit;
#[cfg(test)]
mod phases;

pub use barrier_unit::*;
pub use block_launcher::*;
pub use fault_unit::*;

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    entry::<BarrierUnit>("control/barrier_unit", "warps that wait for each other", &[]),
    entry::<BlockLauncher>("control/block_launcher", "blocks into the SM", &[]),
    Entry {
        // Alone it has as many sources as in the SM.
        twin: |config| crate::erase::<FaultUnit>(&crate::shape::SmShape::new(config).with_fault_sources()),
        ..entry::<FaultUnit>("control/fault_unit", "the first fault", &[])
    },
];
