//! The memory pipeline: `docs/sm.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! memory_blocks {
    ($callback:ident) => {
        $callback! { memory:
            address_unit AddressUnit "the memory instruction at hand",
            coalescer Coalescer "lanes into lines of 128 bytes",
            line_table LineTable "lines in flight",
            shared_memory SharedMemory "32 banks of four bytes",
            constant_memory ConstantMemory "parameters and constants",
            constant_unit ConstantUnit "the constant or special register at hand",
        }
    };
}

memory_blocks!(declare_blocks);

pub(crate) mod access;
#[cfg(test)]
mod phases;
pub(crate) mod rows;
pub(crate) mod scratchpad;

pub use access::{Access, Answer, Header};
