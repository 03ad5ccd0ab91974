//! Which instruction issues, with which lanes and predicates: `docs/sm.md`.

mod alternating_scheduler;
mod issue_stage;
mod predicate_file;
mod scoreboard;
mod simt_stack;
mod two_level_scheduler;
mod warp_scheduler;

pub use alternating_scheduler::*;
pub use issue_stage::*;
pub use predicate_file::*;
pub use scoreboard::*;
pub use simt_stack::*;
pub use two_level_scheduler::*;
pub use warp_scheduler::*;

#[cfg(test)]
mod phases;
