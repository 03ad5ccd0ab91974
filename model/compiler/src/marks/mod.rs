//! Passes over finished code that fill in control fields, with which the compiler informs the register-file organisations.
//!
//! The passes work on machine instructions with registers and program counters, after all passes that change code. None of them changes what a kernel
//! computes. `docs/isa.md` describes the meaning of the fields; `docs/compiler.md` explains why the marks are right, especially where lanes diverge.
//!
//! | module | what it does |
//! |---|---|
//! | `cache` | the bits "RFC bypass" and "LRF bypass" |
//! | [`flow`] | control flow of finished code, and dataflow analyses along it |
//! | [`liveness`] | which registers are still read: by a lane, by any lane of the warp |
//! | `last_read` | the bits "last read" of sources a, b, c |
//! | `deschedule` | the bit "deschedule" |
//! | `free_register` | the field "free register" |
//! | [`private`] | the bit "private": only for a machine that shares scratchpad memory (`docs/scratchpad-compiler.md`) |
//! | [`power`] | the fields "power": only for a machine with power states (`docs/power.md`) |

mod cache;
mod deschedule;
pub mod flow;
mod free_register;
mod last_read;
pub mod liveness;
pub mod power;
pub mod private;
#[cfg(test)]
pub mod tests;

use gpurf_isa::Instruction;

/// A pass over finished code that fills in control fields.
pub type Pass = fn(&mut [Instruction]);

/// The passes by name, in the order in which they run: the bypass bits depend on where a warp is descheduled.
pub const PASSES: &[(&str, Pass)] = &[
    ("last reads", last_read::mark),
    ("deschedule", deschedule::mark),
    cache::BYPASS,
    cache::LRF_BYPASS,
    ("free registers", free_register::mark),
];

/// Runs all passes. Power states need a pass of their own, for machines that have them: [`power::mark`].
pub fn run(code: &mut [Instruction]) {
    for (_, pass) in PASSES {
        pass(code);
    }
}
