//! Stimulus of the register file whose idle banks are stolen.

gpurf_blocks::steal_blocks!(stimulus);

mod core;
mod directed;
mod scene;
mod stage;

pub(crate) use self::core::{Core, CoreKnobs, Done, Instruction};
pub(crate) use stage::STAGE;

use gpurf_lockstep::Rng;

/// One of a set.
fn pick(rng: &mut Rng, set: u32) -> Option<u8> {
    let members: Vec<u8> = (0..u32::BITS as u8).filter(|b| set >> b & 1 == 1).collect();
    (!members.is_empty()).then(|| members[rng.below(members.len() as u64) as usize])
}
