//! Between issue and the units: the seam for register files.

pub(crate) mod operand_stage;

pub(crate) use operand_stage::StageDesign;
use operand_stage::{OperandStageCover, OperandStageDriver};

/// Stimulus of its blocks.
pub(crate) const BLOCKS: &[crate::Entry] = &[crate::Entry {
    coverage: operand_stage::coverage,
    ..crate::entry::<OperandStageDriver, OperandStageCover>("operand_stage")
}];
