use super::*;
use crate::front::roles;
use crate::instruction::{NO_PRED, RolesFields, unit};
use crate::testing::{Driver, SM_SHAPES};

/// Port 1 issues this instruction of warp 5, with these executing and living lanes; its guard is true in the lanes of
/// `guard`.
fn issue(op: u64, ctl: u64, [mask, live, guard]: [u32; 3]) -> IssueStageOut {
    let mut stage = Driver::<IssueStage>::new(&SM_SHAPES[1]);
    let inputs = &mut stage.inputs;
    (inputs.issue_valid_i, inputs.issue_warp_i) = (0b10, [0, 5]);
    (inputs.head_op_i[5], inputs.head_ctl_i[5], inputs.head_roles_i[5]) = (op, ctl, roles(op, ctl).0);
    inputs.head_pc_i[5] = 1234;
    (inputs.mask_i[5], inputs.live_i[5], inputs.guard_i[1]) = (mask, live, guard);
    (inputs.s_i[1], inputs.t_i[1]) = (0x5555, 0x7777);
    stage.cycle()
}

const LANES: [u32; 3] = [0xff0, 0xfff, 0xf0f0];

#[test]
fn the_head_of_the_chosen_warp_issues_with_the_lanes_of_its_guard() {
    // PLOP: p 4; s 3, inverted; t 2; guard 1, inverted.
    let (op, ctl) = (0x16 | 0x9 << 8 | 0xc << 28, 0x15 << 8 | 5 << 60);
    let out = issue(op, ctl, LANES);
    let expected = InstructionFields { pc: 1234, roles: roles(op, ctl), t: 0x7777, s: 0x5555, ctl, op };
    assert_eq!(out.instruction_o[1].fields(), expected);
    assert_eq!((out.warp_o[1], out.exec_o[1]), (5, 0x0f0));
    assert_eq!((out.read_guard_o[1], out.read_s_o[1], out.read_t_o[1]), (0x9, 0xb, 0x2));
    assert_eq!(out.operand_valid_o, 0b10);
    assert_eq!((out.kind_o[1], out.stop_o, out.hold_valid_o, out.fault_valid_o), (0, 0, 0, 0));
}

#[test]
fn predicates_are_asked_for_whether_anything_issues_or_not() {
    let mut stage = Driver::<IssueStage>::new(&SM_SHAPES[1]);
    for warp in 0..8 {
        stage.inputs.head_roles_i[warp] = roles(0x16 | (warp as u64) << 8, 0).0;
    }
    stage.inputs.issue_warp_i = [0, 7];
    let out = stage.cycle();
    assert_eq!((out.read_guard_o, out.read_s_o, out.read_t_o), ([0, 7], [0; 2], [0; 2]));
    assert_eq!((out.operand_valid_o, out.stop_o, out.hold_valid_o, out.fault_valid_o), (0, 0, 0, 0));
    stage.inputs.head_roles_i[0] =
        Roles::from(RolesFields { guard: NO_PRED, unit: unit::NOTHING, ..RolesFields::default() }).0;
    assert_eq!(stage.cycle().read_guard_o, [7, 7]);
}

#[test]
fn without_lanes_an_instruction_goes_no_further() {
    for opcode in [0x20, 0x40, 0x04, 0x05, 0x07] {
        let out = issue(opcode, 0, [0xf, 0xf, 0xf0]);
        assert_eq!((out.exec_o[1], out.operand_valid_o, out.hold_valid_o, out.fault_valid_o), (0, 0, 0, 0), "{opcode}");
    }
}

#[test]
fn units_that_take_operands() {
    let all = [u32::MAX; 3];
    let operations = [(0x01, 0), (0x02, 0), (0x03, 0), (0x04, 2), (0x05, 2), (0x06, 0), (0x20, 2), (0x41, 2)];
    for (opcode, operands) in operations.into_iter().chain([(0x30, 2), (0x37, 2), (0x38, 2)]) {
        assert_eq!(issue(opcode, 0, all).operand_valid_o, operands, "{opcode}");
    }
    assert_eq!((issue(0x04, 0, all).hold_valid_o, issue(0x05, 0, all).hold_valid_o), (2, 0));
}

#[test]
fn what_the_stack_is_told() {
    let (op, ctl) = (0x02 | 0xfff_abcde << 32, 0xfff_54321);
    let out = issue(op, ctl, LANES);
    assert_eq!((out.kind_o[1], out.stop_o, out.target_o[1], out.join_o[1]), (1, 2, 0xabcde, 0x54321));
    let out = issue(0x03, 0, LANES);
    assert_eq!((out.kind_o[1], out.stop_o, out.exec_o[1]), (2, 2, 0x0f0));
    assert_eq!((issue(0x04, 0, LANES).stop_o, issue(0x20, 0, LANES).stop_o), (2, 0));
    assert_eq!([0, 1, 2, 3].map(Kind::from_bits), [Kind::Other, Kind::Branch, Kind::Exit, Kind::Other]);
}

#[test]
fn warpsync_is_told_which_lanes_live() {
    let out = issue(0x05, 0, LANES);
    let instruction = out.instruction_o[1];
    assert_eq!((out.operand_valid_o, instruction.s(), instruction.t()), (2, 0xfff, 0x7777));
}

#[test]
fn faults() {
    let fault = |op, lanes| {
        let out = issue(op, 0, lanes);
        assert_eq!(out.operand_valid_o & out.fault_valid_o, 0);
        (out.fault_valid_o != 0).then_some((out.fault_cause_o[1], out.fault_value_o[1]))
    };
    let (all, none) = ([u32::MAX; 3], [u32::MAX, u32::MAX, 0]);
    assert_eq!(fault(0x39, all), Some((cause::UNSUPPORTED, 0x39)));
    assert_eq!(fault(0x7f, none), Some((cause::UNSUPPORTED, 0x7f)), "whatever the lanes");
    assert_eq!(fault(0x07 | 0xdead_beef << 32, all), Some((cause::TRAP, 0xdead_beef)));
    assert_eq!(fault(0x07 | 3 << 32, none), None);
    assert_eq!(fault(0x04 | 11 << 28, [0xff, 0xfff, u32::MAX]), Some((cause::BARRIER_DIVERGENCE, 11)), "on the stack");
    assert_eq!(fault(0x04 | 11 << 28, [0xfff, 0xfff, 0xff]), Some((cause::BARRIER_DIVERGENCE, 11)), "by the guard");
    assert_eq!(fault(0x04 | 11 << 28, [0xfff, 0xfff, u32::MAX]), None);
    assert_eq!(fault(0x04 | 11 << 28, none), None);
}

#[test]
fn a_probe_has_the_sources_of_its_head_and_writes_nothing() {
    // ATOM on a generic address: a 3, b 4, c 5, d 6, guard 1, predicate p is none by itself; and one that names p.
    let (op, ctl) = (0x43 | 0x1 << 8 | 6 << 12 | 3 << 20 | 3 << 28 | 4 << 32, 5);
    let mut stage = Driver::<IssueStage>::new(&SM_SHAPES[1]);
    let inputs = &mut stage.inputs;
    (inputs.issue_valid_i, inputs.issue_warp_i, inputs.probe_i) = (0b11, [4, 5], 1 << 5);
    for w in [4, 5] {
        let head = Roles::from(RolesFields { p: 2, ..roles(op, ctl).fields() });
        (inputs.head_op_i[w], inputs.head_ctl_i[w], inputs.head_roles_i[w]) = (op, ctl, head.0);
        (inputs.mask_i[w], inputs.live_i[w]) = (0xff, 0xff);
    }
    inputs.guard_i = [0xf, 0xf];
    let out = stage.cycle();
    let [itself, probe] = [0, 1].map(|p| out.instruction_o[p].fields());
    assert_eq!((itself.op, itself.roles.c(), itself.roles.d(), itself.roles.p()), (op, 5, 6, 2));
    assert_eq!(probe.op, op & !0x7f | 0x45);
    let roles = RolesFields { c: 255, d: 255, p: 7, ..itself.roles.fields() };
    assert_eq!(probe, InstructionFields { op: probe.op, roles: roles.into(), ..itself });
    assert_eq!((out.operand_valid_o, out.exec_o, out.fault_valid_o, out.stop_o), (0b11, [0xf, 0xf], 0, 0));
    assert_eq!(out.kind_o, [0, 0]);
    stage.inputs.guard_i = [0xf, 0];
    assert_eq!(stage.cycle().operand_valid_o, 0b01, "no lane executes it");
}
