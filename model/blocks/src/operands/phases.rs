//! A rule that holds for every block: outputs that are declared early depend on state alone.

use crate::mrf::phases::check;
use crate::operands::{FrontOperands, FrontShape, OperandStage};
use crate::testing::SM_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    let mrf = |shape: crate::shape::SmShape| shape.mrf;
    check::<FrontOperands>(&SM_SHAPES.map(|shape| FrontShape { mrf: mrf(shape), tags: 7 }));
    check::<OperandStage>(&SM_SHAPES);
}
