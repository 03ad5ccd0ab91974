//! Checks that the SM commits what the oracle commits: the values that each warp writes to each register and predicate, and its writes to memory, in
//! program order.
//!
//! The SM's commits are read from the nets that lockstep compares ([`Tracker`]), the oracle's come from its observer ([`Observed`]). Both are passed to a
//! [`Sink`]: [`Sequences`] keeps a hash and a count for each register of each warp, which is enough as long as they are equal. If they differ,
//! a second run records the values of one register in [`Writes`].

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
