//! Units and result buses: `docs/sm.md`.

mod alu;
mod dispatcher;
mod lane_crossbar;
#[cfg(test)]
mod phases;
mod result;
mod result_queue;
mod special_registers;
mod writeback;

pub use alu::*;
pub use dispatcher::*;
pub use lane_crossbar::*;
pub use result_queue::*;
pub use special_registers::*;
pub use writeback::*;
