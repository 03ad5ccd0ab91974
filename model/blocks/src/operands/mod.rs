//! Between issue and the units: the seam for register files: `docs/sm.md`.

mod operand_stage;
#[cfg(test)]
mod phases;

pub use operand_stage::*;
