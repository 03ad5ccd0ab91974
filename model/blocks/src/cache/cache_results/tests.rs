use super::*;
use crate::testing::{CACHE_SHAPES, Driver};

/// Four numbers.
fn results(latency: u8) -> Driver<CacheResults> {
    let mut results = Driver::<CacheResults>::new(&CACHE_SHAPES[1]);
    results.inputs.cfg_i = latency;
    results
}

/// A part of a load; gives its number.
fn part(results: &mut Driver<CacheResults>, first: u8, last: u8) -> u8 {
    (results.inputs.row_valid_i, results.inputs.row_first_i, results.inputs.row_last_i) = (1, first, last);
    let number = results.cycle().row_load_o;
    results.inputs.row_valid_i = 0;
    number
}

/// The answer of a part that goes; gives whether it is the last one.
fn answer(results: &mut Driver<CacheResults>, load: u8) -> bool {
    (results.inputs.miss_valid_i, results.inputs.miss_load_i, results.inputs.pop_i) = (1, load, 1);
    let out = results.cycle();
    assert_eq!((out.result_valid_o, out.miss_pop_o), (1, 1));
    (results.inputs.miss_valid_i, results.inputs.pop_i) = (0, 0);
    out.result_o.done() == 1
}

#[test]
fn the_last_part_to_go_is_done() {
    let mut results = results(3);
    assert_eq!([part(&mut results, 1, 0), part(&mut results, 0, 0), part(&mut results, 0, 1)], [0, 0, 0]);
    assert_eq!(part(&mut results, 1, 1), 1, "another load");
    assert_eq!((results.probe().state.used_q, results.probe().state.count_q[0]), (0b1, 3));
    assert!(!answer(&mut results, 0));
    assert!(answer(&mut results, 1));
    assert!(!answer(&mut results, 0));
    assert!(answer(&mut results, 0));
    results.cycle();
    assert_eq!(results.probe().state.used_q, 0);
}

#[test]
fn a_load_that_is_not_closed_is_not_done_until_its_last_part_is_made() {
    let mut results = results(3);
    part(&mut results, 1, 0);
    // Its only part goes as the next one is made: it stays.
    let inputs = &mut results.inputs;
    (inputs.row_valid_i, inputs.row_first_i, inputs.row_last_i) = (1, 0, 1);
    assert!(!answer(&mut results, 0));
    results.inputs.row_valid_i = 0;
    results.cycle();
    assert_eq!((results.probe().state.used_q, results.probe().state.count_q[0]), (1, 1));
    assert!(answer(&mut results, 0));
}

#[test]
fn a_number_is_free_when_its_parts_have_gone_and_comes_again() {
    let mut results = results(3);
    assert_eq!(part(&mut results, 1, 0), 0);
    assert!(!answer(&mut results, 0), "the instruction has lanes elsewhere");
    results.cycle();
    assert_eq!(results.probe().state.used_q, 0);
    // What continues the instruction takes a number of its own, the same one.
    assert_eq!(part(&mut results, 0, 1), 0);
    assert!(answer(&mut results, 0));
    for load in 0..4 {
        assert_eq!(results.cycle().room_o, 1);
        assert_eq!(part(&mut results, 1, 1), load);
    }
    assert_eq!(results.cycle().room_o, 0);
    assert!(answer(&mut results, 2));
    assert_eq!(results.cycle().room_o, 1);
    assert_eq!(part(&mut results, 1, 0), 2);
    // A number that is closed gets no further part, also if no load has begun in between.
    assert!(answer(&mut results, 1));
    assert_eq!([part(&mut results, 0, 1), part(&mut results, 0, 1)], [2, 1]);
}

#[test]
fn hits_wait_for_their_latency_and_answers_go_first() {
    for latency in [0, 1, 4] {
        let mut results = results(latency);
        part(&mut results, 1, 1);
        part(&mut results, 1, 1);
        let inputs = &mut results.inputs;
        (inputs.push_valid_i, inputs.push_load_i, inputs.push_warp_i, inputs.push_mask_i) = (1, 1, 7, 0b11);
        (inputs.push_reg_valid_i, inputs.push_reg_i, inputs.push_data_i) = (1, 200, WarpData([3; 32]));
        for cycle in 0..latency {
            let out = results.cycle();
            results.inputs.push_valid_i = 0;
            assert_eq!((out.result_valid_o, out.push_ready_o), (0, 1), "cycle {cycle} of {latency}");
        }
        let inputs = &mut results.inputs;
        (inputs.miss_valid_i, inputs.miss_load_i) = (1, 0);
        let out = results.cycle();
        results.inputs.push_valid_i = 0;
        assert_eq!((out.result_valid_o, out.result_reg_valid_o, out.result_o.done()), (1, 0, 1));
        assert_eq!((out.result_o.warp(), out.miss_pop_o), (0, 0));
        assert!(answer(&mut results, 0));
        results.inputs.pop_i = 1;
        let out = results.cycle();
        assert_eq!((out.result_valid_o, out.result_o.warp(), out.result_o.mask()), (1, 7, 0b11));
        assert_eq!((out.result_o.done(), out.result_o.d(), out.miss_pop_o), (1, 200, 0));
        assert_eq!((out.result_reg_valid_o, out.result_data_o), (1, WarpData([3; 32])));
        assert_eq!(results.cycle().result_valid_o, 0);
        assert_eq!((results.probe().state.used_q, results.probe().state.number_count_q), (0, 0));
    }
}

#[test]
fn without_a_latency_the_number_passes_too() {
    let mut results = results(0);
    part(&mut results, 1, 1);
    assert_eq!(part(&mut results, 1, 0), 1);
    let inputs = &mut results.inputs;
    (inputs.push_valid_i, inputs.push_load_i, inputs.pop_i) = (1, 1, 1);
    // The number in the ring's first place is another one's.
    assert_eq!(results.cycle().result_o.done(), 0);
    (results.inputs.push_load_i, results.inputs.pop_i) = (0, 0);
    assert_eq!(results.cycle().result_o.done(), 1);
    (results.inputs.push_valid_i, results.inputs.push_load_i) = (0, 1);
    assert_eq!(results.cycle().result_o.done(), 1, "of the one that waits");
}
