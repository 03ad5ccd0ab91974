//! Which instruction issues, with which lanes and predicates.

pub(crate) mod alternating_scheduler;
pub(crate) mod issue_stage;
pub(crate) mod predicate_file;
pub(crate) mod scoreboard;
pub(crate) mod simt_stack;
pub(crate) mod two_level_scheduler;
pub(crate) mod warp_scheduler;

/// Stimulus of its blocks.
pub(crate) const BLOCKS: &[crate::Entry] = &[
    crate::Entry {
        directed: warp_scheduler::DIRECTED,
        ..crate::entry::<warp_scheduler::WarpSchedulerDriver, warp_scheduler::WarpSchedulerCover>("warp_scheduler")
    },
    crate::entry::<two_level_scheduler::TwoLevelSchedulerDriver, two_level_scheduler::TwoLevelSchedulerCover>(
        "two_level_scheduler",
    ),
    crate::entry::<alternating_scheduler::AlternatingSchedulerDriver, alternating_scheduler::AlternatingSchedulerCover>(
        "alternating_scheduler",
    ),
    crate::entry::<simt_stack::SimtStackDriver, simt_stack::SimtStackCover>("simt_stack"),
    crate::entry::<issue_stage::IssueStageDriver, issue_stage::IssueStageCover>("issue_stage"),
    crate::entry::<scoreboard::ScoreboardDriver, scoreboard::ScoreboardCover>("scoreboard"),
    crate::entry::<predicate_file::PredicateFileDriver, predicate_file::PredicateFileCover>("predicate_file"),
];
