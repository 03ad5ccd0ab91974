use super::*;
use crate::Shape;
use crate::config::{Config, Start};
use crate::testing::Driver;

/// Two ports, eight slots.
fn fills() -> Driver<RfcFills> {
    let config = Config::load(Start::Preset("rfc"), &["mrf.issue_ports=2", "rfc.reads=true"]).expect("a configuration");
    Driver::new(&RfcShape::of(&config))
}

impl Driver<RfcFills> {
    /// Runs one cycle, then clears all offers.
    fn step(&mut self) -> RfcFillsOut {
        let out = self.cycle();
        (self.inputs.move_valid_i, self.inputs.take_valid_i, self.inputs.fill_ready_i) = (0, 0, 0);
        out
    }

    /// An instruction leaves T of port `p`.
    fn leaves(&mut self, p: usize, tag: u8, slot: u8, miss: [u32; 3]) -> &mut Self {
        let inputs = &mut self.inputs;
        inputs.move_valid_i |= 1 << p;
        (inputs.move_tag_i[p], inputs.move_slot_i[p]) = (tag, slot);
        inputs.move_miss_i[3 * p..][..3].copy_from_slice(&miss);
        inputs.move_reg_i[3 * p..][..3].copy_from_slice(&[10 * tag, 10 * tag + 1, 10 * tag + 2]);
        self
    }

    /// An instruction is dispatched on port `p`.
    fn dispatch(&mut self, p: usize, tag: u8) -> &mut Self {
        let inputs = &mut self.inputs;
        inputs.take_valid_i |= 1 << p;
        inputs.take_tag_i[p] = tag;
        for k in 0..3 {
            inputs.take_data_i[3 * p + k] = WarpData([u32::from(10 * tag) + k as u32; 32]);
        }
        self
    }
}

/// The fill that is offered to a cache: slot, register, lanes, data.
fn offer(out: &RfcFillsOut, c: usize) -> (u8, u8, u32, u32) {
    (out.fill_slot_o[c], out.fill_reg_o[c], out.fill_mask_o[c], out.fill_data_o[c].0[9])
}

#[test]
fn what_was_missing_is_offered_one_by_one() {
    let mut fills = fills();
    fills.leaves(1, 3, 5, [0xff, 0, 0xf]).step();
    assert_eq!(fills.dispatch(0, 3).step().busy_o, 0);
    let out = fills.step();
    assert_eq!((out.busy_o, out.fill_valid_o, offer(&out, 1)), (1, 0b10, (2, 30, 0xff, 30)));
    assert_eq!(offer(&out, 0), (0, 0, 0, 0));
    fills.inputs.fill_ready_i = 0b01;
    assert_eq!(fills.step().fill_valid_o, 0b10);
    fills.inputs.fill_ready_i = 0b10;
    fills.step();
    fills.inputs.fill_ready_i = 0b10;
    let out = fills.step();
    assert_eq!((out.busy_o, offer(&out, 1)), (1, (2, 32, 0xf, 32)));
    let out = fills.step();
    assert_eq!((out.busy_o, out.fill_valid_o), (0, 0));
}

#[test]
fn two_caches_are_served_at_once_and_one_cache_port_by_port() {
    let mut fills = fills();
    fills.leaves(0, 1, 2, [1, 0, 0]).leaves(1, 2, 3, [2, 0, 0]).step();
    fills.dispatch(0, 2).dispatch(1, 1).step();
    let out = fills.step();
    assert_eq!((out.fill_valid_o, offer(&out, 0), offer(&out, 1)), (0b11, (1, 10, 1, 10), (1, 20, 2, 20)));
    fills.inputs.fill_ready_i = 0b11;
    fills.step();
    fills.leaves(0, 1, 4, [1, 0, 0]).leaves(1, 2, 6, [0, 2, 0]).step();
    fills.dispatch(0, 2).dispatch(1, 1).step();
    fills.inputs.fill_ready_i = 0b11;
    let out = fills.step();
    assert_eq!((out.fill_valid_o, offer(&out, 0)), (0b01, (3, 21, 2, 21)));
    assert_eq!(offer(&fills.step(), 0), (2, 10, 1, 10));
}

#[test]
fn a_slot_that_is_emptied_gets_nothing() {
    let mut fills = fills();
    fills.leaves(0, 1, 2, [1, 1, 0]).leaves(1, 2, 4, [2, 0, 0]).step();
    fills.dispatch(0, 1).dispatch(1, 2).step();
    fills.inputs.flush_i = 1 << 2;
    let out = fills.step();
    assert_eq!((out.busy_o, out.fill_valid_o, offer(&out, 0)), (1, 0b01, (2, 20, 2, 20)));
    fills.inputs.flush_i = 0;
    fills.inputs.fill_ready_i = 1;
    assert_eq!(offer(&fills.step(), 0), (2, 20, 2, 20));
    assert_eq!(fills.step().busy_o, 0);
}

#[test]
fn an_instruction_that_missed_nothing_leaves_nothing() {
    let mut fills = fills();
    fills.leaves(0, 1, 2, [0; 3]).step();
    fills.dispatch(0, 1).step();
    assert_eq!(fills.step().busy_o, 0);
    // A dispatch uses the note from before the note of the same clock edge.
    fills.dispatch(0, 1).leaves(0, 1, 2, [1, 1, 1]).step();
    assert_eq!(fills.step().busy_o, 0);
    fills.dispatch(0, 1);
    fills.inputs.rst_ni = 0;
    fills.step();
    fills.inputs.rst_ni = 1;
    assert_eq!(fills.step().busy_o, 0);
}
