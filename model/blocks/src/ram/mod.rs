//! The RAM cells: `docs/blocks/ram.md`.

mod ram_1r1w;
mod ram_1rw;
mod storage;
mod words;

pub use ram_1r1w::*;
pub use ram_1rw::*;
pub(crate) use storage::Storage;
pub use words::Words;
