//! The blocks of the register file without conflicts.

mod file;
mod store;

use crate::mrf::file::MrfDriver;

/// Stimulus of its blocks. The file has the ports of the main register file, and its inputs.
pub(crate) const BLOCKS: &[crate::Entry] = &[
    crate::entry::<store::StoreDriver, store::StoreCover>("mrf_ideal_store"),
    crate::entry::<MrfDriver, file::FileCover>("mrf_ideal"),
];
