//! The section of the configuration for bank stealing, its rules and presets; see `docs/blocks/steal.md`.

use crate::config::{BANKS_8, BankPorts, Config, MrfConfig, Preset, Rule, Selection, section};

section! {
    /// A register file whose idle banks are stolen.
    pub struct StealConfig, StealLayer in steal {
        /// Shape: the register file can steal. The other members have no effect without it.
        pub present: bool = false;
        /// Policy: operands of the warp that will issue next are read early.
        pub read: bool = false;
        /// Policy: results are parked in idle banks.
        pub write: bool = false;
        /// Policy: an operand is read early also where that removes no conflict.
        pub eager: bool = false;
        /// Policy: a result that the next instruction of its warp reads is not parked.
        pub unread: bool = false;
        /// Policy: a read of a parked register reads the value where it is parked.
        pub redirect: bool = false;
        /// Policy: a parked value whose register is overwritten whole is dropped.
        pub drop: bool = false;
    }
}

/// How the design is selected, and what belongs to that.
pub(crate) const SELECTION: Selection =
    Selection { key: "steal.present", holds: |config| config.steal.present, rules: RULES, presets: PRESETS };

const RULES: &[Rule] = &[
    Rule {
        key: "steal.present",
        allowed: "false where mrf.ports is 1r1w: what is stolen is the one port of a bank (mrf.ports=1rw)",
        holds: |c| !c.steal.present || c.mrf.ports == BankPorts::Shared,
    },
    Rule {
        key: "steal.present",
        allowed: "false where sm.alternate is true: that scheduler has one warp, and no candidate (sm.alternate=false)",
        holds: |c| !c.steal.present || !c.sm.alternate,
    },
];

const STEAL_8: Config =
    Config { steal: StealConfig { present: true, read: true, write: true, ..StealConfig::DEFAULT }, ..BANKS_8 };

/// The stealing paper's SM as far as its text describes it. Few collectors limit that SM (II-B); operands are read early wherever a
/// bank is idle (docs/papers.md).
const STEALING_PAPER: Config = Config {
    mrf: MrfConfig { collectors: 4, ..STEAL_8.mrf },
    steal: StealConfig { eager: true, ..STEAL_8.steal },
    ..STEAL_8
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "steal-read-8",
        summary: "banks-8 with read stealing (stealing paper, IV-B)",
        config: Config { steal: StealConfig { write: false, ..STEAL_8.steal }, ..STEAL_8 },
    },
    Preset {
        name: "steal-write-8",
        summary: "banks-8 with write stealing (stealing paper, IV-C)",
        config: Config { steal: StealConfig { read: false, ..STEAL_8.steal }, ..STEAL_8 },
    },
    Preset { name: "steal-8", summary: "banks-8 with read and write stealing (stealing paper, IV-D)", config: STEAL_8 },
    Preset {
        name: "stealing-paper",
        summary: "steal-8 with 4 collectors and eager read stealing: nearest to the stealing paper's machine (stealing paper, II and IV)",
        config: STEALING_PAPER,
    },
];

#[cfg(test)]
mod tests;
