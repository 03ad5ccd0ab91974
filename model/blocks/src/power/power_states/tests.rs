use super::*;
use crate::Ports;
use crate::instruction::RolesFields;
use crate::testing::{Driver, SM_SHAPES, event};

/// Roles of an instruction with such sources and such a result.
fn roles(sources: [u8; 3], d: u8) -> Roles {
    let [a, b, c] = sources;
    RolesFields { unit: 1, p: 7, t: 7, s: 7, guard: 7, d, c, b, a, ..RolesFields::default() }.into()
}

const NO: u8 = NO_REG;
const ON: u8 = 0;
const SLEEP: u8 = 1;
const OFF: u8 = 2;

/// The states of first source, second source and result as a control word has them.
fn states(first: u8, second: u8, result: u8) -> u8 {
    first | second << 2 | result << 4
}

/// The block with two ports and 8 warps, and its straps.
fn block(mode: u8, wake_sleep: u8, wake_off: u8) -> Driver<PowerStates> {
    let mut block = Driver::<PowerStates>::new(&SM_SHAPES[1]);
    block.inputs.cfg_i = PowerStraps { mode, wake_sleep, wake_off }.word();
    block.inputs.alive_i = 0xff;
    block
}

impl Driver<PowerStates> {
    fn head(&mut self, w: usize, roles: Roles) {
        self.inputs.clear_i |= 1 << w;
        self.inputs.head_roles_i[w] = roles.0;
    }

    fn set(&mut self, p: usize, w: u8, roles: Roles, states: u8) {
        let inputs = &mut self.inputs;
        inputs.set_valid_i |= 1 << p;
        (inputs.set_warp_i[p], inputs.set_roles_i[p], inputs.set_states_i[p]) = (w, roles.0, states);
    }

    fn read(&mut self, p: usize, w: u8, roles: Roles, states: u8, keep: u8) {
        let inputs = &mut self.inputs;
        inputs.read_valid_i |= 1 << p;
        (inputs.read_warp_i[p], inputs.read_roles_i[p], inputs.read_states_i[p]) = (w, roles.0, states);
        inputs.read_keep_i |= keep << (3 * p);
    }

    fn write(&mut self, p: usize, w: u8, reg: u8, keep: bool) {
        let inputs = &mut self.inputs;
        inputs.reg_valid_i |= 1 << p;
        (inputs.reg_warp_i[p], inputs.reg_i[p]) = (w, reg);
        inputs.reg_keep_i |= u8::from(keep) << p;
    }

    /// One cycle, after which nothing happens any more; heads stay.
    fn step(&mut self) -> PowerStatesOut {
        let out = self.cycle();
        let inputs = &mut self.inputs;
        (inputs.set_valid_i, inputs.read_valid_i, inputs.reg_valid_i) = (0, 0, 0);
        (inputs.read_keep_i, inputs.reg_keep_i, inputs.start_valid_i, inputs.launch_valid_i) = (0, 0, 0, 0);
        out
    }

    /// Wakes the registers of an instruction of warp w and sends it to the operand stage; gives the cycles for which it waits.
    fn issue(&mut self, w: u8, roles: Roles, states: u8) -> u32 {
        let before = std::mem::take(&mut self.inputs.clear_i);
        self.head(w.into(), roles);
        let mut waits = 0;
        while self.peek().clear_o == 0 {
            self.step();
            waits += 1;
            assert!(waits < 40, "it never issues");
        }
        self.set(0, w, roles, states);
        self.step();
        self.inputs.clear_i = before;
        waits
    }

    /// The outputs of the cycle, without its edge.
    fn peek(&mut self) -> PowerStatesOut {
        let mut out = PowerStatesOut::zeroed();
        self.block.late(&self.inputs, &mut out);
        out
    }

    /// The state of a register before the next edge: ON, SLEEP or OFF, and whether an access is in progress that changes it.
    fn state(&mut self, w: usize, r: u8) -> (u8, bool) {
        let mut probe = PowerStatesProbe::zeroed();
        self.block.probe(&self.inputs, &PowerStatesOut::zeroed(), &mut probe);
        let bit = |words: &[u64]| is_set(words[4 * w + usize::from(r) / 64], usize::from(r) % 64);
        let (off, asleep, pending) = (bit(&probe.off_q), bit(&probe.asleep_q), bit(&probe.pending_q));
        assert!(!(off && asleep), "one of them at most");
        let next = if off { OFF } else { u8::from(asleep) };
        (if pending { ON } else { next }, pending)
    }

    fn counts(&mut self, w: usize) -> (u8, u8) {
        let mut probe = PowerStatesProbe::zeroed();
        self.block.probe(&self.inputs, &PowerStatesOut::zeroed(), &mut probe);
        (probe.on_count_q[w], probe.asleep_count_q[w])
    }

    fn wake(&mut self, w: usize) -> u8 {
        let mut probe = PowerStatesProbe::zeroed();
        self.block.probe(&self.inputs, &PowerStatesOut::zeroed(), &mut probe);
        probe.wake_q[w]
    }
}

fn power(out: &PowerStatesOut, name: &str) -> u64 {
    event(POWER_EVENT, out.event_o, name)
}

fn wait(out: &PowerStatesOut, name: &str) -> u64 {
    event(POWER_WAIT_EVENT, out.wait_event_o.into(), name)
}

#[test]
fn everything_is_off_at_first() {
    let mut block = block(3, 1, 2);
    let out = block.step();
    assert_eq!((out.event_o, out.wait_event_o), (0, 0));
    let probe = block.probe();
    assert!(probe.off_q[..32].iter().all(|&word| word == u64::MAX));
    assert!(probe.asleep_q.iter().chain(&probe.pending_q).all(|&word| word == 0));
    assert_eq!((probe.wake_q, probe.on_count_q, probe.asleep_count_q), ([0; 48], [0; 48], [0; 48]));
}

#[test]
fn with_always_on_nothing_changes_but_the_registers_of_the_grid() {
    let mut block = block(0, 1, 2);
    let roles = roles([1, 2, 3], 4);
    block.head(2, roles);
    (block.inputs.launch_valid_i, block.inputs.launch_registers_i) = (1, 20);
    (block.inputs.start_valid_i, block.inputs.start_warp_i) = (1, 1);
    block.set(0, 2, roles, 0b10_10_10);
    for _ in 0..3 {
        let out = block.step();
        assert_eq!((out.clear_o, out.event_o, out.wait_event_o), (0b100, 0, 0));
    }
    assert_eq!(block.state(2, 1), (OFF, false));
    assert_eq!(block.probe().registers_q, 20);
}

#[test]
fn a_head_waits_as_long_as_its_slowest_register_takes() {
    for (wake_sleep, wake_off) in [(1, 2), (2, 1), (5, 9), (15, 1), (0, 0), (1, 15)] {
        let [slow, fast] = [wake_off, wake_sleep].map(|cycles| u32::from(cycles.max(1)));
        let mut block = block(2, wake_sleep, wake_off);
        // All OFF.
        assert_eq!(block.issue(3, roles([1, 2, NO], 3), states(SLEEP, ON, ON)), slow);
        block.read(0, 3, roles([1, 2, NO], 3), states(SLEEP, ON, ON), 0);
        block.step();
        assert_eq!((block.state(3, 1), block.state(3, 2)), ((SLEEP, false), (ON, false)));
        // One in SLEEP, others ON.
        assert_eq!(block.issue(3, roles([2, 1, NO], 3), states(ON, SLEEP, ON)), fast);
        block.read(0, 3, roles([2, 1, NO], 3), states(ON, SLEEP, ON), 0);
        block.step();
        // One in SLEEP, one OFF.
        assert_eq!(block.issue(3, roles([1, 9, NO], NO), 0), slow.max(fast));
        // All ON.
        assert_eq!(block.issue(3, roles([1, 9, 2], 3), 0), 0);
        // Nothing that it accesses.
        assert_eq!(block.issue(3, roles([NO; 3], NO), 0), 0);
    }
}

#[test]
fn a_wake_up_is_counted_when_it_ends_and_waits_until_then() {
    let mut block = block(2, 1, 3);
    block.head(5, roles([7, 7, 200], 7));
    for (cycle, left) in [0, 2, 1].into_iter().enumerate() {
        assert_eq!(block.wake(5), left);
        let out = block.step();
        assert_eq!((out.clear_o, wait(&out, "wait_wake"), wait(&out, "wait_read")), (0, 1, 0));
        // Each register once.
        assert_eq!(power(&out, "wake_off"), if cycle == 2 { 2 } else { 0 });
        assert_eq!((power(&out, "wake_sleep"), power(&out, "on")), (0, 0));
    }
    let out = block.step();
    assert_eq!((out.clear_o, out.wait_event_o, power(&out, "on")), (1 << 5, 0, 2));
    assert_eq!((block.wake(5), block.counts(5), block.counts(4)), (0, (2, 0), (0, 0)));
}

#[test]
fn every_register_of_a_head_counts() {
    for reg in [0, 63, 64, 127, 128, 191, 192, 254] {
        for slot in 0..4 {
            let mut names = [NO; 4];
            names[slot] = reg;
            let mut block = block(2, 1, 1);
            block.head(0, roles([names[0], names[1], names[2]], names[3]));
            assert_eq!(block.step().clear_o, 0, "register {reg} in slot {slot}");
            assert_eq!(block.step().clear_o, 1, "register {reg} in slot {slot}");
            assert_eq!(block.state(0, reg), (ON, false));
        }
    }
}

#[test]
fn no_register_is_never_looked_at() {
    let mut block = block(1, 4, 4);
    assert_eq!(block.issue(0, roles([NO; 3], NO), 0b10_10_10), 0);
    block.read(0, 0, roles([NO; 3], NO), 0b10_10_10, 0);
    block.write(0, 0, NO, false);
    assert_eq!(block.step().event_o, 0);
    let probe = block.probe();
    assert_eq!((probe.off_q[3], probe.pending_q[3]), (u64::MAX, 0));
}

#[test]
fn heads_of_different_warps_wake_together_and_one_that_is_not_clear_keeps_its_place() {
    let mut block = block(2, 1, 3);
    (0..4).for_each(|w| block.head(w, roles([w as u8, NO, NO], NO)));
    assert_eq!(wait(&block.step(), "wait_wake"), 4);
    block.inputs.clear_i = 0b0111;
    assert_eq!(wait(&block.step(), "wait_wake"), 3);
    let out = block.step();
    assert_eq!((wait(&out, "wait_wake"), power(&out, "wake_off")), (3, 3));
    assert_eq!((block.wake(3), block.state(3, 3)), (2, (OFF, false)));
    block.inputs.clear_i = 0b1111;
    assert_eq!([block.step(), block.step()].map(|out| out.clear_o), [0b0111, 0b0111]);
    assert_eq!(block.step().clear_o, 0b1111);
}

#[test]
fn a_wake_up_goes_on_for_another_head() {
    let mut block = block(2, 1, 6);
    block.head(0, roles([1, NO, NO], NO));
    block.step();
    // It is in SLEEP or OFF alike: the cycles that are left count.
    block.head(0, roles([2, NO, NO], NO));
    for left in [5, 4, 3, 2, 1] {
        assert_eq!((block.wake(0), block.step().clear_o), (left, 0));
    }
    assert_eq!((block.step().clear_o, block.state(0, 1)), (1, (OFF, false)));
}

/// Which state each slot leaves.
#[test]
fn states_are_of_the_first_two_sources_and_the_result() {
    let after = |mode: u8, sources: [u8; 3], d: u8, states: u8| {
        let mut block = block(mode, 1, 1);
        block.issue(1, roles(sources, d), states);
        let changing = [1, 2, 3, 4].map(|r| block.state(1, r).1);
        block.read(1, 1, roles(sources, d), states, 0);
        block.step();
        let read = [1, 2, 3, 4].map(|r| block.state(1, r).0);
        if d != NO {
            block.write(0, 1, d, false);
            block.step();
        }
        (changing, read, [1, 2, 3, 4].map(|r| block.state(1, r).0))
    };
    let is_not_on = |state: u8| state != ON;
    for first in [ON, SLEEP, OFF] {
        for second in [ON, SLEEP, OFF] {
            for result in [ON, SLEEP, OFF] {
                let fields = states(first, second, result);
                let of = [first, second, SLEEP, result];
                let read = [first, second, SLEEP, ON];
                assert_eq!(after(2, [1, 2, 3], 4, fields), (of.map(is_not_on), read, of));
                // Sources that are no registers have no state: the second and third of a, b, c are first and second.
                let (changing, _, of) = after(2, [NO, 1, 2], 4, fields);
                assert_eq!((changing, of), ([first, second, ON, result].map(is_not_on), [first, second, OFF, result]));
                // Of a register that is in two slots the first counts.
                assert_eq!(after(2, [1, 1, 2], 4, fields).2, [first, SLEEP, OFF, result]);
                assert_eq!(after(2, [1, 2, 1], 4, fields).2, [first, second, OFF, result]);
                // Of one that is also the result the result's.
                let (changing, read, of) = after(2, [1, 4, 3], 4, fields);
                assert_eq!(changing, [first, ON, SLEEP, result].map(is_not_on));
                assert_eq!((read, of), ([first, OFF, SLEEP, ON], [first, OFF, SLEEP, result]));
                // In mode 1 all sleep.
                assert_eq!(after(1, [1, 2, 3], 4, fields).2, [SLEEP; 4]);
            }
        }
    }
    // 3 is OFF too.
    assert_eq!(after(2, [1, 2, 3], 4, 0b11_11_11).2, [OFF, OFF, SLEEP, OFF]);
}

#[test]
fn a_source_waits_until_it_has_been_read_and_a_result_until_it_is_written() {
    let mut block = block(2, 1, 1);
    let first = roles([1, 2, NO], 3);
    block.issue(0, first, states(SLEEP, ON, OFF));
    assert_eq!([1, 2, 3].map(|r| block.state(0, r)), [(ON, true), (ON, false), (ON, true)]);
    assert_eq!(block.counts(0), (3, 0));
    // Read after read, write after read: where the state changes only.
    for (next, waits) in [(roles([1, NO, NO], NO), 1), (roles([NO; 3], 1), 1), (roles([2, NO, NO], 2), 0)] {
        block.head(0, next);
        let out = block.step();
        assert_eq!((out.clear_o, wait(&out, "wait_read"), wait(&out, "wait_wake")), (1 - waits, waits, 0));
    }
    block.head(0, roles([1, NO, NO], NO));
    block.read(0, 0, first, states(SLEEP, ON, OFF), 0);
    let out = block.step();
    assert_eq!(
        (power(&out, "to_sleep"), power(&out, "to_off"), power(&out, "on"), wait(&out, "wait_read")),
        (1, 0, 3, 1)
    );
    assert_eq!([1, 2, 3].map(|r| block.state(0, r)), [(SLEEP, false), (ON, false), (ON, true)]);
    assert_eq!(block.counts(0), (2, 1));
    // It has been read, and has to be woken up now.
    block.write(1, 0, 3, false);
    let out = block.step();
    assert_eq!((wait(&out, "wait_read"), wait(&out, "wait_wake"), power(&out, "wake_sleep")), (0, 1, 1));
    assert_eq!((power(&out, "to_sleep"), power(&out, "to_off")), (0, 1));
    assert_eq!((block.state(0, 3), block.counts(0)), ((OFF, false), (2, 0)));
    let out = block.step();
    assert_eq!((out.clear_o, power(&out, "on"), power(&out, "asleep")), (1, 2, 0));
}

#[test]
fn a_write_whose_register_stays_on_changes_nothing() {
    let mut block = block(3, 1, 1);
    block.issue(0, roles([NO; 3], 3), 0);
    block.write(0, 0, 3, true);
    let out = block.step();
    assert_eq!((power(&out, "kept"), power(&out, "to_sleep"), power(&out, "to_off")), (0, 0, 0));
    assert_eq!(block.state(0, 3), (ON, false));
}

#[test]
fn another_access_keeps_a_register_on_in_mode_3_only() {
    for (mode, keeps) in [(1, false), (2, false), (3, true)] {
        let mut block = block(mode, 1, 1);
        let used = roles([1, 2, 3], 4);
        block.issue(0, used, states(OFF, OFF, OFF));
        block.read(1, 0, used, states(OFF, OFF, OFF), 0b101);
        let out = block.step();
        let gone = if mode == 1 { SLEEP } else { OFF };
        let kept = |other: u8| if keeps { ON } else { other };
        assert_eq!([1, 2, 3].map(|r| block.state(0, r)), [kept(gone), gone, kept(SLEEP)].map(|state| (state, false)));
        assert_eq!(power(&out, "kept"), if keeps { 2 } else { 0 });
        assert_eq!(power(&out, "to_sleep") + power(&out, "to_off"), if keeps { 1 } else { 3 });
        block.write(1, 0, 4, true);
        let out = block.step();
        assert_eq!((block.state(0, 4), power(&out, "kept")), ((kept(gone), false), u64::from(keeps)));
    }
}

#[test]
fn what_two_ports_do_counts_together() {
    let mut block = block(2, 1, 2);
    for w in [2, 3] {
        block.issue(w, roles([1, 2, 3], 4), states(SLEEP, OFF, SLEEP));
    }
    for (p, w) in [(0, 2), (1, 3)] {
        block.read(p, w, roles([1, 2, 3], 4), states(SLEEP, OFF, SLEEP), 0);
    }
    let out = block.step();
    assert_eq!((power(&out, "on"), power(&out, "to_sleep"), power(&out, "to_off")), (8, 4, 2));
    block.write(0, 2, 4, false);
    block.write(1, 3, 4, false);
    let out = block.step();
    assert_eq!((power(&out, "on"), power(&out, "asleep"), power(&out, "to_sleep")), (2, 4, 2));
    let out = block.step();
    assert_eq!((power(&out, "on"), power(&out, "asleep"), power(&out, "to_sleep")), (0, 6, 0));
    assert_eq!([2, 3].map(|w| block.counts(w)), [(0, 3); 2]);
}

#[test]
fn the_registers_of_a_warp_that_has_ended_are_off_when_nothing_of_it_is_in_flight() {
    let mut block = block(2, 4, 1);
    block.issue(6, roles([1, 2, NO], 3), states(SLEEP, ON, ON));
    block.read(0, 6, roles([1, 2, NO], 3), states(SLEEP, ON, ON), 0);
    block.step();
    block.issue(5, roles([1, 2, NO], NO), states(SLEEP, SLEEP, ON));
    // A wake-up is in progress.
    block.head(6, roles([1, NO, NO], NO));
    block.step();
    block.inputs.clear_i = 0;
    for (alive, idle) in [(0xff, 0xff), (0xbf, 0xbf), (0xff, 0xbf)] {
        (block.inputs.alive_i, block.inputs.idle_i) = (alive, idle);
        block.step();
        assert_eq!((block.counts(6), block.wake(6)), ((2, 1), 3));
    }
    (block.inputs.alive_i, block.inputs.idle_i) = (0x3f, 0xff);
    let out = block.step();
    assert_eq!((power(&out, "to_off"), power(&out, "on")), (0, 4));
    assert_eq!((block.counts(6), block.wake(6), block.counts(5)), ((0, 0), 0, (2, 0)));
    assert_eq!([1, 2, 3].map(|r| block.state(6, r)), [(OFF, false); 3]);
    // Counts that are both 0 say that there is nothing to switch off.
    block.head(6, roles([1, NO, NO], NO));
    block.step();
    assert_eq!((block.counts(6), block.state(6, 1).0), ((1, 0), ON));
    block.step();
    assert_eq!((block.counts(6), block.state(6, 1).0), ((0, 0), OFF));
}

#[test]
fn sleep_always_puts_the_registers_of_a_warp_that_begins_to_sleep() {
    for (mode, registers, asleep) in [(1, 70, 70), (1, 255, 255), (1, 0, 0), (2, 70, 0), (3, 70, 0)] {
        let mut block = block(mode, 1, 3);
        (block.inputs.launch_valid_i, block.inputs.launch_registers_i) = (1, registers);
        // A warp that begins as a grid is taken has those of the grid before.
        (block.inputs.start_valid_i, block.inputs.start_warp_i) = (1, 2);
        block.step();
        assert_eq!((block.counts(2), block.probe().registers_q), ((0, 0), 0));
        (block.inputs.start_valid_i, block.inputs.start_warp_i) = (1, 7);
        block.step();
        assert_eq!((block.counts(7), block.counts(6)), ((0, asleep), (0, 0)));
        for r in [0, 63, 64, 69, 70, 128, 254] {
            let sleeps = mode == 1 && r < registers;
            assert_eq!(block.state(7, r), (if sleeps { SLEEP } else { OFF }, false), "{r} of {registers}");
        }
        assert_eq!(power(&block.step(), "asleep"), asleep.into());
        assert_eq!(block.state(7, 255), (OFF, false));
    }
}

#[test]
fn a_warp_that_begins_again_loses_what_was_left() {
    let mut block = block(1, 3, 3);
    (block.inputs.launch_valid_i, block.inputs.launch_registers_i) = (1, 10);
    block.step();
    block.issue(4, roles([1, 2, NO], 20), 0);
    block.read(0, 4, roles([1, 2, NO], 20), 0, 0);
    block.step();
    assert_eq!((block.state(4, 20), block.counts(4)), ((ON, true), (1, 2)));
    block.head(4, roles([1, NO, NO], NO));
    block.step();
    assert_eq!(block.wake(4), 2);
    block.inputs.clear_i = 0;
    (block.inputs.start_valid_i, block.inputs.start_warp_i) = (1, 4);
    block.step();
    assert_eq!((block.state(4, 20), block.wake(4), block.counts(4)), ((OFF, false), 0, (0, 10)));
}

#[test]
fn reset_switches_all_off() {
    let mut block = block(1, 3, 3);
    (block.inputs.launch_valid_i, block.inputs.launch_registers_i) = (1, 10);
    block.step();
    (block.inputs.start_valid_i, block.inputs.start_warp_i) = (1, 4);
    block.step();
    block.issue(4, roles([1, 2, NO], 3), 0);
    block.head(4, roles([5, NO, NO], NO));
    block.step();
    block.inputs.rst_ni = 0;
    block.step();
    (block.inputs.rst_ni, block.inputs.clear_i) = (1, 0);
    let out = block.step();
    assert_eq!(out.event_o, 0);
    assert!(block.probe().off_q[..32].iter().all(|&word| word == u64::MAX));
    assert!(block.probe().pending_q.iter().all(|&word| word == 0));
    assert_eq!((block.probe().registers_q, block.probe().wake_q, block.counts(4)), (0, [0; 48], (0, 0)));
}

/// The page with nothing kept: everything is found by the registers of the state, each cycle, one register after another.
mod page {
    use super::*;

    pub(super) struct Page {
        probe: PowerStatesProbe,
        warps: usize,
        ports: usize,
    }

    impl Page {
        pub(super) fn new(shape: &SmShape) -> Self {
            let mut page = Self { probe: PowerStatesProbe::zeroed(), warps: shape.warps, ports: shape.ports() };
            page.reset();
            page
        }

        fn reset(&mut self) {
            self.probe = PowerStatesProbe::zeroed();
            self.probe.off_q = [u64::MAX; WORDS * MAX_WARPS];
        }

        fn at(w: usize, r: u8) -> (usize, u64) {
            (4 * w + usize::from(r) / 64, 1 << (r % 64))
        }

        pub(super) fn pending(&self, w: usize, r: u8) -> bool {
            let (word, bit) = Self::at(w, r);
            self.probe.pending_q[word] & bit != 0
        }

        pub(super) fn state(&self, w: usize, r: u8) -> u8 {
            let (word, bit) = Self::at(w, r);
            match (self.probe.off_q[word] & bit != 0, self.probe.asleep_q[word] & bit != 0) {
                (true, _) => OFF,
                (_, true) => SLEEP,
                _ => ON,
            }
        }

        pub(super) fn is_on(&self, w: usize, r: u8) -> bool {
            self.pending(w, r) || self.state(w, r) == ON
        }

        fn put(&mut self, w: usize, r: u8, state: u8, pending: bool) {
            let (word, bit) = Self::at(w, r);
            let put = |to: &mut u64, there: bool| if there { *to |= bit } else { *to &= !bit };
            put(&mut self.probe.off_q[word], state == OFF);
            put(&mut self.probe.asleep_q[word], state == SLEEP);
            put(&mut self.probe.pending_q[word], pending);
        }

        pub(super) fn registers(roles: u64) -> Vec<u8> {
            let roles = Roles(roles);
            let mut all: Vec<u8> =
                [roles.a(), roles.b(), roles.c(), roles.d()].into_iter().filter(|&r| r != NO).collect();
            all.sort_unstable();
            all.dedup();
            all
        }

        /// Registers, with their slots (3: the result) and their states.
        pub(super) fn left(mode: u8, roles: u64, states: u8) -> Vec<(usize, u8, u8)> {
            let roles = Roles(roles);
            let mut all: Vec<(usize, u8, u8)> = Vec::new();
            let state = |field: usize| match (mode, states >> (2 * field) & 3) {
                (1, _) => SLEEP,
                (_, 3) => OFF,
                (_, state) => state,
            };
            for (slot, r) in roles.sources().into_iter().enumerate().filter(|&(_, r)| r != NO) {
                let place = roles.sources()[..slot].iter().filter(|&&r| r != NO).count();
                let state = if place == 2 { SLEEP } else { state(place) };
                if r != roles.d() && all.iter().all(|&(_, other, _)| other != r) {
                    all.push((slot, r, state));
                }
            }
            if roles.d() != NO {
                all.push((3, roles.d(), state(2)));
            }
            all
        }

        /// A cycle.
        pub(super) fn cycle(&mut self, i: &PowerStatesIn) -> (PowerStatesOut, PowerStatesProbe) {
            let before = self.probe;
            let straps = PowerStraps::of(i.cfg_i);
            let mut out = PowerStatesOut { clear_o: i.clear_i, ..PowerStatesOut::zeroed() };
            let sum = |counts: &[u8]| counts[..self.warps].iter().map(|&count| u32::from(count)).sum::<u32>();
            let mut event = [sum(&before.on_count_q), sum(&before.asleep_count_q), 0, 0, 0, 0, 0];
            let mut waits = [0, 0];
            if i.rst_ni == 0 && straps.mode == 0 {
                self.reset();
                return (out, before);
            }
            if straps.mode == 0 {
                if i.launch_valid_i != 0 {
                    self.probe.registers_q = i.launch_registers_i;
                }
                return (out, before);
            }
            // Heads, and the wake-ups that end.
            for w in (0..self.warps).filter(|&w| i.clear_i >> w & 1 == 1) {
                let registers = Self::registers(i.head_roles_i[w]);
                if registers.iter().any(|&r| self.pending(w, r)) {
                    waits[1] += 1;
                    out.clear_o &= !(1 << w);
                    continue;
                }
                let others: Vec<u8> = registers.iter().copied().filter(|&r| !self.is_on(w, r)).collect();
                if others.is_empty() {
                    continue;
                }
                waits[0] += 1;
                out.clear_o &= !(1 << w);
                let latency = |r: &u8| if self.state(w, *r) == OFF { straps.wake_off } else { straps.wake_sleep };
                let fresh = others.iter().map(latency).max().unwrap().max(1);
                let n = if before.wake_q[w] == 0 { fresh } else { before.wake_q[w] };
                self.probe.wake_q[w] = n - 1;
                if n == 1 {
                    for r in others {
                        let sleeps = self.state(w, r) == SLEEP;
                        event[if sleeps { 2 } else { 3 }] += 1;
                        self.probe.on_count_q[w] += 1;
                        self.probe.asleep_count_q[w] -= u8::from(sleeps);
                        self.put(w, r, ON, false);
                    }
                }
            }
            // Accesses that end.
            let mut ends: Vec<(usize, u8, bool)> = Vec::new();
            for p in (0..self.ports).filter(|&p| i.read_valid_i >> p & 1 == 1) {
                for (slot, r, state) in Self::left(straps.mode, i.read_roles_i[p], i.read_states_i[p]) {
                    if slot != 3 && state != ON {
                        ends.push((i.read_warp_i[p].into(), r, i.read_keep_i >> (3 * p + slot) & 1 == 1));
                    }
                }
            }
            for p in (0..self.ports).filter(|&p| i.reg_valid_i >> p & 1 == 1) {
                let w = usize::from(i.reg_warp_i[p]);
                if before.pending_q[Self::at(w, i.reg_i[p]).0] & Self::at(w, i.reg_i[p]).1 != 0 {
                    ends.push((w, i.reg_i[p], i.reg_keep_i >> p & 1 == 1));
                }
            }
            for (w, r, keep) in ends {
                let state = self.state(w, r);
                if keep && straps.mode == 3 {
                    event[6] += 1;
                    self.put(w, r, ON, false);
                } else {
                    event[if state == SLEEP { 4 } else { 5 }] += 1;
                    self.probe.on_count_q[w] -= 1;
                    self.probe.asleep_count_q[w] += u8::from(state == SLEEP);
                    self.put(w, r, state, false);
                }
            }
            for p in (0..self.ports).filter(|&p| i.set_valid_i >> p & 1 == 1) {
                for (_, r, state) in Self::left(straps.mode, i.set_roles_i[p], i.set_states_i[p]) {
                    if state != ON {
                        self.put(i.set_warp_i[p].into(), r, state, true);
                    }
                }
            }
            for w in 0..self.warps {
                let over = i.alive_i >> w & 1 == 0 && i.idle_i >> w & 1 == 1;
                if over && (before.on_count_q[w], before.asleep_count_q[w]) != (0, 0) {
                    self.clean(w, 0);
                }
            }
            if straps.mode == 1 && i.start_valid_i != 0 {
                self.clean(i.start_warp_i.into(), before.registers_q);
            }
            if i.launch_valid_i != 0 {
                self.probe.registers_q = i.launch_registers_i;
            }
            out.event_o = pack(POWER_EVENT, event);
            out.wait_event_o = pack(POWER_WAIT_EVENT, waits) as u16;
            if i.rst_ni == 0 {
                self.reset();
            }
            (out, before)
        }

        fn clean(&mut self, w: usize, asleep: u8) {
            for r in 0..NO {
                self.put(w, r, if r < asleep { SLEEP } else { OFF }, false);
            }
            (self.probe.wake_q[w], self.probe.on_count_q[w], self.probe.asleep_count_q[w]) = (0, 0, asleep);
        }
    }
}

/// What the SM may do: instructions issue only when they are clear, are read in order, and write after that.
mod machine {
    use super::page::Page;
    use super::*;
    use crate::testing::Random;
    use std::collections::VecDeque;

    #[derive(Clone, Copy)]
    struct Flying {
        warp: u8,
        roles: u64,
        states: u8,
    }

    #[derive(Default)]
    pub(super) struct Machine {
        heads: Vec<Option<u64>>,
        unread: VecDeque<Flying>,
        unwritten: Vec<Flying>,
        alive: u64,
        pub(super) seen: [u64; 3],
    }

    impl Machine {
        pub(super) fn new(warps: usize) -> Self {
            Self { heads: vec![None; warps], ..Self::default() }
        }

        fn is_idle(&self, w: usize) -> bool {
            self.unread.iter().chain(&self.unwritten).all(|flying| usize::from(flying.warp) != w)
        }

        /// Inputs that may come; `page` has the state before the edge.
        pub(super) fn drive(
            &mut self,
            random: &mut Random,
            page: &Page,
            i: &mut PowerStatesIn,
            ports: usize,
            mode: u8,
        ) {
            *i = PowerStatesIn::zeroed();
            i.rst_ni = u8::from(!random.chance(1) || !random.chance(10));
            i.cfg_i = PowerStraps { mode, wake_sleep: 2, wake_off: 3 }.word();
            let warps = self.heads.len();
            for w in 0..warps {
                let idle = self.is_idle(w);
                i.idle_i |= u64::from(idle) << w;
                if self.alive >> w & 1 == 0 && idle && i.start_valid_i == 0 && random.chance(20) {
                    (i.start_valid_i, i.start_warp_i) = (1, w as u8);
                }
                if self.alive >> w & 1 == 0 {
                    continue;
                }
                let names = [(); 4].map(|()| if random.chance(30) { NO } else { random.below(6) as u8 });
                let head = *self.heads[w].get_or_insert_with(|| roles([names[0], names[1], names[2]], names[3]).0);
                let results = self.unread.iter().chain(&self.unwritten).filter(|flying| usize::from(flying.warp) == w);
                let free = results.clone().all(|flying| {
                    let d = Roles(flying.roles).d();
                    d == NO || !Page::registers(head).contains(&d)
                });
                if !free {
                    continue;
                }
                i.clear_i |= 1 << w;
                i.head_roles_i[w] = head;
                let clear = Page::registers(head).iter().all(|&r| page.is_on(w, r) && !page.pending(w, r));
                let p = w % ports;
                if (clear || mode == 0) && i.set_valid_i >> p & 1 == 0 && random.chance(60) {
                    i.set_valid_i |= 1 << p;
                    let states = (random.next() >> 20) as u8 & 0x3f;
                    (i.set_warp_i[p], i.set_roles_i[p], i.set_states_i[p]) = (w as u8, head, states);
                }
            }
            i.alive_i = self.alive;
            for p in 0..ports {
                if !self.unread.is_empty() && random.chance(50) {
                    let read = self.unread.pop_front().unwrap();
                    i.read_valid_i |= 1 << p;
                    (i.read_warp_i[p], i.read_roles_i[p], i.read_states_i[p]) = (read.warp, read.roles, read.states);
                    self.unwritten.push(read);
                }
            }
            let fresh = i.read_valid_i.count_ones() as usize;
            for p in 0..ports {
                let old = self.unwritten.len() - fresh.min(self.unwritten.len());
                if old > 0 && random.chance(50) {
                    let written = self.unwritten.remove(random.below(old));
                    let d = Roles(written.roles).d();
                    if d != NO {
                        i.reg_valid_i |= 1 << p;
                        (i.reg_warp_i[p], i.reg_i[p]) = (written.warp, d);
                    }
                }
            }
            (i.read_keep_i, i.reg_keep_i) = ((random.next() >> 9) as u8 & 0x3f, (random.next() >> 9) as u8 & 3);
            (i.launch_valid_i, i.launch_registers_i) = (random.chance(5).into(), random.below(7) as u8);
            // What follows for the next cycle.
            for p in (0..ports).filter(|&p| i.set_valid_i >> p & 1 == 1) {
                let (warp, roles, states) = (i.set_warp_i[p], i.set_roles_i[p], i.set_states_i[p]);
                self.unread.push_back(Flying { warp, roles, states });
                self.heads[usize::from(warp)] = None;
                if random.chance(4) {
                    self.alive &= !(1 << warp);
                }
            }
            if i.start_valid_i != 0 {
                self.alive |= 1 << i.start_warp_i;
            }
            if i.rst_ni == 0 {
                let seen = self.seen;
                *self = Self { seen, ..Self::new(warps) };
            }
        }
    }
}

#[test]
fn what_is_kept_follows_from_the_state() {
    use std::cell::RefCell;

    for (shape, mode) in SM_SHAPES.iter().flat_map(|shape| (0..4).map(move |mode| (shape, mode))) {
        let page = RefCell::new(page::Page::new(shape));
        let machine = RefCell::new(machine::Machine::new(shape.warps));
        let mut events = [0; 7];
        crate::testing::compare::<PowerStates>(
            shape,
            6000,
            |random, inputs| machine.borrow_mut().drive(random, &page.borrow(), inputs, shape.ports(), mode),
            |inputs| {
                let (out, probe) = page.borrow_mut().cycle(inputs);
                for (sum, (name, _)) in events.iter_mut().zip(POWER_EVENT) {
                    *sum += power(&out, name);
                }
                machine.borrow_mut().seen[usize::from(out.wait_event_o & 0x3f != 0)] += 1;
                (out, probe)
            },
        );
        let expected = match mode {
            0 => [false; 7],
            1 => [true, true, true, false, true, false, false],
            2 => [true, true, true, true, true, true, false],
            _ => [true; 7],
        };
        let found = events.map(|sum| sum > 100);
        assert!(found.iter().zip(expected).all(|(&found, expected)| found || !expected), "mode {mode}: {events:?}");
        assert!(mode == 0 || machine.borrow().seen[1] > 100, "mode {mode}: heads wait for reads");
    }
}
