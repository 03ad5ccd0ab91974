//! The initial contents of a buffer.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::argument::ADDRESS_BYTES;
use crate::{Address, Argument, BufferId, Layout, ManifestError, Scalar, Type, random};

/// The initial contents of a buffer.
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
        /// Largest value, of the buffer's type; not below `min`.
        max: Scalar,
    },
    /// The bytes of a file, little-endian; its size is that of the buffer.
    File(PathBuf),
    /// The elements one by one; as many as the buffer has.
    Values(Vec<Scalar>),
    /// Structs, arrays and addresses; of the buffer's size.
    Layout(Layout),
    /// Addresses in another buffer, one after the other.
    Addresses {
        /// The address in the first element.
        first: Address,
        /// Bytes from one address to the next.
        step: u64,
    },
    /// The value of the variable in the source, if the buffer is a variable.
    Source,
}

impl Init {
    /// The bytes of a buffer `name` of `len` elements.
    pub(crate) fn bytes(&self, name: &str, ty: Type, len: u64) -> Result<Vec<u8>, ManifestError> {
        let size = len * ty.size() as u64;
        let fill = |element: &dyn Fn(u64) -> Scalar| {
            let mut bytes = Vec::with_capacity(size as usize);
            for i in 0..len {
                bytes.extend_from_slice(&element(i).bits.to_le_bytes()[..ty.size()]);
            }
            bytes
        };
        Ok(match self {
            Self::Zero | Self::Addresses { .. } | Self::Source => vec![0; size as usize],
            Self::Layout(layout) => {
                let mut bytes = vec![0; size as usize];
                layout.write(0, &|_| 0, &mut bytes);
                for (at, part) in layout.parts() {
                    if let Argument::Address(_) = part {
                        bytes[*at as usize..][..ADDRESS_BYTES as usize].fill(0);
                    }
                }
                bytes
            }
            Self::Iota => fill(&|i| match ty {
                Type::F32 => Scalar::from_f32(i as f32),
                Type::F64 => Scalar::from_f64(i as f64),
                _ => Scalar::from_integer(ty, i.into()),
            }),
            Self::Random { seed, min, max } => fill(&|i| random::element(*seed, i, ty, *min, *max)),
            Self::Values(values) => fill(&|i| values[i as usize]),
            Self::File(path) => read_exactly(path, name, size)?,
        })
    }
}

impl Init {
    /// Writes the addresses among the initial bytes.
    pub(crate) fn fill_addresses(&self, bytes: &mut [u8], address_of: &dyn Fn(BufferId) -> u64) {
        match self {
            Self::Layout(layout) => layout.write(0, address_of, bytes),
            Self::Addresses { first, step } => {
                let mut address = address_of(first.buffer).wrapping_add(first.offset);
                for place in bytes.chunks_exact_mut(ADDRESS_BYTES as usize) {
                    place.copy_from_slice(&address.to_le_bytes());
                    address = address.wrapping_add(*step);
                }
            }
            Self::Zero | Self::Iota | Self::Random { .. } | Self::File(_) | Self::Values(_) | Self::Source => {}
        }
    }
}

/// The bytes of a file that must have `size` of them.
pub(crate) fn read_exactly(path: &Path, name: &str, size: u64) -> Result<Vec<u8>, ManifestError> {
    check_size(path, name, size)?;
    let unreadable = |source| ManifestError::Unreadable { path: path.to_owned(), source };
    let mut bytes = Vec::with_capacity(size as usize);
    File::open(path).and_then(|file| file.take(size).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 != size {
        return Err(wrong_size(path, name, size, bytes.len() as u64));
    }
    Ok(bytes)
}

/// Checks that a file has `size` bytes, without reading it.
pub(crate) fn check_size(path: &Path, name: &str, size: u64) -> Result<(), ManifestError> {
    let metadata =
        std::fs::metadata(path).map_err(|source| ManifestError::Unreadable { path: path.to_owned(), source })?;
    if metadata.is_dir() {
        return Err(ManifestError::Folder { path: path.to_owned() });
    }
    if metadata.len() == size && metadata.is_file() {
        Ok(())
    } else {
        Err(wrong_size(path, name, size, metadata.len()))
    }
}

fn wrong_size(path: &Path, name: &str, expected: u64, actual: u64) -> ManifestError {
    ManifestError::FileSize { path: path.to_owned(), buffer: name.to_owned(), expected, actual }
}
