//! The section of the configuration that is about the register file without conflicts, and its presets; see
//! `docs/blocks/mrf_ideal.md`.

use crate::config::{BANKS_8, Config, Preset, Selection, section};

section! {
    /// A register file without conflicts.
    pub struct IdealConfig, IdealLayer in ideal {
        /// Shape: every read and every write has a port of its own. Ports of a bank and the order of its reads have no effect then.
        pub present: bool = false;
    }
}

/// How it is selected, and what goes with that.
pub(crate) const SELECTION: Selection =
    Selection { key: "ideal.present", holds: |config| config.ideal.present, rules: &[], presets: PRESETS };

const PRESETS: &[Preset] = &[Preset {
    name: "mrf-ideal",
    summary: "banks-8 with a port for every read and write: no conflicts, the bound of stealing (stealing paper, III-A)",
    config: Config { ideal: IdealConfig { present: true }, ..BANKS_8 },
}];
