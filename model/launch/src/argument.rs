//! Arguments of launches: values, addresses, and structs of them as C++ lays them out.

use crate::{BufferId, Expression, Scalar, Type};

/// Size of an address, which is also its alignment.
pub const ADDRESS_BYTES: u64 = 8;

/// A place in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The buffer.
    pub buffer: BufferId,
    /// Bytes from its start.
    pub offset: u64,
}

/// An argument of a launch, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A value.
    Scalar(Scalar),
    /// The address of a place in a buffer.
    Address(Address),
    /// An integer of this type that is computed from the pass number; it fits the type in every pass.
    Computed(Type, Expression),
    /// A value for each pass; all have one type.
    Listed(Vec<Scalar>),
    /// The address of an element whose number is computed from the pass number.
    ComputedAddress {
        /// The buffer.
        buffer: BufferId,
        /// Size of an element in bytes.
        element: u64,
        /// Number of the element, not beyond the end in any pass.
        index: Expression,
    },
    /// Addresses of buffers, one for each pass in turn: after the last buffer the first one follows again.
    InTurn(Vec<BufferId>),
    /// A struct by value.
    Struct(Layout),
}

/// Parts of data at their places, as C++ lays them out: each at a multiple of its alignment.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    size: u64,
    align: u64,
    /// Byte offsets and the parts there; nested structs are flattened.
    parts: Vec<(u64, Argument)>,
}

impl Argument {
    /// Size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Scalar(scalar) => scalar.ty.size() as u64,
            Self::Computed(ty, _) => ty.size() as u64,
            Self::Listed(values) => values.first().map_or(0, |value| value.ty.size() as u64),
            Self::Address(_) | Self::ComputedAddress { .. } | Self::InTurn(_) => ADDRESS_BYTES,
            Self::Struct(layout) => layout.size,
        }
    }

    /// Number of values that it consists of: 1, or those of a struct and of the structs inside of it.
    pub fn parts(&self) -> u64 {
        match self {
            Self::Struct(layout) => layout.parts.len() as u64,
            _ => 1,
        }
    }

    /// Alignment in bytes.
    pub fn align(&self) -> u64 {
        match self {
            Self::Struct(layout) => layout.align,
            _ => self.size().max(1),
        }
    }

    /// Describes it in words.
    pub fn describe(&self) -> String {
        match self {
            Self::Scalar(scalar) => scalar.ty.name().to_owned(),
            Self::Computed(ty, _) => ty.name().to_owned(),
            Self::Listed(values) => values.first().map_or("nothing", |value| value.ty.name()).to_owned(),
            Self::Address(_) | Self::ComputedAddress { .. } | Self::InTurn(_) => "a buffer's address".to_owned(),
            Self::Struct(_) => "a struct".to_owned(),
        }
    }

    /// Whether it is the same in every pass.
    pub fn is_fixed(&self) -> bool {
        match self {
            Self::Scalar(_) | Self::Address(_) => true,
            Self::Computed(..) | Self::Listed(_) | Self::ComputedAddress { .. } | Self::InTurn(_) => false,
            Self::Struct(layout) => layout.parts.iter().all(|(_, part)| part.is_fixed()),
        }
    }

    /// Its bytes in a pass, lowest first; `address_of` returns the address at which a buffer begins.
    pub fn bytes(&self, pass: u32, address_of: &dyn Fn(BufferId) -> u64) -> Vec<u8> {
        let address = |buffer: BufferId, offset: u64| address_of(buffer).wrapping_add(offset).to_le_bytes().to_vec();
        match self {
            Self::Scalar(scalar) => scalar.bytes(),
            Self::Address(place) => address(place.buffer, place.offset),
            // All passes were checked when the manifest was read.
            Self::Computed(ty, value) => Scalar::from_integer(*ty, value.value(pass).unwrap_or(0)).bytes(),
            Self::Listed(values) => values.get(pass as usize).or(values.last()).map(Scalar::bytes).unwrap_or_default(),
            Self::ComputedAddress { buffer, element, index } => {
                address(*buffer, (index.value(pass).unwrap_or(0) as u64).wrapping_mul(*element))
            }
            Self::InTurn(buffers) => address(buffers[pass as usize % buffers.len()], 0),
            Self::Struct(layout) => {
                let mut bytes = vec![0; layout.size as usize];
                layout.write(pass, address_of, &mut bytes);
                bytes
            }
        }
    }
}

impl Layout {
    /// Places one part after the other. The whole has the largest alignment of its parts, or `align` if that is larger; its size is a multiple of
    /// that.
    pub(crate) fn new(parts: Vec<Argument>, align: u64) -> Self {
        let (mut end, mut strictest, mut placed) = (0u64, align.max(1), Vec::new());
        for part in parts {
            let (size, align) = (part.size(), part.align());
            let at = end.next_multiple_of(align);
            end = at + size;
            strictest = strictest.max(align);
            match part {
                Argument::Struct(inner) => {
                    placed.extend(inner.parts.into_iter().map(|(offset, part)| (at + offset, part)));
                }
                part => placed.push((at, part)),
            }
        }
        Self { size: end.next_multiple_of(strictest), align: strictest, parts: placed }
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Alignment in bytes.
    pub fn align(&self) -> u64 {
        self.align
    }

    /// The parts, each at its byte offset.
    pub fn parts(&self) -> &[(u64, Argument)] {
        &self.parts
    }

    /// Writes all parts to the first bytes of `bytes`; bytes between the parts are unchanged.
    pub(crate) fn write(&self, pass: u32, address_of: &dyn Fn(BufferId) -> u64, bytes: &mut [u8]) {
        for (at, part) in &self.parts {
            let part = part.bytes(pass, address_of);
            if let Some(place) = bytes.get_mut(*at as usize..).and_then(|rest| rest.get_mut(..part.len())) {
                place.copy_from_slice(&part);
            }
        }
    }
}
