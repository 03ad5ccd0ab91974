//! Ports, declared once.
//!
//! [`ports!`](crate::ports) turns a declaration into a `#[repr(C)]` struct (8, 16, 32 or 64 bits for narrow ports, 32 words for a
//! warp register, arrays for unpacked arrays) and a table of [`Field`]s for a shape.
//! Arrays have the capacity of the largest shape; a shape uses the first `count` elements.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::WarpData;

/// How a value is shown to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decode {
    /// Hexadecimal.
    Hex,
    /// Decimal: counts and indices.
    Number,
    /// A packed struct: names and widths, most significant first. Bits above them are 0.
    Packed(&'static [(&'static str, u32)]),
    /// An array of packed structs: that of each element. Elements beyond them are 0.
    PackedEach(&'static [&'static [(&'static str, u32)]]),
    /// An enumeration: the names of the values from 0.
    Enum(&'static [&'static str]),
}

impl Decode {
    /// The fields of element `element`, where it is a packed struct.
    pub fn layout(&self, element: usize) -> Option<&'static [(&'static str, u32)]> {
        match self {
            Self::Packed(fields) => Some(fields),
            Self::PackedEach(elements) => Some(elements.get(element).copied().unwrap_or_default()),
            Self::Hex | Self::Number | Self::Enum(_) => None,
        }
    }
}

/// Name, lowest bit and width of each field of a packed struct.
pub fn places(layout: &[(&'static str, u32)]) -> impl Iterator<Item = (&'static str, u32, u32)> {
    let mut low: u32 = layout.iter().map(|field| field.1).sum();
    layout.iter().map(move |&(name, bits)| {
        low -= bits;
        (name, low, bits)
    })
}

/// Lowest bit of a field of a packed struct.
///
/// # Panics
/// When there is no such field: where it is a constant, when it is compiled.
pub const fn low_bit(layout: &[(&'static str, u32)], name: &str) -> u32 {
    let (mut field, mut low) = (layout.len(), 0);
    while field > 0 {
        field -= 1;
        if is_same(layout[field].0, name) {
            return low;
        }
        low += layout[field].1;
    }
    panic!("there is no such field")
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// Where a value is found in the RTL, relative to the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Net {
    /// The port, net or register of the field's own name.
    Own,
    /// A net or register at this path.
    At(&'static str),
    /// Elements spread over instances: `{}` in the path is the instance, each of which has `per` consecutive elements
    /// (`per` 1: a net that is not an array).
    Each {
        /// Path with one `{}`.
        path: &'static str,
        /// Elements of each instance.
        per: usize,
    },
}

/// A port, inner net or register of a block for one shape.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name, as in the RTL.
    pub name: &'static str,
    /// Its documentation: a report prints it by itself, so it stands alone and does not lean on the declaration above it.
    pub doc: &'static str,
    /// Byte offset in its struct.
    pub offset: usize,
    /// Bytes of an element: 1, 2, 4 or 8, or of more than 64 bits a multiple of 4.
    pub elem_bytes: usize,
    /// Capacity in elements.
    pub capacity: usize,
    /// Whether the RTL has an unpacked array here.
    pub array: bool,
    /// Width of an element in bits.
    pub bits: u32,
    /// Number of elements in this shape.
    pub count: usize,
    /// Name of the field of the same block that says whether this one means anything. See [`Field::valid_by`].
    pub valid_by: Option<&'static str>,
    /// Depends on state only.
    pub early: bool,
    /// Of an output: the register of the module that it shows. See [`Field::shows`].
    pub shows: Option<Shows>,
    /// Where it is in the RTL, from `scope` on.
    pub net: Net,
    /// Path of the instance that has it, with a dot after each name; empty: the block itself.
    pub scope: String,
    /// The block inside that declares it. `None`: the block itself.
    pub block: Option<&'static str>,
    /// How to show it.
    pub decode: Decode,
}

/// A register that an output shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shows {
    /// Its path inside the module, from the field's `scope` on; where there are several instances, `{}` stands for the number of one.
    pub register: &'static str,
    /// Number of instances: each has an equal part of the field, in their order.
    pub parts: usize,
    /// The field that says when, if not its own valid.
    pub valid: Option<&'static str>,
}

/// Starts a declaration: a field of `bits` bits an element. The macro fills in the rest.
pub fn field(bits: impl TryInto<u32>) -> Field {
    Field {
        name: "",
        doc: "",
        offset: 0,
        elem_bytes: 0,
        capacity: 0,
        array: false,
        bits: bits.try_into().unwrap_or_else(|_| panic!("a width is a small number")),
        count: 1,
        valid_by: None,
        early: false,
        shows: None,
        net: Net::Own,
        scope: String::new(),
        block: None,
        decode: Decode::Hex,
    }
}

impl Field {
    /// An array of `count` elements in this shape.
    pub fn count(mut self, count: usize) -> Self {
        self.count = count;
        self
    }

    /// There in some shapes only.
    pub fn when(mut self, there: bool) -> Self {
        if !there {
            self.count = 0;
        }
        self
    }

    /// Means something only where `name` is high; elsewhere it is not compared.
    ///
    /// The bits of the valid are shared out evenly over the elements: element `i` of `n` is valid when a bit from
    /// `i * w / n` up to (not including) `(i + 1) * w / n` of the `w`-bit valid is set, at least one bit. Where the valid is itself an array, its elements
    /// take the place of bits.
    pub fn valid_by(mut self, name: &'static str) -> Self {
        self.valid_by = Some(name);
        self
    }

    /// An output that is the register `register` of the module, or gives it while the output is valid. So the register
    /// needs no probe; the bit-flip audit requires that each of its bits is seen in every cycle in which the output is valid.
    pub fn shows(mut self, register: &'static str) -> Self {
        self.shows = Some(Shows { register, parts: 1, valid: None });
        self
    }

    /// The same, in some shapes; in the others the module has no such register.
    pub fn shows_when(self, there: bool, register: &'static str) -> Self {
        if there { self.shows(register) } else { self }
    }

    /// The same for an output that is always compared, but gives the register only while the field `valid` is high.
    pub fn shows_while(mut self, register: &'static str, valid: &'static str) -> Self {
        self.shows = Some(Shows { register, parts: 1, valid: Some(valid) });
        self
    }

    /// An output that depends on state only.
    pub fn early(mut self) -> Self {
        self.early = true;
        self
    }

    /// The same, in some shapes.
    pub fn early_when(mut self, early: bool) -> Self {
        self.early = early;
        self
    }

    /// The RTL has it at `path`.
    pub fn at(mut self, path: &'static str) -> Self {
        self.net = Net::At(path);
        self
    }

    /// The RTL has `per` elements in each instance of `path`, in which `{}` stands for the instance.
    pub fn each(mut self, path: &'static str, per: usize) -> Self {
        self.net = Net::Each { path, per };
        self
    }

    /// A field of the block inside that is `instance`, whose struct stands at `offset` of an outer one.
    pub fn inside(mut self, instance: &str, offset: usize) -> Self {
        self.scope.insert_str(0, &format!("{instance}."));
        self.offset += offset;
        self
    }

    /// Shown as `decode`.
    pub fn shown(mut self, decode: Decode) -> Self {
        self.decode = decode;
        self
    }

    /// Where its elements are inside the module: each of these variables has equally many of them, one after another.
    pub fn paths(&self) -> Vec<String> {
        let inside = |path: &str| format!("{}{path}", self.scope);
        match self.net {
            Net::Own => vec![inside(self.name)],
            Net::At(path) => vec![inside(path)],
            Net::Each { path, per } => {
                (0..self.count / per).map(|i| inside(&path.replace("{}", &i.to_string()))).collect()
            }
        }
    }

    /// Whether an element has more than 64 bits. It is an array of 32-bit words then, the lowest first, as in Verilator.
    pub fn is_wide(&self) -> bool {
        self.elem_bytes > size_of::<u64>()
    }

    /// For [`ports!`](crate::ports).
    #[doc(hidden)]
    pub fn placed<T: FieldType>(mut self, name: &'static str, doc: &'static str, offset: usize) -> Self {
        (self.name, self.doc, self.offset) = (name, doc.trim(), offset);
        (self.elem_bytes, self.capacity, self.array) = (T::ELEM_BYTES, T::CAPACITY, T::ARRAY);
        self.fits();
        self
    }

    /// Checks that its values fit into its type.
    pub(crate) fn fits(&self) {
        let name = self.name;
        assert!(self.count <= self.capacity, "{name}: {} elements do not fit in {}", self.count, self.capacity);
        assert!(self.bits as usize <= self.elem_bytes * 8, "{name}: {} bits do not fit", self.bits);
        let words = self.bits.div_ceil(32) as usize;
        assert!(!self.is_wide() || self.bits == 0 || words * 4 == self.elem_bytes, "{name}: too wide a type");
    }
}

/// A value of more than 64 bits that is no warp register: words of 32 bits, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Wide<const WORDS: usize>(pub [u32; WORDS]);

impl Wide<4> {
    /// A value of 128 bits.
    pub fn from_u128(value: u128) -> Self {
        Self(std::array::from_fn(|word| (value >> (32 * word)) as u32))
    }

    /// The value.
    #[inline]
    pub fn to_u128(self) -> u128 {
        self.0.iter().rev().fold(0, |value, &word| value << 32 | u128::from(word))
    }
}

impl<const WORDS: usize> FieldType for Wide<WORDS> {
    const ELEM_BYTES: usize = size_of::<Self>();
    const CAPACITY: usize = 1;
    const ARRAY: bool = false;
}

/// Types a port may have: `u8`, `u16`, `u32`, `u64`, [`WarpData`], [`Wide`], and arrays of these.
pub trait FieldType: Copy + 'static {
    /// Bytes of an element.
    const ELEM_BYTES: usize;
    /// Elements.
    const CAPACITY: usize;
    /// Whether it is an array.
    const ARRAY: bool;
}

macro_rules! element {
    ($($t:ty),*) => {$(
        impl FieldType for $t {
            const ELEM_BYTES: usize = size_of::<$t>();
            const CAPACITY: usize = 1;
            const ARRAY: bool = false;
        }
    )*};
}
element!(u8, u16, u32, u64, WarpData);

impl<T: FieldType, const N: usize> FieldType for [T; N] {
    const ELEM_BYTES: usize = T::ELEM_BYTES;
    const CAPACITY: usize = N;
    const ARRAY: bool = true;
}

/// Keeps a text for ever; each one once. Declarations are made of static texts, and there are as many as a block has nets.
pub fn intern(text: String) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text.as_str()) {
        return known;
    }
    let text: &'static str = text.leak();
    texts.insert(text);
    text
}

/// A struct made by [`ports!`](crate::ports).
///
/// # Safety
/// The struct is `#[repr(C)]`, made of integers only, so that all zeros is a value of it and any bytes are, and its alignment is at most 64.
pub unsafe trait Ports: Copy + Send + 'static {
    /// The shape that sizes it.
    type Shape;
    /// Its fields in this shape, in the order of declaration.
    fn fields(shape: &Self::Shape) -> Vec<Field>;

    /// All zeros.
    fn zeroed() -> Self {
        // SAFETY: promised by the trait.
        unsafe { std::mem::zeroed() }
    }
}

/// Fields, and those of a struct inside that begins at `offset`.
#[doc(hidden)]
pub fn with_part(mut fields: Vec<Field>, part: Vec<Field>, offset: usize) -> Vec<Field> {
    fields.extend(part.into_iter().map(|field| Field { offset: field.offset + offset, ..field }));
    fields
}

/// Those that a shape has: what [`ports!`](crate::ports) ends with. A function, so that it is compiled once.
#[doc(hidden)]
pub fn present(mut fields: Vec<Field>) -> Vec<Field> {
    fields.retain(|field| field.count != 0);
    fields
}

/// For a block of which nothing but the ports is compared.
#[repr(C)]
pub struct NoProbe<S>(std::marker::PhantomData<fn() -> S>);

impl<S> Clone for NoProbe<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for NoProbe<S> {}

// SAFETY: it has no bytes.
unsafe impl<S: 'static> Ports for NoProbe<S> {
    type Shape = S;
    fn fields(_: &S) -> Vec<Field> {
        Vec::new()
    }
}

/// Declares a struct of ports: a visibility, a name, the shape's name and type, then a line for each port.
///
/// ```
/// use gpurf_blocks::{field, ports, WarpData, Ports};
///
/// pub struct Sizes { banks: usize }
///
/// ports! {
///     /// Inputs of an example.
///     pub struct ExampleIn(s: &Sizes) {
///         /// Bank b reads.
///         read_valid_i: u32 = field(s.banks),
///         /// Entry that bank b reads.
///         read_entry_i: [u16; 32] = field(6).count(s.banks).valid_by("read_valid_i"),
///         /// Data to write.
///         write_data_i: WarpData = field(1024),
///     }
/// }
/// assert_eq!(ExampleIn::fields(&Sizes { banks: 4 })[1].count, 4);
///
/// ports! {
///     /// A struct may have all ports of another one as a part, which has a shape of its own.
///     pub struct LargerIn(s: &Sizes) {
///         /// Synchronous reset, active low.
///         rst_ni: u8 = field(1),
///     } +
///     /// Those of the example.
///     example: ExampleIn as s
/// }
/// assert_eq!(LargerIn::fields(&Sizes { banks: 4 })[2].name, "read_entry_i");
/// ```
#[macro_export]
macro_rules! ports {
    // The struct, and its fields as they are declared; one without a declaration is a net at a port (`instances.rs`).
    (@declared $(#[$meta:meta])* $vis:vis struct $name:ident($s:ident: &$shape:ty) {
        $( $(#[doc = $doc:literal])* $port:ident: $ty:ty $(= $decl:expr)? ),* $(,)?
    } $(+ $(#[doc = $part_doc:literal])* $part:ident: $part_ty:ty as $part_shape:expr)?) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        $vis struct $name {
            $( $(#[doc = $doc])* pub $port: $ty, )*
            $( $(#[doc = $part_doc])* pub $part: $part_ty, )?
        }

        impl $name {
            #[allow(unused_variables, reason = "a struct may have no width that depends on the shape")]
            fn declared($s: &$shape) -> Vec<$crate::Field> {
                let fields = vec![ $(
                    $crate::Field::placed::<$ty>(
                        $crate::ports!(@declaration $($decl)?),
                        stringify!($port),
                        concat!($($doc, " "),*),
                        std::mem::offset_of!($name, $port),
                    ),
                )* ];
                $(
                    let part = <$part_ty as $crate::Ports>::fields($part_shape);
                    let fields = $crate::with_part(fields, part, std::mem::offset_of!($name, $part));
                )?
                $crate::present(fields)
            }
        }
    };
    (@declaration) => { $crate::instances::net() };
    (@declaration $decl:expr) => { $decl };
    ($(#[$meta:meta])* $vis:vis struct $name:ident($s:ident: &$shape:ty) {
        $( $(#[doc = $doc:literal])* $port:ident: $ty:ty = $decl:expr ),* $(,)?
    } $(+ $(#[doc = $part_doc:literal])* $part:ident: $part_ty:ty as $part_shape:expr)?) => {
        $crate::ports! { @declared $(#[$meta])* $vis struct $name($s: &$shape) {
            $( $(#[doc = $doc])* $port: $ty = $decl, )*
        } $(+ $(#[doc = $part_doc])* $part: $part_ty as $part_shape)? }

        // SAFETY: `repr(C)`, and every field is a `FieldType`: integers and arrays of integers.
        unsafe impl $crate::Ports for $name {
            type Shape = $shape;
            fn fields(shape: &$shape) -> Vec<$crate::Field> {
                Self::declared(shape)
            }
        }
    };
}
