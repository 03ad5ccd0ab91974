use super::*;
use crate::testing::Driver;

fn queue() -> Driver<HrfLoads> {
    Driver::new(&HrfShape::preset(&["hrf.load_entries=2"]))
}

impl Driver<HrfLoads> {
    /// Runs one cycle, then clears all pushes and pops.
    fn step(&mut self) -> HrfLoadsOut {
        let out = self.cycle();
        (self.inputs.push_valid_i, self.inputs.pop_i, self.inputs.mark_i) = (0, 0, 0);
        out
    }

    fn push(&mut self, number: u16) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.push_valid_i, inputs.push_entry_i, inputs.push_mask_i) = (1, number, number.into());
        inputs.push_data_i = WarpData([number.into(); LANES]);
        self
    }

    fn pop(&mut self) -> &mut Self {
        self.inputs.pop_i = 1;
        self
    }

    fn mark(&mut self) -> &mut Self {
        self.inputs.mark_i = 1;
        self
    }
}

#[test]
fn results_go_in_the_order_in_which_they_come() {
    let mut queue = queue();
    assert_eq!(queue.push(1).step().head_valid_o, 0);
    let out = queue.push(2).step();
    assert_eq!((out.head_valid_o, out.head_entry_o, out.head_mask_o, out.room_o), (1, 1, 1, 1));
    let out = queue.push(3).pop().step();
    assert_eq!((out.room_o, out.head_data_o.0), (0, [1; LANES]), "there is no room for the third");
    let out = queue.push(4).pop().step();
    assert_eq!((out.room_o, out.head_entry_o), (1, 2));
    assert_eq!(queue.pop().step().head_entry_o, 4);
    assert_eq!(queue.step().head_valid_o, 0);
}

#[test]
fn what_is_there_when_a_drain_begins_is_old() {
    let mut queue = queue();
    queue.push(1).step();
    assert_eq!(queue.push(2).mark().step().old_o, 0);
    assert_eq!(queue.step().old_o, 1);
    queue.pop().step();
    let out = queue.step();
    assert_eq!((out.head_entry_o, out.old_o), (2, 0), "it has come with the beginning");
    // A result that leaves at this clock edge is not counted.
    queue.push(3).step();
    queue.pop().mark().step();
    let out = queue.pop().step();
    assert_eq!((out.head_entry_o, out.old_o), (3, 1));
    assert_eq!((queue.step().old_o, queue.probe().before_q), (0, 0));
}
