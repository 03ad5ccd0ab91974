//! A rule that holds for every block: outputs that are declared early depend on state alone.

use crate::designs::Organisation;
use crate::mrf::MrfShape;
use crate::mrf::phases::check;
use crate::operands::OperandStage;
use crate::rfc::*;
use crate::shape::SmShape;
use crate::testing::SM_SHAPES;
use crate::unified::tests::with_columns;

#[test]
fn early_outputs_depend_on_state_alone() {
    macro_rules! check_each {
        ($folder:ident: $($module:ident $block:ident $summary:literal,)+) => { $(check::<$block>(&RFC_SHAPES);)+ };
    }
    rfc_blocks!(check_each);
    check::<Rfc>(&RFC_SHAPES.map(|shape| RfcShape { mrf: with_columns(shape.mrf), power: false, ..shape }));
    for upper in [false, true] {
        let organisation =
            Organisation::Rfc(RfcSizes { entries: 3, lrf: upper, reads: upper, release: upper, power: 0 });
        let mrf = |shape: &SmShape| MrfShape { tag_w: 4, ..shape.mrf };
        check::<OperandStage>(&SM_SHAPES.map(|shape| SmShape { mrf: mrf(&shape), active: 6, organisation, ..shape }));
    }
}
