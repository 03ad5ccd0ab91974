use super::*;
use crate::testing::Driver;

/// Warp 6 has slot 0, warp 9 slot 1; slot 0 is open.
fn results(settings: &[&str]) -> Driver<HrfResults> {
    let mut results = Driver::<HrfResults>::new(&HrfShape::preset(settings));
    (results.inputs.open_i, results.inputs.slot_warp_i) = (0b01, [6, 9]);
    results
}

impl Driver<HrfResults> {
    /// Runs one cycle, then clears all offers.
    fn step(&mut self) -> HrfResultsOut {
        let out = self.cycle();
        self.inputs.write_valid_i = 0;
        out
    }

    fn write(&mut self, warp: u8, reg: u8) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.write_valid_i, inputs.write_i, inputs.write_base_i) = (1, WriteWord::new(warp, reg, 0xff), 510);
        self
    }
}

#[test]
fn a_result_of_the_open_warp_goes_into_its_entry_or_a_new_one() {
    let mut results = results(&[]);
    let out = results.write(6, 7).step();
    assert_eq!((out.write_ready_o, out.valid_o, out.write_done_o), (1, 0, 0));
    results.inputs.used_i = [3, 1];
    let out = results.write(6, 8).step();
    assert_eq!((out.buffer_valid_o, out.new_o, out.index_o), (0b01, 1, 3));
    assert_eq!((out.write_done_o, out.written_o.register(), out.write_ready_o), (1, (6, 7), 1));
    assert_eq!((out.entry_o, out.reg_o, out.mask_o), (5, 7, 0xff), "entries count modulo those of the bank");
    (results.inputs.hit_i, results.inputs.index_i) = (1, 2);
    let out = results.step();
    assert_eq!((out.buffer_valid_o, out.new_o, out.index_o, out.reg_o), (0b01, 0, 2, 8));
    assert_eq!(results.step().valid_o, 0);
}

#[test]
fn a_result_of_another_warp_waits_for_its_queue() {
    for warp in [4, 9, 11] {
        let mut results = results(&[]);
        (results.inputs.hit_i, results.inputs.index_i) = (1, 2);
        results.write(warp, 7).step();
        let bit = 1 << (warp % 2);
        let out = results.write(6, 8).step();
        assert_eq!((out.push_valid_o, out.buffer_valid_o, out.write_done_o, out.write_ready_o), (bit, 0, 0, 0));
        results.inputs.push_room_i = bit;
        let out = results.write(6, 8).step();
        assert_eq!((out.write_done_o, out.written_o.warp(), out.write_ready_o), (1, warp, 1));
        assert_eq!(results.step().buffer_valid_o, 0b01);
    }
}

#[test]
fn where_there_is_no_entry_or_no_power_a_result_waits() {
    let mut results = results(&["hrf.buffer_entries=16"]);
    results.write(6, 7).step();
    (results.inputs.used_i, results.inputs.closed_i) = ([15, 0], 0b01);
    let out = results.step();
    assert_eq!((out.need_o, out.buffer_valid_o, out.write_done_o), (0b01, 0, 0));
    results.inputs.used_i[0] = 16;
    let out = results.step();
    assert_eq!((out.need_o, out.direct_valid_o, out.write_done_o), (0, 0b01, 0));
    results.inputs.direct_taken_i = 0b01;
    assert_eq!(results.step().write_done_o, 1);
    // A register that already has an entry does not wait for power.
    results.write(6, 7).step();
    (results.inputs.hit_i, results.inputs.index_i) = (1, 2);
    assert_eq!(results.step().buffer_valid_o, 0b01);
}

#[test]
fn without_buffers_every_result_goes_to_its_bank() {
    let mut results = results(&["hrf.buffer_entries=0"]);
    results.write(6, 7).step();
    let out = results.write(9, 8).step();
    assert_eq!((out.direct_valid_o, out.write_done_o, out.write_ready_o), (0b01, 0, 0));
    results.inputs.direct_taken_i = 0b01;
    results.write(9, 8).step();
    results.inputs.direct_taken_i = 0;
    assert_eq!(results.step().direct_valid_o, 0b10);
}
