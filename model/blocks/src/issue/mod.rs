//! Which instruction issues, with which lanes and predicates: `docs/sm.md`.

mod issue_stage;
mod simt_stack;
mod warp_scheduler;

pub use issue_stage::*;
pub use simt_stack::*;
pub use warp_scheduler::*;

#[cfg(test)]
#[test]
fn early_outputs_depend_on_state_alone() {
    use crate::mrf::phases::check;
    use crate::testing::SM_SHAPES;

    check::<WarpScheduler>(&SM_SHAPES);
    check::<SimtStack>(&SM_SHAPES);
    check::<IssueStage>(&SM_SHAPES);
}
