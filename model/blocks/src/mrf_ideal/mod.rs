//! A register file without conflicts: `docs/blocks/mrf_ideal.md`.

pub(crate) mod config;
#[expect(clippy::module_inception, reason = "a twin has the path of its RTL module")]
mod mrf_ideal;
mod mrf_ideal_store;
#[cfg(test)]
mod tests;

pub use mrf_ideal::*;
pub use mrf_ideal_store::*;

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    Entry {
        words_are_registers: true,
        ..entry::<MrfIdealStore>("mrf_ideal/mrf_ideal_store", "storage with a port for everyone", &[])
    },
    entry::<MrfIdeal>("mrf_ideal/mrf_ideal", "register file without conflicts", &[]),
];
