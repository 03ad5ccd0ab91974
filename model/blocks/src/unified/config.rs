//! The sections of the configuration that are about unified memory and the partition at a launch, their rules and presets; see
//! `docs/unified.md`.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::config::{
    BankPorts, CacheConfig, Config, MRF_1R1W, MemoryConfig, MrfConfig, Preset, Rule, SmConfig, TWO_LEVEL, section,
};
use crate::designs::selected;

/// Rows of all banks in a kilobyte.
const ROWS_PER_KILOBYTE: usize = 2;
/// Lines of the cache in a row.
pub const LINES_PER_ROW: usize = 4;

section! {
    /// One set of banks for registers, scratchpad memory and the data cache.
    pub struct UnifiedConfig, UnifiedLayer in unified {
        /// Shape: all banks together; 0: registers, scratchpad memory and cache have RAMs of their own.
        pub kilobytes: usize = 0, "0, or a multiple of 16 from 32 to 512 (kilobytes)"
            if |n| n == 0 || n.is_multiple_of(16) && (32..=512).contains(&n);
        /// Policy: which lanes a pass of the scratchpad serves.
        pub gather: Gather = Gather::Simple;
        /// Shape: whether memory's accesses wait for those of registers.
        pub ports: MemoryPorts = MemoryPorts::Shared;
    }
}

/// Which lanes a pass of the scratchpad serves (hierarchy thesis, 7.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gather {
    /// Of each cluster those of one row.
    Simple,
    /// Of each cluster words of several banks.
    Aggressive,
}

/// Ports of a bank of unified memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryPorts {
    /// Memory uses what registers leave (hierarchy thesis, 7.3.3).
    Shared,
    /// Registers and memory have ports of their own.
    Separate,
}

impl UnifiedConfig {
    /// There is unified memory.
    pub fn is_present(&self) -> bool {
        self.kilobytes != 0
    }

    /// Rows: entries of each bank.
    pub fn rows(&self) -> usize {
        self.kilobytes * ROWS_PER_KILOBYTE
    }
}

section! {
    /// How the driver divides unified memory at a launch.
    pub struct LaunchConfig, LaunchLayer in launch {
        /// Launch: what the cache gets.
        pub cache_kilobytes: Amount = Amount::Auto, "auto, 0, or a power of two (kilobytes)"
            if |n| n.number().is_none_or(|n| n == 0 || n.is_power_of_two());
        /// Launch: resident threads at most.
        pub threads: Amount = Amount::Auto, "auto, or a number from 1 to 1536 (threads)"
            if |n| n.number().is_none_or(|n| (1..=1536).contains(&n));
    }
}

/// A number, or what the driver finds best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// What the driver finds best.
    Auto,
    /// This many.
    Of(usize),
}

/// The name of [`Amount::Auto`].
const AUTO: &str = "auto";

impl Amount {
    /// The number, where one is given.
    pub fn number(self) -> Option<usize> {
        match self {
            Self::Auto => None,
            Self::Of(number) => Some(number),
        }
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str(AUTO),
            Self::Of(number) => serializer.serialize_u64(*number as u64),
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl Visitor<'_> for Read {
            type Value = Amount;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number or \"auto\"")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Amount, E> {
                let number = usize::try_from(value);
                number.map(Amount::Of).map_err(|_| E::invalid_value(serde::de::Unexpected::Signed(value), &self))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Amount, E> {
                if value == AUTO {
                    Ok(Amount::Auto)
                } else {
                    Err(E::invalid_value(serde::de::Unexpected::Str(value), &self))
                }
            }
        }

        deserializer.deserialize_any(Read)
    }
}

/// Whether the banks of the register file that a configuration selects can serve memory.
pub(crate) fn serves_memory(config: &Config) -> bool {
    selected(config).all(|design| design.services.serves_memory)
}

/// Why there is no unified memory with a register file that a key selects.
pub(crate) fn no_memory(key: &str) -> String {
    format!("0: {key} selects a register file whose banks serve registers only")
}

/// The smallest cache of a number of ways: four sets.
pub fn least_lines(ways: usize) -> usize {
    4 * ways
}

/// What the sections may be in view of others.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        key: "mrf.banks",
        allowed: "4 where unified.kilobytes is not 0: the columns of the banks",
        holds: |c| !c.unified.is_present() || c.mrf.banks == 4,
    },
    Rule {
        key: "mrf.ports",
        allowed: "1r1w where unified.kilobytes is not 0",
        holds: |c| !c.unified.is_present() || c.mrf.ports == BankPorts::Separate,
    },
    Rule {
        key: "cache.kilobytes",
        allowed: "a power of two from 1 to 512 where unified.kilobytes is not 0: the largest cache",
        holds: |c| !c.unified.is_present() || c.cache.kilobytes.is_power_of_two(),
    },
    Rule {
        key: "cache.kilobytes",
        allowed: "at most unified.kilobytes, where that is not 0",
        holds: |c| !c.unified.is_present() || c.cache.kilobytes <= c.unified.kilobytes,
    },
    Rule {
        key: "cache.ways",
        allowed: "at most 2 * cache.kilobytes where unified.kilobytes is not 0: the largest cache has four sets at least",
        holds: |c| !c.unified.is_present() || c.cache.lines() >= least_lines(c.cache.ways),
    },
    Rule {
        key: "unified.kilobytes",
        allowed: "0 where mrf.allocation is registers: a warp has whole rows",
        holds: |c| !c.unified.is_present() || !c.shape().places,
    },
    Rule {
        key: "unified.kilobytes",
        allowed: "0 where share.present is true",
        holds: |c| !(c.unified.is_present() && c.share.present),
    },
    Rule {
        key: "unified.kilobytes",
        allowed: "0 where power.present is true: the rows of registers change from launch to launch",
        holds: |c| !(c.unified.is_present() && c.power.present),
    },
    Rule {
        key: "unified.gather",
        allowed: "simple where unified.kilobytes is 0",
        holds: |c| c.unified.is_present() || c.unified.gather == Gather::Simple,
    },
    Rule {
        key: "unified.ports",
        allowed: "shared where unified.kilobytes is 0",
        holds: |c| c.unified.is_present() || c.unified.ports == MemoryPorts::Shared,
    },
    Rule {
        key: "launch.cache_kilobytes",
        allowed: "auto where unified.kilobytes is 0: the cache has one size",
        holds: |c| c.unified.is_present() || c.launch.cache_kilobytes == Amount::Auto,
    },
    Rule {
        key: "launch.cache_kilobytes",
        allowed: "auto, 0, or from cache.ways / 2 to cache.kilobytes: four sets at least",
        holds: |c| {
            let fits = |n: usize| {
                let lines = CacheConfig { kilobytes: n, ..c.cache }.lines();
                n == 0 || n <= c.cache.kilobytes && lines >= least_lines(c.cache.ways)
            };
            c.launch.cache_kilobytes.number().is_none_or(fits)
        },
    },
    Rule {
        key: "launch.threads",
        allowed: "auto where unified.kilobytes is 0: block slots follow from what there is",
        holds: |c| c.unified.is_present() || c.launch.threads == Amount::Auto,
    },
];

/// The preset `unified-tiny`.
pub(crate) const TINY: Config = Config {
    unified: UnifiedConfig { kilobytes: 80, ..UnifiedConfig::DEFAULT },
    cache: CacheConfig { kilobytes: 8, ways: 2, misses: 8, ..CacheConfig::DEFAULT },
    sm: SmConfig { warps: 8, line_rows: 16, ..MRF_1R1W.sm },
    memory: MemoryConfig { granule: 16, ..MRF_1R1W.memory },
    ..MRF_1R1W
};

/// The SM of the hierarchy thesis's chapter 7 without levels above the main register file (7.5.5).
const FLAT: Config = Config { memory: MemoryConfig { bandwidth: 8, granule: 16, ..TWO_LEVEL.memory }, ..TWO_LEVEL };

/// Machines without levels above the main register file. Those with them are among the presets of their register file.
pub(crate) const PRESETS: &[Preset] = &[
    Preset {
        name: "unified-384-flat",
        summary: "unified-384 without ORF and LRF (hierarchy thesis, 7.5.5)",
        config: Config {
            unified: UnifiedConfig { kilobytes: 384, ..UnifiedConfig::DEFAULT },
            cache: CacheConfig { kilobytes: 256, ..CacheConfig::DEFAULT },
            ..FLAT
        },
    },
    Preset {
        name: "fixed-256-flat",
        summary: "fixed-256 without ORF and LRF (hierarchy thesis, 7.5.5)",
        config: Config {
            mrf: MrfConfig { kilobytes: 256, ..FLAT.mrf },
            sm: SmConfig { shared_kilobytes: 64, ..FLAT.sm },
            cache: CacheConfig { kilobytes: 64, ..CacheConfig::DEFAULT },
            ..FLAT
        },
    },
    Preset {
        name: "unified-tiny",
        summary: "mrf-1r1w with 80 KB of unified memory and 8 warps, a cache of at most 8 KB: small kernels fill what is limited",
        config: TINY,
    },
];

#[cfg(test)]
mod tests;
