//! Slots of a cache that are being flushed, for drivers of a cache's parts.

use gpurf_blocks::sizes::MAX_ACTIVE;
use gpurf_lockstep::Rng;

/// Slots that are being flushed. A slot is free again some cycles after it has become clean, when its values are in their banks.
pub(super) struct Emptying {
    /// Slots that are being flushed, and those of them that are dropped.
    pub(super) flush: u64,
    pub(super) drop: u64,
    /// Cycles for which a slot continues to flush after it has become clean.
    rest: [u8; MAX_ACTIVE],
}

impl Emptying {
    /// No slot is being flushed.
    pub(super) fn none() -> Self {
        Self { flush: 0, drop: 0, rest: [0; MAX_ACTIVE] }
    }

    /// A cycle: each of the slots begins to be flushed with the chance `begins`, and is then dropped with the chance `dropped`; slots that are clean
    /// come nearer to their end. Returns the slots that begin.
    pub(super) fn step(&mut self, rng: &mut Rng, slots: usize, clean: u64, begins: u32, dropped: u32) -> u64 {
        let mut begun = 0;
        for slot in 0..slots {
            let bit = 1 << slot;
            if self.flush & bit == 0 {
                if rng.chance(begins) {
                    self.flush |= bit;
                    self.drop &= !bit;
                    self.drop |= u64::from(rng.chance(dropped)) << slot;
                    self.rest[slot] = 1 + rng.below(6) as u8;
                    begun |= bit;
                }
            } else if (clean | self.drop) & bit != 0 {
                self.rest[slot] -= 1;
                if self.rest[slot] == 0 {
                    (self.flush, self.drop) = (self.flush & !bit, self.drop & !bit);
                }
            }
        }
        begun
    }

    /// `drop_i`: it has no meaning for a slot that is not being flushed, where it is random.
    pub(super) fn drop_input(&self, rng: &mut Rng, slots: usize) -> u64 {
        self.drop | !self.flush & rng.mask(slots as u32, 200)
    }
}
