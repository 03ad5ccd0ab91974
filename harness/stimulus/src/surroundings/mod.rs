//! The surroundings of a register file in an SM, as far as they matter to the file.
//!
//! Every register file gets results ([`Results`]). The register file cache and the hierarchy also have warps that take slots in turn ([`Slots`]). The
//! rest is in the folder of each design: the marks of its instructions ([`Design`]), or a scheduler of its own.

mod results;
mod slots;

pub(crate) use results::{Offer, Pending, Results, latency, numbered, parts};
pub(crate) use slots::{Chances, Design, Done, Instruction, Slots, base_among};

use gpurf_blocks::instruction::NO_REG;

/// A set of registers.
#[derive(Clone, Copy, Default)]
pub(crate) struct Registers([u64; 4]);

impl Registers {
    /// Whether a register is in the set; `NO_REG` never is.
    pub(crate) fn has(&self, register: u8) -> bool {
        register != NO_REG && self.0[usize::from(register / 64)] >> (register % 64) & 1 == 1
    }

    /// Adds a register to the set, or removes it.
    pub(crate) fn put(&mut self, register: u8, is: bool) {
        if register != NO_REG {
            let (word, bit) = (&mut self.0[usize::from(register / 64)], 1 << (register % 64));
            *word = if is { *word | bit } else { *word & !bit };
        }
    }
}
