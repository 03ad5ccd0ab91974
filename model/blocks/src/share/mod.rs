//! Blocks that share registers: `docs/sharing.md`.

use crate::entry::declare_blocks;

pub(crate) mod config;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! share_blocks {
    ($callback:ident) => {
        $callback! { share:
            register_places RegisterPlaces "place of a register, handed out one by one",
            share_locks ShareLocks "who may access shared registers",
        }
    };
}

share_blocks!(declare_blocks);

#[cfg(test)]
mod phases;
