//! The RAM cells.

gpurf_blocks::ram_blocks!(stimulus);

use gpurf_lockstep::Rng;

knobs! {
    pub(crate) struct RamKnobs {
        access: "an access" = [100, 500, 950, 1000],
        write: "it writes" = [200, 500, 800],
        partial: "a write leaves lanes out" = [0, 300, 900],
        near: "the word is one of the first four" = [0, 300, 900],
    }
}

fn address(rng: &mut Rng, knobs: &RamKnobs, depth: usize) -> u16 {
    let range = if rng.chance(knobs.near) { depth.min(4) } else { depth };
    rng.below(range as u64) as u16
}

/// The index in `LANES` for a mask: 0 for all lanes, 1 for some, 2 for none.
fn lanes_written(mask: u32) -> usize {
    match mask {
        u32::MAX => 0,
        0 => 2,
        _ => 1,
    }
}
