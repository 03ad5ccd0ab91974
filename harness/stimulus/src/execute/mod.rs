//! Units and result buses.

gpurf_blocks::execute_blocks!(stimulus);

use gpurf_blocks::instruction::Instruction;

use crate::Unreached;

/// The unit in an instruction's roles.
fn own_unit() -> Unreached {
    let why = "only instructions for this unit come here";
    Unreached::field::<Instruction>("instruction_i", "roles.unit", 0..=3, why)
}
