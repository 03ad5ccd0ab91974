//! The machine's instruction set: instruction word, registers, encode, decode, disassemble, and the image of a compiled program.
//!
//! A warp's 32 lanes execute one instruction at a time on registers of 32 bits. An [`Instruction`] has a fixed width: an operation word and a control
//! word of 64 bits each. It consists of an [`Op`] with its modifiers and of its operands in named slots: d, p (written), a, b, c, s, t (read). The
//! [`Control`] fields hold information for the register-file organisations: which reads are the last, at which level of a hierarchy a value lies,
//! where a strand ends. They never change a result.
//!
//! One table (`operations.rs`) has a row for each operation. Encoding, decoding, text, operand roles and units follow from it, so that the compiler,
//! the oracle and the scoreboard query the instruction and keep no lists of their own. Text can be read back ([`assemble`]).
//!
//! An [`Image`] is a compiled program: its kernels with their code and their PTX lines, and the variables that they share.

mod cache_marks;
mod control;
mod encoding;
pub mod format;
pub mod image;
mod instruction;
mod levels;
pub mod machine;
pub mod modifiers;
mod operations;
mod registers;
mod text;

#[cfg(test)]
mod tests;

pub use cache_marks::CacheMarks;
pub use control::{Control, PowerState};
pub use encoding::{DecodeError, MOST_HANDLE};
pub use image::Image;
pub use instruction::Instruction;
pub use levels::*;
pub use operations::{Op, Row, Slots, Unit};
pub use registers::{Offset, Operand, Pc, Predicate, PredicateSource, Reg, Slot};
pub use text::{AssembleError, assemble, assemble_line, assemble_lines};
