//! Parameters of random programs: weights, chances, sizes, quotas. Themes have predefined ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gpurf_blocks::config::{Config, ConfigError, DEFAULT_PRESET, MemoryConfig, Start};
use gpurf_lockstep::Rng;
use serde::{Deserialize, Serialize};

/// A group of named weights; one member of the group is chosen at a time.
macro_rules! mix {
    ($(#[$doc:meta])* $name:ident of $choice:ident { $($(#[$field_doc:meta])* $field:ident $variant:ident = $default:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name { $($(#[$field_doc])* pub $field: u32,)+ }

        /// One member of the group.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $choice { $($(#[$field_doc])* $variant,)+ }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl $name {
            /// All weights are 0.
            pub const NONE: Self = Self { $($field: 0,)+ };

            /// Chooses one of those that `allowed` allows, by weight; `None` if all their weights are 0.
            pub fn choose(&self, rng: &mut Rng, allowed: impl Fn($choice) -> bool) -> Option<$choice> {
                let all = [$(($choice::$variant, u64::from(self.$field)),)+];
                let total: u64 = all.iter().filter(|(choice, _)| allowed(*choice)).map(|(_, weight)| weight).sum();
                let mut at = if total == 0 { return None } else { rng.below(total) };
                for (choice, weight) in all.into_iter().filter(|(choice, _)| allowed(*choice)) {
                    if at < weight {
                        return Some(choice);
                    }
                    at -= weight;
                }
                None
            }
        }
    };
}

mix! {
    /// Kinds of statements.
    Mix of Kind {
        /// Integer operations.
        integer Integer = 300,
        /// Single precision operations, where the SM has a unit for them.
        float Float = 120,
        /// Shuffles, votes, ballots, predicate logic.
        lanes Lanes = 60,
        /// Special registers.
        special Special = 70,
        /// Fresh values: constants, and words of the inputs.
        fresh Fresh = 30,
        /// Accesses to memory.
        access Access = 240,
        /// Texture fetches.
        texture Texture = 0,
        /// Branches.
        branch Branch = 50,
        /// Loops.
        r#loop Loop = 16,
        /// Branches that leave a loop, or continue with its next round.
        leave Leave = 20,
        /// Ends of lanes.
        exit Exit = 4,
        /// Ends of whole warps.
        end_warp EndWarp = 40,
        /// Barriers of all warps.
        barrier Barrier = 25,
        /// Barriers of some warps.
        meeting Meeting = 8,
        /// WARPSYNC, MEMBAR, NOP.
        sync Sync = 16,
        /// Instructions that are jumped over.
        skip Skip = 5,
        /// Warps that wait for a flag of another one.
        spin Spin = 2,
        /// Nested branches, each of which splits off one lane.
        nest Nest = 1,
    }
}

mix! {
    /// Memory windows that accesses go to.
    Windows of WindowChoice {
        /// The warp's own part of global memory.
        own Own = 30,
        /// Global memory that no program writes.
        input Input = 12,
        /// Floats of all kinds, in global memory that no program writes.
        floats Floats = 6,
        /// Local memory.
        local Local = 40,
        /// The warp's own part of shared memory.
        shared_own SharedOwn = 25,
        /// Shared memory that all warps have written before the last barrier.
        shared_other SharedOther = 25,
        /// Constants.
        constant Constant = 20,
        /// Words of global memory for atomic operations of all blocks.
        sums Sums = 26,
        /// Words of shared memory for atomic operations of all warps.
        shared_sums SharedSums = 28,
    }
}

mix! {
    /// Address patterns of the lanes of an access.
    Patterns of PatternChoice {
        /// Consecutive addresses.
        unit Unit = 30,
        /// A stride of 2 to 33 words.
        strided Strided = 30,
        /// A line of memory for each lane, which in shared memory is the same bank for all.
        apart Apart = 12,
        /// Consecutive addresses, descending.
        reversed Reversed = 8,
        /// Consecutive addresses, with lanes exchanged by an exclusive or of their numbers.
        exchanged Exchanged = 8,
        /// Groups of lanes at one address.
        grouped Grouped = 10,
        /// All lanes at one address.
        uniform Uniform = 12,
        /// Any addresses, computed from a register.
        data Data = 25,
    }
}

/// Named chances, in a thousand.
macro_rules! chances {
    ($($(#[$doc:meta])* $field:ident = $default:literal,)+) => {
        /// Chances in a thousand.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Chances { $($(#[$doc])* pub $field: u32,)+ }

        impl Default for Chances {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl Chances {
            fn all(&self) -> Vec<(&'static str, u32)> {
                vec![$((stringify!($field), self.$field),)+]
            }
        }
    };
}

chances! {
    /// A source is a register that has been written a few instructions before.
    raw = 350,
    /// A destination is a register that has been read a few instructions before.
    war = 250,
    /// A destination is a register that has been written a few instructions before.
    waw = 120,
    /// Of these, it is the register that was written or read last.
    near = 400,
    /// A source is in the bank of another source.
    same_bank = 300,
    /// A source is the same register as another source.
    same_register = 60,
    /// A source or a destination is `RZ`.
    zero = 40,
    /// Source b is a constant, if the operation allows one.
    constant = 300,
    /// An instruction has a guard.
    guard = 250,
    /// Of these, a guard that is false in all lanes.
    guard_never = 40,
    /// The predicate result of an operation that also writes a register is kept.
    predicate = 350,
    /// A predicate source is a predicate, not constantly true or false.
    carry = 400,
    /// An access that could be a load or a store is a store.
    store = 450,
    /// A store is an atomic operation.
    atomic = 200,
    /// An atomic operation is a compare and swap.
    cas = 150,
    /// An atomic operation returns its result, in programs that allow it.
    result = 700,
    /// A program in which the order of atomic operations may affect results.
    ordered = 600,
    /// A program that may read special registers with the time.
    time = 300,
    /// An access is of less than a word.
    narrow = 420,
    /// An access of words is a vector.
    vector = 200,
    /// An access has a generic address.
    generic = 200,
    /// A generic access goes to two windows.
    mixed = 350,
    /// A load from two windows may go to a fast memory (shared, constant) and to a slow one (global, local). Lanes of one memory wait for results of
    /// the other.
    two_speeds = 0,
    /// The upper word of an address is in a register.
    wide = 300,
    /// A program whose buffers lie across 2 GiB or differ only in the top address bit; the last one ends just below 4 GiB.
    high = 0,
    /// A program whose blocks all lie along y, or all along z.
    tall = 0,
    /// The number of a source or destination register differs in one bit from that of a register of the previous instructions.
    alias = 0,
    /// An access has an offset.
    offset = 400,
    /// The lanes of a warp may disagree on a condition.
    divergent = 650,
    /// A branch has two sides.
    otherwise = 550,
    /// A program in which whole warps may end early.
    warps_end = 500,
    /// The last warp of a block is not full.
    partial = 350,
    /// A program with random control fields.
    control = 300,
    /// A program whose last branch has no reconvergence point: both of its paths end.
    split_end = 200,
    /// A register or a predicate is initially zero in all lanes. The compiler gives this value to those that a kernel may read before it writes them.
    unwritten = 0,
    /// A load bypasses the data cache.
    bypass = 0,
    /// An access is a store of all lanes to all bytes of a line.
    whole = 0,
    /// An access to global memory is a series of loads into many registers.
    burst = 0,
    /// A statement that ends lanes is a branch on both sides of which all lanes end.
    all_end = 0,
    /// A launch of as many warps as the SM can hold, if that many of these sizes fit.
    full = 0,
    /// A section begins with instructions of all kinds whose results come at the same time, more than the result bus takes.
    crowd = 0,
    /// A statement of a section is preceded by accesses to one register that come late, or sooner than a compiler can predict.
    rest = 0,
    /// A program in which the words of warps and those of atomic operations share lines of global memory.
    interleaved = 0,
}

/// A range, both ends included.
pub type Range = [u32; 2];

/// Named sizes: the default range, and the bounds of both ends.
macro_rules! sizes {
    ($($(#[$doc:meta])* $field:ident = $default:expr, $least:literal to $most:literal;)+) => {
        /// Sizes: each is drawn from its range for every program.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Sizes { $($(#[$doc])* pub $field: Range,)+ }

        impl Default for Sizes {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl Sizes {
            /// Name, range, and the bounds of both ends.
            fn all(&self) -> Vec<(&'static str, Range, u32, u32)> {
                vec![$((stringify!($field), self.$field, $least, $most),)+]
            }
        }
    };
}

sizes! {
    /// Warps of a block.
    warps = [1, 6], 1 to 32;
    /// Blocks of the grid.
    blocks = [2, 6], 1 to 4096;
    /// Registers of a thread; at least 24.
    registers = [24, 48], 24 to 255;
    /// Words of a warp's part of a half of shared memory; a power of two.
    shared_words = [32, 128], 32 to 1024;
    /// Words of a warp's part of global memory; a power of two.
    own_words = [64, 1024], 32 to 4096;
    /// Words of local memory of a thread; a power of two.
    local_words = [4, 16], 4 to 1024;
    /// Statements of a section. A program gets another section until its quotas are met.
    section = [20, 40], 1 to 1000;
    /// Statements of a side of a branch, or of a loop; 0: it is empty.
    inner = [0, 6], 0 to 100;
    /// Rounds of a loop.
    trips = [1, 5], 1 to 64;
    /// Most branches and loops around a statement.
    depth = [2, 4], 1 to 8;
    /// Depth of nested branches (`mix.nest`), at most 31.
    nest = [3, 10], 1 to 31;
}

/// The memory with which programs run, unless the configuration sets its own; 0: the configuration's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Surroundings {
    /// `memory.latency`.
    pub latency: usize,
    /// `memory.bandwidth`.
    pub bandwidth: usize,
}

/// Parameters of random programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// Kinds of statements.
    pub mix: Mix,
    /// Memory windows that accesses go to.
    pub windows: Windows,
    /// Address patterns of their lanes.
    pub patterns: Patterns,
    /// Chances in a thousand.
    pub chances: Chances,
    /// Sizes.
    pub sizes: Sizes,
    /// Global memory.
    pub memory: Surroundings,
    /// How often, at least, a program has to reach points of the coverage.
    pub quotas: BTreeMap<String, u64>,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            mix: Mix::default(),
            windows: Windows::default(),
            patterns: Patterns::default(),
            chances: Chances::default(),
            sizes: Sizes::default(),
            memory: Surroundings::default(),
            quotas: [("warp instruction".to_owned(), 2000)].into(),
        }
    }
}

/// Errors of loading weights.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// The name is neither a theme nor a file.
    #[error("there is no theme {name}, and no file of that name; the themes are {}", super::themes::names())]
    Unknown {
        /// The name.
        name: String,
    },
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error.
        source: std::io::Error,
    },
    /// The file is not valid TOML, or has unknown keys or values of a wrong type.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line.
        line: usize,
        /// Column.
        column: usize,
        /// The message of the parser.
        message: String,
    },
    /// A value is not allowed.
    #[error("{}: {message}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The value, and the values that are allowed.
        message: String,
    },
}

/// A file of weights: the differences from a theme.
#[derive(Deserialize)]
struct File {
    theme: Option<String>,
    #[serde(flatten)]
    _weights: toml::Table,
}

impl Weights {
    /// The configuration in which programs with these weights run: `memory` applies if the configuration has the default memory.
    pub fn surrounded(&self, config: &Config) -> Config {
        let mut surrounded = *config;
        let (memory, default) = (&mut surrounded.memory, MemoryConfig::DEFAULT);
        if config.memory == default {
            let or = |own: usize, default: usize| if own == 0 { default } else { own };
            memory.latency = or(self.memory.latency, default.latency);
            memory.bandwidth = or(self.memory.bandwidth, default.bandwidth);
        }
        surrounded
    }

    /// The weights of a theme, or of a file.
    ///
    /// # Errors
    /// When there is neither, or the file cannot be used.
    pub fn load(name: &str) -> Result<Self, WeightsError> {
        if let Some(theme) = super::themes::find(name) {
            return Ok(theme.weights());
        }
        let path = Path::new(name);
        if !path.is_file() {
            return Err(WeightsError::Unknown { name: name.into() });
        }
        let text =
            gpurf_launch::read_text(path).map_err(|source| WeightsError::Unreadable { path: path.into(), source })?;
        Self::parse(path, &text)
    }

    /// Reads the text of a file: `theme` names the theme that it modifies (`mixed` if it is left out), all other keys are the differences from the
    /// theme.
    ///
    /// # Errors
    /// The text is malformed, names no theme, or has a value that is not allowed; the error says where.
    pub fn parse(path: &Path, text: &str) -> Result<Self, WeightsError> {
        let malformed = |error: toml::de::Error| {
            let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or("");
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            WeightsError::Malformed {
                path: path.into(),
                line: before.matches('\n').count() + 1,
                column: before[line_start..].chars().count() + 1,
                message: error.message().trim().to_owned(),
            }
        };
        let value = |message: String| WeightsError::Value { path: path.into(), message };
        let file: File = toml::from_str(text).map_err(malformed)?;
        let name = file.theme.as_deref().unwrap_or(super::themes::DEFAULT);
        let theme = super::themes::find(name)
            .ok_or_else(|| value(format!("there is no theme {name}; the themes are {}", super::themes::names())))?;
        // The file is parsed alone first, so that messages have the position.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, default)]
        #[derive(Default)]
        #[allow(dead_code, reason = "only its keys and types are looked at")]
        struct Strict {
            theme: Option<String>,
            mix: Mix,
            windows: Windows,
            patterns: Patterns,
            chances: Chances,
            sizes: Sizes,
            memory: Surroundings,
            quotas: BTreeMap<String, u64>,
        }
        toml::from_str::<Strict>(text).map_err(malformed)?;
        let mut base = toml::Table::try_from(theme.weights()).expect("weights are tables of numbers");
        let mut changes: toml::Table = toml::from_str(text).map_err(malformed)?;
        changes.remove("theme");
        // Checked before the theme's values are merged in: a theme has 0 for values that it does not set.
        if let Some(toml::Value::Table(memory)) = changes.get("memory") {
            check_memory(memory).map_err(value)?;
        }
        for (group, values) in changes {
            if let (Some(toml::Value::Table(group)), toml::Value::Table(values)) = (base.get_mut(&group), values) {
                group.extend(values);
            }
        }
        let weights: Self = base.try_into().map_err(malformed)?;
        weights.check().map_err(value)?;
        Ok(weights)
    }

    /// Checks that every value is allowed.
    ///
    /// # Errors
    /// The first value that is not, and the values that are allowed.
    pub fn check(&self) -> Result<(), String> {
        if let Some((name, chance)) = self.chances.all().into_iter().find(|(_, chance)| *chance > 1000) {
            return Err(format!("chances.{name} = {chance}: it is at most 1000"));
        }
        for (name, [from, to], least, most) in self.sizes.all() {
            if from > to || from < least || to > most {
                let message =
                    format!("sizes.{name} = [{from}, {to}]: both are from {least} to {most}, the first is not");
                return Err(format!("{message} above the second"));
            }
        }
        if let Some(name) = self.quotas.keys().find(|name| !super::coverage::POINTS.contains(&name.as_str())) {
            let names = "`coverage` in the output of `gpurf cosim --programs 1 --json` has their names";
            return Err(format!("quotas: there is no point `{name}` ({names})"));
        }
        Ok(())
    }
}

/// Checks a file's `[memory]`: the same values are allowed as for the configuration's keys of the same names.
fn check_memory(memory: &toml::Table) -> Result<(), String> {
    let settings: Vec<String> = memory.iter().map(|(key, value)| format!("memory.{key}={value}")).collect();
    Config::load(Start::Preset(DEFAULT_PRESET), &settings).map(drop).map_err(|error| match error {
        ConfigError::NotAllowed { key, value, allowed, .. } => format!("{key} = {value}: it has to be {allowed}"),
        other => other.to_string(),
    })
}
