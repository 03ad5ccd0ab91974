//! A rule that holds for every block: outputs that are declared early depend on state alone.

use super::shapes;
use crate::mrf::MrfShape;
use crate::mrf::phases::check;
use crate::operands::OperandStage;
use crate::shape::SmShape;
use crate::steal::*;
use crate::testing::{SM_SHAPES, with_candidates};

#[test]
fn early_outputs_depend_on_state_alone() {
    let shapes = shapes();
    macro_rules! check_each {
        ($folder:ident: $($module:ident $block:ident $summary:literal,)+) => { $(check::<$block>(&shapes);)+ };
    }
    steal_blocks!(check_each);
    check::<OperandStage>(&SM_SHAPES.map(|shape| {
        let mrf = MrfShape { dual_port: false, ..shape.mrf };
        with_candidates(&SmShape { mrf, ..shape })
    }));
}
