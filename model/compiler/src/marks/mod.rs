//! What the compiler tells the register-file organisations: passes over finished code that fill in control fields.
//!
//! They work on machine instructions with registers and program counters, after everything that changes code. None
//! changes what a kernel computes. What the fields mean stands in `docs/isa.md`; why the marks are right, above all where
//! lanes diverge, in `docs/compiler.md`.
//!
//! | module | what it does |
//! |---|---|
//! | `cache` | the bits "RFC bypass" and "LRF bypass" |
//! | [`flow`] | ways through finished code, and what holds along them |
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

/// The passes by name, in their order: what bypasses a level depends on where a warp is descheduled.
pub const PASSES: &[(&str, Pass)] = &[
    ("last reads", last_read::mark),
    ("deschedule", deschedule::mark),
    cache::BYPASS,
    cache::LRF_BYPASS,
    ("free registers", free_register::mark),
];

/// Runs all passes. Power states are marked for a machine that has them: [`power::mark`].
pub fn run(code: &mut [Instruction]) {
    for (_, pass) in PASSES {
        pass(code);
    }
}
