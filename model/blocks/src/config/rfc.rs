//! The part of a configuration that is about the register file cache; see `docs/blocks/rfc.md`.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::sm::Number;

/// The register file cache in front of the main register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RfcConfig {
    /// Shape: entries for each active warp; 0: no cache.
    pub entries: usize,
    /// Shape: an LRF above the cache of each active warp.
    pub lrf: bool,
    /// Shape: operands read from the main register file are allocated too.
    pub reads: bool,
    /// Policy: which entry makes room.
    pub replacement: Replacement,
    /// Policy: last reads make cached values dead.
    pub live: bool,
    /// Policy: results that the compiler marks so go around the cache.
    pub bypass: bool,
    /// Policy: results of long-latency operations are allocated too.
    pub loads: bool,
}

/// Which entry makes room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replacement {
    /// The one that came first.
    Fifo,
    /// The one whose last use is longest ago.
    Lru,
}

impl RfcConfig {
    /// No cache.
    pub(super) const NONE: Self = Self {
        entries: 0,
        lrf: false,
        reads: false,
        replacement: Replacement::Fifo,
        live: false,
        bypass: false,
        loads: false,
    };
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RfcLayer {
    entries: Option<Spanned<usize>>,
    lrf: Option<bool>,
    reads: Option<bool>,
    replacement: Option<Replacement>,
    live: Option<bool>,
    bypass: Option<bool>,
    loads: Option<bool>,
}

impl RfcLayer {
    pub(super) fn apply(self, to: &mut RfcConfig, number: &mut Number<'_>) {
        number("rfc.entries", self.entries, &mut to.entries);
        to.lrf = self.lrf.unwrap_or(to.lrf);
        to.reads = self.reads.unwrap_or(to.reads);
        to.replacement = self.replacement.unwrap_or(to.replacement);
        to.live = self.live.unwrap_or(to.live);
        to.bypass = self.bypass.unwrap_or(to.bypass);
        to.loads = self.loads.unwrap_or(to.loads);
    }
}
