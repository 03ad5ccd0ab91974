//! Lanes and their addresses, as kernels have them.

use gpurf_blocks::{LANES, WarpData};
use gpurf_lockstep::Rng;

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

/// Addresses below `bytes` (a multiple of four), aligned to accesses of `1 << size` bytes: a stride, one word, one word with few exceptions, a
/// handful of places, or any.
pub(crate) fn addresses(rng: &mut Rng, bytes: u64, size: u8, near: u32) -> WarpData {
    const STRIDES: [u64; 9] = [0, 1, 2, 4, 8, 32, 128, 132, 4096];
    let start = match rng.chance(near) {
        true if rng.chance(200) => bytes - 1 - rng.below(256.min(bytes)),
        true => rng.below(64.min(bytes)),
        false => rng.below(bytes),
    };
    let stride = STRIDES[rng.below(STRIDES.len() as u64) as usize].max(rng.below(2) << size);
    let (pattern, width) = (rng.below(6), 4 << rng.below(8));
    let aligned = |address: u64| (address % bytes) as u32 >> size << size;
    WarpData(std::array::from_fn(|lane| {
        aligned(match pattern {
            0 => start + stride * lane as u64,
            1 => start + stride * (LANES - 1 - lane) as u64,
            2 if rng.chance(900) => start,
            2 | 3 => start + rng.below(width),
            4 => start + 128 * rng.below(3) + 4 * lane as u64,
            _ => rng.below(bytes),
        })
    }))
}

/// An access that is offered to a unit until all of its lanes are served.
#[derive(Default)]
pub(crate) struct Pending {
    /// Lanes left.
    pub(crate) left: u32,
    /// Lanes of the same instruction are left that another unit serves.
    pub(crate) elsewhere: bool,
}

impl Pending {
    /// A new access.
    pub(crate) fn begin(&mut self, rng: &mut Rng, partial: u32) {
        self.left = some_lanes(rng, partial);
        self.elsewhere = rng.chance(200);
    }

    /// Whether no lane is left behind these.
    pub(crate) fn last(&self, served: u32) -> bool {
        self.left & !served == 0 && !self.elsewhere
    }

    /// The edge.
    pub(crate) fn serve(&mut self, served: u32, reset: bool) {
        self.left = if reset { 0 } else { self.left & !served };
    }
}
