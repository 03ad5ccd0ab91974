//! The syntax tree of a PTX module. Names borrow from the source.

use crate::diagnostic::{Error, Span};

/// A name with its position in the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Word<'a> {
    /// The text; modifiers and directives without their dot.
    pub text: &'a str,
    /// Its position.
    pub span: Span,
}

/// A whole PTX file.
#[derive(Clone, Debug, PartialEq)]
pub struct Module<'a> {
    /// Variables declared outside of functions, in order.
    pub variables: Vec<Variable<'a>>,
    /// Kernels and device functions, in order.
    pub functions: Vec<Function<'a>>,
    /// Aliases of functions (`.alias name, function;`), as (name, function).
    pub aliases: Vec<(Word<'a>, Word<'a>)>,
}

/// State space of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// `.global`
    Global,
    /// `.const`
    Const,
    /// `.shared`
    Shared,
    /// `.local`
    Local,
    /// `.param`
    Param,
}

/// A variable with its storage.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'a> {
    /// State space.
    pub space: Space,
    /// Its name.
    pub name: Word<'a>,
    /// Type of an element, such as `b8`.
    pub ty: Word<'a>,
    /// Alignment in bytes, as declared or from the type.
    pub align: u32,
    /// Number of elements in all; `None` for an array without a size (`.extern .shared`).
    pub elements: Option<u64>,
    /// Whether it is declared `.extern`.
    pub external: bool,
    /// Initial values, in the order of their elements; elements without one are zero.
    pub init: Vec<Init<'a>>,
}

impl Variable<'_> {
    /// The text that a variable of bytes holds from this byte on, up to a zero or the variable's end.
    pub fn text(&self, from: u64) -> Vec<u8> {
        let mut text = Vec::new();
        for init in self.init.iter().filter(|init| init.index >= from) {
            match init.value {
                InitValue::Int(value) if value as u8 != 0 && init.index - from == text.len() as u64 => {
                    text.push(value as u8);
                }
                _ => break,
            }
        }
        text
    }
}

/// The initial value of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Init<'a> {
    /// Index of the element.
    pub index: u64,
    /// The value.
    pub value: InitValue<'a>,
    /// Its position in the source.
    pub span: Span,
}

/// An initial value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitValue<'a> {
    /// An integer, two's complement.
    Int(u64),
    /// Bits of an f32.
    F32(u32),
    /// Bits of an f64.
    F64(u64),
    /// The address of a symbol plus an offset in bytes; `generic` if written `generic(symbol)`.
    Address {
        /// The symbol.
        symbol: Word<'a>,
        /// Bytes added to it.
        offset: i64,
        /// Whether the address is one of the generic space.
        generic: bool,
    },
}

/// A kernel (`.entry`) or device function (`.func`).
#[derive(Clone, Debug, PartialEq)]
pub struct Function<'a> {
    /// Whether it is a kernel.
    pub entry: bool,
    /// Its name.
    pub name: Word<'a>,
    /// Parameters.
    pub params: Vec<Variable<'a>>,
    /// Results of a device function, which are also variables of the parameter space.
    pub results: Vec<Variable<'a>>,
    /// `.maxntid` or `.reqntid`; missing dimensions are 1.
    pub max_threads: Option<[u32; 3]>,
    /// Whether a block must have exactly these dimensions (`.reqntid`).
    pub exact_threads: bool,
    /// Directives that need a feature outside of the subset; `reg` for a parameter that is a register.
    pub refused: Vec<Word<'a>>,
    /// The body; `None` for a declaration, and for a body that is not PTX.
    pub body: Option<Block<'a>>,
    /// The error in a body that is not PTX.
    pub broken: Option<Error>,
    /// The source from `.entry` or `.func` to the end of the body.
    pub span: Span,
}

impl Function<'_> {
    /// Whether this defines a kernel, rather than declares it.
    pub fn defines_kernel(&self) -> bool {
        self.entry && (self.body.is_some() || self.broken.is_some())
    }
}

/// The contents of a pair of braces. Registers and variables are visible in it and in inner blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block<'a> {
    /// Register declarations.
    pub registers: Vec<Registers<'a>>,
    /// Variables.
    pub variables: Vec<Variable<'a>>,
    /// The statements, in order.
    pub statements: Vec<Statement<'a>>,
}

/// `.reg .b32 %r<12>;`, or one of several names in a declaration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Registers<'a> {
    /// The type.
    pub ty: Word<'a>,
    /// Name, or prefix of the names.
    pub name: Word<'a>,
    /// Number of registers `name0`, `name1`, ...; `None` for a single register `name`.
    pub count: Option<u64>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement<'a> {
    /// `label:`
    Label(Word<'a>),
    /// A list of labels for `brx.idx`, named by the label before it.
    BranchTargets(Vec<Word<'a>>),
    /// An instruction.
    Instruction(Instruction<'a>),
    /// A block in braces.
    Block(Block<'a>),
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction<'a> {
    /// `@p` or `@!p`: name and whether it is negated.
    pub guard: Option<(Word<'a>, bool)>,
    /// The opcode, without its modifiers.
    pub opcode: Word<'a>,
    /// The modifiers, without dots.
    pub modifiers: Vec<Word<'a>>,
    /// Operands in the order of the source.
    pub operands: Vec<Operand<'a>>,
    /// The source from the guard or opcode to the semicolon.
    pub span: Span,
}

/// An operand with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand<'a> {
    /// Its kind and contents.
    pub kind: OperandKind<'a>,
    /// Its position.
    pub span: Span,
}

/// The kinds of operands.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandKind<'a> {
    /// A register, symbol or label; special registers with their dimension (`%tid.x`).
    Name {
        /// The name.
        name: &'a str,
        /// `x`, `y`, `z` or `w` after a dot.
        part: Option<&'a str>,
    },
    /// `symbol + offset`.
    Sum(&'a str, i64),
    /// An integer, two's complement.
    Int(u64),
    /// Bits of an f32.
    F32(u32),
    /// Bits of an f64.
    F64(u64),
    /// `[base + offset]`; without a base, an absolute address.
    Address(Option<&'a str>, i64),
    /// `{a, b}`
    Vector(Vec<Operand<'a>>),
    /// `(a, b)` of a call.
    List(Vec<Operand<'a>>),
    /// `a|b`
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `!a`
    Not(Box<Operand<'a>>),
    /// `-a` of a register or a similar operand; only in old PTX.
    Negative(Box<Operand<'a>>),
}
