//! The sections of the configuration that are about ORF and LRF, their rules and presets; see `docs/blocks/hierarchy.md`.

use gpurf_isa::{LastResultFile, Places};

use crate::config::{
    CacheConfig, Config, MemoryConfig, MrfConfig, Preset, Rule, Selection, SmConfig, TWO_LEVEL, UnifiedConfig, section,
};
use crate::hierarchy::MAX_ORF_ENTRIES;
use crate::power::config::GREENER;

section! {
    /// The operand register file above the main register file.
    pub struct OrfConfig, OrfLayer in orf {
        /// Shape: entries for each active warp; 0: no ORF.
        pub entries: usize = 0, "a number from 0 to 8" if |n| n <= MAX_ORF_ENTRIES;
        /// Policy of the compiler: of a value, the reads that come soon enough are served where not all can be
        /// (docs/hierarchy.md).
        pub partial_ranges: bool = true;
        /// Policy of the compiler: operands that are read in the MRF are kept for further reads.
        pub read_operands: bool = true;
        /// Policy of the compiler: values are kept across forward branches.
        pub forward_branches: bool = true;
    }
}

section! {
    /// The last result file above the ORF.
    pub struct LrfConfig, LrfLayer in lrf {
        /// Shape: its banks.
        pub banks: LastResultFile = LastResultFile::None;
    }
}

impl Config {
    /// The places above the main register file.
    pub fn places_above(&self) -> Places {
        Places { entries: self.orf.entries as u8, lrf: self.lrf.banks }
    }
}

/// How it is selected, and what goes with that.
pub(crate) const SELECTION: Selection =
    Selection { key: "orf.entries", holds: |config| config.orf.entries != 0, rules: RULES, presets: PRESETS };

const RULES: &[Rule] = &[
    Rule {
        key: "orf.entries",
        allowed: "0 where sm.active_warps is 0",
        holds: |c| c.orf.entries == 0 || c.sm.active_warps != 0,
    },
    Rule {
        key: "orf.entries",
        allowed: "a number from 1 to 8 where lrf.banks is not none",
        holds: |c| c.orf.entries != 0 || c.lrf.banks == LastResultFile::None,
    },
    Rule {
        key: "orf.entries",
        allowed: "0 where sm.alternate is true",
        holds: |c| c.orf.entries == 0 || !c.sm.alternate,
    },
];

const ORF: Config = Config { orf: OrfConfig { entries: 3, ..OrfConfig::DEFAULT }, ..TWO_LEVEL };

/// ORF and split LRF: the preset `lrf-orf-split`.
const LRF_ORF_SPLIT: Config = Config { lrf: LrfConfig { banks: LastResultFile::Split }, ..ORF };

/// The thesis's SM (table 4.4). Its latencies are meant from issue to issue (docs/papers.md).
const HIERARCHY_PAPER: Config = Config {
    sm: SmConfig {
        alu_latency: 3,
        sfu_latency: 15,
        shared_latency: 15,
        shared_bandwidth: 32,
        shared_kilobytes: 64,
        ..LRF_ORF_SPLIT.sm
    },
    memory: MemoryConfig { latency: 400, bandwidth: 16, ..MemoryConfig::DEFAULT },
    ..LRF_ORF_SPLIT
};

/// The same levels in front of a main register file whose registers have power states, in the sharing thesis's SM.
const GREENER_HIERARCHY: Config = Config {
    sm: SmConfig { active_warps: LRF_ORF_SPLIT.sm.active_warps, ..GREENER.sm },
    orf: LRF_ORF_SPLIT.orf,
    lrf: LRF_ORF_SPLIT.lrf,
    ..GREENER
};

/// The SM of the thesis's chapter 7, as far as it is not about memory inside it.
const CHAPTER_7: Config =
    Config { memory: MemoryConfig { bandwidth: 8, granule: 16, ..LRF_ORF_SPLIT.memory }, ..LRF_ORF_SPLIT };

/// The same with so much unified memory, and a cache of at most this size.
const fn unified(kilobytes: usize, cache: usize) -> Config {
    Config {
        unified: UnifiedConfig { kilobytes, ..UnifiedConfig::DEFAULT },
        cache: CacheConfig { kilobytes: cache, ..CacheConfig::DEFAULT },
        ..CHAPTER_7
    }
}

/// The same partitioned: kilobytes of registers, of scratchpad memory, and of a cache of so many ways.
const fn partitioned(registers: usize, scratchpad: usize, cache: usize, ways: usize) -> Config {
    Config {
        mrf: MrfConfig { kilobytes: registers, ..CHAPTER_7.mrf },
        sm: SmConfig { shared_kilobytes: scratchpad, ..CHAPTER_7.sm },
        cache: CacheConfig { kilobytes: cache, ways, ..CacheConfig::DEFAULT },
        ..CHAPTER_7
    }
}

const PRESETS: &[Preset] = &[
    Preset {
        name: "orf",
        summary: "two-level with an ORF of 3 entries for each active warp that the compiler manages (hierarchy thesis, 6.2)",
        config: ORF,
    },
    Preset {
        name: "lrf-orf",
        summary: "orf with an LRF of one entry for each active warp above it (hierarchy thesis, 6.2.2)",
        config: Config { lrf: LrfConfig { banks: LastResultFile::Unified }, ..ORF },
    },
    Preset {
        name: "lrf-orf-split",
        summary: "orf with an LRF of one entry for each operand slot: the thesis's best (hierarchy thesis, 6.2.2)",
        config: LRF_ORF_SPLIT,
    },
    Preset {
        name: "hierarchy-paper",
        summary: "lrf-orf-split in the thesis's SM: its latencies from issue to issue and its bandwidths (hierarchy thesis, table 4.4)",
        config: HIERARCHY_PAPER,
    },
    Preset {
        name: "unified-384",
        summary: "lrf-orf-split with 384 KB of unified memory, a cache of at most 256 KB (hierarchy thesis, 7.3)",
        config: unified(384, 256),
    },
    Preset {
        name: "unified-128",
        summary: "unified-384 with 128 KB, a cache of at most 64 KB (hierarchy thesis, 7.5.3)",
        config: unified(128, 64),
    },
    Preset {
        name: "unified-256",
        summary: "unified-384 with 256 KB, a cache of at most 128 KB (hierarchy thesis, 7.5.1)",
        config: unified(256, 128),
    },
    Preset {
        name: "unified-512",
        summary: "unified-384 with 512 KB (hierarchy thesis, 7.5.3)",
        config: unified(512, 256),
    },
    Preset {
        name: "fixed-256",
        summary: "unified-384 partitioned: 256 KB of registers, 64 KB of scratchpad memory, a cache of 64 KB (hierarchy thesis, 7.4)",
        config: partitioned(256, 64, 64, 4),
    },
    Preset {
        name: "fixed-128-32",
        summary: "fixed-256 with 128 KB of registers, 32 KB of scratchpad memory, a cache of 32 KB (hierarchy thesis, 7.5.1)",
        config: partitioned(128, 32, 32, 4),
    },
    Preset {
        name: "limited-16",
        summary: "fixed-256 with a cache of 16 KB and 48 KB of scratchpad memory (hierarchy thesis, 7.2)",
        config: partitioned(256, 48, 16, 4),
    },
    Preset {
        name: "limited-48",
        summary: "fixed-256 with a cache of 48 KB in 3 ways and 16 KB of scratchpad memory (hierarchy thesis, 7.2)",
        config: partitioned(256, 16, 48, 3),
    },
    Preset {
        name: "greener-hierarchy",
        summary: "greener with the levels and the active warps of lrf-orf-split: power states below ORF and LRF (not in a paper)",
        config: GREENER_HIERARCHY,
    },
];

#[cfg(test)]
mod tests;
