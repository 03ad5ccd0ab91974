use super::*;
use crate::testing::{Driver, SM_SHAPES, event};

/// Eight warps, all alive.
fn scheduler(patience: u16) -> Driver<AlternatingScheduler> {
    let mut scheduler = Driver::<AlternatingScheduler>::new(&SM_SHAPES[1]);
    let inputs = &mut scheduler.inputs;
    (inputs.alive_i, inputs.ready_i, inputs.cfg_i) = (0xff, 1, patience);
    scheduler
}

impl Driver<AlternatingScheduler> {
    /// A cycle, after which nothing happens any more.
    fn step(&mut self) -> AlternatingSchedulerOut {
        let out = self.cycle();
        let inputs = &mut self.inputs;
        (inputs.set_valid_i, inputs.dispatch_valid_i, inputs.reg_valid_i, inputs.flush_done_i) = (0, 0, 0, 0);
        (inputs.clear_i, inputs.set_long_i) = (0, 0);
        out
    }

    /// These warps may issue; what issues goes to the operand stage.
    fn clear(&mut self, warps: u64) -> &mut Self {
        (self.inputs.clear_i, self.inputs.operand_i) = (warps, warps);
        self
    }

    fn set(&mut self, d: u8, long: bool) -> &mut Self {
        (self.inputs.set_valid_i, self.inputs.set_d_i, self.inputs.set_long_i) = (1, d, long.into());
        self
    }

    fn dispatch(&mut self, warp: u8) -> &mut Self {
        (self.inputs.dispatch_valid_i, self.inputs.dispatch_warp_i) = (1, warp);
        self
    }

    fn complete(&mut self, warp: u8, reg: u8) -> &mut Self {
        (self.inputs.reg_valid_i, self.inputs.reg_warp_i, self.inputs.reg_i) = (1, warp, reg);
        self
    }

    fn mark(&mut self, warps: u64) -> &mut Self {
        (self.inputs.head_valid_i, self.inputs.mark_i) = (warps, warps);
        self
    }

    /// The active warp, which is this one, goes to a barrier for as long as it takes to give its slot up.
    fn leaves(&mut self, warp: u8) -> AlternatingSchedulerOut {
        self.inputs.held_i = 1 << warp;
        assert_eq!(count(&self.step(), "alternating_leave_barrier"), 1);
        self.step();
        self.inputs.held_i = 0;
        self.step()
    }
}

fn count(out: &AlternatingSchedulerOut, name: &str) -> u64 {
    event(ALTERNATING_EVENT, out.event_o.into(), name)
}

#[test]
fn one_warp_becomes_active_and_issues_from_the_next_cycle_on() {
    let mut scheduler = scheduler(0);
    let out = scheduler.clear(0xff).step();
    assert_eq!((out.issue_valid_o, out.slot_valid_o, out.active_o), (0, 0, 0));
    assert_eq!((count(&out, "alternating_ready"), count(&out, "alternating_activate")), (8, 1));
    assert_eq!((count(&out, "alternating_pending"), count(&out, "alternating_same_parity")), (8, 0));
    let out = scheduler.clear(0xff).step();
    assert_eq!((out.issue_valid_o, out.issue_warp_o, out.issue_slot_o, out.pop_o), (1, 0, 0, 1));
    assert_eq!((out.active_o, out.slot_valid_o, out.slot_warp_o[0]), (1, 0b01, 0));
    assert_eq!((count(&out, "alternating_pending"), count(&out, "alternating_active")), (7, 1));
    assert_eq!(scheduler.clear(0xfe).step().issue_valid_o, 0, "pending warps do not issue");
    scheduler.inputs.ready_i = 0;
    assert_eq!(scheduler.clear(1).step().issue_valid_o, 0);
    (scheduler.inputs.ready_i, scheduler.inputs.stop_i) = (1, 1);
    assert_eq!(scheduler.clear(1).step().issue_valid_o, 0);
}

/// Who becomes active after warp 0, one after the other, where these warps are alive.
fn order<const N: usize>(alive: u64) -> [u8; N] {
    let mut scheduler = scheduler(0);
    scheduler.inputs.alive_i = alive;
    scheduler.step();
    let mut warp = 0;
    [(); N].map(|()| {
        let out = scheduler.leaves(warp);
        assert_eq!((out.flush_o, count(&out, "alternating_activate")), (1 << (warp % 2), 1));
        scheduler.inputs.flush_done_i = out.flush_o;
        let out = scheduler.step();
        warp = out.active_o.trailing_zeros() as u8;
        warp
    })
}

#[test]
fn even_and_odd_warps_take_turns_from_the_last_one_on() {
    assert_eq!(order(0xff), [1, 2, 3, 4, 5, 6, 7, 0, 1]);
}

#[test]
fn no_warp_is_passed_over_for_ever() {
    assert_eq!(order(0b10_0101), [5, 2, 5, 0, 5, 2]);
}

#[test]
fn a_switch_waits_for_the_slot_of_the_other_parity_even_if_the_same_one_is_free() {
    let mut scheduler = scheduler(0);
    scheduler.step();
    scheduler.leaves(0);
    let out = scheduler.leaves(1);
    // Warp 1 has drained; the buffer of warp 0 is still being emptied.
    assert_eq!((out.flush_o, out.slot_valid_o, count(&out, "alternating_stall_switch")), (0b11, 0b11, 1));
    scheduler.inputs.flush_done_i = 0b10;
    scheduler.step();
    let out = scheduler.step();
    assert_eq!((out.flush_o, count(&out, "alternating_activate"), count(&out, "alternating_stall_switch")), (1, 0, 1));
    scheduler.inputs.flush_done_i = 0b01;
    assert_eq!(count(&scheduler.step(), "alternating_activate"), 0, "the slot is taken from the next cycle on");
    assert_eq!(count(&scheduler.step(), "alternating_activate"), 1);
    assert_eq!(scheduler.step().slot_warp_o[0], 2);
}

#[test]
fn where_one_parity_alone_is_ready_it_follows_itself_behind_its_drain() {
    let mut scheduler = scheduler(0);
    scheduler.inputs.alive_i = 0b101;
    scheduler.step();
    let out = scheduler.leaves(0);
    assert_eq!((count(&out, "alternating_stall_switch"), count(&out, "alternating_activate")), (1, 0));
    scheduler.inputs.flush_done_i = 1;
    scheduler.step();
    let out = scheduler.step();
    assert_eq!((count(&out, "alternating_same_parity"), count(&out, "alternating_activate")), (1, 1));
    assert_eq!(scheduler.step().active_o, 0b100);
    // No warp is ready.
    scheduler.leaves(2);
    scheduler.inputs.flush_done_i = 1;
    scheduler.inputs.held_i = 0b101;
    let out = scheduler.step();
    assert_eq!((count(&out, "alternating_stall_ready"), count(&out, "alternating_ready")), (1, 0));
}

#[test]
fn a_marked_head_sends_its_warp_away_but_not_the_first_one() {
    let mut scheduler = scheduler(0);
    scheduler.step();
    let out = scheduler.mark(1).clear(1).set(255, false).step();
    assert_eq!((out.issue_valid_o, count(&out, "alternating_leave_mark")), (1, 0));
    let out = scheduler.dispatch(0).clear(1).step();
    assert_eq!((out.active_o, out.issue_valid_o, count(&out, "alternating_leave_mark")), (0, 0, 1));
    assert_eq!(count(&scheduler.step(), "alternating_drain"), 1);
    let out = scheduler.step();
    assert_eq!((out.flush_o, out.drop_o, count(&out, "alternating_flush")), (1, 0, 1));
}

#[test]
fn what_is_under_way_is_waited_for_but_not_long_results() {
    let mut scheduler = scheduler(0);
    scheduler.step();
    scheduler.clear(1).set(7, false).step();
    scheduler.clear(1).set(8, true).dispatch(0).step();
    scheduler.inputs.held_i = 1;
    scheduler.step();
    for _ in 0..3 {
        assert_eq!(scheduler.step().flush_o, 0, "an instruction is in the operand stage");
    }
    scheduler.dispatch(0).step();
    assert_eq!(scheduler.step().flush_o, 0, "a short result is outstanding");
    scheduler.complete(0, 7).step();
    assert_eq!(scheduler.step().flush_o, 0);
    scheduler.inputs.held_i = 0;
    assert_eq!((scheduler.step().flush_o, scheduler.probe().long_count_q[0]), (1, 1));
    scheduler.inputs.flush_done_i = 1;
    // Warp 1 follows; warp 0 is ready again when its long-latency operation is through, whatever the register's number.
    let ready = count(&scheduler.step(), "alternating_ready");
    assert_eq!(ready, 6);
    scheduler.complete(0, 8).step();
    assert_eq!((count(&scheduler.step(), "alternating_ready"), scheduler.probe().long_count_q[0]), (7, 0));
}

#[test]
fn a_warp_that_has_ended_leaves_its_slot_to_be_dropped() {
    let mut scheduler = scheduler(0);
    scheduler.step();
    scheduler.inputs.alive_i = 0xfe;
    scheduler.inputs.held_i = 1;
    let out = scheduler.step();
    let causes = (count(&out, "alternating_leave_end"), count(&out, "alternating_leave_barrier"));
    assert_eq!(causes, (1, 0));
    scheduler.step();
    let out = scheduler.step();
    assert_eq!((out.flush_o, out.drop_o), (1, 1));
    scheduler.inputs.flush_done_i = 1;
    scheduler.step();
    assert_eq!((scheduler.step().drop_o, scheduler.probe().drop_q), (0, 1));
}

#[test]
fn patience_ends_when_others_are_ready() {
    let mut scheduler = scheduler(2);
    scheduler.inputs.alive_i = 0b1;
    scheduler.step();
    for _ in 0..3 {
        assert_eq!(scheduler.clear(1).step().issue_valid_o, 1, "no other warp is ready");
    }
    scheduler.inputs.alive_i = 0b11;
    let out = scheduler.clear(1).step();
    assert_eq!((out.issue_valid_o, count(&out, "alternating_leave_patience")), (0, 1));
}

#[test]
fn a_register_that_is_written_again_counts_as_what_it_is_now() {
    let mut scheduler = scheduler(0);
    scheduler.step();
    scheduler.clear(1).set(7, true).step();
    scheduler.complete(0, 7).clear(1).set(9, false).step();
    scheduler.clear(1).set(7, false).step();
    scheduler.step();
    let probe = scheduler.probe();
    assert_eq!((probe.short_q, probe.long_count_q[0], probe.resident_q, probe.issued_q), (2, 0, 3, 3));
    // Both at one edge: what it was decides about what is complete.
    scheduler.complete(0, 7).clear(1).set(7, true).step();
    scheduler.step();
    assert_eq!((scheduler.probe().short_q, scheduler.probe().long_count_q[0]), (1, 1));
}
