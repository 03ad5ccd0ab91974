//! The section of the configuration that is about blocks that share registers or scratchpad memory, its rules and presets; see `docs/sharing.md` and
//! `docs/scratchpad-sharing.md`.

use serde::{Deserialize, Serialize};

use crate::config::{
    Allocation, BANKS_16, CompilerConfig, Config, MrfConfig, Preset, Relssp, Rule, Scheduler, ShareLayout, SmConfig,
    section,
};
use crate::shape::Shared;
use crate::share::ShareStraps;

/// Cycles of a period of the throttle, at most.
const MAX_PERIOD: usize = u16::MAX as usize;

section! {
    /// Blocks that share registers or scratchpad memory.
    pub struct ShareConfig, ShareLayer in share {
        /// Shape: the locks exist, and grids are launched with guests where what is shared is short.
        pub present: bool = false;
        /// Shape: what blocks share.
        pub resource: SharedResource = SharedResource::Registers;
        /// The host's: tenths of a thread's registers, or of a block's scratchpad memory, that are private.
        pub private: usize = 1, "a number from 1 to 9 (tenths of what is shared)" if |n| (1..=9).contains(&n);
        /// Policy: who gets a lock.
        pub lock: LockRule = LockRule::Oldest;
        /// Policy: returning atomic operations of the younger block wait for the older block's end.
        pub hold_atomics: bool = true;
        /// Policy: the scheduler prefers warps of owners, and takes those of non-owners last.
        pub owner_first: bool = true;
        /// Policy: how a head without the lock of scratchpad memory finds out whether it needs it.
        pub check: CheckRule = CheckRule::Probe;
        /// Shape: cycles of a period of the throttle of non-owners; 0: there is none.
        pub throttle: usize = 0, "a number from 0 to 65535 (cycles of a period; 0: none)" if |n| n <= MAX_PERIOD;
        /// Shape: what the throttle compares the SM's stalls with.
        pub reference: Reference = Reference::Sampled;
    }
}

/// Who gets a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockRule {
    /// The older block never waits.
    Oldest,
    /// Whichever block comes first.
    First,
}

/// What blocks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SharedResource {
    /// Registers: each warp with the warp of the same number of the other block.
    Registers,
    /// Scratchpad memory.
    Scratchpad,
}

/// How a head without the lock of scratchpad memory finds out whether it needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckRule {
    /// By a probe.
    Probe,
    /// By the compiler's mark alone.
    Mark,
}

/// What the throttle of non-owners compares the SM's stalls with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reference {
    /// Those of each fourteenth period, in which non-owners do not use memory.
    Sampled,
    /// Those of another SM, whose non-owners never do: they come from outside.
    External,
    /// Nothing: this is that other SM.
    Held,
}

impl ShareConfig {
    /// What blocks may share.
    pub(crate) fn shared(&self) -> Shared {
        match self.resource {
            _ if !self.present => Shared::Nothing,
            SharedResource::Registers => Shared::Registers,
            SharedResource::Scratchpad => Shared::Scratchpad,
        }
    }

    /// Bytes of shared memory of a block that are private to a guest, of all that it has.
    pub fn private_shared(&self, bytes: u32) -> u32 {
        let private = (bytes * self.private as u32).div_ceil(10).next_multiple_of(size_of::<u32>() as u32);
        if self.shared() == Shared::Scratchpad { private } else { bytes }
    }

    /// Registers of a thread that are private to a guest, of all that it has.
    pub fn private_registers(&self, registers: u8) -> u8 {
        let private = (usize::from(registers) * self.private).div_ceil(10).max(1) as u8;
        if self.shared() == Shared::Scratchpad { registers } else { private }
    }
}

impl Config {
    /// The straps of `share_locks`.
    pub(crate) fn share_straps(&self) -> ShareStraps {
        let ShareConfig { lock, hold_atomics, owner_first, .. } = self.share;
        ShareStraps { first: lock == LockRule::First, hold: hold_atomics, owner_first }
    }
}

/// What the section may be in view of others.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        key: "share.present",
        allowed: "false where mrf.allocation is rows: a guest's private registers are few, and rows of the banks are handed out whole \
                  (mrf.allocation=registers)",
        holds: |c| !c.share.present || c.mrf.allocation == Allocation::Registers,
    },
    Rule {
        key: "share.present",
        allowed: "false where sm.active_warps is not 0: the scheduler that prefers owners has a single level (sm.active_warps=0)",
        holds: |c| !c.share.present || c.sm.active_warps == 0,
    },
    Rule {
        key: "share.present",
        allowed: "false where power.present is true: power states are of registers that one warp has (power.present=false)",
        holds: |c| !c.share.present || !c.power.present,
    },
    Rule {
        key: "share.throttle",
        allowed: "0 where share.lock is first: the older block may wait for the younger one there, which may be kept from memory for ever \
                  (share.lock=oldest)",
        holds: |c| c.share.throttle == 0 || c.share.lock == LockRule::Oldest,
    },
    Rule {
        key: "share.throttle",
        allowed: "0 where share.resource is scratchpad: non-owners are throttled where blocks share registers (share.resource=registers)",
        holds: |c| c.share.throttle == 0 || c.share.resource == SharedResource::Registers,
    },
];

/// Why registers of another register file than the main one are not handed out one by one; a key selects it.
pub(crate) fn no_places(key: &str) -> String {
    format!(
        "rows: {key} selects another register file. Registers are handed out one by one in the main register file alone"
    )
}

/// The sharing thesis's SM of chapter 2 (table 2.3): 128 KB, 48 warps, two schedulers, round-robin, 8 blocks. Its 48 KB of shared memory are no power of two:
/// they are the default's 64. What the table leaves open is as in the stealing paper's SM ([`BANKS_16`]), which is a Fermi-like machine too.
const FERMI: Config = Config {
    mrf: MrfConfig { allocation: Allocation::Registers, ..BANKS_16.mrf },
    sm: SmConfig { blocks: 8, scheduler: Scheduler::RoundRobin, ..BANKS_16.sm },
    ..BANKS_16
};

/// The same with less shared memory: the thesis's SM of chapter 2 for scratchpad sharing.
const FERMI_16K: Config = Config { sm: SmConfig { shared_kilobytes: 16, ..FERMI.sm }, ..FERMI };

/// The same machines without sharing and with it.
pub(crate) const PRESETS: &[Preset] = &[
    Preset {
        name: "fermi",
        summary: "the sharing thesis's SM: 128 KB, 48 warps, two schedulers, 8 blocks, registers one by one (sharing thesis, table 2.3)",
        config: FERMI,
    },
    Preset {
        name: "share-registers",
        summary: "fermi whose blocks share registers, t = 0.1, oldest first, owners first (sharing thesis, 2.2, 2.3.1)",
        config: Config {
            // Inside a class by age: without pairs it is greedy then oldest (docs/sharing.md, "Keys").
            sm: SmConfig { scheduler: Scheduler::GreedyThenOldest, ..FERMI.sm },
            share: ShareConfig { present: true, ..ShareConfig::DEFAULT },
            ..FERMI
        },
    },
    Preset {
        name: "fermi-16k",
        summary: "fermi with 16 KB of shared memory (sharing thesis, chapter 2)",
        config: FERMI_16K,
    },
    Preset {
        name: "share-scratchpad",
        summary: "fermi-16k whose blocks share scratchpad memory, t = 0.1, oldest first, owners first, probes (sharing thesis, 2.2.2)",
        config: SHARE_SCRATCHPAD,
    },
    Preset {
        name: "share-relssp",
        summary: "share-scratchpad with the compiler's layout, and locks released at optimal places (sharing thesis, chapter 3)",
        config: Config {
            compiler: CompilerConfig {
                share_layout: ShareLayout::Minimal,
                relssp: Relssp::Optimal,
                ..FERMI_16K.compiler
            },
            ..SHARE_SCRATCHPAD
        },
    },
];

/// `fermi-16k` whose blocks share scratchpad memory.
const SHARE_SCRATCHPAD: Config = Config {
    // Inside a class by age, as in share-registers.
    sm: SmConfig { scheduler: Scheduler::GreedyThenOldest, ..FERMI_16K.sm },
    share: ShareConfig { present: true, resource: SharedResource::Scratchpad, ..ShareConfig::DEFAULT },
    ..FERMI_16K
};

#[cfg(test)]
mod tests;
