//! What a buffer holds at the start.

use std::path::PathBuf;

use crate::{ManifestError, Scalar, Type};

/// What a buffer holds at the start.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// All zero; the default.
    Zero,
    /// 0, 1, 2 and so on; integers wrap around in their type.
    Iota,
    /// Pseudo-random values from `min` to `max` ([`crate::random`]).
    Random {
        /// Seed of the generator.
        seed: u64,
        /// Smallest value, of the buffer's type.
        min: Scalar,
        /// Largest value, of the buffer's type: included for integers, excluded for floats unless it equals `min`.
        max: Scalar,
    },
    /// The bytes of a file, little-endian; its size is that of the buffer.
    File(PathBuf),
    /// The elements one by one; as many as the buffer has.
    Values(Vec<Scalar>),
}

impl Init {
    pub(crate) fn bytes(&self, ty: Type, len: u64) -> Result<Vec<u8>, ManifestError> {
        let _ = (ty, len);
        todo!()
    }
}
