//! Lanes and their addresses, as kernels have them.

use gpurf_blocks::{LANES, WarpData};
use gpurf_lockstep::Rng;

use crate::Unreached;
use crate::driver::alias;

/// A lane mask with at least one lane: all of them, or as in `driver::lane_mask`.
pub(crate) fn some_lanes(rng: &mut Rng, partial: u32) -> u32 {
    match crate::driver::lane_mask(rng, partial) {
        0 => 1 << rng.below(LANES as u64),
        mask => mask,
    }
}

/// The set lanes of a mask, lowest first.
pub(crate) fn set_lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

/// Addresses below `bytes` (a multiple of four), aligned to accesses of `1 << size` bytes: a stride, one place, one place with few exceptions, a
/// handful of places, consecutive words in a few rows, two places whose addresses differ in one bit, or any.
pub(crate) fn addresses(rng: &mut Rng, bytes: u64, size: u8, near: u32) -> WarpData {
    const STRIDES: [u64; 9] = [1, 2, 4, 8, 32, 128, 128, 132, 4096];
    let (pattern, width) = (rng.below(10), 4 << rng.below(8));
    let start = match rng.chance(near) {
        true if rng.chance(200) => bytes - 1 - rng.below(width.min(bytes)),
        true if rng.chance(200) => 0,
        true => rng.below(128.min(bytes)),
        false => rng.below(bytes),
    };
    // Their words differ: the bit is above the bits that select a byte of a word.
    let other = start % 4 + 4 * alias(rng, start / 4, bytes / 4);
    let stride = if rng.chance(300) { 1 << size } else { STRIDES[rng.below(STRIDES.len() as u64) as usize] };
    let aligned = |address: u64| (address % bytes) as u32 >> size << size;
    WarpData(std::array::from_fn(|lane| {
        aligned(match pattern {
            0 => start + stride * lane as u64,
            1 => start + stride * (LANES - 1 - lane) as u64,
            2 => start,
            3 if rng.chance(900) => start,
            3 | 4 => start + rng.below(width),
            5 => start + 128 * rng.below(3) + 4 * lane as u64,
            6 => start + 128 * rng.below(2) + 4 * rng.below(2),
            7 | 8 if rng.chance(500) => other,
            7 | 8 => start,
            _ => rng.below(bytes),
        })
    }))
}

/// The bits of all lanes' addresses that are 0 in every address below `bytes`.
pub(crate) fn past(signal: &'static str, bytes: u64, why: &'static str) -> impl Iterator<Item = Unreached> {
    let bits = bytes.next_power_of_two().ilog2();
    (0..LANES as u32).map(move |lane| Unreached::bits(signal, 32 * lane + bits..=32 * lane + 31, why))
}

/// An access that is offered to a unit until all of its lanes are served.
#[derive(Default)]
pub(crate) struct Pending {
    /// Lanes left.
    pub(crate) left: u32,
    /// Whether other lanes of the same instruction are left, which another unit serves.
    pub(crate) elsewhere: bool,
}

impl Pending {
    /// A new access.
    pub(crate) fn begin(&mut self, rng: &mut Rng, partial: u32) {
        self.left = some_lanes(rng, partial);
        if rng.chance(partial / 4) {
            // Few, so that accesses follow each other closely.
            self.left = 1 << rng.below(LANES as u64) | 1 << rng.below(LANES as u64);
        }
        self.elsewhere = rng.chance(200);
    }

    /// Whether no lane is left after these.
    pub(crate) fn last(&self, served: u32) -> bool {
        self.left & !served == 0 && !self.elsewhere
    }

    /// Lanes whose addresses and operands are zero: in half of the cases those that do not take part, otherwise none.
    pub(crate) fn blank(&self, rng: &mut Rng) -> impl Iterator<Item = usize> + use<> {
        set_lanes(if rng.chance(500) { !self.left } else { 0 })
    }

    /// The clock edge.
    pub(crate) fn serve(&mut self, served: u32, reset: bool) {
        self.left = if reset { 0 } else { self.left & !served };
    }
}
