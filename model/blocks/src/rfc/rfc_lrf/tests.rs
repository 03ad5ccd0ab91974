use super::*;
use crate::config::{Config, Start};
use crate::testing::{Driver, event};
use crate::{Ports, Shape};

/// Four slots; last reads count.
fn lrf() -> Driver<RfcLrf> {
    let config = Config::load(Start::Preset("rfc-hw3"), &["sm.active_warps=4"]).expect("a configuration");
    let mut lrf = Driver::<RfcLrf>::new(&RfcShape::of(&config));
    (lrf.inputs.cfg_i, lrf.inputs.low_ready_i, lrf.inputs.flush_ready_i) = (1, 1, 1);
    lrf
}

impl Driver<RfcLrf> {
    /// Runs one cycle, then clears all offers.
    fn step(&mut self) -> RfcLrfOut {
        let out = self.cycle();
        let RfcLrfIn { rst_ni, cfg_i, low_ready_i, flush_ready_i, flush_i, drop_i, .. } = self.inputs;
        self.inputs = RfcLrfIn { rst_ni, cfg_i, low_ready_i, flush_ready_i, flush_i, drop_i, ..RfcLrfIn::zeroed() };
        out
    }

    fn op(&mut self, upper: bool, kill: bool, slot: u8, reg: u8, mask: u32) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.op_valid_i, inputs.op_upper_i, inputs.op_kill_i) = (1, upper.into(), kill.into());
        (inputs.op_slot_i, inputs.op_reg_i, inputs.op_mask_i) = (slot, reg, mask);
        inputs.op_data_i = WarpData([u32::from(reg); LANES]);
        self
    }

    fn write(&mut self, slot: u8, reg: u8, mask: u32) -> RfcLrfOut {
        self.op(true, false, slot, reg, mask).step()
    }

    /// An instruction that reads these registers and leaves T.
    fn look(&mut self, slot: u8, regs: [u8; 3], sources: u8, mask: u32, last: u8) -> RfcLrfOut {
        let inputs = &mut self.inputs;
        (inputs.look_valid_i, inputs.look_move_i, inputs.look_private_i) = (1, 1, 1);
        (inputs.look_slot_i, inputs.look_reg_i, inputs.look_src_valid_i) = (slot, regs, sources);
        (inputs.look_mask_i, inputs.look_last_i) = (mask, last);
        self.step()
    }
}

fn count(out: &RfcLrfOut, name: &str) -> u64 {
    event(RFC_LRF_EVENT, out.event_o.into(), name)
}

/// The operation on the cache: lanes of a register that it loses, or gets.
fn below(out: &RfcLrfOut) -> (bool, bool, u8, u8, u32) {
    (out.low_kill_o != 0, out.spill_o != 0, out.low_slot_o, out.low_reg_o, out.low_mask_o)
}

#[test]
fn a_result_is_found_and_lands_two_cycles_after_t() {
    let mut lrf = lrf();
    let out = lrf.write(2, 5, 0xff);
    assert_eq!((out.op_ready_o, out.low_valid_o, below(&out)), (1, 1, (true, false, 2, 5, 0xff)));
    assert_eq!((count(&out, "write_groups"), count(&out, "same")), (2, 0));
    let out = lrf.look(2, [5, 6, 5], 0b111, 0xf0, 0);
    assert_eq!((out.hit_mask_o, count(&out, "read_groups")), ([0xf0, 0, 0xf0], 1));
    assert_eq!(lrf.look(1, [5; 3], 1, u32::MAX, 0).hit_mask_o, [0; 3]);
    let out = lrf.step();
    assert_eq!((out.land_hit_o, out.land_data_o.0[4]), ([0xf0, 0, 0xf0], 5));
    assert_eq!(lrf.step().land_hit_o, [0; 3]);
}

#[test]
fn what_makes_room_goes_down_with_its_dirty_lanes() {
    let mut lrf = lrf();
    lrf.write(0, 5, 0xff);
    lrf.look(0, [5; 3], 1, 0x0f, 1);
    lrf.inputs.low_ready_i = 0;
    let out = lrf.write(0, 6, u32::MAX);
    assert_eq!((out.op_ready_o, below(&out)), (0, (false, true, 0, 5, 0xf0)));
    assert_eq!((count(&out, "spill_groups"), count(&out, "write_groups")), (0, 0));
    lrf.inputs.low_ready_i = 1;
    let out = lrf.write(0, 6, u32::MAX);
    assert_eq!((out.op_ready_o, out.spill_data_valid_o, count(&out, "spill_groups")), (1, 0, 1));
    let out = lrf.step();
    assert_eq!((out.spill_data_valid_o, out.spill_data_o.0[7]), (1, 5));
    assert_eq!((lrf.probe().tag_q[0], lrf.probe().dirty_q[0]), (6, u32::MAX));
    // A dead value is replaced without a spill.
    lrf.look(0, [6; 3], 1, u32::MAX, 1);
    let out = lrf.write(0, 7, 1);
    assert_eq!((below(&out), count(&out, "dead")), ((true, false, 0, 7, 1), 1));
}

#[test]
fn a_result_of_the_same_register_gains_lanes_and_another_one_takes_them() {
    let mut lrf = lrf();
    lrf.write(0, 5, 0x0f);
    let out = lrf.write(0, 5, 0xf0);
    assert_eq!((below(&out), count(&out, "same")), ((true, false, 0, 5, 0xf0), 1));
    let out = lrf.op(false, false, 0, 5, 0x3c).step();
    assert_eq!((below(&out), count(&out, "past")), ((false, false, 0, 5, 0x3c), 1));
    let out = lrf.op(false, true, 0, 5, 0x01).step();
    assert_eq!((below(&out), count(&out, "past")), ((true, false, 0, 5, 0x01), 1));
    lrf.step();
    assert_eq!((lrf.probe().valid_q[0], lrf.probe().dirty_q[0]), (0xc2, 0xc2));
    assert_eq!(count(&lrf.op(false, false, 1, 5, 1).step(), "past"), 0);
}

#[test]
fn a_last_read_counts_with_the_strap_and_leaves_lanes_valid() {
    let mut lrf = lrf();
    lrf.write(0, 5, 0xff);
    lrf.inputs.cfg_i = 0;
    assert_eq!(count(&lrf.look(0, [5; 3], 1, 0x0f, 1), "marked"), 0);
    lrf.inputs.cfg_i = 1;
    assert_eq!(count(&lrf.look(0, [6, 5, 5], 0b111, 0x0f, 0b001), "marked"), 0);
    assert_eq!(count(&lrf.look(0, [6, 5, 5], 0b111, 0x0f, 0b100), "marked"), 1);
    assert_eq!(lrf.step().clean_o & 1, 0);
    assert_eq!((lrf.probe().valid_q[0], lrf.probe().dirty_q[0]), (0xff, 0xf0));
    assert_eq!(count(&lrf.look(0, [5; 3], 1, 0x0f, 1), "marked"), 0);
}

#[test]
fn a_slot_is_flushed_to_the_mrf_or_dropped() {
    let mut lrf = lrf();
    for slot in 1..4 {
        lrf.write(slot, 5 + slot, 0xf);
    }
    (lrf.inputs.flush_i, lrf.inputs.drop_i) = (0b1110, 0b0010);
    lrf.inputs.flush_ready_i = 0;
    assert_eq!(lrf.step().flush_valid_o, 0);
    lrf.inputs.flush_ready_i = 1;
    // A result of any slot has priority.
    assert_eq!(lrf.op(false, true, 0, 5, 1).step().flush_valid_o, 0);
    let out = lrf.step();
    assert_eq!((out.flush_valid_o, out.flush_slot_o, out.flush_reg_o, out.flush_mask_o), (1, 2, 7, 0xf));
    assert_eq!((out.clean_o, count(&out, "flush_groups")), (0b0011, 1));
    let out = lrf.step();
    assert_eq!((out.flush_slot_o, out.flush_data_valid_o), (3, 0));
    let out = lrf.step();
    assert_eq!((out.clean_o, out.flush_valid_o, out.flush_data_valid_o, out.flush_data_o.0[3]), (0b1111, 0, 1, 7));
    assert_eq!(lrf.step().flush_data_o.0[3], 8);
    assert_eq!(lrf.probe().valid_q[..4], [0; 4]);
}

#[test]
fn a_read_gets_what_was_there_when_it_left_t() {
    let mut lrf = lrf();
    lrf.write(0, 5, u32::MAX);
    lrf.op(true, false, 0, 6, u32::MAX);
    assert_eq!(lrf.look(0, [5; 3], 1, u32::MAX, 0).hit_mask_o[0], u32::MAX);
    lrf.look(0, [6; 3], 1, u32::MAX, 0);
    assert_eq!(lrf.step().land_data_o.0[0], 5);
    assert_eq!(lrf.step().land_data_o.0[0], 6);
}

#[test]
fn reset_takes_everything_back_and_data_move_on() {
    let mut lrf = lrf();
    lrf.write(0, 5, u32::MAX);
    lrf.inputs.rst_ni = 0;
    lrf.look(0, [5; 3], 1, u32::MAX, 0);
    lrf.inputs.rst_ni = 1;
    let out = lrf.step();
    assert_eq!((out.land_hit_o, out.clean_o), ([0; 3], 0b1111));
    assert_eq!(lrf.block.memories()[0].words[..LANES], [5; LANES]);
    assert_eq!(lrf.look(0, [5; 3], 1, u32::MAX, 0).hit_mask_o, [0; 3]);
}
