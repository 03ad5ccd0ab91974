//! The buffers of a manifest, and the variables of its module.

use crate::{Init, ManifestError, Type};

/// Index of a buffer in [`Manifest::buffers`](crate::Manifest::buffers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub usize);

/// A buffer in global memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// Type of its elements.
    pub ty: Type,
    /// Number of elements; may be zero.
    pub len: u64,
    /// What it holds at the start.
    pub init: Init,
    /// Whether it is a result (`output = true`): `--dump` writes these.
    pub output: bool,
    /// Its address in bytes, a multiple of 256; `None`: the next free one.
    pub address: Option<u32>,
}

impl Buffer {
    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.len * self.ty.size() as u64
    }

    /// The bytes that it holds at the start, little-endian.
    ///
    /// # Errors
    /// When its file cannot be read, or has changed its size since the manifest was read.
    pub fn initial_bytes(&self) -> Result<Vec<u8>, ManifestError> {
        self.init.bytes(&self.name, self.ty, self.len)
    }
}

/// The initial value of a `__constant__` or `__device__` variable.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The variable's name in the PTX.
    pub name: String,
    /// Type of its elements.
    pub ty: Type,
    /// Number of elements; whether that fits the variable is for the user of the manifest to check.
    pub len: u64,
    /// What it holds.
    pub init: Init,
}

impl Symbol {
    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.len * self.ty.size() as u64
    }

    /// The bytes that it holds at the start, little-endian. Errors as [`Buffer::initial_bytes`].
    pub fn initial_bytes(&self) -> Result<Vec<u8>, ManifestError> {
        self.init.bytes(&self.name, self.ty, self.len)
    }
}
