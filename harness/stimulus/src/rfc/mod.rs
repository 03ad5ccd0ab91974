//! Drivers and coverage of the register file cache.

gpurf_blocks::rfc_blocks!(stimulus);

mod core;
mod emptying;
mod stage;

pub(crate) use core::{Core, CoreKnobs, Done, Instruction};
use emptying::Emptying;
pub(crate) use stage::STAGE;
