use super::*;
use crate::hierarchy::HIERARCHY_SHAPES;
use crate::testing::Driver;

/// Two buses, six slots.
fn results() -> Driver<HierarchyResults> {
    let mut results = Driver::<HierarchyResults>::new(&HIERARCHY_SHAPES[1]);
    results.inputs.mrf_ready_i = 0b11;
    results.inputs.slot_valid_i = 0b11_1111;
    results.inputs.slot_warp_i[..6].copy_from_slice(&[1, 2, 3, 4, 5, 6]);
    results
}

impl Driver<HierarchyResults> {
    /// A cycle, after which nothing is offered any more.
    fn step(&mut self) -> HierarchyResultsOut {
        let out = self.cycle();
        let inputs = &mut self.inputs;
        (inputs.write_valid_i, inputs.look_match_i, inputs.look_both_i, inputs.copy_valid_i) = (0, 0, 0, 0);
        (inputs.mrf_ready_i, inputs.mrf_done_i) = (0b11, 0);
        out
    }

    fn write(&mut self, b: usize, warp: u8, place: Option<u8>, both: bool) -> &mut Self {
        let inputs = &mut self.inputs;
        inputs.write_valid_i |= 1 << b;
        inputs.write_i[b].change(|write| (write.warp, write.d, write.mask) = (warp, 30 + b as u8, 0xf0));
        inputs.write_data_i[b] = WarpData([100 + b as u32; LANES]);
        inputs.look_match_i |= u8::from(place.is_some()) << b;
        inputs.look_both_i |= u8::from(both) << b;
        inputs.look_place_i[b] = place.unwrap_or_default();
        self
    }

    fn copy(&mut self, p: usize, slot: u8) -> &mut Self {
        self.inputs.copy_valid_i |= 1 << p;
        (self.inputs.copy_slot_i[p], self.inputs.copy_mask_i[p]) = (slot, 1 << p);
        self
    }
}

#[test]
fn a_result_is_looked_for_in_the_slot_of_its_warp() {
    let mut results = results();
    let out = results.write(0, 4, None, false).write(1, 9, None, false).step();
    assert_eq!((out.look_valid_o, out.look_slot_o[0], out.look_reg_o[0]), (0b01, 3, 30));
    assert_eq!(out.mrf_valid_o, 0b11);
    // Of two slots the lowest.
    results.inputs.slot_warp_i[5] = 4;
    assert_eq!(results.write(0, 4, None, false).step().look_slot_o[0], 3);
}

#[test]
fn a_result_is_done_when_its_last_part_is_where_it_goes() {
    let mut results = results();
    assert_eq!(results.write(0, 4, Some(0), true).step().mrf_valid_o, 1);
    // The place is written at once; the MRF takes longer.
    results.inputs.mrf_ready_i = 0b10;
    let out = results.step();
    assert_eq!((out.orf_valid_o, out.orf_slot_o[1], out.orf_entry_o[1], out.orf_mask_o[1]), (0b10, 1, 0, 0xf0));
    assert_eq!((out.orf_data_o[1].0[0], out.write_ready_o, out.write_done_o), (100, 0b10, 0));
    results.inputs.mrf_done_i = 0b01;
    let out = results.write(0, 4, Some(8), false).step();
    assert_eq!((out.write_ready_o, out.write_done_o, out.written_o[0].register()), (0b11, 1, (4, 30)));
    assert_eq!((out.mrf_valid_o, out.orf_valid_o), (0, 0), "a place only");
    let out = results.step();
    assert_eq!((out.lrf_valid_o, out.lrf_slot_o[1], out.lrf_bank_o[1], out.write_done_o), (0b10, 1, 0, 1));
    assert_eq!(results.step().write_done_o, 0);
}

#[test]
fn who_loses_goes_first_the_next_time() {
    let mut results = results();
    for winner in [0, 1, 0] {
        results.write(0, 2, Some(0), false).write(1, 4, Some(0), false).step();
        let out = results.step();
        assert_eq!((out.orf_valid_o, out.orf_data_o[1].0[0], out.wait_o), (0b10, 100 + winner, 0b10 >> winner));
        assert_eq!(out.write_ready_o, 0b01 << winner);
        let out = results.step();
        assert_eq!((out.orf_data_o[1].0[0], out.wait_o), (101 - winner, 0));
    }
    // Different arrays, or ORF and LRF of one: no result waits.
    results.write(0, 2, Some(0), false).write(1, 3, Some(0), false).step();
    assert_eq!(results.step().orf_valid_o, 0b11);
    results.write(0, 2, Some(0), false).write(1, 4, Some(8), false).step();
    let out = results.step();
    assert_eq!((out.orf_valid_o, out.lrf_valid_o, out.wait_o), (0b10, 0b10, 0));
}

#[test]
fn copies_go_first() {
    let mut results = results();
    results.write(0, 2, Some(0), false).step();
    let out = results.copy(0, 1).copy(1, 3).step();
    assert_eq!((out.copy_ready_o, out.orf_copy_o, out.orf_mask_o[1], out.wait_o), (0b01, 0b10, 0b01, 0b01));
    let out = results.copy(0, 5).copy(1, 3).step();
    assert_eq!((out.copy_ready_o, out.orf_mask_o[1]), (0b10, 0b10), "the other port's turn");
    assert_eq!((results.probe().turn_q, results.probe().copy_turn_q), (0, 0b10));
    let out = results.copy(0, 2).step();
    assert_eq!((out.copy_ready_o, out.orf_valid_o, out.orf_copy_o, out.wait_o), (0b01, 0b11, 0b01, 0));
}

#[test]
fn reset_empties_the_latches() {
    let mut results = results();
    results.inputs.write_i.iter_mut().for_each(|write| write.change(|w| w.from_private = 1));
    results.inputs.rst_ni = 0;
    results.write(0, 2, Some(0), false).step();
    results.inputs.rst_ni = 1;
    assert_eq!(results.step().orf_valid_o, 0);
    assert_eq!((results.probe().valid_q, results.probe().private_q), (0, 0));
}
