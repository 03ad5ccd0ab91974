//! The banked main register file: `docs/blocks/mrf.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! mrf_blocks {
    ($callback:ident) => {
        $callback! { mrf:
            mrf_bank_map MrfBankMap "bank and entry of a register",
            mrf_write_queue MrfWriteQueue "result that waits for its bank",
            mrf_allocator MrfAllocator "collectors for issue, age, dispatch",
            mrf_collector MrfCollector "one operand collector",
            mrf_arbiter MrfArbiter "bank arbitration",
            mrf_bank MrfBank "one bank",
            mrf_crossbar MrfCrossbar "banks to operand latches to dispatch",
            mrf Mrf "banked main register file",
        }
    };
}

mrf_blocks!(declare_blocks);

pub mod bits;
pub(crate) mod config;
#[cfg(test)]
pub(crate) use mrf::tests;
#[cfg(test)]
pub(crate) mod phases;
mod shape;
pub(crate) mod slots;
pub(crate) mod storage;

pub(crate) use mrf::nets;
pub use shape::*;
