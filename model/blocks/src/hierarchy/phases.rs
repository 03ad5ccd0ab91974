//! A rule that holds for every block: what is declared early depends on state alone.

use crate::designs::Organisation;
use crate::hierarchy::HIERARCHY_SHAPES;
use crate::hierarchy::HierarchySizes;
use crate::hierarchy::{
    Hierarchy, HierarchyCopies, HierarchyData, HierarchyEntries, HierarchyLevels, HierarchyResults, HierarchyScoreboard,
};
use crate::mrf::phases::check;
use crate::operands::OperandStage;
use crate::shape::SmShape;
use crate::testing::SM_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    check::<HierarchyLevels>(&HIERARCHY_SHAPES);
    check::<HierarchyScoreboard>(&HIERARCHY_SHAPES);
    check::<HierarchyEntries>(&HIERARCHY_SHAPES);
    check::<HierarchyData>(&HIERARCHY_SHAPES);
    check::<HierarchyResults>(&HIERARCHY_SHAPES);
    check::<HierarchyCopies>(&HIERARCHY_SHAPES);
    check::<Hierarchy>(&HIERARCHY_SHAPES);
    let organisation = Organisation::Hierarchy(HierarchySizes { entries: 3, lrf_banks: 1 });
    check::<OperandStage>(&SM_SHAPES.map(|shape| SmShape { active: 6, organisation, ..shape }));
}
