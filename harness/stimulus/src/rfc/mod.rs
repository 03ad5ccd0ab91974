//! Drivers and coverage of the register file cache.

gpurf_blocks::rfc_blocks!(stimulus);

mod core;
mod stage;

pub(crate) use core::{Core, CoreKnobs, Done, Instruction};
pub(crate) use stage::STAGE;
