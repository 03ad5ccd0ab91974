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

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    entry::<WarpScheduler>("issue/warp_scheduler", "which warps issue", &[]),
    entry::<TwoLevelScheduler>("issue/two_level_scheduler", "which warps are active, and which of them issue", &[]),
    entry::<AlternatingScheduler>("issue/alternating_scheduler", "one warp issues, even and odd ones take turns", &[]),
    entry::<SimtStack>("issue/simt_stack", "which lanes of a warp execute, where the others wait", &["ram_1r1w"]),
    entry::<IssueStage>("issue/issue_stage", "the instruction that issues, with its lanes and predicates", &[]),
    entry::<Scoreboard>("issue/scoreboard", "which heads may issue", &[]),
    Entry {
        words_are_registers: true,
        ..entry::<PredicateFile>("issue/predicate_file", "seven predicates a warp", &[])
    },
];

#[cfg(test)]
mod phases;
