//! The blocks of the register file without conflicts.

gpurf_blocks::mrf_ideal_blocks!(stimulus);

/// This design has no rules for inputs of the operand stage.
pub(crate) const STAGE: Option<crate::operands::StageDesign> = None;
