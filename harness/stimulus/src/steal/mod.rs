//! Stimulus of the register file whose idle banks are stolen.

gpurf_blocks::steal_blocks!(stimulus);

mod core;
mod directed;
mod scene;
mod stage;

pub(crate) use self::core::{Core, CoreKnobs, Done, Instruction};
pub(crate) use stage::STAGE;

use gpurf_lockstep::Rng;

use crate::driver::any_bit;

/// One of the banks of a set.
fn pick(rng: &mut Rng, set: u32) -> Option<u8> {
    any_bit(rng, set).map(|bank| bank as u8)
}
