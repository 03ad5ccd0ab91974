//! A row that waits for an answer, in bits, and what its lanes take from the answer.

use crate::memory::access::{extract, masked};
use crate::memory::coalescer::OFFSET_BITS;
use crate::mrf::bits::set_bits;
use crate::ram::LINE_BYTES;
use crate::{LANES, WarpData};

/// A row but its offsets, from the highest bit down: done, mask, warp, whether there is a register, which, size, sign, lanewise.
pub(crate) mod meta {
    use crate::memory::access::Header;
    use crate::memory::coalescer::Row;

    /// Width.
    pub(crate) const BITS: u32 = 52;

    pub(crate) fn pack(row: &Row<'_>) -> u64 {
        let Header { mask, warp, reg, done } = row.header;
        let fields = [
            (u64::from(mask), 32),
            (warp.into(), 6),
            (reg.is_some().into(), 1),
            (reg.unwrap_or_default().into(), 8),
            (row.size.into(), 2),
            (row.signed.into(), 1),
            (row.lanewise.into(), 1),
        ];
        fields.into_iter().fold(done.into(), |word, (value, bits)| word << bits | value)
    }

    /// From the two elements that a row has in its memory, the low one first.
    #[inline]
    pub(crate) fn word([low, high]: [u32; 2]) -> u64 {
        u64::from(low) | u64::from(high) << u32::BITS
    }

    pub(crate) fn header(word: u64) -> Header {
        Header {
            mask: (word >> 19) as u32,
            warp: (word >> 13) as u8 & 0x3f,
            reg: (word >> 12 & 1 == 1).then_some((word >> 4) as u8),
            done: word >> 51 & 1 == 1,
        }
    }

    pub(crate) const fn size(word: u64) -> u8 {
        (word >> 2) as u8 & 3
    }

    pub(crate) const fn signed(word: u64) -> bool {
        word >> 1 & 1 == 1
    }

    pub(crate) const fn lanewise(word: u64) -> bool {
        word & 1 == 1
    }
}

/// Elements of a row's offsets: 32 of 7 bits.
pub(crate) const OFFSET_WORDS: usize = LANES * OFFSET_BITS as usize / 32;
/// Lanes whose offsets fill whole bytes.
const OFFSET_GROUP: usize = 8;

/// A row's offsets as the table has them: lane l in bits 7l+6:7l.
pub(crate) fn pack_offsets(offset: &[u8; LANES]) -> [u32; OFFSET_WORDS] {
    let mut bytes = [0; 4 * OFFSET_WORDS];
    let groups = offset.as_chunks::<OFFSET_GROUP>().0.iter().zip(bytes.chunks_exact_mut(OFFSET_BITS as usize));
    for (&group, packed) in groups {
        // Neighbours move together: pairs, then fours, then all eight.
        let eight = u64::from_le_bytes(group);
        let pairs = eight & 0x007f_007f_007f_007f | (eight & 0x7f00_7f00_7f00_7f00) >> 1;
        let fours = pairs & 0x0000_3fff_0000_3fff | (pairs & 0x3fff_0000_3fff_0000) >> 2;
        let all = fours & 0x0fff_ffff | (fours & 0x0fff_ffff_0000_0000) >> 4;
        packed.copy_from_slice(&all.to_le_bytes()[..OFFSET_BITS as usize]);
    }
    std::array::from_fn(|word| u32::from_le_bytes(bytes.as_chunks().0[word]))
}

/// The inverse of [`pack_offsets`].
pub(crate) fn unpack_offsets(words: &[u32]) -> [u8; LANES] {
    let mut bytes = [0; 4 * OFFSET_WORDS];
    for (four, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *four = word.to_le_bytes();
    }
    let mut offset = [0; LANES];
    let groups = offset.as_chunks_mut::<OFFSET_GROUP>().0.iter_mut().zip(bytes.chunks_exact(OFFSET_BITS as usize));
    for (group, packed) in groups {
        let all = packed.iter().rev().fold(0, |all, &byte| all << u8::BITS | u64::from(byte));
        let fours = all & 0x0fff_ffff | (all & 0x00ff_ffff_f000_0000) << 4;
        let pairs = fours & 0x0000_3fff_0000_3fff | (fours & 0x0fff_c000_0fff_c000) << 2;
        let eight = pairs & 0x007f_007f_007f_007f | (pairs & 0x3f80_3f80_3f80_3f80) << 1;
        *group = eight.to_le_bytes();
    }
    offset
}

/// How the lanes of a row take their values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    mask: u32,
    size: u8,
    signed: bool,
    lanewise: bool,
}

impl Taken {
    /// Those of a row of these bits, [`meta`].
    #[inline]
    pub(crate) fn of(word: u64) -> Self {
        Self {
            mask: meta::header(word).mask,
            size: meta::size(word),
            signed: meta::signed(word),
            lanewise: meta::lanewise(word),
        }
    }

    /// The values, zero outside the mask: words of a lanewise answer, otherwise the bytes from each lane's offset on.
    #[inline]
    pub(crate) fn from(self, answer: &WarpData, offset: impl FnOnce() -> [u8; LANES]) -> WarpData {
        if self.lanewise {
            return masked(answer, self.mask);
        }
        let offset = offset();
        let mut data = WarpData::ZERO;
        for lane in set_bits(self.mask) {
            let byte = offset[lane];
            data.0[lane] = extract(answer.0[usize::from(byte >> 2)], byte.into(), self.size, self.signed);
        }
        data
    }
}

/// The bytes that lanes write into 128 bytes: which they are, and their values, 0 elsewhere; of several lanes the highest one's. `first`: place of a lane's first
/// byte.
#[inline]
pub(crate) fn line_of(mask: u32, size: u8, first: impl Fn(usize) -> usize, data: &WarpData) -> (u128, WarpData) {
    let (mut set, mut line) = (0, WarpData::ZERO);
    for lane in set_bits(mask) {
        let (first, value) = (first(lane), u64::from(data.0[lane]));
        for byte in 0..1 << size {
            let place = first + byte;
            if place < LINE_BYTES {
                set |= 1 << place;
                let (word, shift) = (&mut line.0[place / 4], place % 4 * 8);
                *word = *word & !(0xff << shift) | ((value >> (8 * byte)) as u32 & 0xff) << shift;
            }
        }
    }
    (set, line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn offsets_are_packed_lane_by_lane() {
        let mut random = Random(5);
        for _ in 0..100 {
            let offset = std::array::from_fn(|_| random.below(128) as u8);
            let packed = pack_offsets(&offset);
            for (lane, &byte) in offset.iter().enumerate() {
                let bit = |n: usize| packed[(7 * lane + n) / 32] >> ((7 * lane + n) % 32) & 1;
                assert_eq!((0..7).fold(0, |value, n| value | bit(n) << n), byte.into());
            }
            assert_eq!(unpack_offsets(&packed), offset);
        }
    }
}
