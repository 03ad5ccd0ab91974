//! The operand stage, between issue and the execution units: each register file design plugs in here.

gpurf_blocks::operands_blocks!(stimulus);

pub(crate) use operand_stage::StageDesign;
