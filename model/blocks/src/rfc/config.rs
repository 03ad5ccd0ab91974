//! The section of the configuration for the register file cache, its rules and presets; see `docs/blocks/rfc.md`.

use serde::{Deserialize, Serialize};

use crate::config::{Config, MemoryConfig, PowerMode, Preset, Rule, Selection, SmConfig, TWO_LEVEL, section};
use crate::power::config::GREENER;

section! {
    /// The register file cache in front of the main register file.
    pub struct RfcConfig, RfcLayer in rfc {
        /// Shape: entries for each active warp; 0: no cache.
        pub entries: usize = 0, "a number from 0 to 16" if |n| n <= 16;
        /// Shape: an LRF above the cache of each active warp.
        pub lrf: bool = false;
        /// Shape: operands read from the main register file are allocated too.
        pub reads: bool = false;
        /// Shape: a result around the cache leaves its latch when the main register file's queue takes it.
        pub release: bool = false;
        /// Policy: which entry is replaced.
        pub replacement: Replacement = Replacement::Fifo;
        /// Policy: last reads make cached values dead.
        pub live: bool = false;
        /// Policy: results that the compiler marks bypass the cache.
        pub bypass: bool = false;
        /// Policy: results of long-latency operations are allocated too.
        pub loads: bool = false;
        /// Policy: evictions and flushes lose no cycle.
        pub prompt: bool = false;
    }
}

/// The entry that is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replacement {
    /// The entry that was allocated first.
    Fifo,
    /// The entry that was least recently used.
    Lru,
}

/// How the design is selected, and what belongs to that.
pub(crate) const SELECTION: Selection =
    Selection { key: "rfc.entries", holds: |config| config.rfc.entries != 0, rules: RULES, presets: PRESETS };

const RULES: &[Rule] = &[
    Rule {
        key: "rfc.entries",
        allowed: "0 where sm.active_warps is 0",
        holds: |c| c.rfc.entries == 0 || c.sm.active_warps != 0,
    },
    Rule {
        key: "rfc.entries",
        allowed: "a number from 1 to 16 where rfc.lrf, rfc.reads or rfc.release is true",
        holds: |c| c.rfc.entries != 0 || !(c.rfc.lrf || c.rfc.reads || c.rfc.release),
    },
    Rule {
        key: "sm.stay",
        allowed: "false where rfc.lrf is true: shared units read a value of the LRF only from the cache or the main register \
                  file, and it is written back there when the warp leaves its slot",
        holds: |c| !(c.sm.stay && c.rfc.lrf),
    },
    Rule {
        key: "rfc.release",
        allowed: "false where power.present is true: a warp ends before its last results are in the main register file, whose \
                  words are switched off then",
        holds: |c| !(c.rfc.release && c.power.present),
    },
    Rule {
        key: "power.mode",
        allowed: "always_on, hints or greener where rfc.entries is not 0: what sleeps after every access is the main register \
                  file's word, and a value in the cache has no access of it",
        holds: |c| c.rfc.entries == 0 || !c.power.present || c.power.mode != PowerMode::SleepAlways,
    },
];

const RFC: Config = Config { rfc: RfcConfig { entries: 6, ..RfcConfig::DEFAULT }, ..TWO_LEVEL };
const RFC_LIVE: Config = Config { rfc: RfcConfig { live: true, ..RFC.rfc }, ..RFC };

/// The RFC paper's SM (table 4). The paper's latencies are taken from issue to issue (docs/papers.md). Its memory is limited by bandwidth alone: the
/// default of 64 lines in flight would limit it to 20 bytes a cycle.
const RFC_PAPER: Config = Config {
    sm: SmConfig {
        line_rows: 128,
        alu_latency: 3,
        sfu_latency: 15,
        shared_latency: 15,
        shared_bandwidth: 32,
        shared_kilobytes: 32,
        ..RFC_LIVE.sm
    },
    memory: MemoryConfig { latency: 400, bandwidth: 32, ..MemoryConfig::DEFAULT },
    rfc: RfcConfig { release: true, prompt: true, ..RFC_LIVE.rfc },
    ..RFC_LIVE
};

/// The cache in front of a main register file whose words have power states, in the sharing thesis's SM.
const GREENER_RFC: Config =
    Config { sm: SmConfig { active_warps: RFC_LIVE.sm.active_warps, ..GREENER.sm }, rfc: RFC_LIVE.rfc, ..GREENER };

const PRESETS: &[Preset] = &[
    Preset {
        name: "rfc",
        summary: "two-level with a register file cache of 6 entries for each active warp (RFC paper, 3.3)",
        config: RFC,
    },
    Preset {
        name: "rfc-live",
        summary: "rfc whose cached values die at their last read (RFC paper, 3.1)",
        config: RFC_LIVE,
    },
    Preset {
        name: "rfc-hw3",
        summary: "rfc-live with an LRF above it: the hardware three-level hierarchy (hierarchy thesis, 6.5.2)",
        config: Config { rfc: RfcConfig { lrf: true, ..RFC_LIVE.rfc }, ..RFC_LIVE },
    },
    Preset {
        name: "rfc-all",
        summary: "a register file cache for all warps, loads cached too (RFC paper, 3.1)",
        config: Config {
            sm: SmConfig { active_warps: 32, stay: true, ..RFC.sm },
            rfc: RfcConfig { loads: true, ..RFC.rfc },
            ..RFC
        },
    },
    Preset {
        name: "rfc-paper",
        summary: "rfc-live in the RFC paper's SM: its latencies from issue to issue and its bandwidths (RFC paper, table 4); results and evictions wait for as little as they can",
        config: RFC_PAPER,
    },
    Preset {
        name: "greener-rfc",
        summary: "greener with the cache and the active warps of rfc-live: power states below a register file cache (not in a paper)",
        config: GREENER_RFC,
    },
];

#[cfg(test)]
mod tests;
