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

    /// The smallest and the largest value of an integer type.
    pub(crate) const fn range(self) -> (i128, i128) {
        let bits = 8 * self.size() as u32;
        match self {
            Self::S8 | Self::S16 | Self::S32 | Self::S64 => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            _ => (0, (1 << bits) - 1),
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
    /// A single precision value.
    pub const fn from_f32(value: f32) -> Self {
        Self { ty: Type::F32, bits: value.to_bits() as u64 }
    }

    /// A double precision value.
    pub const fn from_f64(value: f64) -> Self {
        Self { ty: Type::F64, bits: value.to_bits() }
    }

    /// The low bits of an integer, as a value of the integer type `ty`.
    pub const fn from_integer(ty: Type, value: i128) -> Self {
        Self { ty, bits: value as u64 & (u64::MAX >> (64 - 8 * ty.size() as u32)) }
    }

    /// The value that the first bytes of `bytes` hold, little-endian, as many as the type has; `None` if there are too few.
    pub fn read(ty: Type, bytes: &[u8]) -> Option<Self> {
        let mut all = [0; 8];
        all[..ty.size()].copy_from_slice(bytes.get(..ty.size())?);
        Some(Self { ty, bits: u64::from_le_bytes(all) })
    }

    /// The value's bytes, lowest first, as many as the type has.
    pub fn bytes(&self) -> Vec<u8> {
        self.bits.to_le_bytes()[..self.ty.size()].to_vec()
    }

    /// The value of an integer type; for a float its bit pattern.
    pub fn as_integer(&self) -> i128 {
        let unused = 64 - 8 * self.ty.size() as u32;
        match self.ty {
            Type::S8 | Type::S16 | Type::S32 | Type::S64 => (((self.bits << unused) as i64) >> unused).into(),
            _ => self.bits.into(),
        }
    }

    /// The value in double precision; integers beyond 2^53 are rounded.
    pub fn as_f64(&self) -> f64 {
        match self.ty {
            Type::F32 => f32::from_bits(self.bits as u32).into(),
            Type::F64 => f64::from_bits(self.bits),
            _ => self.as_integer() as f64,
        }
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.ty {
            Type::F32 => write!(f, "{:?}", f32::from_bits(self.bits as u32)),
            Type::F64 => write!(f, "{:?}", f64::from_bits(self.bits)),
            _ => write!(f, "{}", self.as_integer()),
        }
    }
}
