//! Instructions as text, both ways: what [`std::fmt::Display`] writes, [`assemble`] reads.
//!
//! `@!P0 FFMA.RZ.FTZ R1, R2, 0x3f800000, R4 {last=ac d=MRF+ORF2}`: guard, mnemonic with modifiers, operands (what is written first, then what is
//! read, in the order d, p, a, b, c, s, t), control fields that are not at rest. An address stands in brackets: `[R2:R3+0x10]`, `[R2-0x4]`. A branch
//! reads `BRA 12, join 20` or, where its paths do not meet again, `BRA 12, join none`.

mod assemble;
mod control;
mod display;

pub use assemble::{AssembleError, assemble, assemble_line, assemble_lines};

use crate::registers::Reg;

/// The general register that a text names.
fn register(text: &str) -> Option<Reg> {
    if text == "RZ" {
        return Some(Reg::ZERO);
    }
    text.strip_prefix('R')?.parse().ok().map(Reg).filter(|r| !r.is_zero())
}
