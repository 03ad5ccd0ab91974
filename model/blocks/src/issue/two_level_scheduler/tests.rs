use super::*;
use crate::Shape;
use crate::testing::{Driver, config, event};

const GREEDY: u16 = 0b01;
const STAY: u16 = 0b10;
const HANDOVER: u16 = 1 << 14;

/// Two slots, eight warps; `settings` besides.
fn scheduler(settings: &[&str]) -> Driver<TwoLevelScheduler> {
    let all = [&["sm.warps=8", "sm.active_warps=2"], settings].concat();
    started(&ActiveShape::of(&config("two-level", &all)))
}

fn started(shape: &ActiveShape) -> Driver<TwoLevelScheduler> {
    let mut scheduler = Driver::<TwoLevelScheduler>::new(shape);
    (scheduler.inputs.alive_i, scheduler.inputs.ready_i, scheduler.inputs.void_i) = (0xff, 0b11, 0b11);
    scheduler
}

impl Driver<TwoLevelScheduler> {
    /// A cycle, after which nothing happens any more.
    fn step(&mut self) -> TwoLevelSchedulerOut {
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
        (self.inputs.set_valid_i, self.inputs.set_d_i[0], self.inputs.set_long_i) = (1, d, long.into());
        self
    }

    fn dispatch(&mut self, warp: u8) -> &mut Self {
        (self.inputs.dispatch_valid_i, self.inputs.dispatch_warp_i[0]) = (1, warp);
        self
    }

    fn complete(&mut self, warp: u8, reg: u8) -> &mut Self {
        (self.inputs.reg_valid_i, self.inputs.reg_warp_i[0], self.inputs.reg_i[0]) = (1, warp, reg);
        self
    }

    fn mark(&mut self, warps: u64) -> &mut Self {
        (self.inputs.head_valid_i, self.inputs.mark_i) = (warps, warps);
        self
    }
}

fn count(out: &TwoLevelSchedulerOut, name: &str) -> u64 {
    event(TWO_LEVEL_EVENT, out.event_o, name)
}

#[test]
fn one_warp_a_cycle_takes_a_slot_and_issues_from_the_next_on() {
    let mut scheduler = scheduler(&[]);
    let out = scheduler.clear(0xff).step();
    assert_eq!((out.issue_valid_o, out.slot_valid_o, count(&out, "ready"), count(&out, "activate")), (0, 0, 8, 1));
    let out = scheduler.clear(0xff).step();
    assert_eq!((out.issue_valid_o, out.issue_warp_o[0], out.active_o, out.pop_o), (1, 0, 1, 1));
    let out = scheduler.clear(0xfe).step();
    assert_eq!((out.issue_warp_o[0], out.issue_slot_o[0], out.slot_valid_o), (1, 1, 0b11));
    assert_eq!((count(&out, "active"), count(&out, "ready"), count(&out, "activate")), (2, 6, 0));
    assert_eq!(scheduler.clear(0xfc).step().issue_valid_o, 0, "pending warps do not issue");
}

#[test]
fn round_robin_goes_round_the_slots_and_greedy_stays() {
    for (straps, expected) in [(0, [1, 0, 1, 0]), (GREEDY, [0, 0, 0, 0])] {
        let mut scheduler = scheduler(&[]);
        scheduler.inputs.cfg_i = straps;
        scheduler.step();
        scheduler.step();
        let issued: Vec<u8> = (0..4).map(|_| scheduler.clear(0xff).step().issue_warp_o[0]).collect();
        assert_eq!(issued, expected);
        // Where the warp cannot go on, the next slot in turn.
        assert_eq!(scheduler.clear(0b10).step().issue_warp_o[0], 1);
        assert_eq!(scheduler.clear(0b11).step().issue_warp_o[0], if straps == GREEDY { 1 } else { 0 });
        // What wants the operand stage waits for it; nothing issues while it is stopped.
        scheduler.inputs.ready_i = 0;
        assert_eq!(scheduler.clear(0b11).step().issue_valid_o, 0);
        (scheduler.inputs.ready_i, scheduler.inputs.stop_i) = (1, 1);
        assert_eq!(scheduler.clear(0b11).step().issue_valid_o, 0);
    }
}

/// Four slots of warps 0 to 3, with candidates; nothing has issued.
fn with_candidates(straps: u16, settings: &[&str]) -> Driver<TwoLevelScheduler> {
    let all = [&["sm.warps=8", "sm.active_warps=4"], settings].concat();
    let shape = ActiveShape { candidates: true, ..ActiveShape::of(&config("two-level", &all)) };
    let mut scheduler = started(&shape);
    (scheduler.inputs.cfg_i, scheduler.inputs.void_i) = (straps, 0xff);
    for _ in 0..4 {
        scheduler.step();
    }
    scheduler
}

/// What port 0 issues, and its candidate.
fn issue(scheduler: &mut Driver<TwoLevelScheduler>, clear: u64, word: u8) -> (Option<u8>, Option<u8>) {
    scheduler.inputs.candidate_issue_i = word;
    let out = scheduler.clear(clear).step();
    scheduler.inputs.candidate_issue_i = 0;
    let warp = |valid: u8, warp: u8| if valid & 1 == 1 { Some(warp) } else { None };
    assert!(out.candidate_valid_o & 1 == 1 || out.candidate_warp_o[0] == 0);
    (warp(out.issue_valid_o, out.issue_warp_o[0]), warp(out.candidate_valid_o, out.candidate_warp_o[0]))
}

#[test]
fn the_candidate_is_the_choice_among_the_slots_of_the_half_that_lost() {
    // Slots 0 and 2, 1 and 3 are the halves; round-robin begins after slot 0.
    let mut round = with_candidates(0, &[]);
    assert_eq!(issue(&mut round, 0xf, 0), (Some(1), Some(2)));
    assert_eq!(issue(&mut round, 0xf, 0), (Some(2), Some(3)));
    assert_eq!(issue(&mut round, 0b1101, 0), (Some(3), Some(0)));
    assert_eq!(issue(&mut round, 0b0101, 0), (Some(0), None));
    let mut greedy = with_candidates(GREEDY, &[]);
    assert_eq!(issue(&mut greedy, 0xf, 0), (Some(0), Some(1)));
    assert_eq!(issue(&mut greedy, 0b1101, 0), (Some(0), Some(3)));
    assert_eq!(issue(&mut greedy, 0b1110, 0), (Some(1), Some(2)));
    // A loser without operands is none.
    greedy.inputs.clear_i = 0b1110;
    greedy.inputs.operand_i = 0b1010;
    let out = greedy.step();
    assert_eq!((out.issue_warp_o[0], out.candidate_valid_o), (1, 0));
}

#[test]
fn a_stolen_warp_issues_from_its_slot_and_leaves_the_turn_of_others_alone() {
    for straps in [0, GREEDY] {
        let mut scheduler = with_candidates(straps, &[]);
        let (winner, candidate) = issue(&mut scheduler, 0xf, 0);
        let stolen = candidate.expect("there are two halves");
        let (second, next) = issue(&mut scheduler, 0xf, 1);
        assert_eq!(second, Some(stolen));
        // Round-robin comes to the stolen warp itself, so that the other is the candidate; greedy has lost its winner to the theft.
        assert_eq!(next, if straps == GREEDY { winner } else { Some(3) });
        scheduler.step();
        let probe = scheduler.probe();
        let (issued, last) = (probe.issued_q, probe.last_q[0]);
        assert_eq!(
            (issued[usize::from(winner.unwrap())], issued[usize::from(stolen)]),
            (1, 1),
            "it counts like any issue"
        );
        let turn = if straps == GREEDY { winner } else { Some(stolen) };
        assert_eq!((Some(last), probe.fresh_q & 1 << stolen), (turn, 0));
        assert_eq!((probe.candidate_valid_q, Some(probe.candidate_q[0])), (1, next));
        assert_eq!(Some(probe.candidate_slot_q[0]), next, "warps have the slots of their numbers here");
    }
}

#[test]
fn greedy_a_a_b_b_becomes_a_b_a_b_among_slots_too() {
    let mut scheduler = with_candidates(GREEDY, &[]);
    let issued: Vec<Option<u8>> = [0, 1, 0, 1].map(|word| issue(&mut scheduler, 0b1001, word).0).into();
    assert_eq!(issued, [Some(0), Some(3), Some(0), Some(3)]);
}

#[test]
fn a_warp_that_leaves_its_slot_is_not_issued_by_theft() {
    let mut scheduler = with_candidates(1 << 2, &[]);
    assert_eq!(issue(&mut scheduler, 0xf, 0), (Some(1), Some(2)));
    // Warp 2 has to wait at a barrier.
    scheduler.inputs.held_i = 0b100;
    assert_eq!(issue(&mut scheduler, 0b1101, 1), (Some(3), Some(0)));
    (scheduler.inputs.held_i, scheduler.inputs.stop_i) = (0, 1);
    assert_eq!(issue(&mut scheduler, 0b1101, 1), (None, None));
    scheduler.inputs.stop_i = 0;
    assert_eq!(issue(&mut scheduler, 0b0001, 1), (Some(0), None), "the word comes too late: no warp was named");
}

#[test]
fn each_of_two_ports_has_halves_of_its_own_slots() {
    let mut scheduler = with_candidates(0, &["mrf.issue_ports=2", "sm.active_warps=6"]);
    // Port 0 chooses between slots 0 and 4, and 2; port 1 between 1 and 5, and 3. Warp 5 may not issue yet.
    let out = scheduler.clear(0xdf).step();
    assert_eq!((out.issue_warp_o, out.candidate_warp_o, out.candidate_valid_o), ([2, 3], [4, 1], 0b11));
    scheduler.inputs.candidate_issue_i = 0b10;
    let out = scheduler.clear(0xff).step();
    assert_eq!((out.issue_warp_o, out.issue_slot_o), ([4, 1], [4, 1]));
    assert_eq!((out.candidate_warp_o, scheduler.probe().last_q), ([2, 5], [1, 1]));
}

#[test]
fn two_ports_have_their_own_slots_and_one_branch_a_cycle() {
    let mut scheduler = scheduler(&["mrf.issue_ports=2", "sm.active_warps=4"]);
    let out = scheduler.step();
    assert_eq!(count(&out, "activate"), 2);
    scheduler.step();
    let out = scheduler.clear(0xff).step();
    assert_eq!((out.slot_valid_o, out.slot_warp_o[..4].to_vec()), (0b1111, vec![0, 1, 2, 3]));
    assert_eq!((out.issue_valid_o, out.issue_warp_o, out.issue_slot_o), (0b11, [2, 3], [2, 3]));
    scheduler.inputs.branch_i = 0xff;
    assert_eq!(scheduler.clear(0xff).step().issue_valid_o, 0b01);
}

#[test]
fn a_marked_head_sends_its_warp_away_but_not_the_first_one() {
    let mut scheduler = scheduler(&[]);
    scheduler.step();
    let out = scheduler.mark(1).clear(1).set(255, false).step();
    assert_eq!((out.issue_valid_o, count(&out, "leave_mark")), (1, 0), "the first instruction in a slot");
    let out = scheduler.dispatch(0).clear(1).step();
    assert_eq!((out.active_o & 1, out.issue_valid_o, count(&out, "leave_mark")), (0, 0, 1));
    assert_eq!(count(&scheduler.step(), "drain"), 1);
    let out = scheduler.step();
    assert_eq!((out.flush_o, out.drop_o, count(&out, "flush")), (1, 0, 1));
}

#[test]
fn a_slot_drains_then_flushes_and_only_then_is_free() {
    let mut scheduler = scheduler(&[]);
    scheduler.step();
    scheduler.clear(1).set(7, false).step();
    scheduler.clear(1).set(8, true).dispatch(0).step();
    scheduler.inputs.held_i = 1;
    assert_eq!(count(&scheduler.step(), "leave_barrier"), 1);
    for _ in 0..3 {
        assert_eq!(scheduler.step().flush_o, 0, "an instruction is in the operand stage");
    }
    scheduler.dispatch(0).step();
    assert_eq!(scheduler.step().flush_o, 0, "a short result is outstanding");
    scheduler.complete(0, 7).step();
    assert_eq!(scheduler.step().flush_o, 0);
    scheduler.inputs.held_i = 0;
    for _ in 0..3 {
        let out = scheduler.step();
        assert_eq!((out.flush_o, out.slot_valid_o & 1, out.slot_warp_o[0]), (1, 1, 0), "a long one is not waited for");
    }
    scheduler.inputs.flush_done_i = 1;
    scheduler.step();
    let out = scheduler.step();
    assert_eq!((out.slot_valid_o & 1, count(&out, "activate")), (0, 1));
    // The warp comes back when its long-latency operation is through, whatever its number.
    assert_eq!((scheduler.probe().long_count_q[0], scheduler.step().slot_warp_o[0]), (1, 2));
    let ready = count(&scheduler.step(), "ready");
    scheduler.complete(0, 8).step();
    assert_eq!((count(&scheduler.step(), "ready"), scheduler.probe().long_count_q[0]), (ready + 1, 0));
}

#[test]
fn a_warp_that_has_ended_leaves_its_slot_to_be_dropped() {
    let mut scheduler = scheduler(&[]);
    scheduler.inputs.cfg_i = STAY;
    scheduler.step();
    scheduler.mark(1).clear(1).step();
    scheduler.inputs.held_i = 1;
    let out = scheduler.step();
    assert_eq!(out.active_o & 1, 1, "with stay a warp leaves at its end only");
    scheduler.inputs.alive_i = 0xfe;
    let out = scheduler.step();
    assert_eq!((count(&out, "leave_end"), count(&out, "leave_barrier")), (1, 0));
    scheduler.step();
    let out = scheduler.step();
    assert_eq!((out.flush_o, out.drop_o), (1, 1));
}

#[test]
fn a_slot_that_is_handed_over_is_free_while_results_are_outstanding() {
    let mut scheduler = scheduler(&[]);
    scheduler.inputs.cfg_i = HANDOVER;
    scheduler.step();
    // Two short results and a long one; one of the short ones comes as the warp leaves.
    scheduler.clear(1).set(7, false).step();
    scheduler.clear(1).set(8, true).step();
    scheduler.clear(1).set(9, false).step();
    scheduler.complete(0, 7).inputs.held_i = 1;
    let out = scheduler.step();
    assert_eq!((count(&out, "leave_barrier"), out.slot_valid_o & 1, out.active_o & 1), (1, 1, 0));
    let out = scheduler.step();
    assert_eq!((out.slot_valid_o & 1, out.flush_o, count(&out, "activate")), (0, 0, 1), "free, and taken again");
    assert_eq!((scheduler.probe().long_count_q[0], scheduler.probe().resident_q[0]), (2, 0));
    let out = scheduler.clear(1 << 2).set(7, false).step();
    assert_eq!((out.slot_warp_o[0], out.issue_valid_o, out.issue_warp_o[0]), (2, 1, 2), "the third cycle issues");
    // The register that a short result of the former warp has is one of the new warp's too.
    scheduler.inputs.held_i = 0;
    let ready = count(&scheduler.step(), "ready");
    scheduler.dispatch(0).complete(0, 9).step();
    assert_eq!(count(&scheduler.step(), "ready"), ready, "the long one has not come");
    scheduler.complete(0, 8).step();
    assert_eq!(count(&scheduler.step(), "ready"), ready + 1);
    let probe = scheduler.probe();
    assert_eq!((probe.short_q[0], probe.resident_q[0], probe.long_count_q[0]), (1, 0, 0));
}

#[test]
fn a_warp_that_has_ended_and_whose_slot_was_handed_over_drops_nothing() {
    let mut scheduler = scheduler(&[]);
    scheduler.inputs.cfg_i = HANDOVER | STAY;
    scheduler.step();
    scheduler.clear(1).set(7, false).step();
    scheduler.inputs.alive_i = 0xfe;
    assert_eq!(count(&scheduler.step(), "leave_end"), 1);
    let out = scheduler.step();
    assert_eq!((out.slot_valid_o & 1, out.flush_o, out.drop_o), (0, 0, 0));
    scheduler.inputs.alive_i = 0xff;
    let ready = count(&scheduler.step(), "ready");
    scheduler.complete(0, 7).step();
    assert_eq!(count(&scheduler.step(), "ready"), ready + 1, "a new warp of this number waits for what is outstanding");
}

#[test]
fn patience_ends_when_others_are_ready() {
    let mut scheduler = scheduler(&[]);
    scheduler.inputs.cfg_i = 2 << 2;
    scheduler.inputs.alive_i = 0b1;
    scheduler.step();
    for _ in 0..3 {
        assert_eq!(scheduler.clear(1).step().issue_valid_o, 1, "no other warp is ready");
    }
    scheduler.inputs.alive_i = 0b11;
    scheduler.inputs.void_i = 0b10;
    let out = scheduler.clear(1).step();
    assert_eq!((out.issue_valid_o, count(&out, "leave_patience")), (1, 0), "in the middle of a strand");
    (scheduler.inputs.void_i, scheduler.inputs.alive_i) = (0b01, 0b111);
    let out = scheduler.clear(1).step();
    assert_eq!((out.issue_valid_o, count(&out, "leave_patience")), (0, 1));
}

#[test]
fn a_register_that_is_written_again_counts_as_what_it_is_now() {
    let mut scheduler = scheduler(&[]);
    scheduler.step();
    scheduler.clear(1).set(7, true).step();
    scheduler.complete(0, 7).clear(1).set(9, false).step();
    scheduler.clear(1).set(7, false).step();
    scheduler.step();
    let probe = scheduler.probe();
    assert_eq!((probe.short_q[0], probe.long_count_q[0], probe.resident_q[0], probe.issued_q[0]), (2, 0, 3, 3));
    scheduler.complete(0, 7).step();
    scheduler.step();
    assert_eq!((scheduler.probe().short_q[0], scheduler.probe().long_count_q[0]), (1, 0));
}
