use super::*;
use crate::testing::Driver;

/// Write latency, read latency.
fn bank(write: u8, read: u8) -> Driver<HrfBank> {
    let mut bank = Driver::<HrfBank>::new(&HrfShape::preset(&[]));
    bank.inputs.cfg_i = write | (read - 1) << 4;
    bank
}

impl Driver<HrfBank> {
    /// Runs one cycle, then clears all offers.
    fn step(&mut self) -> HrfBankOut {
        let out = self.cycle();
        (self.inputs.read_valid_i, self.inputs.write_valid_i) = (0, 0);
        out
    }

    fn read(&mut self, entry: u16) -> &mut Self {
        (self.inputs.read_valid_i, self.inputs.read_entry_i) = (1, entry);
        self
    }

    fn write(&mut self, entry: u16, mask: u32, value: u32) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.write_valid_i, inputs.write_entry_i, inputs.write_mask_i) = (1, entry, mask);
        inputs.write_data_i = WarpData([value; LANES]);
        self
    }
}

#[test]
fn a_write_takes_its_latency_and_the_next_one_follows_without_a_gap() {
    let mut bank = bank(4, 1);
    bank.write(3, 1, 30).step();
    for left in [4, 3, 2] {
        let out = bank.write(5, 2, 50).step();
        assert_eq!((out.write_ready_o, out.read_ready_o, out.writing_o), (0, 0, 1));
        assert_eq!(bank.probe().write_left_q, left);
    }
    assert_eq!(bank.write(5, 2, 50).step().write_ready_o, 1);
    for _ in 0..4 {
        assert_eq!(bank.read(3).step().read_ready_o, 0);
    }
    let out = bank.read(3).step();
    assert_eq!((out.read_ready_o, out.writing_o, out.read_data_valid_o), (1, 0, 0));
    let out = bank.read(5).step();
    assert_eq!((out.read_data_valid_o, out.read_data_o.0[..2].to_vec()), (1, vec![30, 0]));
    assert_eq!(bank.step().read_data_o.0[..2], [0, 50]);
}

#[test]
fn a_read_takes_its_latency_too() {
    let mut bank = bank(1, 3);
    bank.write(3, u32::MAX, 30).step();
    bank.step();
    bank.read(3).step();
    for _ in 0..2 {
        let out = bank.read(4).write(3, 1, 1).step();
        assert_eq!((out.read_ready_o, out.write_ready_o, out.read_data_valid_o), (0, 0, 0));
    }
    let out = bank.write(3, 1, 99).step();
    assert_eq!((out.read_ready_o, out.write_ready_o, out.read_data_valid_o), (1, 1, 1));
    assert_eq!(out.read_data_o.0, [30; LANES]);
    assert_eq!(bank.step().read_data_valid_o, 0);
    bank.read(3).step();
    bank.step();
    bank.step();
    assert_eq!(bank.step().read_data_o.0[..2], [99, 30]);
}

#[test]
fn a_latency_of_zero_counts_as_one_and_what_is_under_way_in_reset_is_not_written() {
    let mut fast = bank(0, 1);
    fast.write(3, u32::MAX, 30).step();
    assert_eq!(fast.step().write_ready_o, 1);
    fast.read(3).step();
    assert_eq!(fast.step().read_data_o.0, [30; LANES]);
    let mut bank = bank(4, 1);
    bank.write(3, u32::MAX, 30).step();
    bank.inputs.rst_ni = 0;
    bank.step();
    bank.inputs.rst_ni = 1;
    assert_eq!(bank.read(3).step().writing_o, 0);
    assert_eq!(bank.step().read_data_o.0, [0; LANES]);
}
