//! A rule that holds for every block: what is declared early depends on state alone.

use crate::issue::{
    AlternatingScheduler, IssueStage, PredicateFile, Scoreboard, SimtStack, TwoLevelScheduler, WarpScheduler,
};
use crate::mrf::phases::check;
use crate::shape::ActiveShape;
use crate::testing::{ACTIVE_SHAPES, SM_SHAPES, with_candidates};

#[test]
fn early_outputs_depend_on_state_alone() {
    check::<IssueStage>(&SM_SHAPES);
    check::<PredicateFile>(&SM_SHAPES);
    check::<Scoreboard>(&SM_SHAPES);
    check::<SimtStack>(&SM_SHAPES);
    check::<WarpScheduler>(&SM_SHAPES);
    check::<WarpScheduler>(&SM_SHAPES.map(|shape| with_candidates(&shape)));
    check::<TwoLevelScheduler>(&ACTIVE_SHAPES);
    check::<TwoLevelScheduler>(&ACTIVE_SHAPES.map(|shape| ActiveShape { candidates: true, ..shape }));
    check::<AlternatingScheduler>(&SM_SHAPES);
}
