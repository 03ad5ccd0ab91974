//! A rule that holds for every block: what is declared early depends on state alone.

use crate::control::{BarrierUnit, BlockLauncher, FaultUnit};
use crate::mrf::phases::check;
use crate::testing::SM_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    check::<BarrierUnit>(&SM_SHAPES);
    check::<BlockLauncher>(&SM_SHAPES);
    check::<FaultUnit>(&SM_SHAPES);
}
