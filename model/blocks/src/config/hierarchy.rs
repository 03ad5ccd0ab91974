//! The part of a configuration that is about ORF and LRF; see `docs/blocks/hierarchy.md`.

use gpurf_isa::LastResultFile;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::sm::Number;

/// The operand register file above the main register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OrfConfig {
    /// Shape: entries for each active warp; 0: no ORF.
    pub entries: usize,
}

/// The last result file above the ORF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LrfConfig {
    /// Shape: its banks.
    pub banks: LastResultFile,
}

impl OrfConfig {
    /// No ORF.
    pub(super) const NONE: Self = Self { entries: 0 };
}

impl LrfConfig {
    /// No LRF.
    pub(super) const NONE: Self = Self { banks: LastResultFile::None };
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrfLayer {
    entries: Option<Spanned<usize>>,
}

impl OrfLayer {
    pub(super) fn apply(self, to: &mut OrfConfig, number: &mut Number<'_>) {
        number("orf.entries", self.entries, &mut to.entries);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LrfLayer {
    banks: Option<LastResultFile>,
}

impl LrfLayer {
    pub(super) fn apply(self, to: &mut LrfConfig) {
        to.banks = self.banks.unwrap_or(to.banks);
    }
}
