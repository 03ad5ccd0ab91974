//! A rule that holds for every block: what is declared early depends on state alone.

use crate::execute::{Alu, Dispatcher, FpUnit, LaneCrossbar, ResultQueue, Sfu, SpecialRegisters, Writeback};
use crate::mrf::phases::check;
use crate::testing::SM_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    check::<Dispatcher>(&SM_SHAPES);
    check::<Alu>(&SM_SHAPES);
    check::<FpUnit>(&SM_SHAPES);
    check::<Sfu>(&SM_SHAPES);
    check::<ResultQueue>(&SM_SHAPES);
    check::<Writeback>(&SM_SHAPES);
    check::<LaneCrossbar>(&SM_SHAPES);
    check::<SpecialRegisters>(&SM_SHAPES);
}
