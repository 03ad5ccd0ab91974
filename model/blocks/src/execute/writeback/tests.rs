use super::*;
use crate::execute::ResultFields;
use crate::testing::{Driver, SM_SHAPES, organisation_with};

const ONE: &SmShape = &SM_SHAPES[0];
const TWO: &SmShape = &SM_SHAPES[1];

/// A writeback to which every source offers a register: warps 1 and 2 from the ALUs, 5 and 6 from the single precision units, 7 from the special
/// function unit, 8 from the constant unit, 3 from the side queue, 4 from the line table.
fn crowded(shape: &SmShape) -> Driver<Writeback> {
    let mut writeback = Driver::new(shape);
    let i: &mut WritebackIn = &mut writeback.inputs;
    let all = (1 << shape.ports()) - 1;
    let result = |warp: u8| {
        let mask = u32::from(warp) + 100;
        let word = ResultFields { done: 1, d: warp + 10, warp, mask, ..ResultFields::default() }.into();
        (word, WarpData([u32::from(warp) + 20; 32]))
    };
    (i.alu_valid_i, i.alu_reg_valid_i, i.fp_valid_i, i.fp_reg_valid_i) = (all, all, all, all);
    for p in 0..2 {
        (i.alu_result_i[p], i.alu_data_i[p]) = result(1 + p as u8);
        (i.fp_result_i[p], i.fp_data_i[p]) = result(5 + p as u8);
    }
    (i.sfu_valid_i, i.sfu_reg_valid_i, (i.sfu_result_i, i.sfu_data_i)) = (1, 1, result(7));
    (i.constant_valid_i, i.constant_reg_valid_i, (i.constant_result_i, i.constant_data_i)) = (1, 1, result(8));
    (i.side_valid_i, i.side_reg_valid_i, (i.side_result_i, i.side_data_i)) = (1, 1, result(3));
    (i.memory_valid_i, i.memory_reg_valid_i, (i.memory_result_i, i.memory_data_i)) = (1, 1, result(4));
    i.write_ready_i = all;
    writeback
}

/// Whether the line table's result is the last of its instruction.
fn last_of_memory(writeback: &mut Driver<Writeback>, done: u8) {
    writeback.inputs.memory_result_i.change(|result| result.done = done);
}

/// A writeback without the units of floating point and constants.
fn without_floats(shape: &SmShape) -> Driver<Writeback> {
    let mut writeback = crowded(shape);
    let i = &mut writeback.inputs;
    (i.fp_valid_i, i.fp_reg_valid_i, i.sfu_valid_i, i.sfu_reg_valid_i) = (0, 0, 0, 0);
    (i.constant_valid_i, i.constant_reg_valid_i) = (0, 0);
    writeback
}

/// Warps of the results that are offered.
fn warps(out: &WritebackOut) -> [u8; MAX_PORTS] {
    out.write_o.map(|write| write.warp())
}

/// The results that are popped: ALUs, side queue, line table.
fn popped(out: &WritebackOut) -> (u8, u8, u8) {
    (out.alu_pop_o, out.side_pop_o, out.memory_pop_o)
}

/// The results that are popped: ALUs, single precision units, constant unit, special function unit, side queue, line table.
fn all_popped(out: &WritebackOut) -> [u8; 6] {
    [out.alu_pop_o, out.fp_pop_o, out.constant_pop_o, out.sfu_pop_o, out.side_pop_o, out.memory_pop_o]
}

#[test]
fn the_line_table_goes_first_then_side_queue_special_functions_constants_single_precision_and_alu() {
    let mut writeback = crowded(ONE);
    let order = [
        ([0, 0, 0, 0, 0, 1], 4, 0),
        ([0, 0, 0, 0, 1, 0], 3, 0),
        ([0, 0, 0, 1, 0, 0], 7, 0),
        ([0, 0, 1, 0, 0, 0], 8, 0),
        ([0, 1, 0, 0, 0, 0], 5, 1),
        ([1, 0, 0, 0, 0, 0], 1, 1),
    ];
    for (expected, warp, from_private) in order {
        let out = writeback.cycle();
        assert_eq!((all_popped(&out), out.write_valid_o), (expected, 1));
        let lane = u32::from(warp);
        assert_eq!(out.write_o[0].fields(), WriteFields { from_private, d: warp + 10, warp, mask: lane + 100 });
        assert_eq!(out.write_data_o[0], WarpData([lane + 20; 32]));
        let i = &mut writeback.inputs;
        i.memory_valid_i &= out.memory_pop_o ^ 1;
        i.side_valid_i &= out.side_pop_o ^ 1;
        i.sfu_valid_i &= out.sfu_pop_o ^ 1;
        i.constant_valid_i &= out.constant_pop_o ^ 1;
        i.fp_valid_i &= out.fp_pop_o ^ 1;
    }
}

#[test]
fn with_two_buses_special_functions_have_the_last_and_single_precision_its_own() {
    let mut writeback = crowded(TWO);
    let out = writeback.cycle();
    assert_eq!((all_popped(&out), warps(&out)), ([0, 0, 0, 0, 1, 1], [3, 4]));
    let i = &mut writeback.inputs;
    (i.side_valid_i, i.side_reg_valid_i, i.memory_valid_i, i.memory_reg_valid_i) = (0, 0, 0, 0);
    let out = writeback.cycle();
    assert_eq!((all_popped(&out), warps(&out)), ([0, 0, 1, 1, 0, 0], [8, 7]));
    (writeback.inputs.constant_valid_i, writeback.inputs.constant_reg_valid_i) = (0, 0);
    let out = writeback.cycle();
    assert_eq!((all_popped(&out), warps(&out)), ([0, 1, 0, 1, 0, 0], [5, 7]));
    (writeback.inputs.sfu_valid_i, writeback.inputs.sfu_reg_valid_i) = (0, 0);
    let out = writeback.cycle();
    assert_eq!((all_popped(&out), warps(&out)), ([0, 3, 0, 0, 0, 0], [5, 6]));
    // One without a register goes without its bus; its predicate is written.
    let i = &mut writeback.inputs;
    (i.fp_reg_valid_i, i.write_ready_i) = (0b01, 0);
    i.fp_result_i[1].change(|result| (result.pred_valid, result.pred, result.pred_data) = (1, 5, 0xff));
    let out = writeback.cycle();
    assert_eq!((all_popped(&out), out.write_valid_o, out.pred_valid_o), ([0, 2, 0, 0, 0, 0], 0b01, 0b10));
    assert_eq!((out.pred_o[1], out.pred_mask_o[1], out.pred_data_o[1]), (5, 106, 0xff));
    assert_eq!((out.finish_valid_o, out.finish_warp_o[3]), (0b1000, 6));
}

#[test]
fn with_two_buses_the_side_queue_has_the_first_and_the_line_table_the_last() {
    let mut writeback = without_floats(TWO);
    let out = writeback.cycle();
    assert_eq!((popped(&out), warps(&out)), ((0, 1, 1), [3, 4]));
    (writeback.inputs.side_valid_i, writeback.inputs.side_reg_valid_i) = (0, 0);
    let out = writeback.cycle();
    assert_eq!((popped(&out), warps(&out)), ((1, 0, 1), [1, 4]));
    (writeback.inputs.memory_valid_i, writeback.inputs.memory_reg_valid_i) = (0, 0);
    let out = writeback.cycle();
    assert_eq!((popped(&out), warps(&out)), ((3, 0, 0), [1, 2]));
}

#[test]
fn a_result_that_has_to_wait_holds_its_bus() {
    let mut writeback = without_floats(TWO);
    writeback.inputs.write_ready_i = 0b10;
    // The ALU's result, which needs no bus, does not overtake.
    writeback.inputs.alu_reg_valid_i = 0b10;
    for _ in 0..3 {
        let out = writeback.cycle();
        assert_eq!((popped(&out), out.write_valid_o, out.finish_valid_o), ((0, 0, 1), 0b11, 0), "offered all the same");
    }
}

#[test]
fn a_result_without_register_goes_whatever_the_write_queue_does_and_ends_its_instruction() {
    let mut writeback = Driver::<Writeback>::new(TWO);
    let i = &mut writeback.inputs;
    i.alu_valid_i = 0b11;
    i.alu_result_i[0] = ResultFields { done: 1, warp: 7, ..ResultFields::default() }.into();
    let second = ResultFields { pred_valid: 1, pred: 5, warp: 8, pred_data: 0xff, mask: 0xffff, ..Default::default() };
    i.alu_result_i[1] = second.into();
    let out = writeback.cycle();
    assert_eq!((popped(&out), out.write_valid_o), ((0b11, 0, 0), 0));
    assert_eq!((out.finish_valid_o, out.finish_warp_o[2]), (0b0100, 7), "the other one is not done");
    assert_eq!((out.pred_valid_o, out.pred_warp_o[1], out.pred_o[1]), (0b10, 8, 5));
    assert_eq!((out.pred_mask_o[1], out.pred_data_o[1]), (0xffff, 0xff));
}

#[test]
fn a_predicate_is_written_in_the_cycle_in_which_its_result_goes() {
    let mut writeback = Driver::<Writeback>::new(ONE);
    let i = &mut writeback.inputs;
    (i.side_valid_i, i.side_reg_valid_i) = (1, 1);
    i.side_result_i = ResultFields { done: 1, pred_valid: 1, ..ResultFields::default() }.into();
    let out = writeback.cycle();
    assert_eq!((out.side_pop_o, out.write_valid_o, out.pred_valid_o), (0, 1, 0));
    writeback.inputs.write_ready_i = 1;
    let out = writeback.cycle();
    assert_eq!((out.side_pop_o, out.write_valid_o, out.pred_valid_o, out.finish_valid_o), (1, 1, 1, 0));
}

#[test]
fn a_register_is_complete_when_its_last_result_is_in_its_bank() {
    let mut writeback = without_floats(ONE);
    last_of_memory(&mut writeback, 0);
    writeback.cycle();
    let i = &mut writeback.inputs;
    (i.write_done_i, i.written_i[0]) = (1, WrittenWord::new(4, 14));
    last_of_memory(&mut writeback, 1);
    // The part of the register that was written is not the last; the one that takes its place is.
    let out = writeback.cycle();
    assert_eq!((out.reg_valid_o, out.finish_valid_o), (0, 0));
    // Reported with the old value while the next result takes the queue.
    last_of_memory(&mut writeback, 0);
    let out = writeback.cycle();
    assert_eq!((out.reg_valid_o, out.reg_warp_o[0], out.reg_o[0]), (1, 4, 14));
    assert_eq!((out.finish_valid_o, out.finish_warp_o[0]), (1, 4));
    assert_eq!(writeback.cycle().reg_valid_o, 0);
}

#[test]
fn what_is_not_taken_does_not_count_as_the_last() {
    let mut writeback = without_floats(ONE);
    writeback.inputs.write_ready_i = 0;
    writeback.cycle();
    assert_eq!(writeback.probe().last_q, 0);
    writeback.inputs.write_done_i = 1;
    assert_eq!(writeback.cycle().reg_valid_o, 0);
}

#[test]
fn reset_forgets_what_is_in_the_write_queues() {
    let mut writeback = without_floats(ONE);
    writeback.cycle();
    writeback.inputs.rst_ni = 0;
    writeback.cycle();
    assert_eq!(writeback.probe().last_q, 1);
    writeback.cycle();
    assert_eq!(writeback.probe().last_q, 0);
}

#[test]
fn with_taken_results_a_register_is_reported_when_its_last_result_is_taken() {
    let organisation = organisation_with(|services| services.reports_taken);
    let mut writeback = without_floats(&SmShape { organisation, ..*ONE });
    last_of_memory(&mut writeback, 0);
    writeback.inputs.write_ready_i = 1;
    assert_eq!(writeback.cycle().reg_valid_o, 0, "a part");
    last_of_memory(&mut writeback, 1);
    writeback.inputs.write_ready_i = 0;
    assert_eq!(writeback.cycle().reg_valid_o, 0, "it is not taken");
    writeback.inputs.write_ready_i = 1;
    let out = writeback.cycle();
    assert_eq!((out.reg_valid_o, out.reg_warp_o[0], out.reg_o[0], out.finish_valid_o), (1, 4, 14, 0));
    // Its instruction ends when it is written, and the next register is reported.
    let i = &mut writeback.inputs;
    (i.write_done_i, i.written_i[0], i.memory_valid_i) = (1, WrittenWord::new(4, 14), 0);
    let out = writeback.cycle();
    assert_eq!((out.reg_valid_o, out.reg_warp_o[0], out.reg_o[0]), (1, 3, 13));
    assert_eq!((out.finish_valid_o, out.finish_warp_o[0]), (1, 4));
    // A result without a register is not reported.
    (writeback.inputs.side_reg_valid_i, writeback.inputs.write_done_i) = (0, 0);
    let out = writeback.cycle();
    assert_eq!((out.reg_valid_o, out.finish_valid_o, out.finish_warp_o[1]), (0, 0b10, 3));
}
