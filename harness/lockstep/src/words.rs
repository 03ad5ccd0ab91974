//! Counts of words that come again and again.

/// How often words came: those of an event word, or of any other set of bits.
///
/// Most words come again and again. So what is counted is how often a word came, and it is taken apart only when another one needs its place.
pub struct WordCounts<const PLACES: usize> {
    seen: Box<[Seen; PLACES]>,
}

/// A word, and how often it came since it got its place.
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
    /// The place of a word: the highest bits of a product with the golden ratio, on which all of its bits have an influence.
    #[inline]
    fn place(word: u64) -> usize {
        const { assert!(PLACES.is_power_of_two() && PLACES > 1) };
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES.ilog2())) as usize
    }

    /// Counts a word that came so many times. Gives the word that loses its place, and how often it came, to be taken apart; 0 is not counted.
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

    /// The words that have not been taken apart, and how often they came.
    pub fn waiting(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.seen.iter().filter(|seen| seen.times != 0).map(|seen| (seen.word, seen.times))
    }
}
