//! A rule that holds for every block: what is declared early depends on state alone.

use crate::mrf::MrfShape;
use crate::mrf::phases::check;
use crate::operands::OperandStage;
use crate::shape::{HybridShape, SmShape};
use crate::testing::SM_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    check::<OperandStage>(&SM_SHAPES);
    let cached = |shape: SmShape| SmShape { mrf: MrfShape { tag_w: 4, ..shape.mrf }, active: 6, entries: 3, ..shape };
    check::<OperandStage>(&SM_SHAPES.map(cached));
    let three_levels = |shape: SmShape| SmShape { lrf: true, reads: true, ..cached(shape) };
    check::<OperandStage>(&SM_SHAPES.map(three_levels));
    let levels = |shape: SmShape| SmShape { active: 6, orf_entries: 3, lrf_banks: 1, ..shape };
    check::<OperandStage>(&SM_SHAPES.map(levels));
    let stealing = |shape: SmShape| {
        let mrf = MrfShape { dual_port: false, ..shape.mrf };
        SmShape { mrf, steal: true, ..shape }
    };
    check::<OperandStage>(&SM_SHAPES.map(stealing));
    for buffer_entries in [0, 11] {
        let mrf = MrfShape { banks: 2, dual_port: false, issue_ports: 1, ..SM_SHAPES[0].mrf };
        let hybrid = Some(HybridShape { buffer_entries, loads: 4 });
        check::<OperandStage>(&[SmShape { mrf, active: 2, alternate: true, hybrid, ..SM_SHAPES[0] }]);
    }
}
