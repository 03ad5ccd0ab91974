//! The section of the configuration that is about the data cache, its rules and presets; see `docs/cache.md`.

use crate::config::{Config, MRF_1R1W, MemoryConfig, Preset, Replacement, Rule, SmConfig, section};

/// Lines of 128 bytes in a kilobyte.
const LINES_PER_KILOBYTE: usize = 1024 / 128;

section! {
    /// The data cache.
    pub struct CacheConfig, CacheLayer in cache {
        /// Shape: size; 0: there is no cache. The other members have no effect without it.
        pub kilobytes: usize = 0,
            "0, or a power of two from 1 to 512, or three times one (kilobytes)"
            if |n| n == 0 || n <= 512 && (n.is_power_of_two() || n.is_multiple_of(3) && (n / 3).is_power_of_two());
        /// Shape: lines of a set.
        pub ways: usize = 4, "1, 2, 3, 4 or 8" if |n| matches!(n, 1 | 2 | 3 | 4 | 8);
        /// Shape: requests that wait for an answer, at most.
        pub misses: usize = 64, "a power of two from 4 to 128" if |n| n.is_power_of_two() && (4..=128).contains(&n);
        /// Policy: which line of a set makes room.
        pub replacement: Replacement = Replacement::Lru;
        /// Policy: a store of all bytes of a line that is not there takes a place for it.
        pub full_stores: bool = false;
        /// Policy: loads whose hints say so pass the cache by.
        pub hints: bool = false;
    }
}

impl CacheConfig {
    /// Lines of the cache; 0: there is none.
    pub fn lines(&self) -> usize {
        self.kilobytes * LINES_PER_KILOBYTE
    }
}

/// What the section may be in view of others.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        key: "cache.ways",
        allowed: "at most 4 * cache.kilobytes: a cache has two sets at least",
        holds: |c| c.cache.kilobytes == 0 || c.cache.lines() >= 2 * c.cache.ways,
    },
    Rule {
        key: "cache.ways",
        allowed: "3 where cache.kilobytes is three times a power of two, and nowhere else: the number of sets is a power of two",
        holds: |c| c.cache.kilobytes == 0 || c.cache.kilobytes.is_multiple_of(3) == (c.cache.ways == 3),
    },
];

const CACHED: Config = Config {
    cache: CacheConfig { kilobytes: 64, ..CacheConfig::DEFAULT },
    memory: MemoryConfig { granule: 16, ..MRF_1R1W.memory },
    ..MRF_1R1W
};

/// Machines with a data cache.
pub(crate) const PRESETS: &[Preset] = &[
    Preset {
        name: "cached",
        summary: "mrf-1r1w with a data cache of 64 KB in 4 ways (hierarchy thesis, 2.4.2)",
        config: CACHED,
    },
    Preset {
        name: "cached-tiny",
        summary: "cached with 2 KB in 2 ways, 8 misses and 16 rows: small kernels evict, and fill what is limited",
        config: Config {
            cache: CacheConfig { kilobytes: 2, ways: 2, misses: 8, ..CACHED.cache },
            sm: SmConfig { line_rows: 16, ..CACHED.sm },
            ..CACHED
        },
    },
];
