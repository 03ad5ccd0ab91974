//! Between issue and the units: the seam for register files.

mod front_operands;
pub(crate) mod operand_stage;

use front_operands::{OperandsCover, OperandsDriver};
pub(crate) use operand_stage::StageDesign;
use operand_stage::{OperandStageCover, OperandStageDriver};

/// Stimulus of its blocks.
pub(crate) const BLOCKS: &[crate::Entry] = &[
    crate::entry::<OperandsDriver, OperandsCover>("front_operands"),
    crate::Entry {
        coverage: operand_stage::coverage,
        ..crate::entry::<OperandStageDriver, OperandStageCover>("operand_stage")
    },
];
