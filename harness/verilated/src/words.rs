//! The words of a memory of the RTL.

/// The words of a memory in order, as Verilator stores them: each in one byte, in two bytes, or in as many 32-bit elements as its bits need, lowest
/// first. Zero above a word's width.
#[derive(Debug)]
pub enum Words<'a> {
    /// Words of at most 8 bits.
    Bytes(&'a mut [u8]),
    /// Words of 9 to 16 bits.
    Halves(&'a mut [u16]),
    /// All others.
    Whole(&'a mut [u32]),
}

impl Words<'_> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(words) => words.len(),
            Self::Halves(words) => words.len(),
            Self::Whole(words) => words.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All elements, extended to 32 bits each.
    pub fn to_vec(&self) -> Vec<u32> {
        match self {
            Self::Bytes(words) => words.iter().map(|&word| word.into()).collect(),
            Self::Halves(words) => words.iter().map(|&word| word.into()).collect(),
            Self::Whole(words) => words.to_vec(),
        }
    }

    /// Whether the elements have these values.
    pub fn is_equal(&self, elements: &[u32]) -> bool {
        match self {
            Self::Bytes(words) => words.iter().map(|&word| u32::from(word)).eq(elements.iter().copied()),
            Self::Halves(words) => words.iter().map(|&word| u32::from(word)).eq(elements.iter().copied()),
            Self::Whole(words) => **words == *elements,
        }
    }

    /// Replaces all elements.
    ///
    /// # Panics
    /// When the number of elements is different.
    pub fn copy_from(&mut self, elements: &[u32]) {
        assert_eq!(self.len(), elements.len(), "equal sizes");
        match self {
            Self::Bytes(words) => words.iter_mut().zip(elements).for_each(|(word, &element)| *word = element as u8),
            Self::Halves(words) => words.iter_mut().zip(elements).for_each(|(word, &element)| *word = element as u16),
            Self::Whole(words) => words.copy_from_slice(elements),
        }
    }

    /// Sets word `word`, which has as many elements as `elements`. A word that does not exist is skipped.
    pub fn set_word(&mut self, word: usize, elements: &[u32]) {
        match self {
            Self::Bytes(words) => words.iter_mut().skip(word).zip(elements).for_each(|(to, &from)| *to = from as u8),
            Self::Halves(words) => words.iter_mut().skip(word).zip(elements).for_each(|(to, &from)| *to = from as u16),
            Self::Whole(words) => {
                if let Some(to) = words.chunks_exact_mut(elements.len()).nth(word) {
                    to.copy_from_slice(elements);
                }
            }
        }
    }

    /// Inverts a bit of an element.
    ///
    /// # Panics
    /// When this bit does not exist.
    pub fn flip(&mut self, element: usize, bit: u32) {
        match self {
            Self::Bytes(words) => words[element] ^= 1 << bit,
            Self::Halves(words) => words[element] ^= 1 << bit,
            Self::Whole(words) => words[element] ^= 1 << bit,
        }
    }
}
