//! Whether the SM commits what the oracle says: which values each warp writes to which register and predicate, and what it does to memory, in the
//! order of the program.
//!
//! The SM's commits are read off the nets that lockstep compares ([`Tracker`]), the oracle's come from its observer ([`Observed`]). Both end in a
//! [`Sink`]: [`Sequences`] keeps a hash and a count for each register of each warp, which is all that is needed as long as they agree; where they do not,
//! a second run fills [`Writes`] with the values of one register.

mod judge;
mod observed;
mod owners;
mod sequences;
mod tracker;

pub use judge::{Case, Difference, First, Judge, JudgeError, Judgement, Mismatch};
pub use observed::Observed;
pub use owners::Owners;
pub use sequences::{Digest, Key, Kind, Sequences, Sink, Write, Writes};
pub use tracker::Tracker;

#[cfg(test)]
mod tests;
