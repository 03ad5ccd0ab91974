//! The operand stage with bank stealing in it.

use crate::designs::Organisation;
use crate::mrf::MrfShape;
use crate::operands::stage_tests::{SHAPE, roles};
use crate::operands::{OperandStage, OperandStageOut, OperandStageProbe};
use crate::shape::SmShape;
use crate::steal::{STEAL_EVENT, StealSizes};
use crate::testing::{Driver, event};
use crate::{Block, OPERANDS, Ports, Wide};

/// Read and write stealing in the straps.
const READ: u128 = 1;
const WRITE: u128 = 1 << 1;

/// Four single-ported banks whose idle ones are stolen; a warp has four rows.
fn stealing(straps: u128) -> Driver<OperandStage> {
    let mrf = MrfShape { dual_port: false, ..SHAPE.mrf };
    let mut stage =
        Driver::<OperandStage>::new(&SmShape { mrf, organisation: Organisation::Steal(StealSizes), ..SHAPE });
    stage.inputs.design_cfg_i = Wide::from_u128(straps);
    (stage.inputs.dispatch_ready_i, stage.inputs.rows_i) = (0b11, 4);
    stage
}

impl Driver<OperandStage> {
    /// Port `p` names a candidate for the cycle that comes.
    fn name(&mut self, p: usize, warp: u8, sources: [u8; OPERANDS]) {
        self.inputs.candidate_valid_i |= 1 << p;
        (self.inputs.candidate_warp_i[p], self.inputs.candidate_roles_i[p]) = (warp, roles(sources));
    }

    /// Runs one cycle, then also clears the candidates.
    fn step_named(&mut self) -> OperandStageOut {
        let out = self.step();
        self.inputs.candidate_valid_i = 0;
        out
    }
}

fn steals(out: &OperandStageOut, name: &str) -> u64 {
    event(STEAL_EVENT, out.design_event_o[0], name)
}

#[test]
fn a_stolen_operand_is_there_a_cycle_earlier() {
    // Register 4 of warp 0 and register 3 of warp 1 are in bank 0.
    for (straps, steal, dispatched) in [(0, 0, 3), (READ, 0b10, 2)] {
        let mut stage = stealing(straps);
        stage.write(0, 1, 3, 30);
        stage.step();
        stage.step();
        stage.name(0, 0, [4, 255, 255]);
        stage.name(1, 1, [255, 3, 255]);
        let out = stage.step_named();
        assert_eq!((out.candidate_issue_o, stage.probe().nets.candidate_src_valid), (0, 0b01_0001));
        let nets = stage.probe().nets;
        assert_eq!((nets.candidate_base, nets.candidate_src_reg), ([0, 4], [4, 0, 0, 0, 3, 0]));
        stage.issue(1, 1, [255, 3, 255], 100);
        let out = stage.step_named();
        assert_eq!(
            (out.candidate_issue_o, steals(&out, "stolen"), steals(&out, "wasted")),
            (steal, u64::from(steal >> 1), 0)
        );
        let first = (1..).find(|_| stage.step_named().dispatch_valid_o != 0);
        assert_eq!(first, Some(dispatched));
    }
    // A port whose candidate is not of the warp that issues takes no stolen operand.
    let mut stage = stealing(READ);
    stage.name(0, 0, [4, 255, 255]);
    stage.name(1, 1, [255, 3, 255]);
    stage.step_named();
    stage.issue(1, 3, [255, 3, 255], 100);
    let out = stage.step_named();
    assert_eq!((out.candidate_issue_o, steals(&out, "wasted")), (0b10, 1));
    assert_eq!(
        (stage.step_named().candidate_issue_o, stage.probe().nets.candidate_src_valid),
        (0, 0),
        "no candidate is left"
    );
}

#[test]
fn a_dispatched_instruction_tells_of_a_dead_register_of_its_warps_rows() {
    // Four rows of four banks: registers 0 to 15. RZ is what no hint says, and 254 is beyond any rows.
    for (register, hint) in [(0, true), (7, true), (15, true), (16, false), (254, false), (255, false)] {
        let mut stage = stealing(WRITE);
        stage.issue(1, 6, [255; OPERANDS], 0);
        stage.inputs.issue_instruction_i[1].change(|i| i.ctl = u64::from(!register) << 53 | 0x1f << 48);
        stage.inputs.dispatch_ready_i = 0;
        stage.step();
        stage.step();
        assert_eq!(stage.step().dispatch_valid_o, 0b01);
        assert_eq!(stage.probe().nets.hint_valid, 0, "what stays has said nothing yet");
        stage.inputs.dispatch_ready_i = 0b11;
        let out = stage.step();
        let nets = stage.probe().nets;
        assert_eq!((out.dispatch_valid_o, nets.hint_valid), (0b01, hint.into()), "{register}");
        if hint {
            assert_eq!((nets.hint_reg[0], nets.hint_base[0]), (register, 24));
        }
        assert_eq!((steals(&out, "hint"), steals(&out, "hint_ignored")), (hint.into(), 0));
        let out = stage.step();
        assert_eq!((stage.probe().nets.hint_valid, steals(&out, "places")), (0, hint.into()));
    }
}

#[test]
fn a_new_grid_has_its_last_row_to_spare_or_not() {
    let mut stage = stealing(WRITE);
    for (spare, places) in [(1, 4), (0, 0), (1, 4)] {
        (stage.inputs.clear_i, stage.inputs.spare_i) = (1, spare);
        stage.step();
        stage.inputs.clear_i = 0;
        assert_eq!(steals(&stage.step(), "places"), places);
        assert_eq!(steals(&stage.step(), "places"), places);
    }
}

#[test]
fn what_is_stolen_from_is_found_in_its_generate_block() {
    let mrf = MrfShape { dual_port: false, ..SHAPE.mrf };
    let shape = SmShape { mrf, organisation: Organisation::Steal(StealSizes), ..SHAPE };
    let fields = OperandStageProbe::fields(&shape);
    let find = |name: &str| fields.iter().find(|f| f.name == name).expect("a field of this name");
    let (entry, hint) = (find("candidate_entry"), find("hint_entry"));
    assert_eq!((entry.scope.as_str(), entry.valid_by), ("gen_steal.u_provider.", Some("candidate_src_valid")));
    assert_eq!((hint.valid_by, find("issue_bank").valid_by), (Some("hint_valid"), Some("issue_src_valid")));
    assert!(
        OperandStageProbe::fields(&SHAPE).iter().all(|f| !f.name.contains("hint") && !f.name.contains("candidate"))
    );
    let paths: Vec<String> = OperandStage::new(&shape).memories().into_iter().map(|m| m.path).collect();
    assert_eq!(paths[1], "gen_steal.u_provider.gen_bank[0].u_bank.gen_1rw.u_ram.mem_q");
}
