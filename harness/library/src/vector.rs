//! The signals of one direction as one vector of bits.

use gpurf_blocks::{Declaration, Field, Role};

/// An element: where it is in the record, and where in the vector.
#[derive(Clone, Copy)]
struct Place {
    offset: usize,
    bits: usize,
    low: usize,
}

/// All elements of the signals of one role, in the order of the declaration.
#[derive(Clone)]
pub struct Vector {
    places: Vec<Place>,
    bits: usize,
}

impl Vector {
    /// The vector of a role.
    pub fn of(declaration: &Declaration, role: Role) -> Self {
        let (mut places, mut low) = (Vec::new(), 0);
        for signal in declaration.signals.iter().filter(|signal| signal.role == role) {
            let Field { offset, elem_bytes, bits, count, .. } = signal.field;
            for element in 0..count {
                places.push(Place { offset: offset + element * elem_bytes, bits: bits as usize, low });
                low += bits as usize;
            }
        }
        Self { places, bits: low }
    }

    /// Its width in bits.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Its width in words of 32 bits.
    pub fn words(&self) -> usize {
        self.bits.div_ceil(32)
    }

    /// Copies words of the vector, from word `first` on, into the record: of each element the bits that lie in these words.
    ///
    /// Bits above the width are ignored.
    pub fn put(&self, first: usize, words: &[u32], record: &mut [u8]) {
        self.each(first, words.len(), |place, bit, low, width| {
            let value = take(words, bit, width);
            insert(&mut record[place.offset..], low, width, value);
        });
    }

    /// Reads words of the vector, from word `first` on.
    pub fn get(&self, first: usize, words: &mut [u32], record: &[u8]) {
        words.fill(0);
        self.each(first, words.len(), |place, bit, low, width| {
            let value = extract(&record[place.offset..], low, width);
            give(words, bit, value);
        });
    }

    /// Splits the elements in these words into pieces of at most 32 bits, and calls `piece` with the element, the piece's bit in the words, its bit
    /// in the element, and its width.
    fn each(&self, first: usize, words: usize, mut piece: impl FnMut(&Place, usize, usize, usize)) {
        let (start, end) = (first * 32, (first + words) * 32);
        let from = self.places.partition_point(|place| place.low + place.bits <= start);
        for place in &self.places[from..] {
            if place.low >= end {
                break;
            }
            let mut low = start.saturating_sub(place.low);
            let stop = place.bits.min(end - place.low);
            while low < stop {
                let width = (stop - low).min(32);
                piece(place, place.low + low - start, low, width);
                low += width;
            }
        }
    }
}

fn mask(width: usize) -> u64 {
    u64::MAX >> (64 - width)
}

/// `width` bits (1 to 32) of an array of words.
fn take(words: &[u32], bit: usize, width: usize) -> u32 {
    let low = u64::from(words[bit / 32]);
    let high = words.get(bit / 32 + 1).map_or(0, |&word| u64::from(word));
    ((high << 32 | low) >> (bit % 32) & mask(width)) as u32
}

/// Sets bits, which have to be 0 before.
fn give(words: &mut [u32], bit: usize, value: u32) {
    let value = u64::from(value) << (bit % 32);
    words[bit / 32] |= value as u32;
    if let Some(word) = words.get_mut(bit / 32 + 1) {
        *word |= (value >> 32) as u32;
    }
}

/// `width` bits (1 to 32) of an element in bytes, the lowest first.
fn extract(bytes: &[u8], low: usize, width: usize) -> u32 {
    let count = (low % 8 + width).div_ceil(8);
    let bytes = &bytes[low / 8..low / 8 + count];
    let word = bytes.iter().rev().fold(0, |word: u64, &byte| word << 8 | u64::from(byte));
    (word >> (low % 8) & mask(width)) as u32
}

fn insert(bytes: &mut [u8], low: usize, width: usize, value: u32) {
    let count = (low % 8 + width).div_ceil(8);
    let bytes = &mut bytes[low / 8..low / 8 + count];
    let word = bytes.iter().rev().fold(0, |word: u64, &byte| word << 8 | u64::from(byte));
    let shift = low % 8;
    let word = word & !(mask(width) << shift) | (u64::from(value) & mask(width)) << shift;
    let whole = word.to_le_bytes();
    bytes.copy_from_slice(&whole[..count]);
}
