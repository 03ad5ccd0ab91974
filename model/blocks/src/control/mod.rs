//! Blocks of a grid, barriers, faults: `docs/sm.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! control_blocks {
    ($callback:ident) => {
        $callback! { control:
            barrier_unit BarrierUnit "warps that wait for each other",
            block_launcher BlockLauncher "blocks into the SM",
            fault_unit FaultUnit "the first fault",
        }
    };
}

control_blocks!(declare_blocks);

#[cfg(test)]
mod phases;
