//! The blocks of the register file without conflicts.

mod file;
mod store;

use crate::mrf::file::MrfDriver;

/// It has no rules for inputs of the operand stage.
pub(crate) const STAGE: Option<crate::operands::StageDesign> = None;

/// Stimulus of its blocks. The file has the ports of the main register file, and its inputs.
pub(crate) const BLOCKS: &[crate::Entry] = &[
    crate::entry::<store::StoreDriver, store::StoreCover>("mrf_ideal_store"),
    crate::entry::<MrfDriver, file::FileCover>("mrf_ideal"),
];
