//! Blocks of a grid, barriers, faults: `docs/sm.md`.

mod barrier_unit;
mod block_launcher;
mod fault_unit;
#[cfg(test)]
mod phases;

pub use barrier_unit::*;
pub use block_launcher::*;
pub use fault_unit::*;
