//! Between issue and the units: the seam for register files.

pub(crate) mod operand_stage;
