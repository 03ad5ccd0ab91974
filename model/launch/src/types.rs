//! Element types and scalar values.

use serde::{Deserialize, Serialize};

/// The type of a scalar argument, or of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// Unsigned, 8 bits.
    U8,
    /// Two's complement, 8 bits.
    S8,
    /// Unsigned, 16 bits.
    U16,
    /// Two's complement, 16 bits.
    S16,
    /// Unsigned, 32 bits.
    U32,
    /// Two's complement, 32 bits.
    S32,
    /// Unsigned, 64 bits.
    U64,
    /// Two's complement, 64 bits.
    S64,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Type {
    /// All of them.
    pub const ALL: [Self; 10] =
        [Self::U8, Self::S8, Self::U16, Self::S16, Self::U32, Self::S32, Self::U64, Self::S64, Self::F32, Self::F64];

    /// Size in bytes, which is also the alignment.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 => 2,
            Self::U32 | Self::S32 | Self::F32 => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    /// The name in a manifest.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::S8 => "s8",
            Self::U16 => "u16",
            Self::S16 => "s16",
            Self::U32 => "u32",
            Self::S32 => "s32",
            Self::U64 => "u64",
            Self::S64 => "s64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// True for `f32` and `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }
}

/// A value of a type: its little-endian bytes, in the low bytes of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The type.
    pub ty: Type,
    /// The bit pattern; bits above the type's size are zero.
    pub bits: u64,
}

impl Scalar {
    /// The value's bytes, lowest first, as many as the type has.
    pub fn bytes(&self) -> Vec<u8> {
        self.bits.to_le_bytes()[..self.ty.size()].to_vec()
    }
}
