//! A compiled program.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::encoding::DecodeError;
use crate::instruction::Instruction;
use crate::machine;

/// A compiled program: the contents of one PTX file.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Image {
    /// The PTX file, as diagnostics name it.
    pub source: String,
    /// Its kernels.
    pub kernels: Vec<Kernel>,
    /// Its `__constant__` and `__device__` variables.
    pub symbols: Vec<Symbol>,
}

impl Image {
    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// Bytes of the constant space, from address 0, that belong to the parameters, whichever kernel runs.
    pub fn parameter_space(&self) -> u32 {
        let largest = self.kernels.iter().map(Kernel::parameter_bytes).max().unwrap_or(0);
        largest.max(machine::PARAMETER_SPACE)
    }

    /// The variable of this name.
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|symbol| symbol.name == name)
    }
}

/// A kernel.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Kernel {
    /// Its name in the PTX, as mangled there.
    pub name: String,
    /// Its code; a program counter is an index into it.
    #[serde(serialize_with = "write_code", deserialize_with = "read_code")]
    pub code: Vec<Instruction>,
    /// For each instruction the line of the PTX file that it comes from, from 1.
    pub lines: Vec<u32>,
    /// General registers of a thread.
    pub registers: u16,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// Bytes of static shared memory; dynamic shared memory begins after them.
    pub static_shared: u32,
    /// Bytes of local memory of a thread.
    pub local_bytes: u32,
    /// The most threads of a block (`.maxntid`), if the kernel specifies it.
    pub max_threads: Option<u32>,
    /// The number of threads of a block in each dimension (`.reqntid`), if the kernel specifies it.
    pub required_threads: Option<[u32; 3]>,
    /// Constants in the code that are only known when variables have addresses.
    pub relocations: Vec<Relocation>,
    /// Instructions that the compiler added for its own purposes, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Added>,
    /// Its calls of `printf`, with the strings that may be their formats; a record has the index of one of these plus 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prints: Vec<Print>,
    /// Whether it writes a record when an assertion fails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asserts: bool,
    /// The places of its traps in the CUDA source, as far as the PTX gives them, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceLine>,
}

/// A call of `printf` with a format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Print {
    /// Its line in the PTX.
    pub line: u32,
    /// The variable that holds the format.
    pub symbol: String,
    /// The byte of the variable at which the format begins.
    pub offset: u32,
    /// Bytes of arguments in one of its records, a multiple of 4.
    pub arguments: u32,
}

/// The place in the CUDA source that an instruction comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceLine {
    /// The instruction.
    pub instruction: u32,
    /// The file, as the PTX names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// An instruction that the compiler added to the program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Added {
    /// The number of the instruction.
    pub instruction: u32,
    /// Its purpose.
    pub purpose: Purpose,
}

/// The purpose of an added instruction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Writes zero or false to a value that the program may read before it writes it.
    Zero {
        /// The PTX register; `None` for a value that the compiler introduced.
        of: Option<String>,
    },
    /// Moves a value for which there is no register to its spill place, or back.
    Spill,
    /// Computes a value that a guarded instruction of the program needs, also in lanes in which the guard is false.
    Ahead,
}

impl Kernel {
    /// The place in the CUDA source that an instruction comes from, where it is known: `saxpy.cu:12`.
    pub fn source_of(&self, instruction: u32) -> Option<String> {
        let found = self.sources.iter().find(|source| source.instruction == instruction)?;
        Some(format!("{}:{}", found.file, found.line))
    }

    /// The size of one of its `printf` records in bytes.
    pub fn print_record(&self) -> u32 {
        machine::print::IDENTITY + self.prints.iter().map(|print| print.arguments).max().unwrap_or(0)
    }

    /// The parameter space that it needs, in bytes.
    pub fn parameter_bytes(&self) -> u32 {
        self.parameters.iter().map(|p| p.offset + p.bytes).max().unwrap_or(0)
    }
}

/// A parameter of a kernel, in the constant space.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name in the PTX.
    pub name: String,
    /// Its address in the constant space.
    pub offset: u32,
    /// Its size.
    pub bytes: u32,
    /// Its alignment in bytes.
    pub align: u32,
}

/// Where a variable lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolSpace {
    /// In the constant space, at this address, which is the same for all kernels.
    Constant {
        /// The address.
        offset: u32,
    },
    /// In global memory, where the loader puts it.
    Global,
}

/// A `__constant__` or `__device__` variable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Symbol {
    /// Its name in the PTX.
    pub name: String,
    /// Where it lies.
    pub space: SymbolSpace,
    /// Its size.
    pub bytes: u32,
    /// Its alignment in bytes.
    pub align: u32,
    /// Its first bytes, as they are before the first launch; the others are zero.
    pub initial: Vec<u8>,
    /// Addresses among its bytes.
    pub relocations: Vec<DataRelocation>,
}

/// An address among a variable's bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DataRelocation {
    /// The byte of the variable at which the address begins; it has 8 bytes.
    pub at: u32,
    /// The variable whose generic address it is.
    pub symbol: String,
    /// The number that is added to the address.
    pub addend: i64,
}

/// A constant in the code that is a word of a variable's generic address.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Relocation {
    /// The instruction whose constant it is.
    pub instruction: u32,
    /// The variable.
    pub symbol: String,
    /// The number that is added to the address.
    pub addend: i64,
    /// Whether the constant is the upper word of the sum instead of the lower one.
    pub upper: bool,
}

/// Writes code as hexadecimal words, two for each instruction.
fn write_code<S: Serializer>(code: &[Instruction], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(code.iter().map(|instruction| {
        let [operation, control] = instruction.encode();
        format!("{operation:016x} {control:016x}")
    }))
}

fn read_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Instruction>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    words.iter().enumerate().map(|(pc, text)| read_words(text).map_err(|e| bad_word(pc, &e))).collect()
}

fn bad_word<E: serde::de::Error>(pc: usize, error: &WordError) -> E {
    E::custom(format!("instruction {pc}: {error}"))
}

#[derive(Debug, thiserror::Error)]
enum WordError {
    #[error("expected two words of 16 hexadecimal digits")]
    Text,
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

fn read_words(text: &str) -> Result<Instruction, WordError> {
    let (operation, control) = text.split_once(' ').ok_or(WordError::Text)?;
    let word = |digits: &str| u64::from_str_radix(digits, 16).map_err(|_| WordError::Text);
    Ok(Instruction::decode([word(operation)?, word(control)?])?)
}
