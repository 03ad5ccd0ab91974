//! The operand stage with the hybrid file in it.

use crate::designs::Organisation;
use crate::hrf::HrfSizes;
use crate::mrf::MrfShape;
use crate::operands::OperandStage;
use crate::operands::stage_tests::{SHAPE, offers};
use crate::shape::SmShape;
use crate::testing::Driver;
use crate::{Block, LANES};

#[test]
fn in_the_hybrid_file_two_warps_have_their_rows_together() {
    let mrf = MrfShape { banks: 2, dual_port: false, issue_ports: 1, ..SHAPE.mrf };
    let organisation = Organisation::Hrf(HrfSizes { buffer_entries: 8, loads: 2 });
    let mut stage = Driver::<OperandStage>::new(&SmShape { mrf, active: 2, alternate: true, organisation, ..SHAPE });
    (stage.inputs.cfg_i, stage.inputs.dispatch_ready_i, stage.inputs.rows_i) = (4 << 1, 1, 4);
    (stage.inputs.slot_valid_i, stage.inputs.slot_warp_i[1]) = (0b10, 5);
    stage.write(0, 5, 7, 70);
    stage.step();
    assert_eq!((stage.probe().nets.write_base[0], stage.probe().nets.slot_base[1]), (16, 16));
    let out = stage.step();
    assert_eq!((out.write_done_o, out.written_o[0].register()), (1, (5, 7)));
    stage.issue(0, 5, [7, 255, 255], 1000);
    stage.step();
    assert_eq!(stage.probe().nets.issue_base[0], 16);
    stage.step();
    stage.step();
    let out = stage.step();
    assert!(offers(&out, 0, 1000));
    assert_eq!((out.dispatch_src_valid_o, out.dispatch_data_o[0].0), (1, [70; LANES]));
    stage.inputs.flush_i = 0b10;
    stage.step();
    let done: Vec<u64> = (0..3).map(|_| stage.step().flush_done_o).collect();
    assert_eq!(done, [0, 0b10, 0b10]);
    assert!(stage.block.memories().iter().any(|m| m.path == "gen_hrf.u_provider.gen_buffers.u_rcm.index_q"));
}
