//! A RAM of narrow words inside a block: what a RAM cell with other `Parts` and `PartW` holds.

use crate::Memory;

/// The words of a RAM of 17 to 64 bits a word, with the register at its output: the timing of the RAM cells, and the layout that
/// [`Memory`] asks for.
///
/// A block that reads and writes at one edge reads first, so that one word returns its old value. An address from the depth on
/// does not occur while reset is released; until then a write to one is ignored, and a read of one gives zero.
#[derive(Clone)]
pub struct Words {
    bits: u32,
    /// Elements of a word: one, or two with the low one first.
    stride: usize,
    mem_q: Box<[u32]>,
    rdata_q: [u32; 2],
}

impl Words {
    /// `depth` words of zeros.
    ///
    /// # Panics
    /// When a word does not have 17 to 64 bits.
    pub fn new(depth: usize, bits: u32) -> Self {
        assert!((17..=64).contains(&bits), "a word of {bits} bits");
        let stride = bits.div_ceil(u32::BITS) as usize;
        Self { bits, stride, mem_q: vec![0; depth * stride].into(), rdata_q: [0; 2] }
    }

    /// The word read last.
    #[inline]
    pub fn rdata(&self) -> u64 {
        u64::from(self.rdata_q[1]) << u32::BITS | u64::from(self.rdata_q[0])
    }

    /// Clock edge with a read.
    #[inline]
    pub fn read(&mut self, addr: usize) {
        self.rdata_q = self.place(addr).map_or([0; 2], |word| match *word {
            [low, high] => [low, high],
            [only] => [only, 0],
            _ => [0; 2],
        });
    }

    /// Clock edge with a write of the bits of `enable`; the output keeps its value.
    #[inline]
    pub fn write(&mut self, addr: usize, data: u64, enable: u64) {
        let (enable, stride) = (enable & u64::MAX >> (u64::BITS - self.bits), self.stride);
        if let Some(word) = self.place(addr) {
            let merged = split(join(word) & !enable | data & enable);
            word.copy_from_slice(&merged[..stride]);
        }
    }

    /// The words and the word read last, of the RAM cell at the path `cell` inside the module (empty: the module is the cell).
    pub fn memories(&mut self, cell: &str, block: &'static str) -> [Memory<'_>; 2] {
        let bits = self.bits;
        let path = |name: &str| if cell.is_empty() { name.to_owned() } else { format!("{cell}.{name}") };
        [
            Memory { path: path("mem_q"), block, words: &mut self.mem_q, bits },
            Memory { path: path("rdata_q"), block, words: &mut self.rdata_q[..self.stride], bits },
        ]
    }

    #[inline]
    fn place(&mut self, addr: usize) -> Option<&mut [u32]> {
        self.mem_q.get_mut(addr * self.stride..(addr + 1) * self.stride)
    }
}

#[inline]
fn join(word: &[u32]) -> u64 {
    word.iter().rev().fold(0, |value, &element| value << u32::BITS | u64::from(element))
}

#[inline]
fn split(word: u64) -> [u32; 2] {
    [word as u32, (word >> u32::BITS) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_is_a_register_and_a_write_keeps_the_bits_outside_its_enable() {
        for (bits, stride) in [(17, 1), (32, 1), (33, 2), (64, 2)] {
            let all = u64::MAX >> (64 - bits);
            let mut words = Words::new(5, bits);
            words.read(4);
            words.write(4, u64::MAX, u64::MAX);
            assert_eq!(words.rdata(), 0, "the read came first");
            words.read(4);
            words.write(4, 0, 0x1_0000_00f0);
            words.write(3, 0, u64::MAX);
            assert_eq!(words.rdata(), all);
            words.read(4);
            assert_eq!(words.rdata(), all & !0x1_0000_00f0);

            let [mem, rdata] = words.memories("u_ram", "block");
            assert_eq!((mem.path.as_str(), mem.bits, mem.len(), mem.stride()), ("u_ram.mem_q", bits, 5, stride));
            assert_eq!((rdata.path.as_str(), rdata.len(), rdata.stride()), ("u_ram.rdata_q", 1, stride));
            assert_eq!(mem.words[4 * stride..], rdata.words[..]);
        }
    }

    #[test]
    fn an_address_that_does_not_exist_is_left_alone() {
        let mut words = Words::new(5, 20);
        words.write(4, 7, u64::MAX);
        words.write(5, 9, u64::MAX);
        words.read(4);
        assert_eq!(words.rdata(), 7);
        words.read(7);
        assert_eq!(words.rdata(), 0);
    }

    #[test]
    fn memories_are_filled_within_the_width_of_a_word() {
        let mut words = Words::new(3, 33);
        for mut memory in words.memories("", "block") {
            memory.fill_words(|word| word.fill(u32::MAX));
        }
        assert_eq!(words.rdata(), u64::MAX >> 31);
        words.read(2);
        assert_eq!(words.rdata(), u64::MAX >> 31);
    }
}
