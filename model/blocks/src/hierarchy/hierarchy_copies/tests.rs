use super::*;
use crate::hierarchy::HIERARCHY_SHAPES;
use crate::testing::Driver;

/// Two ports, four tags.
fn copies() -> Driver<HierarchyCopies> {
    Driver::new(&HIERARCHY_SHAPES[1])
}

impl Driver<HierarchyCopies> {
    /// A cycle, after which nothing comes any more.
    fn step(&mut self) -> HierarchyCopiesOut {
        let out = self.cycle();
        self.inputs = HierarchyCopiesIn { rst_ni: 1, ..HierarchyCopiesIn::zeroed() };
        out
    }

    fn note(&mut self, tag: u8, copy: u8, entry: [u8; 3]) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.note_valid_i, inputs.note_tag_i[1], inputs.note_slot_i[1]) = (0b10, tag, 3);
        (inputs.note_copy_i, inputs.note_private_i) = (copy << 3, 0b10);
        inputs.note_entry_i[3..].copy_from_slice(&entry);
        self
    }

    fn offer(&mut self, p: usize, tag: u8, go: bool) -> &mut Self {
        let inputs = &mut self.inputs;
        inputs.offer_valid_i |= 1 << p;
        inputs.go_i |= u8::from(go) << p;
        (inputs.offer_tag_i[p], inputs.offer_mask_i[p]) = (tag, 0xf0 + u32::from(tag));
        for k in 0..3 {
            inputs.offer_data_i[3 * p + k] = WarpData([10 * u32::from(tag) + k as u32; LANES]);
        }
        self
    }
}

#[test]
fn copies_are_taken_at_dispatch_and_written_one_after_the_other() {
    let mut copies = copies();
    copies.note(2, 0b101, [4, 0, 6]).step();
    let out = copies.offer(0, 2, false).step();
    assert_eq!((out.hold_o, out.copy_valid_o), (0, 0));
    copies.offer(0, 2, true).step();
    copies.inputs.copy_ready_i = 1;
    let out = copies.step();
    assert_eq!((out.copy_valid_o, out.copy_slot_o[0], out.copy_entry_o[0], out.copy_mask_o[0]), (1, 3, 4, 0xf2));
    assert_eq!((out.copy_data_o[0].0[0], out.copy_private_o, out.wait_o), (20, 1, 0));
    let out = copies.step();
    assert_eq!((out.copy_valid_o, out.copy_entry_o[0], out.copy_data_o[0].0[0], out.wait_o), (1, 6, 22, 1));
    copies.inputs.copy_ready_i = 1;
    copies.step();
    let out = copies.step();
    assert_eq!((out.copy_valid_o, out.copy_private_o), (0, 0));
}

#[test]
fn an_instruction_with_copies_waits_for_room() {
    let mut copies = copies();
    copies.note(2, 0b011, [1, 2, 0]).step();
    copies.note(3, 0b100, [0, 0, 5]).step();
    copies.note(1, 0, [0; 3]).offer(1, 2, true).step();
    assert_eq!(copies.offer(1, 3, false).step().hold_o, 0b10);
    assert_eq!(copies.offer(1, 1, false).step().hold_o, 0, "it has none");
    assert_eq!(copies.offer(0, 3, false).step().hold_o, 0, "another port");
    copies.inputs.copy_ready_i = 0b10;
    assert_eq!(copies.offer(1, 3, false).step().hold_o, 0b10, "one is still left then");
    copies.inputs.copy_ready_i = 0b10;
    assert_eq!(copies.offer(1, 3, true).step().hold_o, 0);
    let out = copies.step();
    assert_eq!((out.copy_valid_o, out.copy_entry_o[1], out.copy_data_o[1].0[0]), (0b10, 5, 32));
}

#[test]
fn reset_forgets_copies() {
    let mut copies = copies();
    copies.note(0, 0b111, [1, 2, 3]).step();
    copies.offer(0, 0, true).step();
    copies.inputs.rst_ni = 0;
    copies.note(1, 0b111, [1, 2, 3]).offer(1, 0, true).step();
    let out = copies.offer(0, 1, true).step();
    assert_eq!((out.copy_valid_o, copies.probe().copy_q, copies.probe().left_q), (0, 0, 0));
    assert_eq!(copies.step().copy_valid_o, 0);
}
