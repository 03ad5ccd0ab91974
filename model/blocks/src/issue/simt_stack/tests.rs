use super::*;
use crate::testing::{Driver, Random, SM_SHAPES};

/// One warp of a stack.
struct Warp {
    stack: Driver<SimtStack>,
    number: u8,
}

impl Warp {
    /// A warp that begins with these lanes.
    fn new(lanes: u32) -> Self {
        let mut warp = Self { stack: Driver::new(&SM_SHAPES[0]), number: 17 };
        warp.start(lanes);
        warp
    }

    fn start(&mut self, lanes: u32) {
        let inputs = &mut self.stack.inputs;
        (inputs.start_valid_i, inputs.start_warp_i, inputs.start_mask_i) = (1, self.number, lanes);
        self.cycle();
        self.stack.inputs.start_valid_i = 0;
    }

    /// Runs one cycle; returns the warp and address at which the fetch continues, by the instruction and by the stack.
    fn cycle(&mut self) -> [Option<(u8, u32)>; 2] {
        let out = self.stack.cycle();
        [0, 1].map(|k| (out.resume_valid_o >> k & 1 == 1).then_some((out.resume_warp_o[k], out.resume_pc_o[k])))
    }

    /// Issues an instruction; returns where the fetch continues.
    fn issue(&mut self, kind: Kind, pc: u32, stop: bool, exec: u32, [target, join]: [u32; 2]) -> Option<u32> {
        let inputs = &mut self.stack.inputs;
        (inputs.issue_valid_i, inputs.issue_warp_i[0], inputs.issue_kind_i[0]) = (1, self.number, kind as u8);
        (inputs.issue_pc_i[0], inputs.issue_mask_i[0], inputs.issue_stop_i) = (pc, exec, stop.into());
        (inputs.issue_target_i[0], inputs.issue_join_i[0]) = (target, join);
        let [issued, returned] = self.cycle();
        assert_eq!(returned, None);
        (self.stack.inputs.issue_valid_i, self.stack.inputs.issue_stop_i) = (0, 0);
        issued.map(|(warp, pc)| {
            assert_eq!(warp, self.number);
            pc
        })
    }

    fn branch(&mut self, pc: u32, exec: u32, target: u32, join: u32) -> Option<u32> {
        self.issue(Kind::Branch, pc, true, exec, [target, join])
    }

    fn exit(&mut self, pc: u32, exec: u32) -> Option<u32> {
        self.issue(Kind::Exit, pc, true, exec, [0; 2])
    }

    /// Something that is no branch, by all lanes.
    fn other(&mut self, pc: u32) -> Option<u32> {
        self.issue(Kind::Other, pc, false, u32::MAX, [0; 2])
    }

    /// The group that comes from the stack: the cycle, counted from now, and where the group continues.
    fn returned(&mut self) -> Option<(usize, u32)> {
        (1..100).find_map(|cycle| self.cycle()[1].map(|(_, pc)| (cycle, pc)))
    }

    /// Executing lanes, living lanes, reconvergence point, places in use.
    fn state(&mut self) -> (u32, u32, u32, u8) {
        let (w, out) = (usize::from(self.number), self.stack.cycle());
        assert_eq!(out.alive_o, u64::from(out.live_o[w] != 0) << w);
        (out.mask_o[w], out.live_o[w], out.reconvergence_o[w], self.stack.probe().depth_q[w])
    }
}

#[test]
fn a_warp_begins_with_its_lanes_and_nothing_on_the_stack() {
    let mut warp = Warp::new(0xffff);
    assert_eq!(warp.state(), (0xffff, 0xffff, NO_PC, 0));
}

#[test]
fn an_instruction_that_is_no_branch_goes_on() {
    let mut warp = Warp::new(u32::MAX);
    assert_eq!(warp.other(5), None, "the fetch has not stopped");
    assert_eq!(warp.issue(Kind::Other, 6, true, 0, [0; 2]), Some(7), "it has");
    assert_eq!(warp.branch(7, 0, 40, 50), Some(8), "no lane jumps");
    assert_eq!(warp.branch(8, u32::MAX, 40, 50), Some(40), "all lanes jump");
    assert_eq!(warp.state(), (u32::MAX, u32::MAX, NO_PC, 0));
}

#[test]
fn the_side_that_falls_through_goes_first_and_both_meet_at_the_join() {
    let mut warp = Warp::new(u32::MAX);
    assert_eq!(warp.branch(10, 0xff, 40, 50), Some(11));
    assert_eq!(warp.state(), (!0xff, u32::MAX, 50, 2));
    assert_eq!(warp.other(48), None);
    assert_eq!(warp.other(49), None);
    assert_eq!(warp.returned(), Some((2, 40)), "read in the next cycle, there in the one after");
    assert_eq!(warp.state(), (0xff, u32::MAX, 50, 1));
    assert_eq!(warp.branch(45, 0xff, 50, 50), None, "a jump to the join");
    assert_eq!(warp.returned(), Some((2, 50)));
    assert_eq!(warp.state(), (u32::MAX, u32::MAX, NO_PC, 0));
}

#[test]
fn a_side_that_would_begin_at_the_join_waits_there() {
    let mut warp = Warp::new(0xff);
    assert_eq!(warp.branch(10, 0xf, 40, 11), Some(40), "the one that falls through");
    assert_eq!(warp.state(), (0xf, 0xff, 11, 1));
    let mut warp = Warp::new(0xff);
    assert_eq!(warp.branch(10, 0xf, 40, 40), Some(11), "the one that jumps");
    assert_eq!(warp.state(), (0xf0, 0xff, 40, 1));
    assert_eq!(warp.other(39), None);
    assert_eq!(warp.returned(), Some((2, 40)));
    assert_eq!(warp.state(), (0xff, 0xff, NO_PC, 0));
}

#[test]
fn a_branch_to_the_next_instruction_at_which_its_lanes_meet_does_not_split() {
    let mut warp = Warp::new(0xff);
    assert_eq!(warp.branch(10, 0xf, 11, 11), Some(11));
    assert_eq!(warp.state(), (0xff, 0xff, NO_PC, 0));
    // At the join of the group itself.
    assert_eq!(warp.branch(20, 0xf, 40, 31), Some(21));
    assert_eq!(warp.branch(30, 0x30, 31, 31), None);
    assert_eq!(warp.returned(), Some((2, 40)));
    // They meet elsewhere: it splits.
    assert_eq!(warp.branch(50, 0x3, 51, 60), Some(51));
    assert_eq!(warp.state(), (0xc, 0xff, 60, 3));
}

#[test]
fn a_join_that_the_group_has_already_is_not_pushed_again() {
    let mut warp = Warp::new(0xff);
    assert_eq!(warp.branch(10, 1, 50, 50), Some(11));
    assert_eq!(warp.branch(20, 2, 50, 50), Some(21));
    assert_eq!(warp.branch(30, 4, 40, 50), Some(31));
    assert_eq!(warp.state(), (0xf8, 0xff, 50, 2));
    assert_eq!(warp.branch(31, 0xf8, 50, 50), None);
    assert_eq!(warp.returned(), Some((2, 40)));
    assert_eq!(warp.other(49), None);
    assert_eq!(warp.returned(), Some((2, 50)));
    assert_eq!(warp.state(), (0xff, 0xff, NO_PC, 0));
}

#[test]
fn paths_that_only_end_have_no_join() {
    let mut warp = Warp::new(0xff);
    assert_eq!(warp.branch(10, 0xf, 40, NO_PC), Some(11));
    assert_eq!(warp.state(), (0xf0, 0xff, NO_PC, 1));
    assert_eq!(warp.exit(11, 0xf0), None);
    assert_eq!(warp.returned(), Some((2, 40)));
    assert_eq!(warp.state(), (0xf, 0xf, NO_PC, 0));
    assert_eq!(warp.exit(40, 0xf), None);
    assert_eq!((warp.returned(), warp.state()), (None, (0, 0, 0, 0)));
}

#[test]
fn some_lanes_end_and_the_others_go_on() {
    let mut warp = Warp::new(0xff);
    assert_eq!(warp.exit(10, 0), Some(11));
    assert_eq!(warp.exit(11, 0xf), Some(12));
    assert_eq!(warp.state(), (0xf0, 0xf0, NO_PC, 0));
    // Right before the join the others give way.
    assert_eq!(warp.branch(12, 0x30, 20, 20), Some(13));
    assert_eq!(warp.exit(19, 0x40), None);
    assert_eq!(warp.returned(), Some((2, 20)));
    assert_eq!(warp.state(), (0xb0, 0xb0, NO_PC, 0));
}

#[test]
fn groups_that_have_ended_are_passed_over() {
    let mut warp = Warp::new(0xff);
    // Three groups wait: {50: 0xff}, {30: 0x0f} below {20: 0xf0 & 0x30}.
    assert_eq!(warp.branch(10, 0x0f, 30, 50), Some(11));
    assert_eq!(warp.branch(11, 0x30, 20, NO_PC), Some(12));
    assert_eq!(warp.exit(12, 0xc0), None);
    assert_eq!(warp.returned(), Some((2, 20)));
    assert_eq!(warp.state(), (0x30, 0x3f, NO_PC, 2));
    assert_eq!(warp.exit(20, 0x30), None);
    assert_eq!(warp.returned(), Some((2, 30)));
    assert_eq!(warp.branch(30, 0x3, 35, 45), Some(31));
    assert_eq!(warp.state(), (0xc, 0xf, 45, 3));
    assert_eq!(warp.branch(31, 0xc, 45, 45), None);
    assert_eq!(warp.returned(), Some((2, 35)));
    assert_eq!(warp.exit(35, 0x3), None);
    assert_eq!(warp.returned(), Some((2, 45)), "its lanes without those that have ended");
    assert_eq!(warp.state(), (0xc, 0xc, 50, 1));

    let mut warp = Warp::new(0xff);
    assert_eq!(warp.branch(10, 0x0f, 30, 50), Some(11));
    assert_eq!(warp.branch(11, 0xc0, 20, 40), Some(12));
    // Both sides of the inner branch end, so no lane waits at 40: two more cycles.
    assert_eq!(warp.exit(12, 0x30), None);
    assert_eq!(warp.returned(), Some((2, 20)));
    assert_eq!(warp.exit(20, 0xc0), None);
    assert_eq!(warp.returned(), Some((4, 30)));
    assert_eq!(warp.state(), (0x0f, 0x0f, 50, 1));
}

#[test]
fn behind_the_last_lane_nothing_is_taken_from_the_stack() {
    let mut warp = Warp::new(0xff);
    assert_eq!(warp.branch(10, 0x0f, 50, 50), Some(11));
    assert_eq!(warp.branch(11, 0xf0, 50, 50), None);
    assert_eq!(warp.returned(), Some((2, 50)));
    assert_eq!(warp.branch(50, 0x0f, 60, 70), Some(51));
    assert_eq!(warp.exit(51, 0xf0), None);
    assert_eq!(warp.returned(), Some((2, 60)));
    assert_eq!(warp.exit(60, 0x0f), None);
    assert_eq!(warp.state(), (0, 0, 0, 1), "it stays where it is");
    assert_eq!(warp.stack.probe().pop_q, 0, "nothing of the warp is under way: it may begin anew");
    warp.start(0x3);
    assert_eq!((warp.returned(), warp.state()), (None, (0x3, 0x3, NO_PC, 0)));
}

#[test]
fn the_lowest_warp_is_served_first_and_groups_return_one_a_cycle() {
    let mut stack = Driver::<SimtStack>::new(&SM_SHAPES[0]);
    let warps = [20, 3, 9];
    let mut returned = Vec::new();
    // All of them split, and then give way in consecutive cycles, the highest one first.
    for cycle in 0..20 {
        let inputs = &mut stack.inputs;
        (inputs.start_valid_i, inputs.issue_valid_i) = (0, 0);
        if cycle < 3 {
            (inputs.start_valid_i, inputs.start_warp_i, inputs.start_mask_i) = (1, warps[cycle], 0xff);
        } else if cycle < 9 {
            (inputs.issue_valid_i, inputs.issue_warp_i[0]) = (1, warps[cycle % 3]);
            inputs.issue_kind_i[0] = Kind::Branch as u8;
            (inputs.issue_pc_i[0], inputs.issue_target_i[0], inputs.issue_join_i[0]) = (10, 50, 50);
            inputs.issue_mask_i[0] = if cycle < 6 { 0xf } else { 0xf0 };
        }
        let out = stack.cycle();
        if out.resume_valid_o >> 1 == 1 {
            returned.push((cycle, out.resume_warp_o[1]));
        }
    }
    assert_eq!(returned, [(8, 20), (9, 3), (10, 9)]);
    // And all at one time.
    let mut stack = SimtStack::new(&SM_SHAPES[0]);
    for &warp in &warps {
        stack.start(warp.into(), 0xff);
        let split = |exec| Issued { pc: 10, kind: Kind::Branch, stop: true, exec, target: 50, join: 50 };
        let step = stack.step(warp.into(), &split(0xf));
        stack.issued(warp.into(), &step);
        let step = stack.step(warp.into(), &split(0xf0));
        stack.issued(warp.into(), &step);
    }
    let mut served = Vec::new();
    for _ in 0..5 {
        served.push(stack.returning().map(|(warp, _)| warp));
        stack.advance();
    }
    assert_eq!(served, [None, Some(3), Some(9), Some(20), None]);
}

#[test]
fn two_ports_issue_for_two_warps() {
    let mut stack = Driver::<SimtStack>::new(&SM_SHAPES[1]);
    for warp in [2, 5] {
        let inputs = &mut stack.inputs;
        (inputs.start_valid_i, inputs.start_warp_i, inputs.start_mask_i) = (1, warp, 0xff);
        stack.cycle();
    }
    let inputs = &mut stack.inputs;
    (inputs.start_valid_i, inputs.issue_valid_i, inputs.issue_stop_i) = (0, 0b11, 0b11);
    (inputs.issue_warp_i, inputs.issue_pc_i) = ([2, 5], [10, 20]);
    (inputs.issue_kind_i, inputs.issue_mask_i) = ([0, 1], [0xff, 0x0f]);
    (inputs.issue_target_i, inputs.issue_join_i) = ([0, 40], [0, 50]);
    let out = stack.cycle();
    assert_eq!((out.resume_valid_o, out.resume_warp_o[..2].to_vec()), (0b11, vec![2, 5]));
    assert_eq!(out.resume_pc_o[..2], [11, 21]);
    stack.inputs.issue_valid_i = 0;
    let out = stack.cycle();
    assert_eq!((out.mask_o[2], out.mask_o[5], out.reconvergence_o[5], out.resume_valid_o), (0xff, 0xf0, 50, 0));
}

#[test]
fn reset_ends_all_warps_and_groups_go_to_the_stack_all_the_same() {
    let mut warp = Warp::new(0xff);
    assert_eq!(warp.branch(10, 0x0f, 40, 50), Some(11));
    warp.branch(11, 0xf0, 50, 50);
    warp.stack.inputs.rst_ni = 0;
    warp.cycle();
    warp.stack.inputs.rst_ni = 1;
    assert_eq!(warp.cycle(), [None, None], "what was read in reset is forgotten");
    assert_eq!(warp.state(), (0, 0, 0, 0));
    assert_eq!((warp.stack.probe().pop_q, warp.stack.probe().read_valid_q), (0, 0));

    let mut warp = Warp::new(0xff);
    warp.stack.inputs.rst_ni = 0;
    warp.branch(10, 0x0f, 40, 50);
    let word = 32 * 17;
    let memories = warp.stack.block.memories();
    let paths: Vec<_> = memories.iter().map(|memory| memory.path.as_str()).collect();
    assert_eq!(
        paths[..3],
        ["gen_bank[0].u_where_ram.mem_q", "gen_bank[0].u_where_ram.rdata_q", "gen_bank[0].u_mask_ram.mem_q"]
    );
    assert_eq!((memories[2].words[word], memories[6].words[word]), (0xff, 0x0f));
    assert_eq!(memories[0].words[2 * word..][..2], [50 << 20 | NO_PC, 50 >> 12]);
}

/// The stack of `docs/isa.md`, rule by rule.
struct Reference {
    pc: u32,
    lanes: u32,
    reconvergence: u32,
    waiting: Vec<Group>,
    live: u32,
}

impl Reference {
    fn new(lanes: u32) -> Self {
        Self { pc: 0, lanes, reconvergence: NO_PC, waiting: Vec::new(), live: lanes }
    }

    /// The active group executes the instruction at its address, in the lanes of `exec`.
    fn execute(&mut self, kind: Kind, exec: u32, target: u32, join: u32) {
        let next = self.pc + 1;
        let others = self.lanes & !exec;
        match kind {
            Kind::Branch if exec != 0 && others != 0 => {
                if self.reconvergence != join && join != NO_PC {
                    self.waiting.push(Group { pc: join, reconvergence: self.reconvergence, lanes: self.lanes });
                }
                self.reconvergence = join;
                // The sides, in the order in which they run; one that would begin at the join is in the entry below.
                let sides = [(next, others), (target, exec)].into_iter().filter(|side| side.0 != join);
                for (pc, lanes) in sides.rev() {
                    self.waiting.push(Group { pc, reconvergence: join, lanes });
                }
                self.lanes = 0;
            }
            Kind::Branch if exec != 0 => self.pc = target,
            Kind::Exit => {
                (self.live, self.lanes) = (self.live & !exec, others);
                self.pc = next;
            }
            Kind::Branch | Kind::Other => self.pc = next,
        }
        // A group without lanes, or at its reconvergence point, gives way to the first one that has living lanes.
        while self.live != 0 && (self.lanes == 0 || self.pc == self.reconvergence) {
            let group = self.waiting.pop().expect("living lanes are in the group or wait");
            (self.pc, self.reconvergence, self.lanes) = (group.pc, group.reconvergence, group.lanes & self.live);
        }
    }
}

/// A program of a few instructions, all of which jump about: every warp runs it, choosing at random which lanes do
/// what.
#[test]
fn it_is_the_stack_of_the_instruction_set() {
    let mut random = Random(11);
    let mut deepest = 0;
    for run in 0..3000 {
        let first = random.next() as u32 | 1;
        let mut warp = Warp::new(first);
        let mut reference = Reference::new(first);
        // Half of the runs take lanes away one by one and hardly come anywhere twice, which is what makes a stack deep.
        let sparing = run % 2 == 0;
        let size = if sparing { 1 << 18 } else { 4 + random.below(40) };
        let ending = random.below(20);
        for _ in 0..200 {
            let (mask, live, _, depth) = warp.state();
            deepest = deepest.max(depth);
            assert_eq!((mask, live), (reference.lanes, reference.live));
            if live == 0 {
                break;
            }
            let any = if sparing { 1 << (random.next() % 32) } else { random.next() as u32 };
            let exec = match random.below(20) {
                0 => mask,
                1 => 0,
                _ => mask & any,
            };
            let kind = match random.below(100) {
                n if n < ending => Kind::Exit,
                n if n < 60 => Kind::Branch,
                _ => Kind::Other,
            };
            let near = reference.pc + 1;
            let target = if random.chance(20) { near } else { random.below(size) as u32 };
            let join = match random.below(8) {
                0 => NO_PC,
                1 => near,
                2 => target,
                3 => reference.reconvergence,
                _ => random.below(size) as u32,
            };
            let (pc, before) = (reference.pc, reference.reconvergence);
            let stop = kind != Kind::Other || near == before || random.chance(50);
            reference.execute(kind, exec, target, join);
            let found = warp.issue(kind, pc, stop, exec, [target, join]);
            if reference.live == 0 {
                assert_eq!(found, None);
            } else if kind == Kind::Other && !stop {
                assert_eq!((found, reference.pc), (None, near));
            } else {
                assert_eq!(found.or_else(|| warp.returned().map(|(_, pc)| pc)), Some(reference.pc));
            }
            // The fetch runs up to what stands before the reconvergence point.
            let (mask, _, reconvergence, _) = warp.state();
            assert_eq!(mask, reference.lanes);
            assert!(reference.live == 0 || reconvergence == reference.reconvergence);
        }
    }
    assert!((31..=62).contains(&deepest), "{deepest}");
}

#[test]
fn sixty_two_places_are_enough() {
    // Lanes leave one by one, each branch with a join of its own.
    let mut warp = Warp::new(u32::MAX);
    for lane in 0..31 {
        assert_eq!(warp.branch(100 * lane, 1 << lane, 100 * lane + 50, 100 * lane + 90), Some(100 * lane + 1));
    }
    assert_eq!(warp.state(), (1 << 31, u32::MAX, 3090, 62));
    for lane in (0..31).rev() {
        assert_eq!(warp.other(100 * lane + 89), None);
        assert_eq!(warp.returned(), Some((2, 100 * lane + 50)));
        assert_eq!(warp.other(100 * lane + 89), None);
        assert_eq!(warp.returned(), Some((2, 100 * lane + 90)));
    }
    assert_eq!(warp.state(), (u32::MAX, u32::MAX, NO_PC, 0));
}
