use super::*;
use crate::cache::row::RowPort;
use crate::memory::{Header, Row};
use crate::testing::{CACHE_SHAPES, Driver};
use crate::{LANES, Wide};

/// Four misses, four rows.
fn misses() -> Driver<CacheMisses> {
    let mut misses = Driver::<CacheMisses>::new(&CACHE_SHAPES[1]);
    misses.inputs.result_pop_i = 1;
    misses
}

/// A row of one warp: lane 0 takes the word at this place.
fn row(warp: u8, place: u8, lanewise: bool) -> RowPort {
    let mut offset = [0; LANES];
    offset[0] = place;
    let header = Header { mask: 1, warp, reg: Some(warp), done: false };
    Wide(CacheRow::from(&Row { header, offset: &offset, size: 2, signed: false, lanewise }).0)
}

/// A request of a line with a row; a new miss, or the one there is.
fn request(misses: &mut Driver<CacheMisses>, line: u32, new: Option<u8>, row: RowPort) {
    let inputs = &mut misses.inputs;
    (inputs.line_i, inputs.row_valid_i, inputs.row_i) = (line, 1, row);
    (inputs.allocate_i, inputs.allocate_open_i) = (new.is_some().into(), new.unwrap_or_default());
    misses.cycle();
    (misses.inputs.row_valid_i, misses.inputs.allocate_i) = (0, 0);
}

/// An answer comes, of which so many bytes exist.
fn answer(misses: &mut Driver<CacheMisses>, present: u8, fault: u8) {
    let inputs = &mut misses.inputs;
    (inputs.mem_rsp_valid_i, inputs.mem_rsp_present_i, inputs.mem_rsp_fault_i) = (1, present, fault);
    inputs.mem_rsp_data_i = WarpData(std::array::from_fn(|word| 1000 + word as u32));
    assert_eq!(misses.cycle().mem_rsp_ready_o, 1);
    misses.inputs.mem_rsp_valid_i = 0;
}

#[test]
fn rows_of_one_miss_are_served_one_after_the_other() {
    let mut misses = misses();
    request(&mut misses, 9, Some(1), row(1, 0, false));
    misses.inputs.line_i = 9;
    let out = misses.cycle();
    assert_eq!((out.open_o, out.open_first_o, out.empty_o), (1, 0, 0));
    request(&mut misses, 9, None, row(2, 124, false));
    answer(&mut misses, 128, 0);
    misses.inputs.fill_ready_i = 1;
    let out = misses.cycle();
    assert_eq!((out.fill_valid_o, out.fill_line_o, out.fill_whole_o), (1, 9, 1));
    assert_eq!((out.open_first_o, out.serve_o, out.result_valid_o, out.mem_rsp_ready_o), (1, 1, 0, 0));
    let out = misses.cycle();
    assert_eq!((out.fill_valid_o, out.fill_line_o, out.open_o, out.serve_o), (0, 0, 0, 1));
    assert_eq!((out.result_o.warp(), out.result_o.done(), out.result_data_o.0[0]), (1, 0, 1000));
    let out = misses.cycle();
    assert_eq!((out.result_o.warp(), out.result_data_o.0[0], out.serve_o), (2, 1031, 0));
    assert_eq!((out.empty_o, out.mem_rsp_ready_o), (1, 1), "the miss ended with its last row");
    assert_eq!(misses.cycle().result_valid_o, 0);
}

#[test]
fn an_answer_of_an_open_miss_stays_until_it_is_taken() {
    let mut misses = misses();
    request(&mut misses, 9, Some(1), row(1, 0, false));
    answer(&mut misses, 128, 0);
    for _ in 0..3 {
        assert_eq!(misses.cycle().fill_valid_o, 1);
    }
    // Whoever joins meanwhile is served.
    request(&mut misses, 9, None, row(2, 4, false));
    misses.inputs.fill_ready_i = 1;
    assert_eq!(misses.cycle().serve_o, 1);
    let out = misses.cycle();
    assert_eq!((out.fill_valid_o, out.result_o.warp(), out.mem_rsp_ready_o), (0, 2, 0));
    assert_eq!(misses.cycle().empty_o, 1);
}

#[test]
fn a_miss_that_is_closed_gets_no_further_row_and_no_line() {
    let mut misses = misses();
    request(&mut misses, 9, Some(1), row(1, 0, false));
    (misses.inputs.line_i, misses.inputs.close_i) = (9, 1);
    assert_eq!(misses.cycle().open_o, 1);
    misses.inputs.close_i = 0;
    assert_eq!(misses.cycle().open_o, 0);
    // An atomic operation: closed from the start, a word for each lane.
    request(&mut misses, 9, Some(0), row(2, 0, true));
    assert_eq!(misses.cycle().open_o, 0);
    // A miss that comes as the open one is closed is open itself.
    request(&mut misses, 9, Some(1), row(3, 0, false));
    misses.inputs.close_i = 1;
    request(&mut misses, 9, Some(1), row(3, 8, false));
    misses.inputs.close_i = 0;
    misses.cycle();
    assert_eq!((misses.probe().open_q, misses.cycle().room_o, misses.cycle().row_room_o), (0b1000, 0, 0));
    for (warp, value) in [(1, 1000), (2, 1000), (3, 1000)] {
        answer(&mut misses, 128, 0);
        assert_eq!(misses.cycle().fill_valid_o, 0);
        let out = misses.cycle();
        assert_eq!((out.result_o.warp(), out.result_data_o.0[0]), (warp, value));
    }
    answer(&mut misses, 128, 0);
    assert_eq!(misses.cycle().fill_valid_o, 1);
    assert_eq!(misses.cycle().result_data_o.0[0], 1002);
}

#[test]
fn a_row_is_at_fault_where_its_own_bytes_do_not_exist() {
    for (present, place, fault, lanewise, at_fault, whole) in [
        (128, 124, 0, false, 0, 1),
        (64, 60, 0, false, 0, 0),
        (64, 64, 0, false, 1, 0),
        (62, 60, 1, false, 1, 0),
        (64, 0, 1, false, 0, 0),
        (0, 0, 0, true, 0, 0),
        (128, 0, 1, true, 1, 0),
    ] {
        let mut misses = misses();
        request(&mut misses, 9, Some(1), row(5, place, lanewise));
        answer(&mut misses, present, fault);
        let out = misses.cycle();
        assert_eq!((out.fault_valid_o, out.fault_warp_o), (at_fault, 5 * at_fault), "{present} {place} {fault}");
        assert_eq!(out.fill_whole_o, whole);
        let out = misses.cycle();
        assert_eq!((out.fault_valid_o, out.result_valid_o), (0, 1), "it makes a result like any other");
    }
}

#[test]
fn a_row_goes_to_the_lowest_free_place_and_waits_for_the_result_register() {
    let mut misses = misses();
    for warp in 0..4 {
        request(&mut misses, warp, Some(1), row(warp as u8, 0, false));
    }
    misses.cycle();
    assert_eq!((misses.probe().row_used_q, misses.probe().row_miss_q[..4].to_vec()), (0b1111, vec![0, 1, 2, 3]));
    answer(&mut misses, 128, 0);
    (misses.inputs.fill_ready_i, misses.inputs.result_pop_i) = (1, 0);
    assert_eq!(misses.cycle().serve_o, 1);
    misses.cycle();
    request(&mut misses, 3, None, row(9, 0, false));
    misses.inputs.fill_ready_i = 0;
    answer(&mut misses, 128, 0);
    misses.inputs.fill_ready_i = 1;
    for _ in 0..3 {
        let out = misses.cycle();
        assert_eq!((out.serve_o, out.result_o.warp()), (0, 0), "the result stays");
    }
    assert_eq!((misses.probe().row_used_q, misses.probe().row_miss_q[0]), (0b1111, 3));
    misses.inputs.result_pop_i = 1;
    assert_eq!(misses.cycle().serve_o, 1);
    assert_eq!(misses.cycle().result_o.warp(), 1);
}
