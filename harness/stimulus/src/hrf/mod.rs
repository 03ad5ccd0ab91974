//! Drivers and coverage of the hybrid register file.
//!
//! The straps of its parts are knobs: each stretch of a run has other latencies, another threshold.

pub(crate) mod bank;
pub(crate) mod buffer;
pub(crate) mod drain;
pub(crate) mod loads;
pub(crate) mod operands;
pub(crate) mod power;
pub(crate) mod rcm;
pub(crate) mod reads;
pub(crate) mod results;
