//! Execution units and result buses: `docs/sm.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! execute_blocks {
    ($callback:ident) => {
        $callback! { execute:
            dispatcher Dispatcher "operand stage to units",
            alu Alu "integers, bits, predicates",
            fp_unit FpUnit "single precision",
            sfu Sfu "special functions",
            result_queue ResultQueue "results until their latency is over",
            writeback Writeback "results to buses",
            lane_crossbar LaneCrossbar "shuffles",
            special_registers SpecialRegisters "what S2R reads",
        }
    };
}

execute_blocks!(declare_blocks);

#[cfg(test)]
mod phases;
mod result;

pub use result::{ResultFields, ResultWord, UnitResult};
