//! The passes between lowering and emission, in the order in which they run.
//!
//! | pass | what it does |
//! |---|---|
//! | [`cleanup`] | drops unreachable blocks, threads jumps, merges straight lines |
//! | [`simplify`] | copies, constants, common subexpressions, dead code |
//! | [`entry`] | writes zero to the values that are live at the kernel's entry |
//! | [`legalise`] | moves constants to where instructions can hold them |
//! | [`schedule`] | reorders the instructions of each block |
//! | [`crate::allocate`] | registers, predicates, spills |
//!
//! The passes that annotate finished instructions run after emission, in [`crate::marks`]: they need registers and
//! program counters.

pub mod cleanup;
pub mod entry;
mod fold;
mod known;
pub mod legalise;
pub mod liveness;
pub mod schedule;
pub mod simplify;

pub use fold::holds;
