//! Drivers and coverage of the hybrid register file.
//!
//! The straps of its parts are knobs: each stretch of a run has other latencies, another threshold. Those of the whole are the configuration's.

gpurf_blocks::hrf_blocks!(stimulus);

mod core;

pub(crate) use core::{Core, CoreKnobs, Done, Instruction};

use crate::Unreached;

/// Why the lowest bit of a slot's warp is the slot's number.
const PARITY: &str = "a slot's warps are of its parity";

/// The bits of the slots' warps that follow from it.
fn parities() -> Vec<Unreached> {
    [0, 1].map(|slot| Unreached::bits("slot_warp_i", 0..=0, PARITY).of(slot..=slot)).into()
}

/// It has no rules for inputs of the operand stage.
pub(crate) const STAGE: Option<crate::operands::StageDesign> = None;
