//! Packed structs of `gpurf_pkg`, declared once.
//!
//! [`packed!`](crate::packed) turns a declaration into a type that *is* the packed word, in the layout of the SystemVerilog struct,
//! so a twin stores and hands on the word and takes fields out where it needs them. The declaration also gives the names and
//! widths with which reports, waveforms and gates speak of a field. A test compares each one with the package.

use crate::ports::{Decode, Field, FieldType, field, intern};

/// Names and widths of the fields of a packed struct, most significant first.
pub type Layout = &'static [(&'static str, u32)];

/// A field of a packed struct.
#[derive(Clone, Copy, Debug)]
pub struct PackedField {
    /// Its name.
    pub name: &'static str,
    /// Its width.
    pub bits: u32,
    /// Its fields, if it is a packed struct itself.
    pub inner: Option<fn() -> Layout>,
}

/// A packed struct of the package, made by [`packed!`](macro@crate::packed).
pub trait Packed: FieldType {
    /// The struct's name in the package.
    const NAME: &'static str;
    /// Its fields, most significant first.
    const FIELDS: &'static [PackedField];
    /// Its width.
    const BITS: u32 = width(Self::FIELDS);

    /// All its fields; those of a struct inside have its name in front: `roles.unit`.
    fn layout() -> Layout;

    /// Lowest bit and width of a field, by the name that it has in [`layout`](Self::layout).
    ///
    /// # Panics
    /// When there is no such field.
    fn bits_of(name: &str) -> (u32, u32) {
        let found = crate::places(Self::layout()).find(|place| place.0 == name);
        found.map_or_else(|| panic!("{} has no field {name}", Self::NAME), |(_, low, bits)| (low, bits))
    }
}

/// Starts the declaration of a port that is the packed struct `T`, or an array of them.
pub fn packed<T: Packed>() -> Field {
    field(T::BITS).shown(Decode::Packed(T::layout()))
}

/// What [`Packed::layout`] gives.
#[doc(hidden)]
pub fn flat(fields: &'static [PackedField]) -> Layout {
    let mut all = Vec::new();
    for &PackedField { name, bits, inner } in fields {
        match inner {
            None => all.push((name, bits)),
            Some(inner) => all.extend(inner().iter().map(|&(of, bits)| (intern(format!("{name}.{of}")), bits))),
        }
    }
    all.leak()
}

/// Width of a struct.
#[doc(hidden)]
pub const fn width(fields: &[PackedField]) -> u32 {
    let (mut bits, mut at) = (0, 0);
    while at < fields.len() {
        bits += fields[at].bits;
        at += 1;
    }
    bits
}

/// Lowest bit and width of a field.
#[doc(hidden)]
pub const fn place(fields: &[PackedField], name: &str) -> (u32, u32) {
    let (mut low, mut at) = (0, fields.len());
    while at > 0 {
        at -= 1;
        if is(fields[at].name, name) {
            return (low, fields[at].bits);
        }
        low += fields[at].bits;
    }
    panic!("no such field")
}

const fn is(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// What a packed struct is stored in: `u16`, `u64`, or words of 32 bits, the lowest first.
#[doc(hidden)]
pub trait Store: Copy {
    /// Zero.
    const ZERO: Self;
    /// `bits` bits, at most 64, from `low` on.
    fn extract(&self, low: u32, bits: u32) -> u64;
    /// Sets them, which are zero.
    fn insert(&mut self, low: u32, bits: u32, value: u64);
}

const fn mask(bits: u32) -> u64 {
    u64::MAX >> (u64::BITS - bits)
}

/// `bits` bits, at most 64, from `low` on, of words of 32 bits, the lowest first.
#[inline]
pub fn extract(words: &[u32], low: u32, bits: u32) -> u64 {
    let (word, shift) = ((low / u32::BITS) as usize, low % u32::BITS);
    let mut value = u64::from(words[word]) >> shift;
    if shift + bits > u32::BITS {
        value |= u64::from(words[word + 1]) << (u32::BITS - shift);
    }
    if shift + bits > u64::BITS {
        value |= u64::from(words[word + 2]) << (u64::BITS - shift);
    }
    value & mask(bits)
}

impl Store for u64 {
    const ZERO: Self = 0;

    #[inline]
    fn extract(&self, low: u32, bits: u32) -> u64 {
        self >> low & mask(bits)
    }

    #[inline]
    fn insert(&mut self, low: u32, bits: u32, value: u64) {
        *self |= (value & mask(bits)) << low;
    }
}

impl Store for u16 {
    const ZERO: Self = 0;

    #[inline]
    fn extract(&self, low: u32, bits: u32) -> u64 {
        u64::from(*self).extract(low, bits)
    }

    #[inline]
    fn insert(&mut self, low: u32, bits: u32, value: u64) {
        *self |= ((value & mask(bits)) << low) as Self;
    }
}

impl<const WORDS: usize> Store for [u32; WORDS] {
    const ZERO: Self = [0; WORDS];

    #[inline]
    fn extract(&self, low: u32, bits: u32) -> u64 {
        extract(self, low, bits)
    }

    #[inline]
    fn insert(&mut self, low: u32, bits: u32, value: u64) {
        let (word, shift) = ((low / u32::BITS) as usize, low % u32::BITS);
        let value = value & mask(bits);
        self[word] |= (value << shift) as u32;
        if shift + bits > u32::BITS {
            self[word + 1] |= (value >> (u32::BITS - shift)) as u32;
        }
        if shift + bits > u64::BITS {
            self[word + 2] |= (value >> (u64::BITS - shift)) as u32;
        }
    }
}

/// Type of a field: an integer, or a packed struct of at most 64 bits.
#[doc(hidden)]
pub trait FieldValue: Copy {
    /// Its fields, if it is a packed struct.
    const INNER: Option<fn() -> Layout> = None;
    /// The value that these bits are.
    fn of_bits(bits: u64) -> Self;
    /// The bits of the value.
    fn bits(self) -> u64;
}

macro_rules! integer {
    ($($ty:ty)+) => {$(
        impl FieldValue for $ty {
            #[inline]
            fn of_bits(bits: u64) -> Self {
                bits as Self
            }

            #[inline]
            fn bits(self) -> u64 {
                self.into()
            }
        }
    )+};
}
integer!(u8 u16 u32 u64);

/// Declares a packed struct: a visibility, a name, what it is stored in, the name of a plain struct with the same fields, the name
/// in the package, then a line for each field, most significant first: name, type, width.
///
/// A field is read by a method of its name. A word is made from the plain struct with `from`, and taken apart with `fields`.
///
/// ```
/// use gpurf_blocks::{Packed, packed};
///
/// packed! {
///     /// A place in a file.
///     pub struct Place(u64), PlaceFields = "place_t" {
///         /// Its row.
///         row: u16 = 9,
///         /// Its bank.
///         bank: u8 = 4,
///     }
/// }
/// let place = Place::from(PlaceFields { row: 3, bank: 1 });
/// assert_eq!((place.0, place.row(), Place::BITS), (3 << 4 | 1, 3, 13));
/// ```
#[macro_export]
macro_rules! packed {
    ($(#[$meta:meta])* $vis:vis struct $name:ident($store:ty), $plain:ident = $package:literal {
        $( $(#[doc = $doc:expr])* $field:ident: $ty:ty = $bits:expr ),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        #[repr(transparent)]
        $vis struct $name(pub $store);

        #[doc = concat!("The fields of [`", stringify!($name), "`].")]
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        $vis struct $plain {
            $( $(#[doc = $doc])* pub $field: $ty, )*
        }

        impl $name {
            $(
                $(#[doc = $doc])*
                #[inline]
                pub fn $field(&self) -> $ty {
                    const AT: (u32, u32) = $crate::place(<$name as $crate::Packed>::FIELDS, stringify!($field));
                    <$ty as $crate::FieldValue>::of_bits($crate::Store::extract(&self.0, AT.0, AT.1))
                }
            )*

            /// Changes some of its fields.
            #[inline]
            pub fn change(&mut self, change: impl FnOnce(&mut $plain)) {
                let mut fields = self.fields();
                change(&mut fields);
                *self = fields.into();
            }

            /// All fields.
            #[inline]
            pub fn fields(&self) -> $plain {
                $plain { $( $field: self.$field() ),* }
            }
        }

        impl From<$plain> for $name {
            /// Bits beyond a field's width are dropped.
            #[inline]
            fn from(plain: $plain) -> Self {
                let mut word = <$store as $crate::Store>::ZERO;
                $({
                    const AT: (u32, u32) = $crate::place(<$name as $crate::Packed>::FIELDS, stringify!($field));
                    $crate::Store::insert(&mut word, AT.0, AT.1, $crate::FieldValue::bits(plain.$field));
                })*
                Self(word)
            }
        }

        impl $crate::FieldType for $name {
            const ELEM_BYTES: usize = size_of::<Self>();
            const CAPACITY: usize = 1;
            const ARRAY: bool = false;
        }

        impl $crate::Packed for $name {
            const NAME: &'static str = $package;
            const FIELDS: &'static [$crate::PackedField] = &[ $(
                $crate::PackedField {
                    name: stringify!($field),
                    bits: $bits,
                    inner: <$ty as $crate::FieldValue>::INNER,
                },
            )* ];

            fn layout() -> $crate::Layout {
                static LAYOUT: std::sync::OnceLock<$crate::Layout> = std::sync::OnceLock::new();
                LAYOUT.get_or_init(|| $crate::flat(Self::FIELDS))
            }
        }
    };
}

#[cfg(test)]
mod tests;
