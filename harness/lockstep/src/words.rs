//! Counts of words that occur repeatedly.

/// How often each word occurred: event words, or any other sets of bits.
///
/// Most words occur repeatedly. So whole words are counted, and a word is split into its bits only when another word needs its place.
pub struct WordCounts<const PLACES: usize> {
    seen: Box<[Seen; PLACES]>,
}

/// A word, and how often it occurred since it got its place.
#[derive(Clone, Copy, Default)]
struct Seen {
    word: u64,
    times: u64,
}

impl<const PLACES: usize> Default for WordCounts<PLACES> {
    fn default() -> Self {
        Self { seen: Box::new([Seen::default(); PLACES]) }
    }
}

impl<const PLACES: usize> WordCounts<PLACES> {
    /// The place of a word: the highest bits of its product with the golden ratio, which depend on all bits of the word.
    #[inline]
    fn place(word: u64) -> usize {
        const { assert!(PLACES.is_power_of_two() && PLACES > 1) };
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES.ilog2())) as usize
    }

    /// Counts a word that occurred this many times; 0 is not counted. Returns the word that loses its place, with its count, to be split.
    #[inline]
    #[must_use = "a word that is lost is not counted"]
    pub fn add(&mut self, word: u64, times: u64) -> Option<(u64, u64)> {
        if word == 0 {
            return None;
        }
        let seen = &mut self.seen[Self::place(word)];
        if seen.word == word {
            seen.times += times;
            return None;
        }
        let Seen { word: old, times: came } = std::mem::replace(seen, Seen { word, times });
        (came != 0).then_some((old, came))
    }

    /// The words that have not been split, and how often they occurred.
    pub fn waiting(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.seen.iter().filter(|seen| seen.times != 0).map(|seen| (seen.word, seen.times))
    }
}
