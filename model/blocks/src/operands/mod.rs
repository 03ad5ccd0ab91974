//! Between issue and the units: the seam for register files: `docs/sm.md`.

mod operand_stage;
#[cfg(test)]
mod phases;

pub use operand_stage::*;

use crate::registry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[Entry {
    designs: true,
    ..entry::<OperandStage>("operands/operand_stage", "instructions and the register file", &[])
}];

#[cfg(test)]
pub(crate) use operand_stage::tests as stage_tests;
