//! The passes between lowering and emission, in their order.
//!
//! | pass | what it does |
//! |---|---|
//! | [`cleanup`] | drops blocks that nothing reaches, threads jumps, merges straight lines |
//! | [`simplify`] | copies, constants, common subexpressions, dead code |
//! | [`entry`] | writes zero to what is live at the kernel's entry |
//! | [`legalise`] | puts constants where the instructions have room for them |
//! | [`schedule`] | reorders the instructions of each block |
//! | [`crate::allocate`] | registers, predicates, spills |
//!
//! What annotates finished instructions comes after the emission, in [`crate::marks`]: it needs registers and program
//! counters.

pub mod cleanup;
pub mod entry;
mod fold;
mod known;
pub mod legalise;
pub mod liveness;
pub mod schedule;
pub mod simplify;

pub use fold::holds;
