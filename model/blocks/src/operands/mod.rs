//! The operand stage, between issue and the execution units: the seam for register files. `docs/sm.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! operands_blocks {
    ($callback:ident) => {
        $callback! { operands:
            front_operands FrontOperands "operands from levels in front and banks",
            operand_stage OperandStage "instructions and the register file",
        }
    };
}

operands_blocks!(declare_blocks);

#[cfg(test)]
mod phases;

#[cfg(test)]
pub(crate) use operand_stage::tests as stage_tests;
