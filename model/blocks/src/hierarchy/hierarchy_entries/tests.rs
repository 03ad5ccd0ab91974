use super::*;
use crate::hierarchy::HIERARCHY_SHAPES;
use crate::testing::{Driver, event};

/// 8 slots of 3 entries and 3 banks.
fn entries() -> Driver<HierarchyEntries> {
    Driver::new(&HIERARCHY_SHAPES[0])
}

impl Driver<HierarchyEntries> {
    /// A cycle, after which nothing comes any more.
    fn step(&mut self) -> HierarchyEntriesOut {
        let out = self.cycle();
        self.inputs = HierarchyEntriesIn { rst_ni: 1, ..HierarchyEntriesIn::zeroed() };
        out
    }

    fn take(&mut self, slot: u8, mask: u32, read: u16, copy: u16, result: u16) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.take_valid_i, inputs.take_slot_i[0], inputs.take_mask_i[0]) = (1, slot, mask);
        (inputs.take_read_i[0], inputs.take_copy_i[0], inputs.take_result_i[0]) = (read, copy, result);
        inputs.take_reg_i[0] = 20;
        self
    }

    fn lands(&mut self, slot: u8, entry: u8, mask: u32) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.orf_valid_i, inputs.orf_slot_i[0], inputs.orf_entry_i[0], inputs.orf_mask_i[0]) =
            (1, slot, entry, mask);
        self
    }

    fn look(&mut self, slot: u8, reg: u8) -> HierarchyEntriesOut {
        (self.inputs.look_valid_i, self.inputs.look_slot_i[0], self.inputs.look_reg_i[0]) = (1, slot, reg);
        self.step()
    }

    fn ends(&mut self, slot: u8) -> &mut Self {
        (self.inputs.end_i, self.inputs.take_slot_i[0]) = (1, slot);
        self
    }
}

fn count(out: &HierarchyEntriesOut, name: &str) -> u64 {
    event(HIERARCHY_ENTRIES_EVENT, out.event_o.into(), name)
}

#[test]
fn a_place_waits_lane_by_lane_for_what_is_taken() {
    let mut entries = entries();
    entries.take(5, 0xff, 0, 0b010, 1 << 9).step();
    let out = entries.lands(5, 1, 0x0f).step();
    assert_eq!((out.wait_o[5], out.void_o), (0b010 | 1 << 9, 0b1101_1111));
    entries.lands(5, 1, 0xf0).step();
    let out = entries.step();
    assert_eq!(out.wait_o[5], 1 << 9);
    // Element 6*5 + 1: entry 1; 6*5 + 3 + 1: bank 1.
    let probe = entries.probe();
    assert_eq!((probe.valid_q[31], probe.wait_q[31], probe.valid_q[34], probe.wait_q[34]), (0xff, 0, 0xff, 0xff));
    assert_eq!((probe.result_q[5], probe.both_q[5], probe.reg_q[34]), (1 << 4, 0, 20));
    (entries.inputs.lrf_valid_i, entries.inputs.lrf_slot_i[0], entries.inputs.lrf_bank_i[0]) = (1, 5, 1);
    entries.inputs.lrf_mask_i[0] = u32::MAX;
    entries.step();
    assert_eq!(entries.step().wait_o[5], 0);
}

#[test]
fn a_write_comes_before_what_is_taken_at_one_edge() {
    let mut entries = entries();
    entries.take(0, 0b11, 0, 0, 1).step();
    entries.lands(0, 0, 0b11).take(0, 0b01, 0, 0, 1).step();
    assert_eq!(entries.step().wait_o[0], 1);
    assert_eq!((entries.probe().wait_q[0], entries.probe().valid_q[0]), (0b01, 0b11));
}

#[test]
fn a_result_finds_the_place_that_waits_for_it() {
    let mut entries = entries();
    entries.inputs.take_both_i = 1;
    entries.take(2, 0xff, 0, 0b001, 0b100).step();
    let out = entries.look(2, 20);
    assert_eq!((out.look_match_o, out.look_place_o[0], out.look_both_o), (1, 2, 1), "not the copy");
    assert_eq!(entries.look(2, 21).look_match_o, 0);
    assert_eq!(entries.look(3, 20).look_match_o, 0);
    // Parts of a result find it until the last one has come.
    entries.lands(2, 2, 0x0f).step();
    assert_eq!(entries.look(2, 20).look_match_o, 1);
    entries.lands(2, 2, 0xf0).step();
    let out = entries.look(2, 20);
    assert_eq!((out.look_match_o, out.look_place_o[0], out.look_both_o), (0, 0, 0));
}

#[test]
fn the_end_of_a_strand_voids_what_it_has_written_and_not_what_is_under_way() {
    let mut entries = entries();
    entries.take(1, 0xff, 0, 0, 1).step();
    let out = entries.ends(1).take(1, 0x0f, 1, 0b010, 0).step();
    assert_eq!((count(&out, "strand_end"), count(&out, "strand_void"), count(&out, "unwritten")), (1, 1, 0));
    let out = entries.ends(1).take(1, 0x0f, 1, 0, 0).step();
    assert_eq!((count(&out, "strand_void"), count(&out, "unwritten")), (0, 1));
    assert_eq!((out.void_o, out.wait_o[1]), (0xff, 0b011));
}

#[test]
fn lanes_that_are_not_written_are_missed() {
    let mut entries = entries();
    entries.take(1, 0x0f, 0, 0, 1).step();
    assert_eq!(count(&entries.take(1, 0x1f, 1, 0, 0).step(), "unwritten"), 1);
    assert_eq!(count(&entries.take(1, 0x0f, 1, 0, 0).step(), "unwritten"), 0);
    // Places that are not there count for nothing, and are never filled.
    let out = entries.take(1, 0x0f, 1 << 5, 1 << 3, 1 << 6).step();
    assert_eq!((count(&out, "unwritten"), entries.step().wait_o[1]), (0, 1));
}

#[test]
fn a_slot_is_empty_when_nothing_waits() {
    let mut entries = entries();
    entries.take(4, 1, 0, 0, 1).step();
    entries.inputs.flush_i = 0b11_0000;
    assert_eq!(entries.step().flush_done_o, 0b10_0000);
    entries.lands(4, 0, 1).step();
    entries.inputs.flush_i = 0b01_0000;
    let out = entries.take(4, 1, 0, 0, 0b010).step();
    assert_eq!((out.flush_done_o, out.void_o), (0b01_0000, 0b1110_1111));
    let out = entries.step();
    assert_eq!((out.void_o, out.wait_o[4]), (0xff, 0b010), "whatever else is said of them");
    entries.inputs.rst_ni = 0;
    entries.step();
    assert_eq!(entries.step().wait_o[4], 0);
}
