//! The buffers of a manifest, and the variables of its module.

use crate::{Init, ManifestError, Origin, Type};

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
    /// Its initial contents.
    pub init: Init,
    /// Whether it is a result (`output = true`): `--dump` writes these.
    pub output: bool,
    /// Its address in bytes, a multiple of 256; `None`: the next free one.
    pub address: Option<u32>,
    /// The `__device__` or `__managed__` variable that it is; `None`: memory of its own.
    pub symbol: Option<String>,
    /// Where the manifest declares it.
    pub origin: Origin,
}

impl Buffer {
    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.len * self.ty.size() as u64
    }

    /// Whether there are addresses among its initial bytes.
    pub fn has_addresses(&self) -> bool {
        matches!(self.init, Init::Layout(_) | Init::Addresses { .. })
    }

    /// Writes the addresses among its initial bytes; `address_of` returns the address at which a buffer begins.
    pub fn fill_addresses(&self, bytes: &mut [u8], address_of: &dyn Fn(BufferId) -> u64) {
        self.init.fill_addresses(bytes, address_of);
    }

    /// The initial bytes, little-endian. Addresses among them are zero ([`Buffer::fill_addresses`]).
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
    /// The variable's name, as in the CUDA source or mangled as in the PTX.
    pub name: String,
    /// Type of its elements.
    pub ty: Type,
    /// Number of elements; the user of the manifest has to check that they fit the variable.
    pub len: u64,
    /// Its value.
    pub init: Init,
    /// Where the manifest defines its value.
    pub origin: Origin,
}

impl Symbol {
    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.len * self.ty.size() as u64
    }

    /// Writes the addresses among its initial bytes; `address_of` returns the address at which a buffer begins.
    pub fn fill_addresses(&self, bytes: &mut [u8], address_of: &dyn Fn(BufferId) -> u64) {
        self.init.fill_addresses(bytes, address_of);
    }

    /// The initial bytes, little-endian. Addresses among them are zero. Errors as [`Buffer::initial_bytes`].
    pub fn initial_bytes(&self) -> Result<Vec<u8>, ManifestError> {
        self.init.bytes(&self.name, self.ty, self.len)
    }
}
