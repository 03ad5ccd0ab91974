use super::*;
use crate::testing::Driver;

fn operands() -> Driver<HrfOperands> {
    let mut operands = Driver::<HrfOperands>::new(&HrfShape::preset(&[]));
    for i in 0..OUTPUTS {
        operands.inputs.buffer_data_i[i] = WarpData([10 + i as u32; LANES]);
    }
    operands.inputs.stt_data_i = [WarpData([20; LANES]), WarpData([21; LANES])];
    operands
}

#[test]
fn lanes_come_from_buffer_or_bank_a_cycle_later() {
    let mut operands = operands();
    let inputs = &mut operands.inputs;
    (inputs.fill_i, inputs.bank_i, inputs.port_i) = (0b111 << 6, 1, [0, 1, 0]);
    inputs.take_i = [0x0000_ffff, u32::MAX, 0];
    inputs.dispatch_col_i = 2;
    operands.cycle();
    (operands.inputs.fill_i, operands.inputs.bank_i, operands.inputs.take_i) = (0, 0, [0; OPERANDS]);
    assert_eq!(operands.cycle().dispatch_data_o[0].0, [0; LANES]);
    let out = operands.cycle();
    let mixed: [u32; LANES] = std::array::from_fn(|lane| if lane < 16 { 13 } else { 21 });
    assert_eq!((out.dispatch_data_o[0].0, out.dispatch_data_o[1].0), (mixed, [14; LANES]));
    assert_eq!(out.dispatch_data_o[2].0, mixed, "it has the register of source 0");
    operands.inputs.dispatch_col_i = 1;
    assert_eq!(operands.cycle().dispatch_data_o[0].0, [0; LANES]);
}

#[test]
fn in_reset_what_is_on_its_way_is_taken_and_no_more() {
    let mut operands = operands();
    operands.inputs.fill_i = 1;
    operands.cycle();
    (operands.inputs.rst_ni, operands.inputs.fill_i) = (0, 2);
    operands.cycle();
    (operands.inputs.rst_ni, operands.inputs.fill_i) = (1, 0);
    let out = operands.cycle();
    assert_eq!((out.dispatch_data_o[0].0, operands.probe().fill_q), ([20; LANES], 0));
    assert_eq!(operands.cycle().dispatch_data_o[1].0, [0; LANES]);
}
