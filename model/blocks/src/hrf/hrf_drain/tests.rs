use super::*;
use crate::testing::Driver;

/// A flush of a buffer with `used` entries in use.
fn flush(used: u8) -> Driver<HrfDrain> {
    let mut drain = Driver::<HrfDrain>::new(&HrfShape::preset(&[]));
    (drain.inputs.flush_i, drain.inputs.used_i) = (1, used);
    drain
}

impl Driver<HrfDrain> {
    /// Runs one cycle; entries that are read have registers from 10 upwards, with as many lanes.
    fn step(&mut self, taken: bool) -> HrfDrainOut {
        self.inputs.taken_i = taken.into();
        let next = 10 + self.block.next_q;
        (self.inputs.reg_i, self.inputs.lanes_i) = (next, next.into());
        let out = self.cycle();
        if out.empty_o != 0 {
            self.inputs.used_i = 0;
        }
        out
    }
}

#[test]
fn entries_are_offered_one_after_the_other_without_a_gap() {
    let mut drain = flush(3);
    let out = drain.step(false);
    assert_eq!((out.begin_o, out.read_o, out.index_o, out.valid_o), (1, 1, 0, 0));
    for entry in 0..3 {
        let out = drain.step(false);
        assert_eq!((out.begin_o, out.read_o, out.valid_o, out.done_o), (0, 0, 1, 0));
        assert_eq!((out.reg_o, out.lanes_o), (10 + entry, 10 + u32::from(entry)));
        let out = drain.step(true);
        assert_eq!((out.read_o, out.empty_o), (u8::from(entry != 2), u8::from(entry == 2)));
    }
    let out = drain.step(false);
    // The flush is done, and does not begin again.
    assert_eq!((out.begin_o, out.done_o, out.valid_o, out.read_o, drain.probe().next_q), (0, 1, 0, 0, 0));
}

#[test]
fn a_buffer_in_which_nothing_is_and_one_that_is_dropped_are_done_at_once() {
    let out = flush(0).step(false);
    assert_eq!((out.begin_o, out.done_o, out.read_o, out.empty_o), (1, 1, 0, 0));
    let mut drain = flush(64);
    drain.inputs.drop_i = 1;
    let out = drain.step(false);
    assert_eq!((out.begin_o, out.done_o, out.read_o, out.empty_o), (1, 1, 0, 1));
}
