//! A rule that holds for every block: what is declared early depends on state alone.

use crate::mrf::phases::check;
use crate::share::{ScratchpadLocks, ShareLocks, ShareThrottle};
use crate::testing::SM_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    check::<ShareLocks>(&SM_SHAPES);
    check::<ScratchpadLocks>(&SM_SHAPES);
    check::<ShareThrottle>(&SM_SHAPES);
}
