//! A rule that holds for every block: outputs that are declared early depend on state alone.

use crate::designs::Organisation;
use crate::hrf::*;
use crate::mrf::MrfShape;
use crate::mrf::phases::check;
use crate::operands::OperandStage;
use crate::shape::SmShape;
use crate::testing::SM_SHAPES;

#[test]
fn early_outputs_depend_on_state_alone() {
    let buffered =
        [HrfShape::preset(&[]), HrfShape::preset(&["hrf.buffer_entries=4", "hrf.load_entries=2", "mrf.collectors=4"])];
    macro_rules! check_each {
        ($folder:ident: $($module:ident $block:ident $summary:literal,)+) => { $(check::<$block>(&buffered);)+ };
    }
    hrf_blocks!(check_each);
    let bare = [HrfShape::preset(&["hrf.buffer_entries=0"])];
    check::<HrfResults>(&bare);
    check::<HrfReads>(&bare);
    check::<HrfOperands>(&bare);
    check::<Hrf>(&bare);
    for buffer_entries in [0, 11] {
        let mrf = MrfShape { banks: 2, dual_port: false, issue_ports: 1, ..SM_SHAPES[0].mrf };
        let organisation = Organisation::Hrf(HrfSizes { buffer_entries, loads: 4 });
        check::<OperandStage>(&[SmShape { mrf, active: 2, alternate: true, organisation, ..SM_SHAPES[0] }]);
    }
}
