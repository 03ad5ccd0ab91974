//! Comparison of a buffer with what is expected.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Buffer, BufferId, ManifestError};

/// What a buffer must hold at the end.
#[derive(Clone, Debug)]
pub struct Check {
    /// The buffer.
    pub buffer: BufferId,
    /// File of the expected bytes, little-endian, of the buffer's size.
    pub expected: PathBuf,
    /// Greatest relative error of an element.
    pub rel: Option<f64>,
    /// Greatest absolute error of an element.
    pub abs: Option<f64>,
}

/// The outcome of a check, as `--json` shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRow {
    /// Name of the buffer.
    pub buffer: String,
    /// Greatest absolute difference of an element.
    pub max_abs: f64,
    /// Greatest relative difference of an element.
    pub max_rel: f64,
    /// Whether the check passed.
    pub ok: bool,
}

impl Check {
    /// Compares the final bytes of the buffer with the expected ones.
    ///
    /// # Errors
    /// When the file of expected bytes cannot be read or has the wrong size.
    pub fn evaluate(&self, buffer: &Buffer, actual: &[u8]) -> Result<CheckRow, ManifestError> {
        let _ = (buffer, actual);
        todo!()
    }
}
