//! Units and result buses.

pub(crate) mod alu;
pub(crate) mod dispatcher;
pub(crate) mod fp_unit;
pub(crate) mod lane_crossbar;
pub(crate) mod result_queue;
pub(crate) mod sfu;
pub(crate) mod special_registers;
pub(crate) mod writeback;
