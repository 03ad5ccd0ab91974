//! Lanes of an access to a line, as the coalescer makes them.

use gpurf_blocks::LANES;
use gpurf_blocks::cache::{CacheRow, ROW_WORDS};
use gpurf_blocks::memory::{self, Header};
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::Rng;

use crate::memory::lanes::{set_lanes, some_lanes};

/// Bytes of a line.
pub(super) const LINE_BYTES: u8 = 128;

/// The lanes of a request, their warp and register, and the offset of each lane's bytes in the line.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) mask: u32,
    pub(super) warp: u8,
    pub(super) reg: Option<u8>,
    pub(super) size: u8,
    pub(super) signed: bool,
    /// Whether the answer has a word for each lane.
    pub(super) lanewise: bool,
    pub(super) offset: [u8; LANES],
}

impl Row {
    /// Lanes of a load or a store: `partial` as in [`some_lanes`]. Their bytes lie around a byte, or anywhere in the line.
    pub(super) fn of_line(rng: &mut Rng, partial: u32, around: Option<u8>) -> Self {
        let size = rng.below(3) as u8;
        let mask = some_lanes(rng, partial);
        let (start, stride) = (rng.below(LINE_BYTES.into()), rng.below(5));
        let pattern = rng.below(3);
        let mut offset = [0; LANES];
        // The offset of a lane that takes no part is not used, so any value will do, though the coalescer sets 0.
        let others = if rng.chance(500) { rng.next_u64() as u32 } else { 0 };
        for lane in set_lanes(mask | others) {
            let byte = match (around, pattern) {
                (Some(byte), _) => u64::from(byte).saturating_sub(rng.below(8)),
                (None, 0) => rng.below(LINE_BYTES.into()),
                (None, 1) => start + rng.below(8),
                (None, _) => start + stride * lane as u64,
            };
            offset[lane] = (byte as u8 % LINE_BYTES) >> size << size;
        }
        let signed = size < 2 && rng.chance(500);
        Self { mask, warp: warp(rng), reg: register(rng), size, signed, lanewise: false, offset }
    }

    /// Lanes of an atomic operation.
    pub(super) fn of_atomic(rng: &mut Rng, partial: u32) -> Self {
        let Self { mask, mut offset, warp, .. } = Self::of_line(rng, partial, None);
        offset.iter_mut().for_each(|byte| *byte &= !3);
        Self { mask, warp, reg: Some(rng.below(256) as u8), size: 2, signed: false, lanewise: true, offset }
    }

    /// The byte after the highest one that a lane accesses.
    pub(super) fn end(&self) -> u8 {
        set_lanes(self.mask).map(|lane| self.end_of(lane)).max().unwrap_or(0)
    }

    /// The byte after those of a lane.
    pub(super) fn end_of(&self, lane: usize) -> u8 {
        self.offset[lane] + (1 << self.size)
    }

    /// The byte after those of the lowest lane.
    pub(super) fn first_end(&self) -> u8 {
        set_lanes(self.mask).next().map_or(0, |lane| self.end_of(lane))
    }

    /// Decodes the words of `cache_row_t`.
    pub(super) fn of_words(words: &[u32; ROW_WORDS]) -> Self {
        let row = CacheRow(*words);
        let Header { mask, warp, reg, .. } = row.header();
        let (size, signed, lanewise) = (row.size(), row.signed(), row.lanewise());
        Self { mask, warp, reg, size, signed, lanewise, offset: row.offset() }
    }

    /// Encodes the row as the words of `cache_row_t`.
    pub(super) fn words(&self) -> [u32; ROW_WORDS] {
        let Self { mask, warp, reg, size, signed, lanewise, .. } = *self;
        let header = Header { mask, warp, reg, done: false };
        CacheRow::from(&memory::Row { header, offset: &self.offset, size, signed, lanewise }).0
    }
}

/// A warp.
pub(super) fn warp(rng: &mut Rng) -> u8 {
    rng.below(MAX_WARPS as u64) as u8
}

/// A register, or none.
pub(super) fn register(rng: &mut Rng) -> Option<u8> {
    rng.chance(800).then(|| rng.below(256) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_fields_where_the_page_says() {
        let mut offset = [0; LANES];
        (offset[0], offset[31]) = (0x7f, 0x55);
        let row =
            Row { mask: 1 << 31 | 1, warp: 0x2a, reg: Some(0x81), size: 2, signed: true, lanewise: false, offset };
        let words = row.words();
        let bit = |at: usize| words[at / 32] >> (at % 32) & 1;
        let field = |low: usize, width: usize| (low..low + width).fold(0, |value, at| value | bit(at) << (at - low));
        // From the lowest bit on: lanewise, sign, size, register, its valid, warp, mask.
        assert_eq!([field(0, 1), field(1, 1), field(2, 2), field(4, 8)], [0, 1, 2, 0x81]);
        assert_eq!([field(12, 1), field(13, 6), field(19, 32)], [1, 0x2a, 1 << 31 | 1]);
        assert_eq!([field(51, 7), field(58, 7), field(51 + 7 * 31, 7)], [0x7f, 0, 0x55]);
        assert_eq!(row.end(), 0x7f + 4);
        assert_eq!(Row::of_words(&words).words(), words);
        assert_eq!(Row { reg: None, ..row }.words()[0] >> 4 & 0x1ff, 0);
    }
}
