//! A rule that holds for every block: what is declared early depends on state alone.

use crate::designs::Organisation;
use crate::hierarchy::HierarchySizes;
use crate::hrf::HrfSizes;
use crate::mrf::MrfShape;
use crate::mrf::phases::check;
use crate::operands::OperandStage;
use crate::rfc::RfcSizes;
use crate::shape::SmShape;
use crate::steal::StealSizes;
use crate::testing::SM_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    check::<OperandStage>(&SM_SHAPES);
    for upper in [false, true] {
        let organisation = Organisation::Rfc(RfcSizes { entries: 3, lrf: upper, reads: upper });
        let mrf = |shape: &SmShape| MrfShape { tag_w: 4, ..shape.mrf };
        check::<OperandStage>(&SM_SHAPES.map(|shape| SmShape { mrf: mrf(&shape), active: 6, organisation, ..shape }));
    }
    let organisation = Organisation::Hierarchy(HierarchySizes { entries: 3, lrf_banks: 1 });
    check::<OperandStage>(&SM_SHAPES.map(|shape| SmShape { active: 6, organisation, ..shape }));
    let stealing = |shape: SmShape| {
        let mrf = MrfShape { dual_port: false, ..shape.mrf };
        SmShape { mrf, organisation: Organisation::Steal(StealSizes), ..shape }
    };
    check::<OperandStage>(&SM_SHAPES.map(stealing));
    for buffer_entries in [0, 11] {
        let mrf = MrfShape { banks: 2, dual_port: false, issue_ports: 1, ..SM_SHAPES[0].mrf };
        let organisation = Organisation::Hrf(HrfSizes { buffer_entries, loads: 4 });
        check::<OperandStage>(&[SmShape { mrf, active: 2, alternate: true, organisation, ..SM_SHAPES[0] }]);
    }
}
