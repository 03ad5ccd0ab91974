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
    /// Policy of the compiler: of a value, the reads that come soon enough are served where not all can be (docs/hierarchy.md).
    pub partial_ranges: bool,
    /// Policy of the compiler: operands that are read in the MRF are kept for further reads.
    pub read_operands: bool,
    /// Policy of the compiler: values are kept across forward branches.
    pub forward_branches: bool,
}

/// The last result file above the ORF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LrfConfig {
    /// Shape: its banks.
    pub banks: LastResultFile,
}

impl OrfConfig {
    /// No ORF.
    pub(super) const NONE: Self =
        Self { entries: 0, partial_ranges: true, read_operands: true, forward_branches: true };
}

impl LrfConfig {
    /// No LRF.
    pub(super) const NONE: Self = Self { banks: LastResultFile::None };
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrfLayer {
    entries: Option<Spanned<usize>>,
    partial_ranges: Option<bool>,
    read_operands: Option<bool>,
    forward_branches: Option<bool>,
}

impl OrfLayer {
    pub(super) fn apply(self, to: &mut OrfConfig, number: &mut Number<'_>) {
        number("orf.entries", self.entries, &mut to.entries);
        to.partial_ranges = self.partial_ranges.unwrap_or(to.partial_ranges);
        to.read_operands = self.read_operands.unwrap_or(to.read_operands);
        to.forward_branches = self.forward_branches.unwrap_or(to.forward_branches);
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
