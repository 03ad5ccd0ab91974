//! Units and result buses: `docs/sm.md`.

mod alu;
mod dispatcher;
mod fp_unit;
mod lane_crossbar;
#[cfg(test)]
mod phases;
mod result;
mod result_queue;
mod sfu;
mod special_registers;
mod writeback;

pub use alu::*;
pub use dispatcher::*;
pub use fp_unit::*;
pub use lane_crossbar::*;
pub use result::UnitResult;
pub use result_queue::*;
pub use sfu::*;
pub use special_registers::*;
pub use writeback::*;
