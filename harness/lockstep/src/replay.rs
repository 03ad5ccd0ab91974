//! Reproducers: files with the inputs of a failing run, which people can read and edit.

use std::collections::BTreeMap;
use std::path::Path;

use gpurf_blocks::config::Config;
use gpurf_blocks::{Declaration, Role};
use serde::{Deserialize, Serialize};

use crate::Records;

/// A run that fails, as a JSON file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reproducer {
    /// Version of this format.
    pub gpurf_reproducer: u32,
    /// The block.
    pub block: String,
    /// The configuration, as settings of `--set` that differ from the default preset.
    pub settings: Vec<String>,
    /// Seed of memories and of the state that reset does not set.
    pub seed: u64,
    /// RTL files that replaced the project's own: `MODULE=FILE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rtl: Vec<String>,
    /// For each cycle a map from input ports to values, without the values that are zero. Elements of arrays are named `port[i]`.
    pub cycles: Vec<BTreeMap<String, String>>,
}

/// The format version that is written and read.
const VERSION: u32 = 2;

/// Why a reproducer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReproducerError {
    /// It cannot be read.
    #[error("cannot read {file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is not JSON of this form.
    #[error("{file}:{line}:{column}: not a reproducer: {message}")]
    Parse {
        /// The file.
        file: String,
        /// Line.
        line: usize,
        /// Column.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// Another version.
    #[error("{file}: format {found}, this program reads format {VERSION}")]
    Version {
        /// The file.
        file: String,
        /// Its format.
        found: u32,
    },
    /// It has no inputs.
    #[error("{file} has no cycles: there is nothing to replay")]
    NoCycles {
        /// The file.
        file: String,
    },
    /// A cycle names something that is not an input.
    #[error("cycle {cycle}: the block has no input {port}")]
    Port {
        /// Cycle.
        cycle: usize,
        /// The name.
        port: String,
    },
    /// A value is not a number of the port's width.
    #[error("cycle {cycle}: {port} = {value:?} is not a hexadecimal number of {bits} bits")]
    Value {
        /// Cycle.
        cycle: usize,
        /// The port.
        port: String,
        /// Its value.
        value: String,
        /// Its width.
        bits: u32,
    },
}

impl Reproducer {
    /// Makes a reproducer from recorded inputs.
    pub fn new(declaration: &Declaration, config: &Config, seed: u64, rtl: Vec<String>, inputs: &Records) -> Self {
        let cycles = (0..inputs.len()).map(|c| describe(declaration, inputs.get(c))).collect();
        Self {
            gpurf_reproducer: VERSION,
            block: declaration.block.into(),
            settings: config.settings(),
            seed,
            rtl,
            cycles,
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read or is not a reproducer.
    pub fn read(path: &Path) -> Result<Self, ReproducerError> {
        let file = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|source| ReproducerError::Read { file: file.clone(), source })?;
        Self::parse(&text, &file)
    }

    /// Parses JSON; `file` is the name used in messages.
    ///
    /// # Errors
    /// When it is not a reproducer.
    pub fn parse(text: &str, file: &str) -> Result<Self, ReproducerError> {
        let read: Self = serde_json::from_str(text).map_err(|e| ReproducerError::Parse {
            file: file.to_owned(),
            line: e.line(),
            column: e.column(),
            message: e.to_string(),
        })?;
        let file = || file.to_owned();
        if read.gpurf_reproducer != VERSION {
            return Err(ReproducerError::Version { file: file(), found: read.gpurf_reproducer });
        }
        // Without cycles there is nothing to compare, and every replay would be equal.
        if read.cycles.is_empty() {
            return Err(ReproducerError::NoCycles { file: file() });
        }
        Ok(read)
    }

    /// The reproducer as JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("maps with string keys");
        text.push('\n');
        text
    }

    /// The inputs as records, for a block of this declaration.
    ///
    /// # Errors
    /// When a cycle names an unknown input or a value that does not fit it.
    pub fn inputs(&self, declaration: &Declaration) -> Result<Records, ReproducerError> {
        let mut records = Records::zeroed(declaration.input_bytes, self.cycles.len());
        for (cycle, ports) in self.cycles.iter().enumerate() {
            for (port, value) in ports {
                let wrong = || ReproducerError::Port { cycle, port: port.clone() };
                let (name, element) = match port.strip_suffix(']').and_then(|p| p.split_once('[')) {
                    Some((name, index)) => (name, index.parse::<usize>().map_err(|_| wrong())?),
                    None => (port.as_str(), 0),
                };
                let signal = declaration
                    .signal(name)
                    .filter(|s| s.role == Role::Input && element < s.field.count)
                    .ok_or_else(wrong)?;
                let field = &signal.field;
                let at = field.offset + element * field.elem_bytes;
                let bytes = parse(value, field.bits, field.elem_bytes).ok_or_else(|| ReproducerError::Value {
                    cycle,
                    port: port.clone(),
                    value: value.clone(),
                    bits: field.bits,
                })?;
                records.get_mut(cycle)[at..at + field.elem_bytes].copy_from_slice(&bytes);
            }
        }
        Ok(records)
    }
}

/// The inputs of a cycle that are not zero. They include payloads that are not valid: a failure may depend on such a payload, and shrinking clears those
/// on which it does not depend.
fn describe(declaration: &Declaration, inputs: &[u8]) -> BTreeMap<String, String> {
    let mut ports = BTreeMap::new();
    for signal in declaration.signals.iter().filter(|s| s.role == Role::Input) {
        for element in 0..signal.field.count {
            let bytes = signal.field.bytes(inputs, element);
            if bytes.iter().all(|&b| b == 0) {
                continue;
            }
            let name = signal.field.name;
            let port = if signal.field.array { format!("{name}[{element}]") } else { name.to_owned() };
            let digits: String = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
            let digits = digits.trim_start_matches('0');
            ports.insert(port, format!("0x{}", if digits.is_empty() { "0" } else { digits }));
        }
    }
    ports
}

/// The little-endian bytes of a hexadecimal number.
fn parse(text: &str, bits: u32, bytes: usize) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?;
    if digits.is_empty() || digits.len() > 2 * bytes || !digits.is_ascii() {
        return None;
    }
    let padded = format!("{digits:0>width$}", width = 2 * bytes);
    let mut value: Vec<u8> =
        (0..bytes).map(|i| u8::from_str_radix(&padded[2 * i..2 * i + 2], 16).ok()).collect::<Option<_>>()?;
    value.reverse();
    let excess = value.iter().enumerate().any(|(i, &b)| {
        let used = (bits as usize).saturating_sub(8 * i).min(8);
        u32::from(b) >> used != 0
    });
    (!excess).then_some(value)
}
