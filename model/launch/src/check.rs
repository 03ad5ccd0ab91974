//! Comparison of a buffer with what is expected.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::init::{check_size, read_exactly};
use crate::{Buffer, BufferId, ManifestError, Origin, Scalar};

/// What a buffer must hold at the end.
///
/// Without a tolerance the bytes must be equal. With one or both, an element passes when its difference is at most
/// `abs`, or at most `rel` times the larger of the two magnitudes (the rule of the crate `approx`); and when
/// both are NaN, or the same infinity. Zeros of both signs are equal then.
#[derive(Clone, Debug)]
pub struct Check {
    /// The buffer.
    pub buffer: BufferId,
    /// File of the expected bytes, little-endian, of the buffer's size.
    pub expected: PathBuf,
    /// The place at which the manifest names the file.
    pub origin: Origin,
    /// Greatest relative difference of an element.
    pub rel: Option<f64>,
    /// Greatest absolute difference of an element.
    pub abs: Option<f64>,
}

/// The outcome of a check, as `--json` shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRow {
    /// Name of the buffer.
    pub buffer: String,
    /// Greatest absolute difference of an element. If only one of the two values is a NaN or an infinity, the
    /// difference counts as `f64::MAX`, since JSON has no infinity.
    pub max_abs: f64,
    /// Greatest difference of an element relative to the larger of the two magnitudes: 0 to 2. If only one of the two
    /// values is a NaN or an infinity, it counts as 2.
    pub max_rel: f64,
    /// Whether the check passed.
    pub ok: bool,
    /// Number of elements that failed.
    pub mismatches: u64,
    /// The first element that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_mismatch: Option<Mismatch>,
}

/// An element that is not what was expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// Its index.
    pub index: u64,
    /// What was expected, as text.
    pub expected: String,
    /// The actual value, as text.
    pub actual: String,
}

impl Check {
    /// Checks that the file of expected bytes is there and has the buffer's size.
    pub(crate) fn verify(&self, buffer: &Buffer) -> Result<(), ManifestError> {
        check_size(&self.expected, &buffer.name, buffer.size())
    }

    /// Compares the final bytes of the buffer with the expected ones.
    ///
    /// # Errors
    /// When the file of expected bytes cannot be read, or its size or that of `actual` is not the buffer's.
    pub fn evaluate(&self, buffer: &Buffer, actual: &[u8]) -> Result<CheckRow, ManifestError> {
        let expected = read_exactly(&self.expected, &buffer.name, buffer.size())?;
        if actual.len() != expected.len() {
            return Err(ManifestError::FileSize {
                path: self.expected.clone(),
                buffer: buffer.name.clone(),
                expected: actual.len() as u64,
                actual: expected.len() as u64,
            });
        }
        Ok(self.compare(buffer, &expected, actual))
    }

    /// Compares the bytes of the buffer with expected ones that come from elsewhere, with this check's tolerance. Both
    /// are of the buffer's size.
    pub fn compare(&self, buffer: &Buffer, expected: &[u8], actual: &[u8]) -> CheckRow {
        let mut row = CheckRow {
            buffer: buffer.name.clone(),
            max_abs: 0.0,
            max_rel: 0.0,
            ok: true,
            mismatches: 0,
            first_mismatch: None,
        };
        let size = buffer.ty.size();
        for (index, (expected, actual)) in expected.chunks_exact(size).zip(actual.chunks_exact(size)).enumerate() {
            if expected == actual {
                continue;
            }
            let (Some(expected), Some(actual)) = (Scalar::read(buffer.ty, expected), Scalar::read(buffer.ty, actual))
            else {
                continue;
            };
            let (abs, rel) = differences(expected, actual);
            row.max_abs = row.max_abs.max(abs);
            row.max_rel = row.max_rel.max(rel);
            let within = match (self.rel, self.abs) {
                (None, None) => false,
                (limit_rel, limit_abs) => {
                    abs == 0.0
                        || limit_abs.is_some_and(|limit| abs <= limit)
                        || limit_rel.is_some_and(|limit| rel <= limit)
                }
            };
            if !within {
                row.mismatches += 1;
                row.first_mismatch.get_or_insert_with(|| Mismatch {
                    index: index as u64,
                    expected: expected.to_string(),
                    actual: actual.to_string(),
                });
            }
        }
        row.ok = row.mismatches == 0;
        row
    }
}

/// The absolute difference, and the one relative to the larger magnitude.
fn differences(expected: Scalar, actual: Scalar) -> (f64, f64) {
    let (x, y) = (expected.as_f64(), actual.as_f64());
    if x == y && (expected.ty.is_float() || expected.bits == actual.bits) || x.is_nan() && y.is_nan() {
        return (0.0, 0.0);
    }
    if expected.ty.is_float() {
        if !x.is_finite() || !y.is_finite() {
            return (f64::MAX, 2.0);
        }
        let (difference, larger) = ((x - y).abs(), x.abs().max(y.abs()));
        // Halves, where the difference itself overflows.
        let ratio = if difference.is_finite() { difference / larger } else { (x / 2.0 - y / 2.0).abs() / larger * 2.0 };
        return (difference.min(f64::MAX), ratio);
    }
    // Exact, as two large integers may differ where their double precision values do not.
    let difference = (expected.as_integer() - actual.as_integer()).unsigned_abs() as f64;
    (difference, difference / x.abs().max(y.abs()))
}
