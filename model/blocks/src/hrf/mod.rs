//! The hybrid register file: `docs/blocks/hrf.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! hrf_blocks {
    ($callback:ident) => {
        $callback! { hrf:
            hrf_bank HrfBank "bank of STT-RAM",
            hrf_buffer HrfBuffer "write buffer",
            hrf_rcm HrfRcm "which registers are in the buffer",
            hrf_drain HrfDrain "buffer to bank",
            hrf_loads HrfLoads "results for warps that are not active",
            hrf_power HrfPower "power gating of a buffer",
            hrf_results HrfResults "results to buffer, queue or bank",
            hrf_reads HrfReads "which operands are read",
            hrf_operands HrfOperands "lanes from buffer or bank, operand latches",
            hrf Hrf "hybrid register file",
        }
    };
}

hrf_blocks!(declare_blocks);

pub(crate) mod config;
mod shape;

#[cfg(test)]
mod phases;

pub use shape::*;
