//! The RAM cells: `docs/blocks/ram.md`.

mod ram_1r1w;
mod ram_1rw;
mod storage;

pub use ram_1r1w::*;
pub use ram_1rw::*;
pub(crate) use storage::Storage;
