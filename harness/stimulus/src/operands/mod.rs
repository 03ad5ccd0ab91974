//! Between issue and the units: the seam for register files.

pub(crate) mod operand_stage;

/// Stimulus of its blocks.
pub(crate) const BLOCKS: &[crate::Entry] =
    &[crate::entry::<operand_stage::OperandStageDriver, operand_stage::OperandStageCover>("operand_stage")];
