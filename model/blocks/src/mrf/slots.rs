//! Sets of operand slots.

use crate::OPERANDS;
use crate::mrf::MAX_COLLECTORS;
use crate::mrf::bits::set_bits;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

const PLANE: usize = MAX_COLLECTORS;

/// A set of operand slots.
///
/// In the ports, slot s of collector c is bit `3c + s`. Here it is bit `16s + c`: three planes with one bit for each
/// collector, so that an operation on all slots of a collector is an operation on whole planes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slots(u64);

impl Slots {
    pub(crate) const NONE: Self = Self(0);

    /// Converts from the bit order of the ports.
    #[inline]
    pub(crate) fn from_port(mask: u64) -> Self {
        Self((0..OPERANDS).fold(0, |slots, s| slots | u64::from(gather(mask >> s)) << (PLANE * s)))
    }

    /// Converts to the bit order of the ports.
    #[inline]
    pub(crate) fn to_port(self) -> u64 {
        (0..OPERANDS).fold(0, |mask, s| mask | spread(self.plane(s)) << s)
    }

    /// The set of these slots of one collector: bit s for slot s.
    #[inline]
    pub(crate) fn of_collector(collector: usize, slots: u8) -> Self {
        let slots = u64::from(slots);
        Self((slots & 1 | (slots & 2) << (PLANE - 1) | (slots & 4) << (2 * PLANE - 2)) << collector)
    }

    /// All slots of a set of collectors.
    #[inline]
    pub(crate) fn all_of(collectors: u16) -> Self {
        Self(u64::from(collectors) * 0x1_0001_0001)
    }

    /// The collectors whose slot s is in the set.
    #[inline]
    pub(crate) fn plane(self, s: usize) -> u16 {
        (self.0 >> (PLANE * s)) as u16
    }

    /// The collectors with at least one slot in the set.
    #[inline]
    pub(crate) fn collectors(self) -> u16 {
        self.plane(0) | self.plane(1) | self.plane(2)
    }

    /// The slots of one collector that are in the set: bit s for slot s.
    #[inline]
    pub(crate) fn bits_of(self, collector: usize) -> u8 {
        let one = self.0 >> collector;
        (one & 1 | one >> (PLANE - 1) & 2 | one >> (2 * PLANE - 2) & 4) as u8
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Iterates over the slots; slots of one collector come in ascending order.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = Slot> {
        set_bits(self.0).map(Slot)
    }

    /// One slot of the set, which must not be empty. If all slots belong to one collector, it is the lowest.
    #[inline]
    pub(crate) fn first(self) -> Slot {
        debug_assert!(!self.is_empty());
        Slot(self.0.trailing_zeros() as usize % u64::BITS as usize)
    }

    /// One slot of the set that belongs to a collector in `collectors`. There must be one.
    #[inline]
    pub(crate) fn first_of(self, collectors: u16) -> Slot {
        (self & Self::all_of(collectors)).first()
    }

    /// The set if `condition` holds, and the empty set otherwise.
    #[inline]
    pub(crate) fn when(self, condition: bool) -> Self {
        Self(self.0 & u64::from(condition).wrapping_neg())
    }
}

/// A member of [`Slots`].
#[derive(Clone, Copy)]
pub(crate) struct Slot(usize);

impl Slot {
    #[inline]
    pub(crate) fn collector(self) -> usize {
        self.0 % PLANE
    }

    /// The index of the slot in the order of the ports.
    #[inline]
    pub(crate) fn index(self) -> usize {
        OPERANDS * self.collector() + self.0 / PLANE
    }
}

impl From<Slot> for Slots {
    #[inline]
    fn from(slot: Slot) -> Self {
        Self(1 << slot.0)
    }
}

impl BitAnd for Slots {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Slots {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Slots {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Set difference.
impl Sub for Slots {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Every third bit of a word, one for each collector.
const EVERY_THIRD: u64 = 0x2492_4924_9249;

/// Moves bit i to bit 3i: halves, then their halves move apart.
#[inline]
fn spread(plane: u16) -> u64 {
    let x = u64::from(plane);
    let x = (x | x << 16) & 0x0000_ff00_00ff;
    let x = (x | x << 8) & 0x00f0_0f00_f00f;
    let x = (x | x << 4) & 0x0c30_c30c_30c3;
    (x | x << 2) & EVERY_THIRD
}

/// Moves bit 3i to bit i.
#[inline]
fn gather(mask: u64) -> u16 {
    let x = mask & EVERY_THIRD;
    let x = (x | x >> 2) & 0x0c30_c30c_30c3;
    let x = (x | x >> 4) & 0x00f0_0f00_f00f;
    let x = (x | x >> 8) & 0x0000_ff00_00ff;
    (x | x >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mrf::MAX_SLOTS;

    #[test]
    fn ports_and_planes_convert() {
        for index in 0..MAX_SLOTS {
            let slots = Slots::from_port(1 << index);
            assert_eq!(slots.to_port(), 1 << index);
            assert_eq!(slots, Slots::of_collector(index / OPERANDS, 1 << (index % OPERANDS)));
            assert_eq!(slots.bits_of(index / OPERANDS), 1 << (index % OPERANDS));
            assert_eq!(slots.collectors(), 1 << (index / OPERANDS));
            assert_eq!(slots.iter().map(Slot::index).collect::<Vec<_>>(), [index]);
        }
        let all = (1 << MAX_SLOTS) - 1;
        assert_eq!(Slots::from_port(all), Slots::all_of(u16::MAX));
        assert_eq!(Slots::from_port(all).to_port(), all);
    }

    #[test]
    fn the_first_slot_of_a_collector() {
        let slots = Slots::from_port(0b110_100_000);
        assert_eq!(slots.first_of(1 << 1).index(), 5);
        assert_eq!(slots.first_of(1 << 2).index(), 7);
        assert_eq!((slots - slots.first_of(1 << 2).into()).to_port(), 0b100_100_000);
    }
}
