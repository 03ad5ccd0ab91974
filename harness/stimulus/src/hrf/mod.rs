//! Drivers and coverage of the hybrid register file.
//!
//! The straps of the parts are knobs: each stretch of a run has other latencies and another threshold. The straps of the whole file are those of the
//! configuration.

gpurf_blocks::hrf_blocks!(stimulus);

mod core;

pub(crate) use core::{Core, CoreKnobs, Done, Instruction};

use crate::Unreached;

/// Why the lowest bit of a slot's warp is the slot's number.
const PARITY: &str = "a slot's warps are of its parity";

/// The bits of the slots' warps that are constant for this reason.
fn parities() -> Vec<Unreached> {
    [0, 1].map(|slot| Unreached::bits("slot_warp_i", 0..=0, PARITY).of(slot..=slot)).into()
}

/// This design has no rules for inputs of the operand stage.
pub(crate) const STAGE: Option<crate::operands::StageDesign> = None;
