use super::*;
use crate::testing::Driver;

impl Driver<HrfRcm> {
    fn set(&mut self, reg: u8, index: u8) {
        (self.inputs.set_valid_i, self.inputs.set_reg_i, self.inputs.set_index_i) = (1, reg, index);
        self.cycle();
        self.inputs.set_valid_i = 0;
    }
}

#[test]
fn registers_have_their_entries_until_all_are_cleared() {
    let mut rcm = Driver::<HrfRcm>::new(&HrfShape::preset(&[]));
    rcm.set(63, 5);
    rcm.set(0, 63);
    rcm.inputs.look_reg_i = [0, 1, 63, 0];
    let out = rcm.cycle();
    assert_eq!((out.hit_o, out.index_o), (0b1101, [63, 0, 5, 63]));
    rcm.inputs.clear_i = 1;
    assert_eq!(rcm.cycle().hit_o, 0b1101);
    rcm.inputs.clear_i = 0;
    assert_eq!((rcm.cycle().hit_o, rcm.probe().valid_q), (0, 0));
    // In reset and with a clear the entry is noted all the same.
    rcm.inputs.rst_ni = 0;
    rcm.set(7, 9);
    assert_eq!(rcm.block.memories()[0].words[7], 9);
    assert_eq!(rcm.block.find(7), None);
}
