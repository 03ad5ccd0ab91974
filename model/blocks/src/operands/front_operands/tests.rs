use super::*;
use crate::Ports;
use crate::testing::Driver;

fn operands() -> Driver<FrontOperands> {
    Driver::new(&FrontShape::of(&Config::default()))
}

impl Driver<FrontOperands> {
    /// Runs one cycle, then clears all offers.
    fn step(&mut self) -> FrontOperandsOut {
        let out = self.cycle();
        self.inputs = FrontOperandsIn { rst_ni: 1, ..FrontOperandsIn::zeroed() };
        out
    }

    fn moves(&mut self, tag: u8, hits: [u32; 3]) -> &mut Self {
        (self.inputs.move_valid_i, self.inputs.move_tag_i[0]) = (1, tag);
        self.inputs.move_hit_i[..3].copy_from_slice(&hits);
        self
    }

    fn mrf(&mut self, tag: u8, sources: u8) -> FrontOperandsOut {
        let inputs = &mut self.inputs;
        (inputs.mrf_valid_i, inputs.mrf_tag_i[0], inputs.mrf_src_valid_i) = (1, tag, sources);
        inputs.dispatch_ready_i = 1;
        for (k, data) in inputs.mrf_data_i.iter_mut().enumerate() {
            *data = WarpData([100 + k as u32; LANES]);
        }
        self.step()
    }
}

#[test]
fn without_hits_no_operand_waits() {
    let mut operands = operands();
    operands.moves(3, [0; 3]).step();
    let out = operands.mrf(3, 0b101);
    assert_eq!((out.dispatch_valid_o, out.mrf_ready_o, out.dispatch_src_valid_o), (1, 1, 0b101));
    assert_eq!((out.dispatch_data_o[0].0[0], out.dispatch_data_o[2].0[31]), (100, 102));
}

#[test]
fn lanes_come_together() {
    let mut operands = operands();
    operands.moves(8, [0xffff, 0, u32::MAX]).step();
    let out = operands.mrf(8, 0b011);
    assert_eq!((out.dispatch_valid_o, out.mrf_ready_o, out.dispatch_src_valid_o), (0, 0, 0));
    let inputs = &mut operands.inputs;
    (inputs.land_valid_i, inputs.land_tag_i[0], inputs.land_fill_i) = (1, 8, 0b101);
    inputs.land_data_i = [WarpData([7; LANES]); MAX_SOURCES];
    operands.step();
    let out = operands.mrf(8, 0b011);
    assert_eq!((out.dispatch_valid_o, out.dispatch_src_valid_o), (1, 0b111));
    assert_eq!((out.dispatch_data_o[0].0[0], out.dispatch_data_o[0].0[31]), (7, 100));
    assert_eq!((out.dispatch_data_o[1].0[0], out.dispatch_data_o[2].0[9]), (101, 7));
}

#[test]
fn a_tag_that_does_not_exist_is_never_there() {
    let mut operands = operands();
    operands.moves(15, [0; 3]).step();
    assert_eq!(operands.mrf(15, 0b111).dispatch_valid_o, 0);
}
