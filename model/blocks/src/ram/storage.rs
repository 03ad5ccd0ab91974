//! The words of a RAM and the word it read last, shared by the cells and the banks.

use crate::{LANES, LaneMask, WarpData};

/// Bytes of a lane.
const LANE_BYTES: usize = size_of::<u32>();
/// Bytes of a word.
pub(crate) const LINE_BYTES: usize = LANES * LANE_BYTES;

/// All ones in the bytes of a word that are selected by the lowest four bits of `bytes`.
#[inline]
pub(crate) fn select_bytes(bytes: u32) -> u32 {
    // Each of the four bits becomes the lowest one of its byte, and fills it.
    ((bytes & 0xf).wrapping_mul(0x0020_4081) & 0x0101_0101) * 0xff
}

/// The words of a RAM with the register at its output.
///
/// A read copies nothing: the output stays in place until that word is written. Most words are read long before they
/// are overwritten, so that most copies never happen.
///
/// An address from the depth on does not occur while reset is released. Until then a read of one gives zero, and a write to one is ignored.
#[derive(Clone)]
pub(crate) struct Storage {
    words: Box<[WarpData]>,
    rdata_q: [WarpData; 1],
    /// The output is still this word of the RAM rather than `rdata_q`.
    in_place: Option<u16>,
}

impl Storage {
    pub(crate) fn new(depth: usize) -> Self {
        Self { words: vec![WarpData::ZERO; depth].into(), rdata_q: [WarpData::ZERO], in_place: None }
    }

    /// The word read last.
    #[inline]
    pub(crate) fn rdata(&self) -> &WarpData {
        match self.in_place {
            Some(addr) => self.words.get(usize::from(addr)).unwrap_or(&WarpData::ZERO),
            None => &self.rdata_q[0],
        }
    }

    #[inline]
    pub(crate) fn read(&mut self, addr: u16) {
        self.in_place = Some(addr);
    }

    /// Writes the lanes of `mask`; the output keeps its value.
    #[inline]
    pub(crate) fn write(&mut self, addr: u16, data: &WarpData, mask: LaneMask) {
        if self.in_place == Some(addr) {
            self.take_out();
        }
        let Some(word) = self.words.get_mut(usize::from(addr)) else { return };
        if mask == LaneMask::ALL {
            *word = *data;
        } else {
            word.merge(data, mask);
        }
    }

    /// Writes the bytes of `bytes`, bit i for bits 8i+7:8i of a word; the output keeps its value.
    pub(crate) fn write_bytes(&mut self, addr: u16, data: &WarpData, bytes: u128) {
        if self.in_place == Some(addr) {
            self.take_out();
        }
        let Some(word) = self.words.get_mut(usize::from(addr)) else { return };
        for (lane, (old, new)) in word.0.iter_mut().zip(data.0).enumerate() {
            let select = select_bytes((bytes >> (LANE_BYTES * lane)) as u32);
            *old = *old & !select | new & select;
        }
    }

    /// The words and the word read last.
    pub(crate) fn contents(&mut self) -> (&mut [WarpData], &mut [WarpData]) {
        self.take_out();
        (&mut self.words, &mut self.rdata_q)
    }

    fn take_out(&mut self) {
        self.rdata_q[0] = *self.rdata();
        self.in_place = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> Storage {
        let mut storage = Storage::new(4);
        let (words, rdata) = storage.contents();
        for (word, value) in words.iter_mut().zip(10..) {
            *word = WarpData([value; 32]);
        }
        rdata[0] = WarpData([99; 32]);
        storage
    }

    #[test]
    fn the_output_keeps_what_was_read() {
        let mut storage = filled();
        assert_eq!(storage.rdata().0, [99; 32], "filled like a memory of one word");
        storage.read(2);
        for value in [1, 2] {
            storage.write(2, &WarpData([value; 32]), LaneMask::ALL);
            storage.write(3, &WarpData([value; 32]), LaneMask::ALL);
            assert_eq!(storage.rdata().0, [12; 32]);
        }
        storage.read(2);
        assert_eq!(storage.rdata().0, [2; 32]);
        let (words, rdata) = storage.contents();
        assert_eq!((words[3].0, rdata[0].0), ([2; 32], [2; 32]));
        words[2] = WarpData([5; 32]);
        assert_eq!(storage.rdata().0, [2; 32], "the output is a register of its own");
    }

    #[test]
    fn an_address_that_does_not_exist_is_left_alone() {
        let mut storage = filled();
        storage.read(3);
        storage.write(4, &WarpData([1; 32]), LaneMask::ALL);
        storage.write_bytes(7, &WarpData([1; 32]), u128::MAX);
        assert_eq!(storage.rdata().0, [13; 32]);
        storage.read(4);
        assert_eq!(storage.rdata().0, [0; 32]);
        assert_eq!(storage.contents().0.iter().map(|word| word.0[0]).collect::<Vec<_>>(), [10, 11, 12, 13]);
    }

    #[test]
    fn lanes_outside_the_mask_keep_their_value() {
        for mask in [0, 1, 0x8000_0000, 0x1234_5678, 0xffff_0000, u32::MAX] {
            let mut storage = filled();
            storage.write(0, &WarpData([7; 32]), LaneMask(mask));
            let expected = std::array::from_fn(|lane| if mask >> lane & 1 == 1 { 7 } else { 10 });
            assert_eq!(storage.contents().0[0].0, expected);
        }
    }

    #[test]
    fn bytes_outside_the_enable_keep_their_value() {
        for bytes in [0, 1, 1 << 127, 0x8421, 0xf0 << 60, u128::MAX / 3, u128::MAX] {
            let mut storage = filled();
            storage.read(1);
            storage.write_bytes(1, &WarpData([0x1234_5678; 32]), bytes);
            assert_eq!(storage.rdata().0, [11; 32], "the output is a register of its own");
            let (words, _) = storage.contents();
            for place in 0..LINE_BYTES {
                let [old, new] = [11u32, 0x1234_5678].map(|word| word.to_le_bytes()[place % 4]);
                let expected = if bytes >> place & 1 == 1 { new } else { old };
                assert_eq!(words[1].0[place / 4].to_le_bytes()[place % 4], expected, "byte {place} of {bytes:x}");
            }
            assert_eq!(words[2].0, [12; 32]);
        }
    }
}
