//! The section of the configuration for the hybrid register file, its rules and presets; see `docs/blocks/hrf.md`.

use crate::config::{ALTERNATING, Config, MrfConfig, Preset, Rule, Selection, SmConfig, section};

section! {
    /// The hybrid register file: STT-RAM with write buffers in front, with the paper's sizes.
    pub struct HrfConfig, HrfLayer in hrf {
        /// Shape: the register file is STT-RAM in two banks. The other members have no effect without it.
        pub stt_ram: bool = false;
        /// Shape: entries of each write buffer; 0: none.
        pub buffer_entries: usize = 64, "0, or a number from 4 to 64" if |n| n == 0 || (4..=64).contains(&n);
        /// Shape: places of the queue in front of each bank.
        pub load_entries: usize = 8,
            "a power of two from 2 to 16" if |n| n.is_power_of_two() && (2..=16).contains(&n);
        /// Policy: cycles that a bank takes to write.
        pub write_latency: usize = 4, "a number from 1 to 15 (cycles)" if |n| (1..=15).contains(&n);
        /// Policy: cycles that a bank takes to read.
        pub read_latency: usize = 1, "a number from 1 to 4 (cycles)" if |n| (1..=4).contains(&n);
        /// Policy: power gating of the buffers.
        pub gating: bool = false;
        /// Policy: entries that are always on.
        pub powered_entries: usize = 16,
            "a multiple of 4 from 4 to 60" if |n| n.is_multiple_of(4) && (4..=60).contains(&n);
        /// Policy: cycles until the others have power.
        pub wake_cycles: usize = 3, "a number from 1 to 15 (cycles)" if |n| (1..=15).contains(&n);
        /// Policy: cycles until they are off.
        pub sleep_cycles: usize = 3, "a number from 0 to 7 (cycles)" if |n| n <= 7;
    }
}

/// How the design is selected, and what belongs to that.
pub(crate) const SELECTION: Selection =
    Selection { key: "hrf.stt_ram", holds: |config| config.hrf.stt_ram, rules: RULES, presets: PRESETS };

const RULES: &[Rule] = &[
    Rule {
        key: "mrf.issue_ports",
        allowed: "1 where hrf.stt_ram is true: one warp is active at a time",
        holds: |c| c.mrf.issue_ports == 1 || !c.hrf.stt_ram,
    },
    Rule {
        key: "mrf.banks",
        allowed: "2 where hrf.stt_ram is true: a bank for even and one for odd warps",
        holds: |c| !c.hrf.stt_ram || c.mrf.banks == 2,
    },
    Rule {
        key: "hrf.buffer_entries",
        allowed: "0 where sm.alternate is false: buffers need a scheduler under which even and odd warps take turns",
        holds: |c| !c.hrf.stt_ram || c.hrf.buffer_entries == 0 || c.sm.alternate,
    },
];

const HRF: Config = Config {
    mrf: MrfConfig { banks: 2, ..ALTERNATING.mrf },
    hrf: HrfConfig { stt_ram: true, ..HrfConfig::DEFAULT },
    ..ALTERNATING
};

const HRF_PG: Config = Config { hrf: HrfConfig { gating: true, ..HRF.hrf }, ..HRF };

const PRESETS: &[Preset] = &[
    Preset {
        name: "hrf",
        summary: "hybrid register file: STT-RAM behind two write buffers of SRAM, one active warp (hybrid paper, 4)",
        config: HRF,
    },
    Preset { name: "hrf-pg", summary: "hrf with power gating of the buffers (hybrid paper, 5)", config: HRF_PG },
    Preset {
        name: "stt-only",
        summary: "hrf without buffers: the pipeline waits for every write (hybrid paper, 6.2)",
        config: Config { hrf: HrfConfig { buffer_entries: 0, ..HRF.hrf }, ..HRF },
    },
    Preset {
        name: "hybrid-paper",
        summary: "hrf-pg with the hybrid paper's 48 warps (hybrid paper, table 3)",
        config: Config { sm: SmConfig { warps: 48, ..HRF_PG.sm }, ..HRF_PG },
    },
];

#[cfg(test)]
mod tests;
