//! The operations: one row each, from which encoding, decoding, text, operand roles and units follow.
//!
//! To add an operation, add its row. A row consists of number, name in Rust, mnemonic, modifiers, slots, unit, meaning.

use std::sync::LazyLock;

use crate::modifiers::*;

/// The slots that an operation uses, and how it reads them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slots(u16);

impl Slots {
    /// Writes general register d.
    pub const D: Self = Self(1 << 0);
    /// Writes predicate p.
    pub const P: Self = Self(1 << 1);
    /// Reads general register a.
    pub const A: Self = Self(1 << 2);
    /// Reads source b, a register; without [`Slots::OFFSET`] also a constant.
    pub const B: Self = Self(1 << 3);
    /// Reads general register c.
    pub const C: Self = Self(1 << 4);
    /// Reads predicate s.
    pub const S: Self = Self(1 << 5);
    /// Reads predicate t.
    pub const T: Self = Self(1 << 6);
    /// Source b is a constant.
    pub const CONSTANT: Self = Self(1 << 7);
    /// a is an address to which an offset is added.
    pub const OFFSET: Self = Self(1 << 8);
    /// a and b are the lower and the upper word of an address.
    pub const PAIR: Self = Self(1 << 9);
    /// Has a reconvergence point.
    pub const JOIN: Self = Self(1 << 10);
    /// The offset is the address of a constant word that holds a texture's handle; it is not added to a.
    pub const TEXTURE: Self = Self(1 << 11);

    const fn union(slots: &[Self]) -> Self {
        let mut all = 0;
        let mut i = 0;
        while i < slots.len() {
            all |= slots[i].0;
            i += 1;
        }
        Self(all)
    }

    /// Whether all of `slots` are among these.
    pub const fn has(self, slots: Self) -> bool {
        self.0 & slots.0 == slots.0
    }

    /// Whether source b may be a register.
    pub const fn b_register(self) -> bool {
        self.has(Self::B) && !self.has(Self::CONSTANT)
    }

    /// Whether source b may be a constant.
    pub const fn b_constant(self) -> bool {
        self.has(Self::B) && !self.has(Self::OFFSET)
    }
}

/// Which part of the SM executes an operation (hierarchy thesis, table 4.4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unit {
    /// Arithmetic and logic: the private datapath.
    Alu,
    /// Approximate functions.
    Sfu,
    /// Shared memory, the constant space, the crossbar between lanes, special registers.
    SharedMemory,
    /// Global and local memory: long latency.
    GlobalMemory,
    /// Branches, barriers, and operations that compute nothing.
    Control,
}

impl Unit {
    /// Whether this is the private datapath, the only one that reaches the LRF (hierarchy thesis 6.2.2).
    pub const fn is_private(self) -> bool {
        matches!(self, Self::Alu)
    }
}

impl Space {
    /// The unit that serves the space. A generic address is known too late to choose a unit other than that of global memory.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Shared => Unit::SharedMemory,
            Self::Global | Self::Local | Self::Generic => Unit::GlobalMemory,
        }
    }
}

impl Op {
    /// Whether it reads the machine's time, so that its result depends on when it is executed.
    pub const fn reads_time(self) -> bool {
        matches!(self, Self::S2r { source: Special::TimeLow | Special::TimeHigh })
    }
}

impl AtomicSpace {
    /// The unit that serves the space.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Shared => Unit::SharedMemory,
            Self::Global | Self::Generic => Unit::GlobalMemory,
        }
    }
}

/// One row of the table of operations.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The opcode, 7 bits.
    pub number: u8,
    /// The mnemonic, with which its text begins.
    pub mnemonic: &'static str,
    /// Names and widths of its modifiers, lowest bits first.
    pub modifiers: &'static [(&'static str, u32)],
    /// Its slots.
    pub slots: Slots,
    /// What the operation does.
    pub meaning: &'static str,
}

macro_rules! operations {
    ($($number:literal $name:ident $mnemonic:literal { $($field:ident: $type:ty),* } [$($slot:ident)*] $unit:expr, $meaning:literal;)+) => {
        /// An operation with its modifiers, without its operands.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "the modifiers' types say what they are")]
        pub enum Op {
            $(#[doc = $meaning] $name { $($field: $type),* },)+
        }

        impl Op {
            /// All operations, by number.
            pub const TABLE: &'static [Row] = &[$(Row {
                number: $number,
                mnemonic: $mnemonic,
                modifiers: &[$((stringify!($field), <$type as Modifier>::BITS)),*],
                slots: Slots::union(&[$(Slots::$slot),*]),
                meaning: $meaning,
            },)+];

            /// The slots it uses.
            pub const fn slots(self) -> Slots {
                match self {
                    $(Self::$name { .. } => const { Slots::union(&[$(Slots::$slot),*]) },)+
                }
            }

            /// The unit that executes it.
            pub const fn unit(self) -> Unit {
                match self {
                    $(#[allow(unused_variables, reason = "few units depend on a modifier")]
                    Self::$name { $($field),* } => $unit,)+
                }
            }

            /// Its opcode.
            pub const fn number(self) -> u8 {
                match self {
                    $(Self::$name { .. } => $number,)+
                }
            }

            /// The mnemonic, with which its text begins.
            pub const fn mnemonic(self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $mnemonic,)+
                }
            }

            /// Its modifiers as bits, the first one lowest.
            pub(crate) fn modifiers(self) -> u32 {
                match self {
                    $(Self::$name { $($field),* } => {
                        #[allow(unused_mut, reason = "some operations have no modifiers")]
                        let (mut bits, mut _at) = (0, 0);
                        $(bits |= $field.bits() << _at; _at += <$type as Modifier>::BITS;)*
                        bits
                    })+
                }
            }

            /// The operation of an opcode and modifiers: `None` if there is no such opcode, the modifier's name as error if its value is invalid. The
            /// caller has to check the bits above the modifiers.
            pub fn from_modifiers(number: u8, bits: u32) -> Option<Result<Self, &'static str>> {
                let mut _bits = bits;
                let mut _take = |width: u32| {
                    let field = _bits & ((1 << width) - 1);
                    _bits >>= width;
                    field
                };
                Some(match number {
                    $($number => {
                        $(let Some($field) = <$type as Modifier>::from_bits(_take(<$type as Modifier>::BITS)) else {
                            return Some(Err(stringify!($field)));
                        };)*
                        Ok(Self::$name { $($field),* })
                    })+
                    _ => return None,
                })
            }

            /// The parts of its text after the dots, in order; empty strings for modifiers that are left out.
            pub(crate) fn suffixes(self) -> Vec<String> {
                match self {
                    $(Self::$name { $($field),* } => vec![$($field.suffix(&stringify!($field).to_uppercase())),*],)+
                }
            }

            /// The operation of a text such as `FFMA.RZ.FTZ`.
            pub(crate) fn from_text(text: &str) -> Option<Self> {
                let (mnemonic, _rest) = text.split_once('.').map_or((text, ""), |(first, _)| (first, &text[first.len()..]));
                match mnemonic {
                    $($mnemonic => {
                        let mut _rest = _rest;
                        $(let ($field, remaining) = {
                            static TEXTS: LazyLock<Vec<(String, $type)>> = LazyLock::new(|| suffixes(stringify!($field)));
                            take_suffix(_rest, &TEXTS)?
                        };
                        _rest = remaining;)*
                        _rest.is_empty().then_some(Self::$name { $($field),* })
                    })+
                    _ => None,
                }
            }
        }
    };
}

/// The modifier that a text such as `.RZ.FTZ` begins with, and the rest of the text. Of several it is the one with the longest text; a modifier that
/// is left out has an empty text.
fn take_suffix<'a, M: Modifier>(text: &'a str, suffixes: &[(String, M)]) -> Option<(M, &'a str)> {
    let candidates = suffixes.iter().filter_map(|(suffix, modifier)| {
        if suffix.is_empty() {
            return Some((*modifier, text));
        }
        let rest = text.strip_prefix('.')?.strip_prefix(suffix.as_str())?;
        (rest.is_empty() || rest.starts_with('.')).then_some((*modifier, rest))
    });
    candidates.min_by_key(|(_, rest)| rest.len())
}

/// The texts of all modifiers of a field.
fn suffixes<M: Modifier>(field: &str) -> Vec<(String, M)> {
    let name = field.to_uppercase();
    M::all().map(|modifier| (modifier.suffix(&name), modifier)).collect()
}

operations! {
    // Control.
    0x01 Nop "NOP" {} [] Unit::Control, "nothing";
    0x02 Bra "BRA" {} [B CONSTANT JOIN] Unit::Control, "lanes whose guard is true continue at instruction b";
    0x03 Exit "EXIT" {} [] Unit::Control, "lanes whose guard is true end";
    0x04 Bar "BAR" { id: BarrierId } [B] Unit::Control, "waits until b threads of the block are at the barrier; all of them when b is RZ or 0";
    0x05 Warpsync "WARPSYNC" {} [B] Unit::Control, "the active lanes must be the living ones of mask b";
    0x06 Membar "MEMBAR" { scope: Scope } [] Unit::Control, "the thread's earlier memory accesses are seen before its later ones";
    0x07 Trap "TRAP" {} [B CONSTANT] Unit::Control, "stops the kernel with code b";
    0x08 Relssp "RELSSP" {} [] Unit::Control, "the thread does not access the shared part of shared memory again";

    // Moves, lanes and predicates.
    0x10 Mov "MOV" {} [D B] Unit::Alu, "d = b";
    0x11 Sel "SEL" {} [D A B S] Unit::Alu, "d = s ? a : b";
    0x12 S2r "S2R" { source: Special } [D] Unit::SharedMemory, "d = a special register";
    0x13 Shfl "SHFL" { mode: Shuffle, clamp: LaneNumber, segment: LaneNumber } [D P A B] Unit::SharedMemory,
        "d = a of another lane, p = whether that lane is in range";
    0x14 Vote "VOTE" { mode: Vote } [P S] Unit::Alu, "p = what the active lanes say of s";
    0x15 Ballot "BALLOT" {} [D S] Unit::Alu, "d = mask of the active lanes in which s is true";
    0x16 Plop "PLOP" { combine: Combine } [P S T] Unit::Alu, "p = s combined with t";

    // Integers.
    0x20 Iadd "IADD" { mode: Addition } [D P A B S] Unit::Alu, "d = a + b + s, p = carry out";
    0x21 Imad "IMAD" { half: Half, signed: bool } [D P A B C S] Unit::Alu, "d = a half of a * b, plus c plus s; p = carry out of the additions";
    0x22 Imnmx "IMNMX" { which: Extremum, signed: bool } [D A B] Unit::Alu, "d = minimum or maximum of a and b";
    0x23 Isetp "ISETP" { comparison: IntegerComparison, signed: bool, combine: IntegerCombine } [P A B S] Unit::Alu,
        "p = (a compared with b) combined with s";
    0x24 Lop3 "LOP3" { lut: TruthTable } [D A B C] Unit::Alu, "d = f(a, b, c), bit by bit";
    0x25 Shl "SHL" {} [D A B] Unit::Alu, "d = a << b; 0 when b > 31";
    0x26 Shr "SHR" { signed: bool } [D A B] Unit::Alu, "d = a >> b; all sign bits (signed) or 0 when b > 31";
    0x27 Shf "SHF" { direction: Direction, range: ShiftRange } [D A B C] Unit::Alu, "d = a word of (c:a), c above a, shifted by b";
    0x28 Bfe "BFE" { signed: bool } [D A B] Unit::Alu, "d = the field of a at bit `b[7:0]`, `b[15:8]` bits wide";
    0x29 Bfi "BFI" {} [D A B C] Unit::Alu, "d = c with its field at bit `b[7:0]`, `b[15:8]` bits wide, replaced by the low bits of a";
    0x2a Prmt "PRMT" {} [D A B C] Unit::Alu, "d = four bytes of (c:a), c above a, chosen by the selector b";
    0x2b Popc "POPC" {} [D A] Unit::Alu, "d = number of ones in a";
    0x2c Clz "CLZ" {} [D A] Unit::Alu, "d = number of zeros above the highest one of a";
    0x2d Brev "BREV" {} [D A] Unit::Alu, "d = a with its bits in reverse";
    0x2e Dp4a "DP4A" { signed_a: bool, signed_b: bool } [D A B C] Unit::Alu, "d = c + the four products of the bytes of a and b";
    0x2f Dp2a "DP2A" { signed_a: bool, signed_b: bool, half: Half } [D A B C] Unit::Alu,
        "d = c + the two products of the 16-bit halves of a and two bytes of b";

    // Single precision.
    0x30 Fadd "FADD" { rounding: Rounding, ftz: bool, sat: bool, neg_a: bool, neg_b: bool } [D A B] Unit::Alu, "d = a + b";
    0x31 Fmul "FMUL" { rounding: Rounding, ftz: bool, sat: bool, neg: bool } [D A B] Unit::Alu, "d = a * b";
    0x32 Ffma "FFMA" { rounding: Rounding, ftz: bool, sat: bool, neg: bool, neg_c: bool } [D A B C] Unit::Alu,
        "d = a * b + c, rounded once; neg is of the product";
    0x33 Fmnmx "FMNMX" { which: Extremum, ftz: bool, nan: bool } [D A B] Unit::Alu,
        "d = minimum or maximum of a and b; with nan, a NaN when one of them is";
    0x34 Fsetp "FSETP" { comparison: FloatComparison, ftz: bool, combine: Combine } [P A B S] Unit::Alu,
        "p = (a compared with b) combined with s";
    0x35 I2f "I2F" { rounding: Rounding, signed: bool } [D A] Unit::Alu, "d = integer a as a float";
    0x36 F2i "F2I" { rounding: Rounding, ftz: bool, signed: bool } [D A] Unit::Alu, "d = float a as an integer, saturated; 0 for a NaN";
    0x37 Frnd "FRND" { rounding: Rounding, ftz: bool, sat: bool } [D A] Unit::Alu, "d = float a rounded to an integer, as a float";
    0x38 Mufu "MUFU" { function: Function, ftz: bool } [D A] Unit::Sfu, "d = an approximate function of a";

    // Memory.
    0x40 Ld "LD" { space: Space, kind: LoadType, align: Alignment, bypass: bool } [D A B OFFSET PAIR] space.unit(),
        "d = memory at the address; with bypass, not from the data cache, where the machine heeds that";
    0x41 St "ST" { space: Space, kind: StoreType, align: Alignment } [A B C OFFSET PAIR] space.unit(), "memory at the address = c";
    0x42 Ldc "LDC" { kind: LoadType, align: Alignment } [D A OFFSET] Unit::SharedMemory, "d = the constant space at the address";
    0x43 Atom "ATOM" { space: AtomicSpace, operation: Atomic } [D A B C OFFSET PAIR] space.unit(),
        "d = the word at the address, which is replaced by a function of itself and c";
    0x44 Cas "CAS" { space: AtomicSpace } [D A B C OFFSET] space.unit(),
        "d = the word at the address, which is replaced by c where it equals b; a is the lower word of an address whose upper word is 0";
    0x46 Tex "TEX" { access: TextureAccess, channel: Channel } [D A B C OFFSET TEXTURE] Unit::GlobalMemory,
        "d = a channel of the texture at the coordinates a, b, c; the constant word at the offset is the texture's handle";
}
