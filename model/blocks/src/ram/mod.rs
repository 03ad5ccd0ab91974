//! The RAM cells: `docs/blocks/ram.md`.

mod ram_1r1w;
mod ram_1rw;
mod storage;
mod words;

pub use ram_1r1w::*;
pub use ram_1rw::*;
pub(crate) use storage::Storage;
pub use words::Words;

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    entry::<Ram1rw>("ram/ram_1rw", "RAM cell with one port", &[]),
    entry::<Ram1r1w>("ram/ram_1r1w", "RAM cell with a read and a write port", &[]),
];
