//! The one configuration of a run.
//!
//! A configuration has three kinds of member. *Shape* members (sizes, kinds of ports) are parameters of RTL and model: another value
//! is another build. *Policy* members are straps on `cfg_i`, constant during a run: one build serves them all. *Code* members are
//! for the compiler of the kernels that run; RTL and model do not know them.
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
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

mod compiler;
mod presets;
mod section;
mod sections;
mod sm;

pub use compiler::{CompilerConfig, RegisterOrder, Relssp, Schedule, ShareLayout, Textures, WideAccesses};
pub use presets::{ALTERNATING, BANKS_8, BANKS_16, KEPLER, MRF_1R1W, TWO_LEVEL};
pub use section::Rule;
pub(crate) use section::section;
pub use sections::*;
pub use sm::{MemoryConfig, Scheduler, SmConfig};

use crate::cache::config as cache;
use crate::power::config as power;
use crate::share::config as share;
use crate::unified::config as unified;

pub use crate::mrf::config::{Allocation, BankPorts, MrfConfig, ReadOrder};

/// Warp registers in a kilobyte: a warp register has 32 lanes of 4 bytes.
pub(crate) const REGISTERS_PER_KILOBYTE: usize = 1024 / 128;

/// A configuration with a name.
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// What it sets.
    pub config: Config,
}

/// The largest file: far more than any that is written by hand. A device without an end is no file.
const MAX_FILE: u64 = 1 << 20;

/// The name of the default preset.
pub const DEFAULT_PRESET: &str = "baseline";

/// Every preset, design by design; the first one is the default. Those with power states, those of sharing those with a cache and those with unified memory come last.
pub fn presets() -> impl Iterator<Item = &'static Preset> {
    SELECTIONS
        .iter()
        .flat_map(|selection| selection.presets)
        .chain(power::PRESETS)
        .chain(share::PRESETS)
        .chain(cache::PRESETS)
        .chain(unified::PRESETS)
}

/// The preset of that name.
///
/// # Errors
/// [`ConfigError::NoPreset`] lists those there are.
pub fn preset(name: &str) -> Result<&'static Preset, ConfigError> {
    presets().find(|p| p.name == name).ok_or_else(|| ConfigError::NoPreset { name: name.into(), known: names() })
}

fn names() -> String {
    presets().map(|p| p.name).collect::<Vec<_>>().join(", ")
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
        allowed: String,
    },
}

impl Default for Config {
    fn default() -> Self {
        Self::BASELINE
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

    /// What `cfg_i` of the main register file is tied to.
    pub fn straps(&self) -> u8 {
        match self.mrf.read_order {
            ReadOrder::Oldest => 0,
            ReadOrder::RoundRobin => 1,
        }
    }

    /// What differs from the default preset, as settings that [`Config::load`] takes.
    pub fn settings(&self) -> Vec<String> {
        static DEFAULT: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| Config::default().flat());
        self.flat().into_iter().filter(|(key, value)| DEFAULT[key] != *value).map(|(k, v)| format!("{k}={v}")).collect()
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

impl Draft {
    fn from_preset(name: &str) -> Result<Self, ConfigError> {
        let preset = preset(name)?;
        Ok(Self { config: preset.config, origins: BTreeMap::new(), preset: preset.name })
    }

    fn from_file(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |message: String| ConfigError::Unreadable { path: path.into(), message };
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_string(&mut text));
        if read.map_err(|e| unreadable(e.to_string()))? as u64 > MAX_FILE {
            return Err(unreadable(format!("a configuration has at most {MAX_FILE} bytes")));
        }
        let origin = |span: Range<usize>| {
            let (line, column) = position(&text, span.start);
            format!("{}:{line}:{column}", path.display())
        };
        let layer: Layer = toml::from_str(&text).map_err(|e| {
            let span = e.span().unwrap_or(0..0);
            let (line, _) = position(&text, span.start);
            let quoted = text.lines().nth(line - 1).unwrap_or_default().trim().to_owned();
            let message = said(&e, &quoted);
            ConfigError::Malformed { origin: origin(span), text: quoted, message }
        })?;
        let mut draft = match &layer.base {
            None => Self::from_preset(DEFAULT_PRESET)?,
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
            message: said(&e, text),
        })?;
        self.apply(layer, |_| "--set".into());
        Ok(())
    }

    /// Takes over what a layer says; `origin` puts a place in it in words.
    fn apply(&mut self, layer: Layer, origin: impl Fn(Range<usize>) -> String) {
        let origins = &mut self.origins;
        layer.apply(&mut self.config, &mut |key, place| {
            origins.insert(key, origin(place));
        });
    }

    fn validated(self) -> Result<Config, ConfigError> {
        let config = &self.config;
        let refused = |key: &'static str, allowed: String| {
            let origin = self.origins.get(key).cloned().unwrap_or_else(|| format!("preset {}", self.preset));
            let value = config.flat().remove(key).unwrap_or_default();
            Err(ConfigError::NotAllowed { origin, key, value, allowed })
        };
        let members = MEMBER_RULES.iter().copied().flatten();
        let designs = SELECTIONS.iter().flat_map(|selection| selection.rules);
        let others = [sm::RULES, power::RULES, share::RULES, cache::RULES, unified::RULES].into_iter().flatten();
        if let Some(rule) = members.chain(others).chain(designs).find(|rule| !(rule.holds)(config)) {
            return refused(rule.key, rule.allowed.to_owned());
        }
        let mut selected = SELECTIONS.iter().filter(|selection| (selection.holds)(config));
        let first = selected.next();
        if let Some(other) = first.filter(|_| config.power.present && !power::has_states(config)) {
            return refused("power.present", power::no_states(other.key));
        }
        if let Some(other) = first.filter(|_| config.mrf.allocation == Allocation::Registers) {
            return refused("mrf.allocation", share::no_places(other.key));
        }
        if let Some(other) = first.filter(|_| config.unified.is_present() && !unified::serves_memory(config)) {
            return refused("unified.kilobytes", unified::no_memory(other.key));
        }
        if let (Some(first), Some(second)) = (first, selected.next()) {
            let none = Config::BASELINE.flat().remove(second.key).unwrap_or_default();
            let allowed = format!("{none}: {} selects another register file, and an SM has one", first.key);
            return refused(second.key, allowed);
        }
        Ok(self.config)
    }
}

/// The message of a TOML error in a line, with the names of Rust's types in words.
fn said(error: &toml::de::Error, line: &str) -> String {
    if let Some((section, _)) = line.strip_prefix("[[").and_then(|rest| rest.split_once("]]")) {
        return format!("[{section}] is one table, not a list");
    }
    let message = error.message();
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    if ["usize", "u64", "u32"].contains(&expected) {
        return format!("{}, expected a whole number, 0 or more", found.replace(" as i128", ""));
    }
    // The layer of a section is called like it.
    match expected.strip_prefix("struct ").and_then(|name| name.strip_suffix("Layer")) {
        Some(section) => {
            let section = section.to_lowercase();
            format!("{section} is a table, as in `[{section}]` or {section}.KEY = VALUE")
        }
        None => message.to_owned(),
    }
}

/// Line and column, from 1, of a byte of a text.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte.min(text.len())];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests;
