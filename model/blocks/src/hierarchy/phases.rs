//! A rule that holds for every block: what is declared early depends on state alone.

use crate::designs::Organisation;
use crate::hierarchy::*;
use crate::mrf::phases::check;
use crate::operands::OperandStage;
use crate::shape::SmShape;
use crate::testing::SM_SHAPES;
use crate::unified::tests::with_columns;

#[test]
fn early_outputs_depend_on_state_alone() {
    macro_rules! check_each {
        ($folder:ident: $($module:ident $block:ident $summary:literal,)+) => { $(check::<$block>(&HIERARCHY_SHAPES);)+ };
    }
    hierarchy_blocks!(check_each);
    check::<Hierarchy>(&HIERARCHY_SHAPES.map(|shape| HierarchyShape { mrf: with_columns(shape.mrf), ..shape }));
    let organisation = Organisation::Hierarchy(HierarchySizes { entries: 3, lrf_banks: 1 });
    check::<OperandStage>(&SM_SHAPES.map(|shape| SmShape { active: 6, organisation, ..shape }));
}
