//! The RAM cells: `docs/blocks/ram.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! ram_blocks {
    ($callback:ident) => {
        $callback! { ram:
            ram_1rw Ram1rw "RAM cell with one port",
            ram_1r1w Ram1r1w "RAM cell with a read and a write port",
        }
    };
}

ram_blocks!(declare_blocks);

mod storage;
mod words;

pub(crate) use storage::{LINE_BYTES, Storage, select_bytes};
pub use words::Words;
