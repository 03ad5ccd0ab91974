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
