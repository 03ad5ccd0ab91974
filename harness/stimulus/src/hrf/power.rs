//! `hrf_power`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfPower, HrfPowerIn, HrfPowerOut, HrfPowerProbe, HrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, Twin};
use crate::{Cover, Driver, Knob, Knobs};

/// Keeps a buffer that fills and is emptied, and a twin, to know whether its next entry has power.
pub(crate) struct PowerDriver {
    entries: u8,
    reset: Reset,
    twin: Twin<HrfPower>,
    used: u8,
}

const RESULT: usize = 0;
const EMPTY: usize = 1;
const JUMP: usize = 2;
const POWERED: usize = 3;
const WAKE: usize = 4;
const SLEEP: usize = 5;

impl Driver for PowerDriver {
    type In = HrfPowerIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "result", doc: "a result wants the next entry", values: &[300, 1000] },
        Knob { name: "empty", doc: "the buffer is emptied", values: &[5, 30, 100] },
        Knob { name: "jump", doc: "many entries are taken at once, as many as have power", values: &[20, 300] },
        Knob { name: "powered", doc: "strap: entries always on, in fours", values: &[0, 1, 1, 1, 1, 2, 4, 15] },
        Knob { name: "wake", doc: "strap: cycles to wake", values: &[0, 1, 2, 3, 4, 8, 15] },
        Knob { name: "sleep", doc: "strap: cycles to sleep", values: &[0, 1, 2, 3, 4, 7] },
        Knob { values: &[0, 20, 80], ..RESET },
    ];

    fn new(shape: &HrfShape, _: &Config) -> Self {
        let entries = shape.buffer_entries as u8;
        Self { entries, reset: Reset::default(), twin: Twin::new(shape), used: 0 }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HrfPowerIn) {
        let strap = |knob: usize| knobs.get(knob) as u16;
        i.rst_ni = self.reset.next(rng, knobs.get(6));
        i.cfg_i = strap(POWERED) | strap(WAKE) << 4 | strap(SLEEP) << 8;
        (i.used_i, i.need_i) = (self.used, 0);
        self.twin.early();
        self.twin.late(i);
        let wants = rng.chance(knobs.get(RESULT)) && self.used < self.entries;
        let closed = self.twin.out.closed_o == 1;
        i.need_i = (wants && closed).into();
        self.twin.late(i);
        self.twin.clock(i);
        if rng.chance(knobs.get(EMPTY)) || i.rst_ni == 0 {
            self.used = 0;
        } else if wants && !closed {
            let powered = 4 * knobs.get(POWERED) as u8;
            let end = if self.used < powered { powered.min(self.entries) } else { self.entries };
            let most = if rng.chance(knobs.get(JUMP)) { end - self.used } else { 1 };
            self.used += 1 + rng.below(most.into()) as u8;
        }
    }
}

pub(crate) struct PowerCover {
    entries: u8,
    /// Whether a result waited for power in the cycle before.
    waited: bool,
    /// Whether they fell asleep then.
    fell: bool,
}

const OFF: u8 = 0;
const WAKING: u8 = 1;
const ON: u8 = 2;
const FALLING: u8 = 3;

impl Cover for PowerCover {
    type In = HrfPowerIn;
    type Out = HrfPowerOut;
    type Probe = HrfPowerProbe;

    fn points(shape: &HrfShape) -> Vec<&'static str> {
        let mut points = vec![
            "off, the next entry is the first that is gated",
            "off, the next entry is below the threshold",
            "no gating",
            "wakes at once, 0 cycles",
            "wakes at once, 1 cycle",
            "wakes for 2 cycles",
            "wakes for 3 cycles",
            "wakes for 15 cycles",
            "a result waits while they wake",
            "the result goes away while they wake",
            "the last cycle of waking",
            "on, entries above the threshold are in use",
            "on as nobody needs them any more",
            "off at once",
            "asleep in 1 cycle",
            "asleep in 2 cycles",
            "asleep in 3 cycles",
            "asleep in 4 cycles",
            "asleep in 7 cycles",
            "the next entry is needed while they fall asleep",
            "the last cycle of falling asleep",
            "wakes directly behind a sleep",
            "reset while on",
            "reset while waking",
            "reset while falling asleep",
        ];
        if shape.buffer_entries > 8 {
            points.extend(["all entries are in use, on", "the threshold is 16"]);
        } else {
            points.push("a threshold above all entries");
        }
        points
    }

    fn new(shape: &HrfShape) -> Self {
        Self { entries: shape.buffer_entries as u8, waited: false, fell: false }
    }

    fn observe(&mut self, i: &HrfPowerIn, o: &HrfPowerOut, p: &HrfPowerProbe, hit: &mut dyn FnMut(&'static str)) {
        let powered = 4 * (i.cfg_i & 0xf) as u8;
        let (wake, sleep) = (i.cfg_i >> 4 & 0xf, i.cfg_i >> 8);
        let (reset, need, used) = (i.rst_ni == 0, i.need_i == 1, i.used_i);
        let (wakes, sleeps) = (o.wake_o == 1, o.sleep_o == 1);
        let is = |state: u8| p.state_q == state;
        let gates = powered != 0;
        let points = [
            ("off, the next entry is the first that is gated", gates && is(OFF) && used == powered),
            ("off, the next entry is below the threshold", gates && is(OFF) && used + 1 == powered),
            ("no gating", !gates && used == self.entries),
            ("wakes at once, 0 cycles", wakes && wake == 0),
            ("wakes at once, 1 cycle", wakes && wake == 1),
            ("wakes for 2 cycles", wakes && wake == 2),
            ("wakes for 3 cycles", wakes && wake == 3),
            ("wakes for 15 cycles", wakes && wake == 15),
            ("a result waits while they wake", is(WAKING) && need),
            ("the result goes away while they wake", is(WAKING) && self.waited && !need),
            ("the last cycle of waking", is(WAKING) && p.left_q == 1),
            ("on, entries above the threshold are in use", is(ON) && gates && used > powered),
            ("on as nobody needs them any more", is(ON) && gates && used == 0),
            ("all entries are in use, on", is(ON) && gates && used == self.entries),
            ("off at once", sleeps && sleep == 0),
            ("asleep in 1 cycle", sleeps && sleep == 1),
            ("asleep in 2 cycles", sleeps && sleep == 2),
            ("asleep in 3 cycles", sleeps && sleep == 3),
            ("asleep in 4 cycles", sleeps && sleep == 4),
            ("asleep in 7 cycles", sleeps && sleep == 7),
            ("the next entry is needed while they fall asleep", is(FALLING) && need),
            ("the last cycle of falling asleep", is(FALLING) && p.left_q == 1),
            ("wakes directly behind a sleep", wakes && self.fell),
            ("the threshold is 16", wakes && powered == 16),
            ("a threshold above all entries", is(OFF) && powered > self.entries && used == self.entries),
            ("reset while on", reset && is(ON)),
            ("reset while waking", reset && is(WAKING)),
            ("reset while falling asleep", reset && is(FALLING)),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        (self.waited, self.fell) = (need, is(FALLING) && !reset);
    }
}
