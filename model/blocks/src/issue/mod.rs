//! Which instruction issues, with which lanes and predicates: `docs/sm.md`.

#[cfg(test)]
mod phases;
mod predicate_file;
mod scoreboard;

pub use predicate_file::*;
pub use scoreboard::*;
