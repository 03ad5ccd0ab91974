use super::*;
use crate::Shape;
use crate::config::Config;
use crate::testing::Driver;

fn data() -> Driver<RfcData> {
    Driver::new(&RfcShape::of(&Config::default()))
}

impl Driver<RfcData> {
    /// Runs one cycle, then clears all offers.
    fn step(&mut self) -> RfcDataOut {
        let out = self.cycle();
        self.inputs = RfcDataIn { rst_ni: 1, ..RfcDataIn::zeroed() };
        out
    }

    fn write(&mut self, index: u16, mask: u32, value: u32) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.write_valid_i, inputs.write_index_i, inputs.write_mask_i) = (1, index, mask);
        inputs.write_data_i = WarpData([value; LANES]);
        self
    }

    /// An instruction with two sources, served by port 0 and port 2.
    fn read(&mut self, tag: u8, first: u16, third: u16) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.move_valid_i, inputs.move_tag_i, inputs.move_fill_i) = (1, tag, 0b011);
        (inputs.move_port_i, inputs.read_i, inputs.read_index_i) = ([0, 2, 0], 0b101, [first, 0, third]);
        self
    }
}

#[test]
fn operands_land_two_cycles_after_t() {
    let mut data = data();
    data.write(4, u32::MAX, 7).step();
    data.write(5, 0xffff, 9).step();
    assert_eq!(data.read(3, 4, 5).step().land_valid_o, 0);
    assert_eq!(data.step().land_valid_o, 0);
    let out = data.step();
    assert_eq!((out.land_valid_o, out.land_tag_o, out.land_fill_o), (1, 3, 0b011));
    assert_eq!((out.land_data_o[0].0[31], out.land_data_o[1].0[0], out.land_data_o[1].0[31]), (7, 9, 0));
    assert_eq!(data.step().land_valid_o, 0);
}

#[test]
fn a_hit_reads_what_was_there_when_the_tags_were_asked() {
    let mut data = data();
    data.write(4, u32::MAX, 1).step();
    data.step();
    // The tags of the result that takes the entry away are written in the cycle in which the instruction leaves T.
    data.read(0, 4, 4).write(4, u32::MAX, 2).step();
    data.read(1, 4, 4).step();
    assert_eq!(data.step().land_data_o[0].0[0], 1);
    assert_eq!(data.step().land_data_o[0].0[0], 2);
}

#[test]
fn an_eviction_takes_a_port_that_is_free() {
    let mut data = data();
    for index in 0..3 {
        data.write(index, u32::MAX, 10 + u32::from(index)).step();
    }
    data.read(0, 0, 2);
    (data.inputs.evict_valid_i, data.inputs.evict_port_i, data.inputs.evict_index_i) = (1, 1, 1);
    data.step();
    data.step();
    let out = data.step();
    assert_eq!((out.evict_data_valid_o, out.evict_data_o.0[0]), (1, 11));
    assert_eq!((out.land_data_o[0].0[0], out.land_data_o[1].0[0]), (10, 12));
}

#[test]
fn an_instruction_without_hits_does_not_land() {
    let mut data = data();
    (data.inputs.move_valid_i, data.inputs.move_tag_i) = (1, 3);
    data.step();
    data.step();
    assert_eq!(data.step().land_valid_o, 0);
}

#[test]
fn reset_takes_everything_back_but_the_arrays() {
    let mut data = data();
    data.write(0, u32::MAX, 5).step();
    data.read(0, 0, 0);
    data.inputs.rst_ni = 0;
    data.step();
    for _ in 0..3 {
        assert_eq!(data.step().land_valid_o, 0);
    }
    data.read(0, 0, 0).step();
    data.step();
    assert_eq!(data.step().land_data_o[0].0[0], 5);
}

#[test]
fn the_data_of_a_spill_come_a_cycle_later() {
    let mut data = data();
    data.write(4, u32::MAX, 7).step();
    data.write(5, 0xffff, 9).step();
    (data.inputs.spill_i, data.inputs.spill_data_i) = (1, WarpData([3; LANES]));
    data.write(6, u32::MAX, 8).step();
    data.read(0, 5, 6).step();
    data.step();
    let out = data.step();
    assert_eq!((out.land_data_o[0].0[0], out.land_data_o[0].0[16], out.land_data_o[1].0[0]), (3, 0, 8));
}
