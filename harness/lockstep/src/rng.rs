//! The random number generator for all random choices: one algorithm, so that a seed gives the same run on any machine.

/// xoshiro256++ (Blackman and Vigna), seeded by splitmix64.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// A generator for this seed and purpose; different purposes give unrelated sequences.
    pub fn new(seed: u64, purpose: &str) -> Self {
        // FNV-1a hash of the purpose.
        let hash =
            purpose.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        let mut x = seed ^ hash;
        let mut next = || {
            x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = x;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Self { state: [next(), next(), next(), next()] }
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number below `bound` (which is not 0).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// True with a probability of `permille` / 1000.
    #[inline]
    pub fn chance(&mut self, permille: u32) -> bool {
        self.below(1000) < u64::from(permille)
    }

    /// A mask of `count` random bits, each set with a probability of `permille` / 1000.
    pub fn mask(&mut self, count: u32, permille: u32) -> u64 {
        (0..count).fold(0, |m, bit| m | u64::from(self.chance(permille)) << bit)
    }

    /// Puts items in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for index in (1..items.len()).rev() {
            items.swap(index, self.below(index as u64 + 1) as usize);
        }
    }

    /// Fills words with random bits.
    pub fn fill(&mut self, words: &mut [u32]) {
        for pair in words.chunks_mut(2) {
            let bits = self.next_u64();
            pair[0] = bits as u32;
            if let Some(high) = pair.get_mut(1) {
                *high = (bits >> 32) as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_sequence_for_ever() {
        let mut rng = Rng::new(1, "test");
        let first: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        let mut again = Rng::new(1, "test");
        assert_eq!(first, (0..3).map(|_| again.next_u64()).collect::<Vec<_>>());
        assert_ne!(first[0], Rng::new(1, "other").next_u64());
        assert_ne!(first[0], Rng::new(2, "test").next_u64());
    }

    #[test]
    fn bounds_and_chances_are_kept() {
        let mut rng = Rng::new(7, "test");
        assert!((0..1000).all(|_| rng.below(3) < 3));
        assert!((0..1000).all(|_| !rng.chance(0) && rng.chance(1000)));
        let ones: u32 = (0..1000).map(|_| rng.mask(32, 250).count_ones()).sum();
        assert!((6000..10000).contains(&ones), "{ones}");
    }
}
