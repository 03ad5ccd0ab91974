//! The modifiers of operations, which follow the dots after the mnemonic.
//!
//! A modifier is a field of an operation. Its type defines how many bits it takes, which of their values are valid, and its text; the table of
//! operations only names the type.

/// A field of an operation.
pub trait Modifier: Copy + PartialEq + Sized + 'static {
    /// Width of the field.
    const BITS: u32;

    /// The field's value.
    fn bits(self) -> u32;

    /// The modifier of a value, if the value is valid.
    fn from_bits(bits: u32) -> Option<Self>;

    /// Its text, without the dot; empty for a modifier that is left out. `name` is the field's name in upper case.
    fn suffix(self, name: &str) -> String;

    /// All valid values.
    fn all() -> impl Iterator<Item = Self> {
        (0..1u32 << Self::BITS).filter_map(Self::from_bits)
    }
}

/// A flag: its name, or nothing.
impl Modifier for bool {
    const BITS: u32 = 1;

    fn bits(self) -> u32 {
        self.into()
    }

    fn from_bits(bits: u32) -> Option<Self> {
        Some(bits != 0)
    }

    fn suffix(self, name: &str) -> String {
        if self { name.into() } else { String::new() }
    }
}

macro_rules! modifiers {
    ($($(#[$doc:meta])* $name:ident: $bits:literal { $($(#[$value_doc:meta])* $value:ident = $number:literal, $text:literal;)+ })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$value_doc])* $value = $number,)+ }

        impl Modifier for $name {
            const BITS: u32 = $bits;

            fn bits(self) -> u32 {
                self as u32
            }

            fn from_bits(bits: u32) -> Option<Self> {
                match bits {
                    $($number => Some(Self::$value),)+
                    _ => None,
                }
            }

            fn suffix(self, _name: &str) -> String {
                match self {
                    $(Self::$value => $text.into(),)+
                }
            }
        }
    )+};
}

modifiers! {
    /// How a float result is rounded.
    Rounding: 2 {
        /// To nearest, ties to even.
        NearestEven = 0, "";
        /// Towards zero.
        TowardZero = 1, "RZ";
        /// Towards minus infinity.
        Down = 2, "RM";
        /// Towards plus infinity.
        Up = 3, "RP";
    }
    /// Which of two values a minimum or maximum gives.
    Extremum: 1 {
        /// The smaller one.
        Min = 0, "MIN";
        /// The larger one.
        Max = 1, "MAX";
    }
    /// What an addition does.
    Addition: 2 {
        /// `a + b + s`.
        Add = 0, "";
        /// `a + ~b + s`: with s true, `a - b`.
        Subtract = 1, "SUB";
        /// `~a + b + s`: with s true, `b - a`.
        ReverseSubtract = 2, "RSUB";
    }
    /// Which half of a 64-bit product.
    Half: 1 {
        /// Bits 31 to 0.
        Low = 0, "LO";
        /// Bits 63 to 32.
        High = 1, "HI";
    }
    /// A comparison of integers.
    IntegerComparison: 3 {
        /// Equal.
        Eq = 0, "EQ";
        /// Not equal.
        Ne = 1, "NE";
        /// Less.
        Lt = 2, "LT";
        /// Less or equal.
        Le = 3, "LE";
        /// Greater.
        Gt = 4, "GT";
        /// Greater or equal.
        Ge = 5, "GE";
    }
    /// A comparison of floats. The plain ones are false, those with U true, when an operand is a NaN.
    FloatComparison: 4 {
        /// Equal.
        Eq = 0, "EQ";
        /// Not equal.
        Ne = 1, "NE";
        /// Less.
        Lt = 2, "LT";
        /// Less or equal.
        Le = 3, "LE";
        /// Greater.
        Gt = 4, "GT";
        /// Greater or equal.
        Ge = 5, "GE";
        /// Equal, or unordered.
        Equ = 8, "EQU";
        /// Not equal, or unordered.
        Neu = 9, "NEU";
        /// Less, or unordered.
        Ltu = 10, "LTU";
        /// Less or equal, or unordered.
        Leu = 11, "LEU";
        /// Greater, or unordered.
        Gtu = 12, "GTU";
        /// Greater or equal, or unordered.
        Geu = 13, "GEU";
        /// Neither operand is a NaN.
        Num = 14, "NUM";
        /// An operand is a NaN.
        Nan = 15, "NAN";
    }
    /// How a truth value is combined with predicate source s.
    Combine: 2 {
        /// Both.
        And = 0, "AND";
        /// Either.
        Or = 1, "OR";
        /// One but not both.
        Xor = 2, "XOR";
    }
    /// How the result of an integer comparison is combined with predicate source s.
    IntegerCombine: 2 {
        /// Both.
        And = 0, "AND";
        /// Either.
        Or = 1, "OR";
        /// One but not both.
        Xor = 2, "XOR";
        /// The upper words of a 64-bit comparison: where a and b are equal the result is s, that of the lower words.
        Extended = 3, "EX";
    }
    /// Direction of a funnel shift.
    Direction: 1 {
        /// To the left; the upper word of the result.
        Left = 0, "L";
        /// To the right; the lower word of the result.
        Right = 1, "R";
    }
    /// What a funnel shift does with an amount above 31.
    ShiftRange: 1 {
        /// Amounts above 32 count as 32.
        Clamp = 0, "CLAMP";
        /// The amount modulo 32.
        Wrap = 1, "WRAP";
    }
    /// An approximate function.
    Function: 3 {
        /// 1 / a.
        Rcp = 0, "RCP";
        /// 1 / square root of a.
        Rsq = 1, "RSQ";
        /// Square root of a.
        Sqrt = 2, "SQRT";
        /// 2 to the power of a.
        Ex2 = 3, "EX2";
        /// Logarithm of a to base 2.
        Lg2 = 4, "LG2";
        /// Sine of a, in radians.
        Sin = 5, "SIN";
        /// Cosine of a, in radians.
        Cos = 6, "COS";
    }
    /// Which memory a load or store accesses.
    Space: 2 {
        /// Global memory; 64-bit addresses.
        Global = 0, "GLOBAL";
        /// The block's shared memory; 32-bit addresses.
        Shared = 1, "SHARED";
        /// The thread's local memory; 32-bit addresses.
        Local = 2, "LOCAL";
        /// The memory in whose window the 64-bit address lies.
        Generic = 3, "GENERIC";
    }
    /// Which memory an atomic operation accesses.
    AtomicSpace: 2 {
        /// Global memory.
        Global = 0, "GLOBAL";
        /// The block's shared memory.
        Shared = 1, "SHARED";
        /// The memory in whose window the 64-bit address lies.
        Generic = 3, "GENERIC";
    }
    /// What a load reads, and how it fills the register.
    LoadType: 3 {
        /// 8 bits, zero-extended.
        U8 = 0, "U8";
        /// 8 bits, sign-extended.
        S8 = 1, "S8";
        /// 16 bits, zero-extended.
        U16 = 2, "U16";
        /// 16 bits, sign-extended.
        S16 = 3, "S16";
        /// 32 bits.
        B32 = 4, "B32";
    }
    /// What a store writes: the low bits of its register.
    StoreType: 2 {
        /// 8 bits.
        B8 = 0, "B8";
        /// 16 bits.
        B16 = 1, "B16";
        /// 32 bits.
        B32 = 2, "B32";
    }
    /// What the address must be a multiple of. A vector access of PTX becomes several instructions, the first of which has to be aligned for all.
    Alignment: 2 {
        /// The size of the access.
        Natural = 0, "";
        /// 8 bytes.
        Bytes8 = 1, "ALIGN8";
        /// 16 bytes.
        Bytes16 = 2, "ALIGN16";
    }
    /// The value that replaces the word m in memory.
    Atomic: 4 {
        /// m + c.
        Add = 0, "ADD";
        /// The smaller one, unsigned.
        MinU32 = 1, "MIN.U32";
        /// The smaller one, signed.
        MinS32 = 2, "MIN.S32";
        /// The larger one, unsigned.
        MaxU32 = 3, "MAX.U32";
        /// The larger one, signed.
        MaxS32 = 4, "MAX.S32";
        /// m >= c ? 0 : m + 1.
        Inc = 5, "INC";
        /// m = 0 or m > c ? c : m - 1.
        Dec = 6, "DEC";
        /// m and c.
        And = 7, "AND";
        /// m or c.
        Or = 8, "OR";
        /// m exclusive or c.
        Xor = 9, "XOR";
        /// c.
        Exch = 10, "EXCH";
        /// m + c as floats, to nearest even; subnormals are flushed in global memory and kept in shared memory, as PTX says.
        AddF32 = 11, "ADD.F32";
    }
    /// What a texture fetch reads. Bit 4 says that there is a third coordinate.
    TextureAccess: 5 {
        /// One dimension.
        D1 = 0, "1D";
        /// Two dimensions.
        D2 = 1, "2D";
        /// Layers of one dimension.
        A1D = 2, "A1D";
        /// One dimension, integer coordinates.
        D1Int = 3, "1D.INT";
        /// Two dimensions, integer coordinates.
        D2Int = 4, "2D.INT";
        /// Layers of one dimension, an integer coordinate.
        A1DInt = 5, "A1D.INT";
        /// Texel 0 of a gather in two dimensions.
        D2Gather0 = 8, "2D.GATHER0";
        /// Texel 1 of a gather in two dimensions.
        D2Gather1 = 9, "2D.GATHER1";
        /// Texel 2 of a gather in two dimensions.
        D2Gather2 = 10, "2D.GATHER2";
        /// Texel 3 of a gather in two dimensions.
        D2Gather3 = 11, "2D.GATHER3";
        /// Three dimensions.
        D3 = 16, "3D";
        /// Layers of two dimensions.
        A2D = 17, "A2D";
        /// A cube map.
        Cube = 18, "CUBE";
        /// Three dimensions, integer coordinates.
        D3Int = 19, "3D.INT";
        /// Layers of two dimensions, integer coordinates.
        A2DInt = 20, "A2D.INT";
        /// Texel 0 of a gather in a layer.
        A2DGather0 = 24, "A2D.GATHER0";
        /// Texel 1 of a gather in a layer.
        A2DGather1 = 25, "A2D.GATHER1";
        /// Texel 2 of a gather in a layer.
        A2DGather2 = 26, "A2D.GATHER2";
        /// Texel 3 of a gather in a layer.
        A2DGather3 = 27, "A2D.GATHER3";
    }
    /// A channel of a texel.
    Channel: 2 {
        /// The first one.
        R = 0, "R";
        /// The second one.
        G = 1, "G";
        /// The third one.
        B = 2, "B";
        /// The fourth one.
        A = 3, "A";
    }
    /// How a shuffle chooses the lane to read from.
    Shuffle: 2 {
        /// Lane number minus b.
        Up = 0, "UP";
        /// Lane number plus b.
        Down = 1, "DOWN";
        /// Lane number exclusive or b.
        Butterfly = 2, "BFLY";
        /// b.
        Index = 3, "IDX";
    }
    /// The condition that a vote tests in the active lanes.
    Vote: 2 {
        /// s is true in all of them.
        All = 0, "ALL";
        /// s is true in one of them.
        Any = 1, "ANY";
        /// s is the same in all of them.
        Uniform = 2, "UNI";
    }
    /// The threads that have to see the memory accesses before a fence.
    Scope: 2 {
        /// The thread's block.
        Block = 0, "CTA";
        /// All threads of the device.
        Device = 1, "GPU";
        /// The host too.
        System = 2, "SYS";
    }
    /// The special register that S2R reads.
    Special: 5 {
        /// Thread number in the block, x.
        TidX = 0, "TID.X";
        /// Thread number in the block, y.
        TidY = 1, "TID.Y";
        /// Thread number in the block, z.
        TidZ = 2, "TID.Z";
        /// Threads of a block, x.
        NtidX = 3, "NTID.X";
        /// Threads of a block, y.
        NtidY = 4, "NTID.Y";
        /// Threads of a block, z.
        NtidZ = 5, "NTID.Z";
        /// Block number in the grid, x.
        CtaidX = 6, "CTAID.X";
        /// Block number in the grid, y.
        CtaidY = 7, "CTAID.Y";
        /// Block number in the grid, z.
        CtaidZ = 8, "CTAID.Z";
        /// Blocks of the grid, x.
        NctaidX = 9, "NCTAID.X";
        /// Blocks of the grid, y.
        NctaidY = 10, "NCTAID.Y";
        /// Blocks of the grid, z.
        NctaidZ = 11, "NCTAID.Z";
        /// Lane number in the warp.
        LaneId = 12, "LANEID";
        /// Warp number in the block: thread number over all dimensions, divided by 32.
        WarpId = 13, "WARPID";
        /// The lane's own bit.
        LaneMaskEq = 14, "LANEMASK_EQ";
        /// The bits below the lane's own.
        LaneMaskLt = 15, "LANEMASK_LT";
        /// The lane's own bit and those below.
        LaneMaskLe = 16, "LANEMASK_LE";
        /// The bits above the lane's own.
        LaneMaskGt = 17, "LANEMASK_GT";
        /// The lane's own bit and those above.
        LaneMaskGe = 18, "LANEMASK_GE";
        /// The lanes that execute this instruction.
        ActiveMask = 19, "ACTIVEMASK";
        /// Bytes of dynamic shared memory of the launch.
        DynamicSharedSize = 20, "DYNAMIC_SMEM_SIZE";
        /// Lower word of the machine's time, in cycles.
        TimeLow = 21, "TIME_LO";
        /// Upper word of the machine's time.
        TimeHigh = 22, "TIME_HI";
    }
}

impl TextureAccess {
    /// Whether there is a third coordinate.
    pub const fn has_third(self) -> bool {
        self as u32 & 16 != 0
    }
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $bits:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(u8);

        impl $name {
            /// This number, if it fits.
            pub const fn new(number: u8) -> Option<Self> {
                if (number as u32) < 1 << $bits { Some(Self(number)) } else { None }
            }

            /// The number.
            pub const fn number(self) -> u8 {
                self.0
            }
        }

        impl Modifier for $name {
            const BITS: u32 = $bits;

            fn bits(self) -> u32 {
                self.0.into()
            }

            fn from_bits(bits: u32) -> Option<Self> {
                u8::try_from(bits).ok().and_then(Self::new)
            }

            fn suffix(self, name: &str) -> String {
                format!("{name}{}", self.0)
            }
        }
    )+};
}

numbers! {
    /// A barrier of the block, 0 to 15.
    BarrierId: 4;
    /// The truth table of a three-input function: bit 4a + 2b + c is the result for a, b, c.
    TruthTable: 8;
    /// A lane number, or a mask of lane numbers.
    LaneNumber: 5;
}
