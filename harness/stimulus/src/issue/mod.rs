//! Which instruction issues, with which lanes and predicates.

pub(crate) mod alternating_scheduler;
pub(crate) mod issue_stage;
pub(crate) mod predicate_file;
pub(crate) mod scoreboard;
pub(crate) mod simt_stack;
pub(crate) mod two_level_scheduler;
pub(crate) mod warp_scheduler;
