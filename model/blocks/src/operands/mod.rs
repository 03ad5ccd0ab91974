//! Between issue and the units: the seam for register files: `docs/sm.md`.

mod front_operands;
mod operand_stage;
#[cfg(test)]
mod phases;

pub use front_operands::*;
pub use operand_stage::*;

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    entry::<FrontOperands>("operands/front_operands", "operands from levels in front and banks", &[]),
    Entry {
        designs: true,
        ..entry::<OperandStage>("operands/operand_stage", "instructions and the register file", &[])
    },
];

#[cfg(test)]
pub(crate) use operand_stage::tests as stage_tests;
