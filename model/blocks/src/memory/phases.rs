//! A rule that holds for every block: what is declared early depends on state alone.

use crate::memory::{AddressUnit, Coalescer, ConstantMemory, LineTable, SharedMemory};
use crate::mrf::phases::check;
use crate::testing::SM_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    check::<AddressUnit>(&SM_SHAPES);
    check::<Coalescer>(&SM_SHAPES);
    check::<LineTable>(&SM_SHAPES);
    check::<SharedMemory>(&SM_SHAPES);
    check::<ConstantMemory>(&SM_SHAPES);
}
