//! Errors in manifests.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

/// The place of something in a manifest. `Debug` hides it, since it is not part of a manifest's contents.
#[derive(Clone, Default)]
pub struct Origin {
    pub(crate) text: Arc<str>,
    pub(crate) at: usize,
}

impl Origin {
    /// Line, and column in characters, both from 1.
    pub fn line_and_column(&self) -> (usize, usize) {
        let before = self.text.get(..self.at).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}

/// What is wrong with a manifest, or with a file that it names. The text begins with the place.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// A file cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A folder instead of a file.
    #[error("{} is a folder, not a file", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// A kernel instead of a manifest.
    #[error("{} is {what}, not a launch manifest (docs/launch.md)", path.display())]
    Kernel {
        /// The file.
        path: PathBuf,
        /// What the file is.
        what: &'static str,
    },
    /// Something is wrong at a place in the manifest.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Invalid {
        /// The manifest.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// A buffer file has another size than the buffer.
    #[error("{}: has {actual} bytes, but buffer `{buffer}` has {expected}", path.display())]
    FileSize {
        /// The file.
        path: PathBuf,
        /// Name of the buffer or symbol.
        buffer: String,
        /// Its size in bytes.
        expected: u64,
        /// The file's size in bytes.
        actual: u64,
    },
}
