//! Between issue and the units: the seam for register files.

gpurf_blocks::operands_blocks!(stimulus);

pub(crate) use operand_stage::StageDesign;
