//! The memory pipeline: `docs/sm.md`.

mod access;
mod address_unit;
mod coalescer;
mod constant_memory;
mod line_table;
#[cfg(test)]
mod phases;
mod shared_memory;

pub use access::{Access, Answer, Header};
pub use address_unit::*;
pub use coalescer::*;
pub use constant_memory::*;
pub use line_table::*;
pub use shared_memory::*;

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    entry::<AddressUnit>("memory/address_unit", "the memory instruction at hand", &[]),
    entry::<Coalescer>("memory/coalescer", "lanes into lines of 128 bytes", &[]),
    entry::<LineTable>("memory/line_table", "lines in flight", &[]),
    Entry {
        packages: &["execute/fp_pkg"],
        ..entry::<SharedMemory>("memory/shared_memory", "32 banks of four bytes", &["ram_1rw"])
    },
    entry::<ConstantMemory>("memory/constant_memory", "parameters and constants", &["ram_1r1w"]),
];
