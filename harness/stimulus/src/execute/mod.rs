//! Units and result buses.

pub(crate) mod alu;
pub(crate) mod dispatcher;
pub(crate) mod fp_unit;
pub(crate) mod lane_crossbar;
pub(crate) mod result_queue;
pub(crate) mod sfu;
pub(crate) mod special_registers;
pub(crate) mod writeback;

use crate::Unreached;

/// The unit in an instruction's roles.
fn own_unit() -> Unreached {
    Unreached::bits("roles_i", 49..=51, "only instructions for this unit come here")
}
