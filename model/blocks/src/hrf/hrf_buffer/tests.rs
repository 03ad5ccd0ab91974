use super::*;
use crate::testing::Driver;

fn buffer() -> Driver<HrfBuffer> {
    Driver::new(&HrfShape::preset(&["hrf.buffer_entries=5"]))
}

impl Driver<HrfBuffer> {
    /// Runs one cycle, then clears all requests.
    fn step(&mut self) -> HrfBufferOut {
        let out = self.cycle();
        let inputs = &mut self.inputs;
        (inputs.write_valid_i, inputs.read_i, inputs.drain_read_i, inputs.empty_i) = (0, 0, 0, 0);
        out
    }

    fn write(&mut self, new: bool, index: u8, reg: u8, mask: u32) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.write_valid_i, inputs.write_new_i, inputs.write_index_i) = (1, new.into(), index);
        (inputs.write_reg_i, inputs.write_mask_i) = (reg, mask);
        inputs.write_data_i = WarpData([u32::from(reg); LANES]);
        self
    }
}

#[test]
fn entries_gain_lanes_and_are_read_on_three_ports() {
    let mut buffer = buffer();
    buffer.write(true, 0, 40, 0x0f).step();
    buffer.write(true, 1, 41, 0).step();
    (buffer.inputs.read_i, buffer.inputs.read_index_i) = (0b001, [0; 3]);
    buffer.inputs.look_index_i = [0, 1, 0];
    let out = buffer.write(false, 0, 40, 0xf0).step();
    assert_eq!((out.used_o, out.look_lanes_o), (2, [0x0f, 0, 0x0f]), "as it is before the edge");
    (buffer.inputs.read_i, buffer.inputs.read_index_i) = (0b110, [0, 1, 0]);
    let out = buffer.step();
    assert_eq!((out.look_lanes_o[0], out.read_data_o[0].0[..8].to_vec()), (0xff, vec![40, 40, 40, 40, 0, 0, 0, 0]));
    let out = buffer.step();
    assert_eq!((out.read_data_o[2].0[..9].to_vec()), [[40; 8].to_vec(), vec![0]].concat());
    assert_eq!((out.read_data_o[0].0[4], out.read_data_o[1].0), (0, [0; LANES]), "what a port read last");
}

#[test]
fn a_drain_reads_on_port_0_and_then_all_are_free() {
    let mut buffer = buffer();
    buffer.write(true, 0, 40, 1).step();
    buffer.write(true, 1, 41, 2).step();
    (buffer.inputs.drain_read_i, buffer.inputs.drain_index_i) = (1, 1);
    let out = buffer.step();
    assert_eq!((out.drain_reg_o, out.drain_lanes_o), (41, 2));
    buffer.inputs.empty_i = 1;
    assert_eq!(buffer.step().read_data_o[0].0[..2], [0, 41]);
    assert_eq!(buffer.step().used_o, 0);
    buffer.write(true, 0, 42, 4).step();
    buffer.inputs.look_index_i[0] = 0;
    let out = buffer.step();
    assert_eq!((out.used_o, out.look_lanes_o[0]), (1, 4));
}
