//! `cache_row_t`: what the lanes of a load take from a line, and for whom.

use crate::memory::rows::{OFFSET_WORDS, Taken, meta, pack_offsets, unpack_offsets};
use crate::memory::{Header, Row};
use crate::{LANES, WarpData, Wide};

/// Words of 32 bits of a row.
pub const ROW_WORDS: usize = 9;
/// Bits below the offsets: mask, warp, whether there is a register, which, size, sign, lanewise, as in a row of the line table.
const OFFSET_AT: u32 = meta::BITS - 1;
/// Width of a row.
pub const ROW_BITS: u32 = OFFSET_AT + 32 * OFFSET_WORDS as u32;

/// A row in bits: `cache_row_t`. The lowest bits are those of the line table's rows without `done`, the offsets are above them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheRow(pub [u32; ROW_WORDS]);

/// A row at a port.
pub(crate) type RowPort = Wide<ROW_WORDS>;

impl CacheRow {
    /// Value before the first row.
    pub(crate) const NOTHING: Self = Self([0; ROW_WORDS]);

    /// The bits below the offsets.
    #[inline]
    pub(crate) fn meta(&self) -> u64 {
        let word = u64::from(self.0[1]) << u32::BITS | u64::from(self.0[0]);
        word & ((1 << OFFSET_AT) - 1)
    }

    /// Header of the row's result; `done` is not part of a row.
    #[inline]
    pub fn header(&self) -> Header {
        meta::header(self.meta())
    }

    /// Bytes as a power of two.
    #[inline]
    pub fn size(&self) -> u8 {
        meta::size(self.meta())
    }

    /// The loaded bytes are sign-extended.
    #[inline]
    pub fn signed(&self) -> bool {
        meta::signed(self.meta())
    }

    /// The answer has a word for each lane.
    #[inline]
    pub fn lanewise(&self) -> bool {
        meta::lanewise(self.meta())
    }

    /// Place of each lane's first byte in the line.
    #[inline]
    pub fn offset(&self) -> [u8; LANES] {
        const SHIFT: u32 = OFFSET_AT % u32::BITS;
        let word = |n: usize| self.0[n + 1] >> SHIFT | self.0[n + 2] << (u32::BITS - SHIFT);
        unpack_offsets(&std::array::from_fn::<u32, OFFSET_WORDS, _>(word))
    }

    /// The values of the row's lanes, zero outside its mask.
    #[inline]
    pub(crate) fn values(&self, answer: &WarpData) -> WarpData {
        Taken::of(self.meta()).from(answer, || self.offset())
    }
}

impl From<&Row<'_>> for CacheRow {
    #[inline]
    fn from(row: &Row<'_>) -> Self {
        const SHIFT: u32 = OFFSET_AT % u32::BITS;
        let low = meta::pack(row) & ((1 << OFFSET_AT) - 1);
        let mut words = [0; ROW_WORDS];
        (words[0], words[1]) = (low as u32, (low >> u32::BITS) as u32);
        for (n, offset) in pack_offsets(row.offset).into_iter().enumerate() {
            words[n + 1] |= offset << SHIFT;
            words[n + 2] = offset >> (u32::BITS - SHIFT);
        }
        Self(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::extract;
    use crate::testing::Random;

    /// Fields of `cache_row_t` below the offsets, most significant first.
    const FIELDS: [(&str, u32); 7] =
        [("mask", 32), ("warp", 6), ("reg_valid", 1), ("reg_name", 8), ("size", 2), ("is_signed", 1), ("lanewise", 1)];

    #[test]
    fn fields_are_where_the_page_says() {
        let mut random = Random(7);
        for _ in 0..200 {
            let offset = std::array::from_fn(|_| random.below(128) as u8);
            let reg = random.chance(50).then(|| random.next() as u8);
            let header = Header { mask: random.next() as u32, warp: random.below(64) as u8, reg, done: true };
            let (size, signed, lanewise) = (random.below(3) as u8, random.chance(50), random.chance(50));
            let row = Row { header, offset: &offset, size, signed, lanewise };
            let bits = CacheRow::from(&row);
            let values = [
                header.mask.into(),
                header.warp.into(),
                reg.is_some().into(),
                reg.unwrap_or_default().into(),
                size.into(),
                signed.into(),
                u64::from(lanewise),
            ];
            for ((_, low, width), value) in crate::places(&FIELDS).zip(values) {
                assert_eq!(extract(&bits.0, low, width), value);
            }
            for (lane, &byte) in offset.iter().enumerate() {
                assert_eq!(extract(&bits.0, 51 + 7 * lane as u32, 7), byte.into(), "lane {lane}");
            }
            assert_eq!((bits.offset(), bits.size(), bits.lanewise()), (offset, size, lanewise));
            assert_eq!((bits.header().mask, bits.header().reg), (header.mask, reg));
            assert_eq!(bits.0[ROW_WORDS - 1] >> (ROW_BITS % 32), 0);
        }
    }
}
