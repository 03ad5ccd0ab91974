//! Instructions as text, in both directions: [`assemble`] reads what [`std::fmt::Display`] writes.
//!
//! `@!P0 FFMA.RZ.FTZ R1, R2, 0x3f800000, R4 {last=ac d=MRF+ORF2}`: guard, mnemonic with modifiers, operands (those written first, then those read, in
//! the order d, p, a, b, c, s, t), control fields that do not have their default values. An address is in brackets: `[R2:R3+0x10]`, `[R2-0x4]`. A
//! branch is written `BRA 12, join 20` or, if its paths do not reconverge, `BRA 12, join none`.

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
