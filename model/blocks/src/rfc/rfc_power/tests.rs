use super::*;
use crate::Shape;
use crate::config::{Config, Start};
use crate::testing::{Driver, event};

/// GREENER's straps: a word in SLEEP wakes in 1 cycle, one that is OFF in 3.
const STRAPS: PowerStraps = PowerStraps { mode: mode::HINTS_AND_TABLE, wake_sleep: 1, wake_off: 3 };
const SLEEP: u8 = 1;
const OFF: u8 = 2;

impl Driver<RfcPower> {
    fn with(settings: &[&str]) -> Self {
        let shape = RfcShape::of(&Config::load(Start::Preset("rfc"), settings).expect("a configuration"));
        let mut power = Self::new(&shape);
        power.inputs.cfg_i = STRAPS.word();
        power
    }

    /// An instruction of warp 1 in T, with sources that are read in the MRF where `asked` says so.
    fn look(&mut self, tag: u8, regs: [u8; 3], asked: u8, left: [u8; 3]) -> &mut Self {
        let i = &mut self.inputs;
        (i.look_valid_i, i.look_warp_i[0], i.look_tag_i[0]) = (1, 1, tag);
        i.look_src_i = (0..3).filter(|&k| regs[k] != NO_REG).fold(0, |set, k| set | 1 << k);
        i.look_asked_i = asked;
        i.look_reg_i[..3].copy_from_slice(&regs);
        i.look_left_i[..3].copy_from_slice(&left);
        self
    }

    /// The instruction waits for its words and leaves T; returns the number of cycles that it waited.
    fn goes(&mut self) -> u32 {
        let mut waited = 0;
        while self.cycle().look_on_o & 1 == 0 {
            waited += 1;
            assert!(waited < 20, "it waits forever");
        }
        // One more cycle, in which the instruction leaves T.
        self.inputs.move_i = 1;
        self.step();
        waited
    }

    /// Runs one cycle, then clears all inputs that stand for events.
    fn step(&mut self) -> RfcPowerOut {
        let out = self.cycle();
        let i = &mut self.inputs;
        (i.look_valid_i, i.move_i, i.write_valid_i, i.taken_i, i.done_i, i.read_valid_i) = (0, 0, 0, 0, 0, 0);
        (i.read_keep_i, i.over_i) = (0, 0);
        out
    }

    fn read(&mut self, tag: u8) -> RfcPowerOut {
        (self.inputs.read_valid_i, self.inputs.read_tag_i[0]) = (1, tag);
        self.step()
    }

    /// The number of words that are ON, and of words in SLEEP.
    fn words(&mut self) -> (u64, u64) {
        let out = self.step();
        (event(POWER_EVENT, out.event_o, "on"), event(POWER_EVENT, out.event_o, "asleep"))
    }
}

#[test]
fn a_word_wakes_after_its_latency_and_takes_the_state_of_its_read() {
    let mut power = Driver::<RfcPower>::with(&[]);
    assert_eq!(power.look(0, [5, 7, NO_REG], 0b01, [SLEEP, SLEEP, 0]).goes(), 3);
    assert_eq!(power.words(), (1, 0), "what hits is not woken");
    let out = power.read(0);
    assert_eq!((event(POWER_EVENT, out.event_o, "to_sleep"), power.words()), (1, (0, 1)));
    assert_eq!(power.look(1, [5, NO_REG, NO_REG], 1, [0; 3]).goes(), 1);
    power.read(1);
    assert_eq!(power.words(), (1, 0));
}

#[test]
fn the_last_of_several_accesses_leaves_the_state() {
    let mut power = Driver::<RfcPower>::with(&[]);
    power.look(0, [5, NO_REG, NO_REG], 1, [SLEEP, 0, 0]).goes();
    assert_eq!(power.look(1, [5, 5, NO_REG], 1, [OFF, SLEEP, 0]).goes(), 0);
    power.read(0);
    assert_eq!(power.words(), (1, 0), "another read is in progress");
    power.read(1);
    assert_eq!(power.words(), (0, 0), "the lowest source counts");
}

#[test]
fn a_dead_register_that_hits_goes_off_unless_it_is_accessed() {
    let mut power = Driver::<RfcPower>::with(&[]);
    for writing in [false, true] {
        power.look(0, [5, NO_REG, NO_REG], 1, [SLEEP, 0, 0]).goes();
        power.read(0);
        power.look(1, [5, NO_REG, NO_REG], 0, [OFF, 0, 0]).goes();
        let value = |power: &mut Driver<RfcPower>, taken| {
            let i = &mut power.inputs;
            (i.write_valid_i, i.write_warp_i[0], i.write_reg_i[0], i.taken_i) = (1, 1, 5, taken);
        };
        if writing {
            value(&mut power, 0);
            assert_eq!(power.step().write_on_o & 1, 0);
            value(&mut power, 1);
            assert_eq!(power.step().write_on_o & 1, 1);
        }
        power.read(1);
        if writing {
            assert_eq!(power.words(), (1, 0));
            power.inputs.done_i = 1;
            power.step();
        }
        assert_eq!(power.words(), (0, u64::from(writing)), "a write leaves SLEEP");
    }
    power.inputs.over_i = 2;
    power.step();
    assert_eq!(power.words(), (0, 0));
}

#[test]
fn another_instruction_keeps_a_word_on() {
    let mut power = Driver::<RfcPower>::with(&[]);
    power.look(0, [5, NO_REG, NO_REG], 1, [OFF, 0, 0]).goes();
    power.inputs.read_keep_i = 1;
    let out = power.read(0);
    assert_eq!((event(POWER_EVENT, out.event_o, "kept"), power.words()), (1, (1, 0)));
}

#[test]
fn a_wake_up_begins_again_when_more_is_missing() {
    let mut power = Driver::<RfcPower>::with(&[]);
    power.look(0, [5, 6, NO_REG], 0b01, [0; 3]);
    power.cycle();
    power.look(0, [5, 6, NO_REG], 0b11, [0; 3]);
    assert_eq!(power.goes(), 3);
}
