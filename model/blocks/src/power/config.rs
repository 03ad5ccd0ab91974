//! The section of the configuration that is about power states, its rules and presets; see `docs/power.md`.

use serde::{Deserialize, Serialize};

use crate::config::{CompilerConfig, Config, KEPLER, Preset, Rule, section};
use crate::designs::selected;
use crate::power::{PowerStraps, mode};

section! {
    /// Power states of the main register file's registers.
    pub struct PowerConfig, PowerLayer in power {
        /// Shape: registers have power states. The other members have no effect without it.
        pub present: bool = false;
        /// Policy: which state an access leaves its register in.
        pub mode: PowerMode = PowerMode::Greener;
        /// Policy: cycles until a register in SLEEP is ON.
        pub wake_sleep: usize = 1, "a number from 1 to 15 (cycles)" if |n| (1..=15).contains(&n);
        /// Policy: cycles until a register that is OFF is ON.
        pub wake_off: usize = 2, "a number from 1 to 15 (cycles)" if |n| (1..=15).contains(&n);
        /// Shape: instructions of a warp that the table of accesses holds.
        pub table_entries: usize = 2, "a number from 1 to 4" if |n| (1..=4).contains(&n);
    }
}

/// Which state an access leaves its register in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PowerMode {
    /// ON.
    AlwaysOn,
    /// SLEEP.
    SleepAlways,
    /// That which the compiler has marked.
    Hints,
    /// The same, unless another instruction in progress accesses the register: then ON.
    Greener,
}

impl PowerMode {
    /// Whether it needs the compiler's marks.
    pub fn needs_marks(self) -> bool {
        matches!(self, Self::Hints | Self::Greener)
    }
}

impl Config {
    /// The straps of `power_states`.
    pub(crate) fn power_straps(&self) -> PowerStraps {
        let PowerConfig { mode, wake_sleep, wake_off, .. } = self.power;
        let mode = match mode {
            PowerMode::AlwaysOn => mode::ALWAYS_ON,
            PowerMode::SleepAlways => mode::SLEEP_ALWAYS,
            PowerMode::Hints => mode::HINTS,
            PowerMode::Greener => mode::HINTS_AND_TABLE,
        };
        PowerStraps { mode, wake_sleep: wake_sleep as u8, wake_off: wake_off as u8 }
    }
}

/// What the section may be in view of others.
pub(crate) const RULES: &[Rule] = &[Rule {
    key: "power.mode",
    allowed: "always_on or sleep_always where compiler.power_threshold is 0: the code has no states then \
              (compiler.power_threshold=3 marks them)",
    holds: |c| !c.power.present || !c.power.mode.needs_marks() || c.compiler.power_threshold >= 1,
}];

/// Whether the register file that a configuration selects can have power states.
pub(crate) fn has_states(config: &Config) -> bool {
    selected(config).all(|design| design.services.main_roles.is_some())
}

/// Why registers have no power states in a register file that a key selects.
pub(crate) fn no_states(key: &str) -> String {
    format!(
        "false: {key} selects a register file in which it is not known at issue when the main register file's \
         registers are accessed, or which has none"
    )
}

const SLEEP_REG: Config =
    Config { power: PowerConfig { present: true, mode: PowerMode::SleepAlways, ..PowerConfig::DEFAULT }, ..KEPLER };

/// The sharing thesis's machine with its power states: the preset `greener`.
pub(crate) const GREENER: Config = Config {
    power: PowerConfig { mode: PowerMode::Greener, ..SLEEP_REG.power },
    compiler: CompilerConfig { power_threshold: 3, ..KEPLER.compiler },
    ..KEPLER
};

/// The sharing thesis's machine, without power states and with each of its ways to use them.
pub(crate) const PRESETS: &[Preset] = &[
    Preset {
        name: "kepler",
        summary: "half of the sharing thesis's SM: 16 single-ported banks, 128 KB, 32 warps, round-robin (sharing thesis, table 4.2)",
        config: KEPLER,
    },
    Preset {
        name: "sleep-reg",
        summary: "kepler whose registers sleep after each access (sharing thesis, 4.3: Sleep-Reg)",
        config: SLEEP_REG,
    },
    Preset {
        name: "greener-static",
        summary: "kepler with the compiler's power states (sharing thesis, 4.2.1)",
        config: Config { power: PowerConfig { mode: PowerMode::Hints, ..GREENER.power }, ..GREENER },
    },
    Preset {
        name: "greener",
        summary: "greener-static with the table of accesses (sharing thesis, 4.2: GREENER)",
        config: GREENER,
    },
];

#[cfg(test)]
mod tests;
