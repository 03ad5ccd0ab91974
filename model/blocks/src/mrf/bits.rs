//! Operations on bit masks.

use crate::mrf::MAX_COLLECTORS;

/// The set bits of a mask, lowest first.
#[inline]
pub fn set_bits(mask: impl Into<u64>) -> SetBits {
    SetBits(mask.into())
}

/// The iterator that [`set_bits`] returns.
#[derive(Clone, Copy)]
pub struct SetBits(u64);

impl Iterator for SetBits {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// The first set bit from `from` upwards, wrapping around to the lowest one.
#[inline]
pub fn first_from(set: u64, from: u32) -> Option<usize> {
    let upper = set & u64::MAX << from;
    let candidates = if upper == 0 { set } else { upper };
    (candidates != 0).then(|| candidates.trailing_zeros() as usize)
}

/// Whether bit `bit` of a mask is set.
#[inline]
pub fn is_set(mask: impl Into<u64>, bit: usize) -> bool {
    mask.into() >> bit & 1 == 1
}

/// Number of ports in a mask. There are at most two ports, so this is cheaper than a general bit count.
#[inline]
pub fn count_ports(mask: u8) -> u32 {
    u32::from(mask & 1) + u32::from(mask >> 1)
}

/// The collectors whose byte equals `value`; compares eight bytes at a time.
#[inline]
pub(crate) fn collectors_with(bytes: &[u8; MAX_COLLECTORS], value: u8) -> u16 {
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    let equal = |eight: &[u8; 8]| {
        let other = u64::from_le_bytes(*eight) ^ u64::from_ne_bytes([value; 8]);
        // The highest bit of each byte tells whether any of its bits differs. The product gathers these bits of all bytes.
        let differs = ((other & LOW) + LOW) | other;
        ((!differs & !LOW) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    let (halves, _) = bytes.as_chunks();
    (equal(&halves[0]) | equal(&halves[1]) << 8) as u16
}

/// The members of a set that have no older member in it. With a strict order that is exactly one, unless the set is empty.
#[inline]
pub(crate) fn oldest(set: u16, older: &[u16; MAX_COLLECTORS]) -> u16 {
    // Sets are small, so their members are checked one by one.
    set_bits(set).fold(0, |found, c| found | u16::from(older[c] & set == 0) << c)
}

/// The lowest set bit.
#[inline]
pub(crate) fn lowest(set: u16) -> u16 {
    set & set.wrapping_neg()
}

/// The elements whose bit is set in the mask, and zero for the others.
pub fn only<T: Copy + Default, const N: usize>(values: &[T; N], mask: impl Into<u64>) -> [T; N] {
    let mut kept = [T::default(); N];
    for i in set_bits(mask) {
        kept[i] = values[i];
    }
    kept
}

/// Packs values into the fields of an event word, the first one the most significant.
#[inline]
pub(crate) fn pack<const N: usize>(layout: &[(&str, u32)], values: [u32; N]) -> u64 {
    debug_assert_eq!(layout.len(), N);
    layout.iter().zip(values).fold(0, |word, (&(_, bits), value)| word << bits | u64::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_lowest_first() {
        assert_eq!(set_bits(0b1010_0001u8).collect::<Vec<_>>(), [0, 5, 7]);
        assert_eq!(set_bits(0u64).next(), None);
        assert_eq!(set_bits(1u64 << 63).collect::<Vec<_>>(), [63]);
    }

    #[test]
    fn the_first_bit_from_a_place_on() {
        assert_eq!([0, 1, 2, 5, 6, 63].map(|from| first_from(0b10_0010, from)), [1, 1, 5, 5, 1, 1].map(Some));
        assert_eq!(first_from(0, 3), None);
    }

    #[test]
    fn collectors_are_asked_all_at_once() {
        for c in 0..MAX_COLLECTORS {
            for (value, other) in [(0, 1), (1, 0), (5, 0x85), (0x80, 0), (0xff, 0x7f), (0x40, 0xbf)] {
                let mut bytes = [other; MAX_COLLECTORS];
                bytes[c] = value;
                assert_eq!(collectors_with(&bytes, value), 1 << c);
                assert_eq!(collectors_with(&bytes, other), !(1 << c));
            }
        }
    }

    #[test]
    fn the_oldest_of_a_set() {
        let mut older = [0; MAX_COLLECTORS];
        older[1] = 0b1000;
        older[2] = 0b1010;
        assert_eq!(oldest(0b1110, &older), 0b1000);
        assert_eq!(oldest(0b0110, &older), 0b0010);
        assert_eq!(oldest(0, &older), 0);
        // Two without an elder, and a circle.
        assert_eq!(oldest(0b1001, &older), 0b1001);
        older[3] = 0b0010;
        assert_eq!(oldest(0b1010, &older), 0);
    }

    #[test]
    fn the_lowest_of_a_set() {
        assert_eq!((lowest(0), lowest(0b1100), lowest(0x8000)), (0, 0b0100, 0x8000));
    }

    #[test]
    fn the_first_field_is_the_most_significant() {
        assert_eq!(pack(&[("a", 2), ("b", 3)], [0b10, 0b001]), 0b10_001);
    }

    #[test]
    fn only_the_elements_of_the_mask_are_kept() {
        assert_eq!(only(&[5u8, 6, 7], 0b101u8), [5, 0, 7]);
    }
}
