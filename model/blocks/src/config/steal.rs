//! The part of a configuration that is about bank stealing; see `docs/blocks/steal.md`.

use serde::{Deserialize, Serialize};
use toml::Spanned;

/// A register file whose idle banks are stolen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StealConfig {
    /// Shape: the register file can steal. Nothing else here means anything without.
    pub present: bool,
    /// Policy: operands of the warp that will issue next are read early.
    pub read: bool,
    /// Policy: results are parked in idle banks.
    pub write: bool,
    /// Policy: an operand is read early also where that removes no conflict.
    pub eager: bool,
}

impl StealConfig {
    /// No stealing.
    pub(super) const NONE: Self = Self { present: false, read: false, write: false, eager: false };
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StealLayer {
    /// With its place, since it is what is refused.
    pub(super) present: Option<Spanned<bool>>,
    read: Option<bool>,
    write: Option<bool>,
    eager: Option<bool>,
}

impl StealLayer {
    pub(super) fn apply(self, to: &mut StealConfig) {
        to.present = self.present.map_or(to.present, Spanned::into_inner);
        to.read = self.read.unwrap_or(to.read);
        to.write = self.write.unwrap_or(to.write);
        to.eager = self.eager.unwrap_or(to.eager);
    }
}
