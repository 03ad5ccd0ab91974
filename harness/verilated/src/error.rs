//! Errors, as messages that tell a user what to do.

use std::path::PathBuf;

use crate::MemoryRequest;

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a model could not be built or loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A tool is not on the path.
    #[error("{tool} is missing; get it with: {install}")]
    MissingTool {
        /// The tool.
        tool: &'static str,
        /// The command that installs it.
        install: &'static str,
    },
    /// A tool is too old.
    #[error("{tool} {found} is too old: {needed} or newer is needed; get it with: {install}")]
    OldTool {
        /// The tool.
        tool: &'static str,
        /// Its version.
        found: String,
        /// The oldest version that works.
        needed: &'static str,
        /// The command that installs it.
        install: &'static str,
    },
    /// A source file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Source {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The RTL includes a file that the cache key does not cover.
    #[error(
        "{module} is read from {} too, which is no source and in no include folder: a change of it would not be noticed; \
         name its folder by +incdir+ in a file list (--rtl-list), and let its name end in one of {endings}",
        path.display()
    )]
    Included {
        /// Top module.
        module: String,
        /// The file.
        path: PathBuf,
        /// Endings of files that may be included.
        endings: String,
    },
    /// Verilator, Yosys or the C++ compiler failed.
    #[error("{tool} failed on {what}:\n{message}")]
    Build {
        /// The tool.
        tool: String,
        /// Top module.
        what: String,
        /// What the tool printed.
        message: String,
    },
    /// A feature that CXXRTL's models do not have.
    #[error("{what}: only Verilator's models have that; leave out --simulator cxxrtl")]
    OnlyVerilator {
        /// The requested feature.
        what: &'static str,
    },
    /// The ports of the RTL differ from those of the declaration.
    #[error("the ports of {module} are not those of the block:\n{}", lines(errors))]
    Ports {
        /// The module.
        module: String,
        /// Every difference.
        errors: Vec<PortError>,
    },
    /// The RTL lacks a memory that the harness has to fill.
    #[error(
        "{module} has no memory {} of {} words of {} bits{}; without it reads cannot be compared",
        expected.path, expected.words, expected.bits, found_instead(found)
    )]
    Memory {
        /// The module.
        module: String,
        /// The memory.
        expected: MemoryRequest,
        /// Number of words and width of the variable that has this name.
        found: Option<(usize, u32)>,
    },
    /// The cache folder cannot be used.
    #[error("cannot use the build cache at {}: {source}", path.display())]
    Cache {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The model cannot be loaded.
    #[error("cannot load the model {}: {source}", path.display())]
    Load {
        /// The shared object.
        path: PathBuf,
        /// Why.
        source: libloading::Error,
    },
}

fn found_instead(found: &Option<(usize, u32)>) -> String {
    found.map(|(words, bits)| format!(" (it is {words} words of {bits} bits)")).unwrap_or_default()
}

fn lines(errors: &[PortError]) -> String {
    errors.iter().map(|e| format!("  {e}")).collect::<Vec<_>>().join("\n")
}

/// A difference between the RTL's ports and the declaration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// The port is declared, but the RTL does not have it.
    #[error("port {name} is missing: expected {expected}")]
    Missing {
        /// The port.
        name: String,
        /// Direction, width and elements.
        expected: String,
    },
    /// The RTL has the port, but it is not declared.
    #[error("port {name} ({found}) is not a port of this block")]
    Unknown {
        /// The port.
        name: String,
        /// Direction, width and elements.
        found: String,
    },
    /// The port has a different direction, width or number of elements.
    #[error("port {name} is {found}, expected {expected}")]
    Different {
        /// The port.
        name: String,
        /// Direction, width and elements in the declaration.
        expected: String,
        /// Direction, width and elements in the RTL.
        found: String,
    },
}
