//! Which instruction issues, with which lanes and predicates.

pub(crate) mod predicate_file;
pub(crate) mod scoreboard;
