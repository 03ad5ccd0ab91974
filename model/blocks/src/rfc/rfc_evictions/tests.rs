use super::*;
use crate::config::Config;
use crate::testing::Driver;
use crate::{Ports, Shape};

fn evictions() -> Driver<RfcEvictions> {
    Driver::new(&RfcShape::of(&Config::default()))
}

impl Driver<RfcEvictions> {
    /// Runs one cycle, then clears all offers.
    fn step(&mut self) -> RfcEvictionsOut {
        let out = self.cycle();
        self.inputs = RfcEvictionsIn { rst_ni: 1, ..RfcEvictionsIn::zeroed() };
        out
    }

    fn push(&mut self, slot: u8, warp: u8, reg: u8) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.push_valid_i, inputs.push_slot_i, inputs.push_warp_i) = (1, slot, warp);
        (inputs.push_reg_i, inputs.push_mask_i, inputs.push_base_i) = (reg, u32::from(reg) + 1, 8);
        self
    }

    fn data(&mut self, value: u32) -> &mut Self {
        self.inputs.data_valid_i = 1;
        self.inputs.data_i = WarpData([value; LANES]);
        self
    }
}

#[test]
fn a_value_goes_to_the_queue_when_its_data_has_come() {
    let mut ring = evictions();
    ring.push(2, 7, 5).step();
    assert_eq!(ring.data(50).step().offer_valid_o, 0);
    let out = ring.step();
    assert_eq!((out.offer_valid_o, out.offer_warp_o, out.offer_reg_o, out.offer_mask_o), (1, 7, 5, 6));
    assert_eq!((out.offer_base_o, out.offer_data_o.0[31], out.busy_o), (8, 50, 0b100));
    ring.inputs.offer_ready_i = 1;
    ring.step();
    // A value in the queue still counts as on its way.
    (ring.inputs.look_warp_i, ring.inputs.look_reg_i) = (7, [4, 5, 5]);
    let out = ring.step();
    assert_eq!((out.offer_valid_o, out.busy_o, out.look_match_o), (0, 0b100, 0b110));
    ring.inputs.done_i = 1;
    ring.inputs.result_warp_i[0] = 7;
    ring.inputs.result_reg_i[0] = 5;
    assert_eq!(ring.step().result_match_o, 1, "also while it goes into its bank");
    assert_eq!(ring.step().busy_o, 0);
}

#[test]
fn four_have_room_and_go_in_order() {
    let mut ring = evictions();
    for reg in 0..4 {
        assert_eq!(ring.push(0, 1, reg).step().room_o, 1);
        ring.data(reg.into());
    }
    assert_eq!(ring.step().room_o, 0);
    ring.inputs.offer_ready_i = 1;
    assert_eq!(ring.step().offer_reg_o, 0);
    for reg in 1..4 {
        (ring.inputs.offer_ready_i, ring.inputs.done_i) = (1, 1);
        let out = ring.step();
        assert_eq!((out.offer_reg_o, out.offer_data_o.0[0]), (reg, reg.into()));
    }
    let out = ring.step();
    assert_eq!((out.offer_valid_o, out.room_o, ring.probe().sent_q, ring.probe().count_q), (0, 1, 1, 1));
}

#[test]
fn another_warps_register_is_another_one() {
    let mut ring = evictions();
    ring.push(0, 1, 5).step();
    (ring.inputs.look_warp_i, ring.inputs.look_reg_i) = (2, [5; 3]);
    assert_eq!(ring.step().look_match_o, 0);
}

#[test]
fn prompt_offers_data_as_it_comes_and_lets_instructions_pass_what_lands() {
    let mut ring = evictions();
    let prompt = |ring: &mut Driver<RfcEvictions>| ring.inputs.cfg_i = 1;
    prompt(&mut ring);
    ring.push(2, 7, 5).step();
    prompt(&mut ring);
    ring.inputs.offer_ready_i = 1;
    let out = ring.data(50).step();
    assert_eq!((out.offer_valid_o, out.offer_reg_o, out.offer_data_o.0[31]), (1, 5, 50));
    // The data of the value is not offered a second time.
    prompt(&mut ring);
    (ring.inputs.look_warp_i, ring.inputs.look_reg_i) = (7, [5; 3]);
    let out = ring.push(2, 7, 6).step();
    assert_eq!((out.offer_valid_o, out.look_match_o), (0, 0b111));
    // While the value is written into its bank, an instruction need not wait, but a result does; the place is in use.
    prompt(&mut ring);
    (ring.inputs.look_warp_i, ring.inputs.look_reg_i) = (7, [5, 6, 5]);
    (ring.inputs.result_warp_i[0], ring.inputs.result_reg_i[0], ring.inputs.done_i) = (7, 5, 1);
    let out = ring.step();
    assert_eq!((out.look_match_o, out.result_match_o, out.busy_o), (0b010, 1, 0b100));
    // Behind a value that waits for the queue, data waits for its turn.
    prompt(&mut ring);
    ring.data(60).push(2, 7, 8).step();
    prompt(&mut ring);
    let out = ring.data(80).step();
    assert_eq!((out.offer_reg_o, out.offer_data_o.0[0]), (6, 60));
}
