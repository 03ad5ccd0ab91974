//! What can be wrong with a manifest.

use std::path::PathBuf;

use thiserror::Error;

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
