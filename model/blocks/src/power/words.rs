//! State of the power states of words that blocks keep: sets of registers, and how many of a warp are ON and in SLEEP.

use crate::REG_BITS;
use crate::mrf::bits::is_set;
use crate::sizes::{MAX_WARPS, WARP_NUMBERS};

/// Number of 64-bit words in the set of a warp's registers.
pub(crate) const WORDS: usize = (1 << REG_BITS) / u64::BITS as usize;

/// A state of a register, as an instruction names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    On,
    Sleep,
    Off,
}

impl State {
    #[inline]
    pub(crate) fn of(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::On,
            1 => Self::Sleep,
            _ => Self::Off,
        }
    }
}

/// A set of a warp's registers.
pub(crate) type Set = [u64; WORDS];

#[inline]
pub(crate) fn has(set: &Set, reg: u8) -> bool {
    is_set(set[usize::from(reg) / 64], usize::from(reg) % 64)
}

#[inline]
pub(crate) fn put(set: &mut Set, reg: u8, there: bool) {
    let word = &mut set[usize::from(reg) / 64];
    *word = *word & !(1 << (reg % 64)) | u64::from(there) << (reg % 64);
}

/// How many registers of each warp are ON and in SLEEP, with the sums.
#[derive(Clone)]
pub(crate) struct Counts {
    on_q: [u8; WARP_NUMBERS],
    asleep_q: [u8; WARP_NUMBERS],
    on: u32,
    asleep: u32,
    /// Warps whose two counts are not both 0.
    counted: u64,
}

impl Counts {
    /// All registers are OFF.
    pub(crate) const NONE: Self =
        Self { on_q: [0; WARP_NUMBERS], asleep_q: [0; WARP_NUMBERS], on: 0, asleep: 0, counted: 0 };

    /// The sums: ON, in SLEEP.
    #[inline]
    pub(crate) fn sums(&self) -> [u32; 2] {
        [self.on, self.asleep]
    }

    /// Warps with a register that is not OFF.
    #[inline]
    pub(crate) fn counted(&self) -> u64 {
        self.counted
    }

    /// The counts of a warp: ON, in SLEEP.
    #[inline]
    pub(crate) fn of(&self, w: usize) -> [u8; 2] {
        [self.on_q[w], self.asleep_q[w]]
    }

    /// The counts of all warps that an SM has: ON, in SLEEP.
    pub(crate) fn all(&self) -> [&[u8]; 2] {
        [&self.on_q[..MAX_WARPS], &self.asleep_q[..MAX_WARPS]]
    }

    /// Sets the counts of a warp.
    #[inline]
    pub(crate) fn set(&mut self, w: usize, [on, asleep]: [u8; 2]) {
        self.on = self.on + u32::from(on) - u32::from(self.on_q[w]);
        self.asleep = self.asleep + u32::from(asleep) - u32::from(self.asleep_q[w]);
        (self.on_q[w], self.asleep_q[w]) = (on, asleep);
        self.counted = self.counted & !(1 << w) | u64::from(on | asleep != 0) << w;
    }

    /// Adds to the counts of a warp, or subtracts by adding the negative.
    #[inline]
    pub(crate) fn add(&mut self, w: usize, on: u8, asleep: u8) {
        self.set(w, [self.on_q[w].wrapping_add(on), self.asleep_q[w].wrapping_add(asleep)]);
    }
}
