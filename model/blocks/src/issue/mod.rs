//! Selects the instruction that issues, with its lanes and predicates: `docs/sm.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! issue_blocks {
    ($callback:ident) => {
        $callback! { issue:
            warp_scheduler WarpScheduler "which warps issue",
            two_level_scheduler TwoLevelScheduler "which warps are active, and which of them issue",
            alternating_scheduler AlternatingScheduler "one warp issues, even and odd ones take turns",
            simt_stack SimtStack "which lanes of a warp execute, where the others wait",
            issue_stage IssueStage "the instruction that issues, with its lanes and predicates",
            scoreboard Scoreboard "which heads may issue",
            predicate_file PredicateFile "seven predicates a warp",
        }
    };
}

issue_blocks!(declare_blocks);

#[cfg(test)]
mod phases;
