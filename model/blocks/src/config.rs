//! The one configuration of a run.
//!
//! A configuration has two kinds of member. *Shape* members (sizes, kinds of ports) are parameters of RTL and model: another value
//! is another build. *Policy* members are straps on `cfg_i`, constant during a run: one build serves them all.
//!
//! It is put together from layers: a preset, then a TOML file (whose `base` names the preset it starts from), then single
//! settings such as `mrf.banks=8`. Then it is validated, once. A message names the key, the value, where that value came from, and what is allowed.
//!
//! ```
//! use gpurf_blocks::config::{Config, Start};
//!
//! let config = Config::load(Start::Preset("mrf-1r1w"), &["mrf.banks=8"])?;
//! assert_eq!((config.shape().banks, config.shape().depth), (8, 128));
//! # Ok::<(), gpurf_blocks::config::ConfigError>(())
//! ```

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gpurf_isa::LastResultFile;
use serde::{Deserialize, Serialize};
use toml::Spanned;

mod hierarchy;
mod hrf;
mod rfc;
mod sm;
mod steal;

pub use hierarchy::{LrfConfig, OrfConfig};
pub use hrf::HrfConfig;
pub use rfc::{Replacement, RfcConfig};
pub use sm::{MemoryConfig, Scheduler, SmConfig};
pub use steal::StealConfig;

use crate::hierarchy::MAX_ORF_ENTRIES;
use crate::mrf::MrfShape;
use crate::shape::SmShape;
use hierarchy::{LrfLayer, OrfLayer};
use hrf::HrfLayer;
use rfc::RfcLayer;
use sm::{MemoryLayer, SmLayer};
use steal::StealLayer;

/// Warp registers in a kilobyte: a warp register has 32 lanes of 4 bytes.
pub(crate) const REGISTERS_PER_KILOBYTE: usize = 1024 / 128;

/// Everything that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Config {
    /// The main register file.
    pub mrf: MrfConfig,
    /// The streaming multiprocessor around it.
    pub sm: SmConfig,
    /// The register file cache in front of the main register file.
    pub rfc: RfcConfig,
    /// The hybrid register file in the main register file's place.
    pub hrf: HrfConfig,
    /// The operand register file in front of the main register file, in a cache's place.
    pub orf: OrfConfig,
    /// The last result file above it.
    pub lrf: LrfConfig,
    /// The register file whose idle banks are stolen, in the main register file's place.
    pub steal: StealConfig,
    /// Global memory, outside the SM.
    pub memory: MemoryConfig,
}

/// The main register file; see `docs/blocks/mrf.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MrfConfig {
    /// Shape: number of banks.
    pub banks: usize,
    /// Shape: ports of a bank.
    pub ports: BankPorts,
    /// Shape: number of operand collectors.
    pub collectors: usize,
    /// Shape: instructions accepted, dispatched and written back a cycle.
    pub issue_ports: usize,
    /// Shape: capacity. With the number of banks it gives the entries of a bank.
    pub kilobytes: usize,
    /// Shape: width of the tag that travels with an instruction.
    pub tag_bits: usize,
    /// Policy: who goes first among the reads that wait for a bank.
    pub read_order: ReadOrder,
}

/// Ports of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BankPorts {
    /// One port: a read or a write a cycle (stealing paper, III-B).
    #[serde(rename = "1rw")]
    Shared,
    /// A read and a write port (RFC paper, 2.1).
    #[serde(rename = "1r1w")]
    Separate,
}

/// Order among the reads of a bank: bit 0 of `cfg_i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadOrder {
    /// The oldest instruction first.
    Oldest,
    /// Round-robin over the collectors.
    RoundRobin,
}

/// A configuration with a name.
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// What it sets.
    pub config: Config,
}

const BASELINE: Config = Config {
    mrf: MrfConfig {
        banks: 16,
        ports: BankPorts::Shared,
        collectors: 8,
        issue_ports: 1,
        kilobytes: 128,
        tag_bits: 32,
        read_order: ReadOrder::Oldest,
    },
    sm: SmConfig::BASELINE,
    rfc: RfcConfig::NONE,
    hrf: HrfConfig::NONE,
    orf: OrfConfig::NONE,
    lrf: LrfConfig::NONE,
    steal: StealConfig::NONE,
    memory: MemoryConfig::BASELINE,
};

const MRF_1R1W: Config = Config { mrf: MrfConfig { banks: 4, ports: BankPorts::Separate, ..BASELINE.mrf }, ..BASELINE };
const TWO_LEVEL: Config = Config { sm: SmConfig { active_warps: 8, ..BASELINE.sm }, ..MRF_1R1W };
const ALTERNATING: Config = Config { sm: SmConfig { active_warps: 2, alternate: true, ..BASELINE.sm }, ..BASELINE };
const HRF: Config = Config {
    mrf: MrfConfig { banks: 2, ..BASELINE.mrf },
    hrf: HrfConfig { stt_ram: true, ..HrfConfig::NONE },
    ..ALTERNATING
};
const ORF: Config = Config { orf: OrfConfig { entries: 3, ..OrfConfig::NONE }, ..TWO_LEVEL };
const RFC: Config = Config { rfc: RfcConfig { entries: 6, ..RfcConfig::NONE }, ..TWO_LEVEL };
const RFC_LIVE: Config = Config { rfc: RfcConfig { live: true, ..RFC.rfc }, ..RFC };

/// The stealing paper's SM (II-A, V-B): two schedulers, and the 48 warps of IV-A. Its table I, with the number of collectors, is not in the text: as in the baseline.
const BANKS_16: Config =
    Config { mrf: MrfConfig { issue_ports: 2, ..BASELINE.mrf }, sm: SmConfig { warps: 48, ..BASELINE.sm }, ..BASELINE };
const BANKS_8: Config = Config { mrf: MrfConfig { banks: 8, ..BANKS_16.mrf }, ..BANKS_16 };
const STEAL_8: Config =
    Config { steal: StealConfig { present: true, read: true, write: true, eager: false }, ..BANKS_8 };

/// Every preset; the first one is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "baseline",
        summary: "main register file of 16 single-ported banks, 128 KB, 8 collectors (stealing paper, II-B)",
        config: BASELINE,
    },
    Preset {
        name: "mrf-1r1w",
        summary: "the RFC paper's main register file: 4 logical banks with a read and a write port (RFC paper, 2.1)",
        config: MRF_1R1W,
    },
    Preset { name: "two-level", summary: "mrf-1r1w with 8 active warps (RFC paper, 3.2)", config: TWO_LEVEL },
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
        name: "orf",
        summary: "two-level with an ORF of 3 entries for each active warp that the compiler manages (hierarchy thesis, 6.2)",
        config: ORF,
    },
    Preset {
        name: "lrf-orf",
        summary: "orf with an LRF of one entry for each active warp above it (hierarchy thesis, 6.2.2)",
        config: Config { lrf: LrfConfig { banks: LastResultFile::Unified }, ..ORF },
    },
    Preset {
        name: "lrf-orf-split",
        summary: "orf with an LRF of one entry for each operand slot: the thesis's best (hierarchy thesis, 6.2.2)",
        config: Config { lrf: LrfConfig { banks: LastResultFile::Split }, ..ORF },
    },
    Preset {
        name: "hrf",
        summary: "hybrid register file: STT-RAM behind two write buffers of SRAM, one active warp (hybrid paper, 4)",
        config: HRF,
    },
    Preset {
        name: "hrf-pg",
        summary: "hrf with power gating of the buffers (hybrid paper, 5)",
        config: Config { hrf: HrfConfig { gating: true, ..HRF.hrf }, ..HRF },
    },
    Preset {
        name: "stt-only",
        summary: "hrf without buffers: the pipeline waits for every write (hybrid paper, 6.2)",
        config: Config { hrf: HrfConfig { buffer_entries: 0, ..HRF.hrf }, ..HRF },
    },
    Preset { name: "hrf-sram", summary: "the baseline's SRAM file behind the scheduler of hrf", config: ALTERNATING },
    Preset {
        name: "banks-16",
        summary: "the stealing paper's baseline: 16 single-ported banks, two schedulers, 48 warps (stealing paper, VI-B)",
        config: BANKS_16,
    },
    Preset { name: "banks-8", summary: "banks-16 with 8 banks (stealing paper, VI-B)", config: BANKS_8 },
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
];

/// The preset of that name.
///
/// # Errors
/// [`ConfigError::NoPreset`] lists those there are.
pub fn preset(name: &str) -> Result<&'static Preset, ConfigError> {
    PRESETS.iter().find(|p| p.name == name).ok_or_else(|| ConfigError::NoPreset { name: name.into(), known: names() })
}

fn names() -> String {
    PRESETS.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
}

/// The first layer of a configuration.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// A preset.
    Preset(&'a str),
    /// A TOML file.
    File(&'a Path),
}

/// Why there is no configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A name that is not a preset's.
    #[error("there is no preset {name}; there are: {known}")]
    NoPreset {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// The file cannot be read.
    #[error("cannot read the configuration {}: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// Not TOML, an unknown key, or a value of another type.
    #[error("{origin}: {text}: {message}")]
    Malformed {
        /// File, line and column, or `--set`.
        origin: String,
        /// The text at fault.
        text: String,
        /// What is wrong and what is expected.
        message: String,
    },
    /// A setting that is not `key=value`.
    #[error("--set {text}: expected key=value, for instance mrf.banks=8")]
    NotASetting {
        /// The setting.
        text: String,
    },
    /// A value outside what is allowed.
    #[error("{origin}: {key} = {value} is not allowed: it has to be {allowed}")]
    NotAllowed {
        /// File, line and column, `--set`, or the preset.
        origin: String,
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
}

/// What may be said about a number.
struct Rule {
    key: &'static str,
    allowed: &'static str,
    value: fn(&Config) -> usize,
    holds: fn(usize) -> bool,
}

const RULES: &[Rule] = &[
    Rule {
        key: "mrf.banks",
        allowed: "2, 4, 8, 16 or 32",
        value: |c| c.mrf.banks,
        holds: |n| n.is_power_of_two() && (2..=32).contains(&n),
    },
    Rule {
        key: "mrf.collectors",
        allowed: "4, 8 or 16",
        value: |c| c.mrf.collectors,
        holds: |n| n.is_power_of_two() && (4..=16).contains(&n),
    },
    Rule { key: "mrf.issue_ports", allowed: "1 or 2", value: |c| c.mrf.issue_ports, holds: |n| (1..=2).contains(&n) },
    Rule {
        key: "mrf.kilobytes",
        allowed: "a power of two from 8 to 512",
        value: |c| c.mrf.kilobytes,
        holds: |n| n.is_power_of_two() && (8..=512).contains(&n),
    },
    Rule {
        key: "mrf.tag_bits",
        allowed: "a number from 1 to 64",
        value: |c| c.mrf.tag_bits,
        holds: |n| (1..=64).contains(&n),
    },
    Rule {
        key: "sm.warps",
        allowed: "an even number from 8 to 48",
        value: |c| c.sm.warps,
        holds: |n| n.is_multiple_of(2) && (8..=48).contains(&n),
    },
    Rule {
        key: "sm.code_words",
        allowed: "a power of two from 64 to 65536",
        value: |c| c.sm.code_words,
        holds: |n| n.is_power_of_two() && (64..=65536).contains(&n),
    },
    Rule {
        key: "sm.const_kilobytes",
        allowed: "a number from 4 to 68",
        value: |c| c.sm.const_kilobytes,
        holds: |n| (4..=68).contains(&n),
    },
    Rule {
        key: "sm.shared_kilobytes",
        allowed: "a power of two from 4 to 64",
        value: |c| c.sm.shared_kilobytes,
        holds: |n| n.is_power_of_two() && (4..=64).contains(&n),
    },
    Rule {
        key: "sm.line_rows",
        allowed: "a power of two from 4 to 128",
        value: |c| c.sm.line_rows,
        holds: |n| n.is_power_of_two() && (4..=128).contains(&n),
    },
    Rule {
        key: "sm.alu_latency",
        allowed: "a number from 2 to 16",
        value: |c| c.sm.alu_latency,
        holds: |n| (2..=16).contains(&n),
    },
    Rule {
        key: "sm.shared_latency",
        allowed: "a number from 4 to 32",
        value: |c| c.sm.shared_latency,
        holds: |n| (4..=32).contains(&n),
    },
    Rule {
        key: "sm.sfu_latency",
        allowed: "a number from 8 to 32",
        value: |c| c.sm.sfu_latency,
        holds: |n| (8..=32).contains(&n),
    },
    Rule {
        key: "sm.shared_bandwidth",
        allowed: "32, 64 or 128 (bytes a cycle)",
        value: |c| c.sm.shared_bandwidth,
        holds: |n| matches!(n, 32 | 64 | 128),
    },
    Rule {
        key: "sm.patience",
        allowed: "a number from 0 to 4095 (instructions)",
        value: |c| c.sm.patience,
        holds: |n| n <= 4095,
    },
    Rule { key: "rfc.entries", allowed: "a number from 0 to 16", value: |c| c.rfc.entries, holds: |n| n <= 16 },
    Rule {
        key: "orf.entries",
        allowed: "a number from 0 to 8",
        value: |c| c.orf.entries,
        holds: |n| n <= MAX_ORF_ENTRIES,
    },
    Rule {
        key: "hrf.buffer_entries",
        allowed: "0, or a number from 4 to 64",
        value: |c| c.hrf.buffer_entries,
        holds: |n| n == 0 || (4..=64).contains(&n),
    },
    Rule {
        key: "hrf.load_entries",
        allowed: "a power of two from 2 to 16",
        value: |c| c.hrf.load_entries,
        holds: |n| n.is_power_of_two() && (2..=16).contains(&n),
    },
    Rule {
        key: "hrf.write_latency",
        allowed: "a number from 1 to 15 (cycles)",
        value: |c| c.hrf.write_latency,
        holds: |n| (1..=15).contains(&n),
    },
    Rule {
        key: "hrf.read_latency",
        allowed: "a number from 1 to 4 (cycles)",
        value: |c| c.hrf.read_latency,
        holds: |n| (1..=4).contains(&n),
    },
    Rule {
        key: "hrf.powered_entries",
        allowed: "a multiple of 4 from 4 to 60",
        value: |c| c.hrf.powered_entries,
        holds: |n| n.is_multiple_of(4) && (4..=60).contains(&n),
    },
    Rule {
        key: "hrf.wake_cycles",
        allowed: "a number from 1 to 15 (cycles)",
        value: |c| c.hrf.wake_cycles,
        holds: |n| (1..=15).contains(&n),
    },
    Rule {
        key: "hrf.sleep_cycles",
        allowed: "a number from 0 to 7 (cycles)",
        value: |c| c.hrf.sleep_cycles,
        holds: |n| n <= 7,
    },
    Rule {
        key: "memory.latency",
        allowed: "a number from 1 to 10000 (cycles)",
        value: |c| c.memory.latency,
        holds: |n| (1..=10000).contains(&n),
    },
    Rule {
        key: "memory.bandwidth",
        allowed: "a power of two from 1 to 128 (bytes a cycle)",
        value: |c| c.memory.bandwidth,
        holds: |n| n.is_power_of_two() && (1..=128).contains(&n),
    },
];

/// What may be said about a member in view of the others.
struct Relation {
    key: &'static str,
    allowed: &'static str,
    holds: fn(&Config) -> bool,
}

const RELATIONS: &[Relation] = &[
    Relation {
        key: "sm.active_warps",
        allowed: "0, or an even number from 2 to sm.warps",
        holds: |c| c.sm.active_warps.is_multiple_of(2) && c.sm.active_warps <= c.sm.warps,
    },
    Relation {
        key: "rfc.entries",
        allowed: "0 where sm.active_warps is 0",
        holds: |c| c.rfc.entries == 0 || c.sm.active_warps != 0,
    },
    Relation {
        key: "orf.entries",
        allowed: "0 where sm.active_warps is 0",
        holds: |c| c.orf.entries == 0 || c.sm.active_warps != 0,
    },
    Relation {
        key: "orf.entries",
        allowed: "0 where rfc.entries is not 0: the two stand in one place",
        holds: |c| c.orf.entries == 0 || c.rfc.entries == 0,
    },
    Relation {
        key: "orf.entries",
        allowed: "a number from 1 to 8 where lrf.banks is not none",
        holds: |c| c.orf.entries != 0 || c.lrf.banks == LastResultFile::None,
    },
    Relation {
        key: "rfc.entries",
        allowed: "a number from 1 to 16 where rfc.lrf or rfc.reads is true",
        holds: |c| c.rfc.entries != 0 || !(c.rfc.lrf || c.rfc.reads),
    },
    Relation {
        key: "sm.stay",
        allowed: "false where rfc.lrf is true: shared units read what the LRF had only behind a mark, and there it has to be written back",
        holds: |c| !(c.sm.stay && c.rfc.lrf),
    },
    Relation {
        key: "sm.active_warps",
        allowed: "2 where sm.alternate is true: a slot for even and one for odd warps",
        holds: |c| !c.sm.alternate || c.sm.active_warps == 2,
    },
    Relation {
        key: "mrf.issue_ports",
        allowed: "1 where sm.alternate or hrf.stt_ram is true: one warp is active at a time",
        holds: |c| c.mrf.issue_ports == 1 || !(c.sm.alternate || c.hrf.stt_ram),
    },
    Relation {
        key: "sm.active_warps",
        allowed: "with sm.stay false where sm.alternate is true: warps take turns",
        holds: |c| !(c.sm.alternate && c.sm.stay),
    },
    Relation {
        key: "mrf.banks",
        allowed: "2 where hrf.stt_ram is true: a bank for even and one for odd warps",
        holds: |c| !c.hrf.stt_ram || c.mrf.banks == 2,
    },
    Relation {
        key: "rfc.entries",
        allowed: "0 where hrf.stt_ram is true",
        holds: |c| !c.hrf.stt_ram || c.rfc.entries == 0,
    },
    Relation {
        key: "hrf.buffer_entries",
        allowed: "0 where sm.alternate is false: buffers need a scheduler under which even and odd warps take turns",
        holds: |c| !c.hrf.stt_ram || c.hrf.buffer_entries == 0 || c.sm.alternate,
    },
    Relation {
        key: "orf.entries",
        allowed: "0 where hrf.stt_ram or sm.alternate is true",
        holds: |c| c.orf.entries == 0 || !(c.hrf.stt_ram || c.sm.alternate),
    },
    Relation {
        key: "steal.present",
        allowed: "false where mrf.ports is 1r1w: what is stolen is the one port of a bank (mrf.ports=1rw)",
        holds: |c| !c.steal.present || c.mrf.ports == BankPorts::Shared,
    },
    Relation {
        key: "steal.present",
        allowed: "false where there is a register file cache, an ORF or a hybrid file: all stand in one place \
                  (rfc.entries=0, orf.entries=0, hrf.stt_ram=false)",
        holds: |c| !c.steal.present || c.rfc.entries == 0 && c.orf.entries == 0 && !c.hrf.stt_ram,
    },
    Relation {
        key: "steal.present",
        allowed: "false where sm.alternate is true: that scheduler has one warp, and no candidate (sm.alternate=false)",
        holds: |c| !c.steal.present || !c.sm.alternate,
    },
];

impl Default for Config {
    fn default() -> Self {
        PRESETS[0].config
    }
}

impl Config {
    /// Puts a configuration together: where it starts, then settings (`key=value`) in order.
    ///
    /// # Errors
    /// Every kind of [`ConfigError`].
    pub fn load(start: Start<'_>, settings: &[impl AsRef<str>]) -> Result<Self, ConfigError> {
        let mut draft = match start {
            Start::Preset(name) => Draft::from_preset(name)?,
            Start::File(path) => Draft::from_file(path)?,
        };
        for setting in settings {
            draft.set(setting.as_ref())?;
        }
        draft.validated()
    }

    /// The shape of the main register file.
    pub fn shape(&self) -> MrfShape {
        let MrfConfig { banks, ports, collectors, issue_ports, kilobytes, tag_bits, read_order: _ } = self.mrf;
        MrfShape {
            banks,
            dual_port: ports == BankPorts::Separate,
            collectors,
            issue_ports,
            depth: kilobytes * REGISTERS_PER_KILOBYTE / banks,
            tag_w: tag_bits as u32,
        }
    }

    /// The shape of the SM.
    pub fn sm_shape(&self) -> SmShape {
        SmShape::new(self)
    }

    /// What `cfg_i` of the main register file is tied to.
    pub fn straps(&self) -> u8 {
        match self.mrf.read_order {
            ReadOrder::Oldest => 0,
            ReadOrder::RoundRobin => 1,
        }
    }

    /// What differs from the default preset, as settings that [`Config::load`] takes.
    pub fn settings(&self) -> Vec<String> {
        let (mine, default) = (self.flat(), Self::default().flat());
        mine.into_iter().filter(|(key, value)| default[key] != *value).map(|(k, v)| format!("{k}={v}")).collect()
    }

    /// Keys in dotted form, and their values.
    fn flat(&self) -> BTreeMap<String, String> {
        let table = toml::Table::try_from(self).expect("numbers and names are TOML");
        let parts = table.into_iter().flat_map(|(part, members)| {
            let members = members.as_table().cloned().expect("each part of a configuration has members");
            members.into_iter().map(move |(key, value)| (format!("{part}.{key}"), value))
        });
        parts.map(|(key, value)| (key, value.as_str().map_or_else(|| value.to_string(), str::to_owned))).collect()
    }

    /// The whole configuration as a file that [`Config::load`] reads.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("numbers and names are TOML")
    }
}

/// A configuration in the making.
struct Draft {
    config: Config,
    /// Where the value of a key came from, unless from the preset.
    origins: BTreeMap<&'static str, String>,
    preset: &'static str,
}

/// What a file or a setting says: any part of a configuration.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Layer {
    base: Option<Spanned<String>>,
    mrf: Option<MrfLayer>,
    sm: Option<SmLayer>,
    rfc: Option<RfcLayer>,
    hrf: Option<HrfLayer>,
    orf: Option<OrfLayer>,
    lrf: Option<LrfLayer>,
    steal: Option<StealLayer>,
    memory: Option<MemoryLayer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MrfLayer {
    banks: Option<Spanned<usize>>,
    ports: Option<BankPorts>,
    collectors: Option<Spanned<usize>>,
    issue_ports: Option<Spanned<usize>>,
    kilobytes: Option<Spanned<usize>>,
    tag_bits: Option<Spanned<usize>>,
    read_order: Option<ReadOrder>,
}

impl Draft {
    fn from_preset(name: &str) -> Result<Self, ConfigError> {
        let preset = preset(name)?;
        Ok(Self { config: preset.config, origins: BTreeMap::new(), preset: preset.name })
    }

    fn from_file(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| ConfigError::Unreadable { path: path.into(), message: e.to_string() })?;
        let origin = |span: Range<usize>| {
            let (line, column) = position(&text, span.start);
            format!("{}:{line}:{column}", path.display())
        };
        let layer: Layer = toml::from_str(&text).map_err(|e| {
            let span = e.span().unwrap_or(0..0);
            let (line, _) = position(&text, span.start);
            let quoted = text.lines().nth(line - 1).unwrap_or_default().trim().to_owned();
            ConfigError::Malformed { origin: origin(span), text: quoted, message: said(&e) }
        })?;
        let mut draft = match &layer.base {
            None => Self::from_preset(PRESETS[0].name)?,
            Some(base) => Self::from_preset(base.get_ref()).map_err(|e| ConfigError::Malformed {
                origin: origin(base.span()),
                text: format!("base = \"{}\"", base.get_ref()),
                message: e.to_string(),
            })?,
        };
        draft.apply(layer, origin);
        Ok(draft)
    }

    fn set(&mut self, text: &str) -> Result<(), ConfigError> {
        let not_a_setting = || ConfigError::NotASetting { text: text.into() };
        let (key, value) = text.split_once('=').ok_or_else(not_a_setting)?;
        let (key, value) = (key.trim(), value.trim());
        // Keys in dotted form only: anything else would be TOML inside TOML.
        let plain =
            |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if value.is_empty() || !key.split('.').all(plain) || key == "base" {
            return Err(not_a_setting());
        }
        // A name needs no quotes on the command line.
        let quoted = toml::Value::String(value.into());
        let value =
            if value.parse::<i64>().is_ok() || matches!(value, "true" | "false") || value.starts_with(['"', '\'']) {
                value.into()
            } else {
                quoted.to_string()
            };
        let layer: Layer = toml::from_str(&format!("{key} = {value}")).map_err(|e| ConfigError::Malformed {
            origin: "--set".into(),
            text: text.into(),
            message: said(&e),
        })?;
        self.apply(layer, |_| "--set".into());
        Ok(())
    }

    /// Takes over what a layer says; `origin` puts a place in it in words.
    fn apply(&mut self, layer: Layer, origin: impl Fn(Range<usize>) -> String) {
        if let Some(from) = layer.steal {
            if let Some(present) = &from.present {
                self.origins.insert("steal.present", origin(present.span()));
            }
            from.apply(&mut self.config.steal);
        }
        let mut number = |key, value: Option<Spanned<usize>>, to: &mut usize| {
            if let Some(value) = value {
                self.origins.insert(key, origin(value.span()));
                *to = value.into_inner();
            }
        };
        if let Some(from) = layer.mrf {
            let to = &mut self.config.mrf;
            number("mrf.banks", from.banks, &mut to.banks);
            number("mrf.collectors", from.collectors, &mut to.collectors);
            number("mrf.issue_ports", from.issue_ports, &mut to.issue_ports);
            number("mrf.kilobytes", from.kilobytes, &mut to.kilobytes);
            number("mrf.tag_bits", from.tag_bits, &mut to.tag_bits);
            to.ports = from.ports.unwrap_or(to.ports);
            to.read_order = from.read_order.unwrap_or(to.read_order);
        }
        if let Some(from) = layer.sm {
            from.apply(&mut self.config.sm, &mut number);
        }
        if let Some(from) = layer.rfc {
            from.apply(&mut self.config.rfc, &mut number);
        }
        if let Some(from) = layer.orf {
            from.apply(&mut self.config.orf, &mut number);
        }
        if let Some(from) = layer.lrf {
            from.apply(&mut self.config.lrf);
        }
        if let Some(from) = layer.hrf {
            from.apply(&mut self.config.hrf, &mut number);
        }
        if let Some(from) = layer.memory {
            from.apply(&mut self.config.memory, &mut number);
        }
    }

    fn validated(self) -> Result<Config, ConfigError> {
        let refused = |key: &'static str, allowed| {
            let origin = self.origins.get(key).cloned().unwrap_or_else(|| format!("preset {}", self.preset));
            let value = self.config.flat().remove(key).unwrap_or_default();
            Err(ConfigError::NotAllowed { origin, key, value, allowed })
        };
        for rule in RULES {
            if !(rule.holds)((rule.value)(&self.config)) {
                return refused(rule.key, rule.allowed);
            }
        }
        for relation in RELATIONS {
            if !(relation.holds)(&self.config) {
                return refused(relation.key, relation.allowed);
            }
        }
        Ok(self.config)
    }
}

/// The message of a TOML error, with the names of Rust's types in words.
fn said(error: &toml::de::Error) -> String {
    error.message().replace("expected usize", "expected a number").replace("expected u32", "expected a number")
}

/// Line and column, from 1, of a byte of a text.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte.min(text.len())];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests;
