//! Power states of registers.

gpurf_blocks::power_blocks!(stimulus);

use gpurf_blocks::instruction::{NO_REG, Roles};
use gpurf_lockstep::Rng;

use crate::driver::Names;

/// Number of registers that most instructions use: few, so that accesses meet.
const FEW: usize = 8;

/// The names that instructions use.
#[derive(Clone)]
struct Registers(Names);

impl Registers {
    fn new() -> Self {
        Self(Names::new(FEW, 256))
    }

    /// A register, with the chance `few` one of few.
    fn any(&self, rng: &mut Rng, few: u32) -> u8 {
        if rng.chance(few) { self.0.draw(rng) as u8 } else { rng.next_u64() as u8 }
    }

    /// The roles of an instruction. Each of its registers is one of few with the chance `few`, or none with the chance `none`.
    fn roles(&self, rng: &mut Rng, few: u32, none: u32) -> Roles {
        let mut names: [u8; 4] = std::array::from_fn(|_| if rng.chance(none) { NO_REG } else { self.any(rng, few) });
        if rng.chance(250) {
            let (from, to) = (rng.below(4) as usize, rng.below(4) as usize);
            names[to] = names[from];
        }
        let others = rng.next_u64() & 0x1f_ffff << 32;
        Roles(others | u64::from(u32::from_le_bytes(names)))
    }
}
