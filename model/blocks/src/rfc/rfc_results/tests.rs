use super::*;
use crate::Shape;
use crate::config::{Config, Start};
use crate::testing::Driver;

/// Slot 2 has warp 9, slot 3 warp 4; two ports.
fn results() -> Driver<RfcResults> {
    results_of(&["mrf.issue_ports=2"])
}

fn results_of(settings: &[&str]) -> Driver<RfcResults> {
    let config = Config::load(Start::Preset("rfc"), settings).expect("a configuration");
    let mut results = Driver::<RfcResults>::new(&RfcShape::of(&config));
    results.inputs.slot_valid_i = 0b1100;
    (results.inputs.slot_warp_i[2], results.inputs.slot_warp_i[3]) = (9, 4);
    (results.inputs.op_ready_i, results.inputs.mrf_ready_i) = (0b11, 0b11);
    results
}

impl Driver<RfcResults> {
    /// Runs one cycle, then clears all offers.
    fn step(&mut self) -> RfcResultsOut {
        let out = self.cycle();
        let inputs = &mut self.inputs;
        (inputs.write_valid_i, inputs.note_valid_i, inputs.mrf_done_i) = (0, 0, 0);
        out
    }

    fn write(&mut self, b: usize, warp: u8, reg: u8) -> &mut Self {
        let inputs = &mut self.inputs;
        inputs.write_valid_i |= 1 << b;
        inputs.write_i[b].change(|write| (write.warp, write.d, write.mask) = (warp, reg, 0xff));
        inputs.write_data_i[b] = WarpData([u32::from(reg); LANES]);
        self
    }

    fn note(&mut self, slot: u8, reg: u8) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.note_valid_i, inputs.note_slot_i[0], inputs.note_reg_i[0], inputs.note_around_i) = (1, slot, reg, 1);
        self
    }
}

#[test]
fn a_result_goes_into_the_cache_of_its_slot() {
    let mut results = results();
    results.write(1, 9, 5).step();
    let out = results.step();
    assert_eq!((out.op_valid_o, out.op_kill_o, out.op_slot_o[0], out.op_reg_o[0]), (0b01, 0, 1, 5));
    assert_eq!((out.op_data_o[0].0[0], out.write_done_o, out.written_o[1].register()), (5, 0b10, (9, 5)));
    assert_eq!((out.mrf_valid_o, out.write_ready_o), (0, 0b11));
    assert_eq!(results.step().op_valid_o, 0);
}

#[test]
fn a_result_waits_until_its_cache_performs_it() {
    let mut results = results();
    results.inputs.op_ready_i = 0;
    results.write(0, 9, 5).step();
    let out = results.step();
    assert_eq!((out.op_valid_o, out.write_done_o, out.write_ready_o, out.wait_o), (0b01, 0, 0b10, 0b01));
    results.inputs.op_ready_i = 0b11;
    assert_eq!(results.step().write_done_o, 0b01);
}

#[test]
fn what_goes_around_takes_its_lanes_away_and_ends_in_its_bank() {
    let mut results = results();
    results.note(2, 5).step();
    results.write(0, 9, 5).step();
    let out = results.step();
    assert_eq!((out.op_valid_o, out.op_kill_o, out.mrf_valid_o, out.around_o), (0b01, 0b01, 0b01, 0b01));
    assert_eq!((out.mrf_warp_o[0], out.mrf_reg_o[0], out.write_done_o), (9, 5, 0));
    let out = results.step();
    assert_eq!((out.op_valid_o, out.mrf_valid_o, out.write_ready_o), (0, 0, 0b10));
    results.inputs.mrf_done_i = 0b01;
    assert_eq!(results.step().write_done_o, 0b01);
    // A result of another register is not affected.
    results.write(0, 9, 6).step();
    assert_eq!(results.step().op_kill_o, 0);
}

#[test]
fn without_a_slot_or_with_one_that_is_emptied_a_result_goes_around() {
    let mut results = results();
    results.inputs.flush_i = 0b0100;
    results.write(0, 9, 5).write(1, 33, 5).step();
    let out = results.step();
    assert_eq!((out.op_valid_o, out.op_kill_o, out.mrf_valid_o, out.around_o), (0b01, 0b01, 0b11, 0b11));
}

#[test]
fn evictions_and_older_values_go_first() {
    let mut results = results();
    results.write(0, 33, 5).step();
    results.inputs.match_i = 0b01;
    let out = results.step();
    assert_eq!((out.mrf_valid_o, out.wait_o), (0, 0b01));
    (results.inputs.match_i, results.inputs.evict_valid_i, results.inputs.evict_reg_i[0]) = (0, 0b01, 77);
    let out = results.step();
    assert_eq!((out.mrf_valid_o, out.mrf_reg_o[0], out.evict_ready_o, out.around_o), (0b01, 77, 0b11, 0));
    results.inputs.evict_valid_i = 0;
    results.inputs.mrf_done_i = 0b01;
    let out = results.step();
    assert_eq!((out.evict_done_o, out.write_done_o, out.around_o, out.mrf_reg_o[0]), (0b01, 0, 0b01, 5));
    results.inputs.mrf_done_i = 0b01;
    let out = results.step();
    assert_eq!((out.evict_done_o, out.write_done_o), (0, 0b01));
}

#[test]
fn two_buses_take_turns_at_a_cache() {
    let mut results = results();
    results.inputs.slot_valid_i |= 0b0001;
    results.inputs.slot_warp_i[0] = 12;
    results.write(0, 9, 5).write(1, 12, 6).step();
    let out = results.write(0, 9, 7).step();
    assert_eq!((out.op_reg_o[0], out.write_done_o, out.wait_o), (5, 0b01, 0b10));
    let out = results.step();
    assert_eq!((out.op_reg_o[0], out.op_slot_o[0], out.write_done_o), (6, 0, 0b10));
    assert_eq!(results.step().op_reg_o[0], 7);
    // Two caches accept the results of two buses in one cycle.
    results.write(0, 4, 1).write(1, 9, 2).step();
    let out = results.step();
    assert_eq!((out.op_valid_o, out.op_reg_o, out.write_done_o), (0b11, [2, 1], 0b11));
}

#[test]
fn a_result_of_a_private_unit_belongs_into_the_lrf_unless_it_goes_past() {
    let mut results = results();
    for (private, past, around, upper) in [(1, 0, 0, 0b01), (0, 0, 0, 0), (1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 0b01)] {
        results.note(2, 5);
        (results.inputs.note_around_i, results.inputs.note_past_i) = (around, past);
        results.step();
        results.inputs.write_i[0].change(|write| write.from_private = private);
        results.write(0, 9, 5).step();
        let out = results.step();
        assert_eq!((out.op_valid_o, out.op_kill_o, out.op_upper_o), (0b01, around, upper));
        results.inputs.mrf_done_i = around;
        results.step();
    }
}

#[test]
fn a_cache_that_is_filled_takes_no_result() {
    let mut results = results();
    results.note(2, 6).step();
    results.write(0, 9, 5).write(1, 9, 6).step();
    results.inputs.hold_i = 0b01;
    let out = results.step();
    assert_eq!((out.op_valid_o, out.mrf_valid_o, out.around_o, out.wait_o), (0, 0, 0, 0b11));
    results.inputs.hold_i = 0b10;
    let out = results.step();
    assert_eq!((out.op_valid_o, out.write_done_o, out.wait_o), (0b01, 0b01, 0b10));
    assert_eq!(results.step().around_o, 0b10);
}

#[test]
fn a_result_whose_warp_had_no_slot_goes_around_for_good() {
    let mut results = results();
    results.inputs.match_i = 0b01;
    results.write(0, 33, 5).step();
    assert_eq!(results.step().wait_o, 0b01);
    // The warp takes a slot, in which no instruction has noted the register.
    results.inputs.slot_valid_i |= 0b0001;
    results.inputs.slot_warp_i[0] = 33;
    let out = results.step();
    assert_eq!((out.op_valid_o, out.wait_o, out.result_valid_o), (0, 0b01, 0b01));
    results.inputs.match_i = 0;
    let out = results.step();
    assert_eq!((out.op_valid_o, out.op_kill_o, out.around_o), (0b01, 0b01, 0b01));
    results.inputs.mrf_done_i = 0b01;
    assert_eq!(results.step().write_done_o, 0b01);
    // The next result goes into the cache.
    results.write(0, 33, 5).step();
    let out = results.step();
    assert_eq!((out.op_valid_o, out.op_kill_o, out.write_done_o), (0b01, 0, 0b01));
}

#[test]
fn with_release_the_latch_is_free_when_the_queue_takes_the_result() {
    let mut results = results_of(&["mrf.issue_ports=2", "rfc.release=true"]);
    results.note(2, 5).step();
    results.write(0, 9, 5).step();
    // The result leaves its latch when the queue takes it, and the next result is taken.
    let out = results.write(0, 9, 6).step();
    assert_eq!((out.around_o, out.write_done_o, out.written_o[0].d(), out.write_ready_o), (0b01, 0b01, 5, 0b11));
    assert_eq!(out.queue_valid_o, 0);
    // The result is still reported, for instructions that read its register.
    let out = results.step();
    assert_eq!((out.queue_valid_o, out.queue_warp_o[0], out.queue_reg_o[0]), (0b01, 9, 5));
    assert_eq!((out.op_valid_o, out.op_kill_o, out.write_done_o, out.written_o[0].d()), (0b01, 0, 0b01, 6));
    // An eviction that goes into its bank on the other port is not this result.
    (results.inputs.evict_valid_i, results.inputs.mrf_ready_i) = (0b10, 0b10);
    results.step();
    results.inputs.evict_valid_i = 0;
    results.inputs.mrf_done_i = 0b10;
    let out = results.step();
    assert_eq!((out.evict_done_o, out.queue_valid_o, out.write_done_o), (0b10, 0b01, 0));
    results.inputs.mrf_done_i = 0b01;
    let out = results.step();
    assert_eq!((out.write_done_o, out.queue_valid_o), (0, 0b01), "it has ended before");
    assert_eq!(results.step().queue_valid_o, 0);
}
