//! A register file without conflicts: `docs/blocks/mrf_ideal.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! mrf_ideal_blocks {
    ($callback:ident) => {
        $callback! { mrf_ideal:
            mrf_ideal_store MrfIdealStore "storage with a port for everyone",
            mrf_ideal MrfIdeal "register file without conflicts",
        }
    };
}

mrf_ideal_blocks!(declare_blocks);

pub(crate) mod config;
#[cfg(test)]
mod tests;
