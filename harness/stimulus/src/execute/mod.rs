//! Units and result buses.

gpurf_blocks::execute_blocks!(stimulus);

use crate::Unreached;

/// The unit in an instruction's roles.
fn own_unit() -> Unreached {
    Unreached::bits("roles_i", 49..=51, "only instructions for this unit come here")
}
