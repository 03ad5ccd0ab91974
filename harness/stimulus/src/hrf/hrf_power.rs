//! `hrf_power`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfPower, HrfPowerIn, HrfPowerOut, HrfPowerProbe, HrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HrfPower, PowerDriver, PowerCover>();

/// Driver of `hrf_power`: a buffer that fills and is emptied. A twin tells whether its next entry has power.
pub(crate) struct PowerDriver {
    entries: u8,
    reset: Reset,
    twin: Twin<HrfPower>,
    used: u8,
}

knobs! {
    pub(crate) struct PowerKnobs {
        result: "a result wants the next entry" = [300, 1000],
        empty: "the buffer is emptied" = [5, 30, 100],
        jump: "many entries are taken at once, as many as have power" = [20, 300],
        powered: "strap: entries always on, in fours" = [0, 1, 1, 1, 1, 2, 4, 15],
        wake: "strap: cycles to wake" = [0, 1, 2, 3, 4, 8, 15],
        sleep: "strap: cycles to sleep" = [0, 1, 2, 3, 4, 7],
        reset = [0, 20, 80],
    }
}

impl Driver for PowerDriver {
    type In = HrfPowerIn;
    type Knobs = PowerKnobs;

    fn new(shape: &HrfShape, _: &Config) -> Self {
        let entries = shape.buffer_entries as u8;
        Self { entries, reset: Reset::default(), twin: Twin::new(shape), used: 0 }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &PowerKnobs, i: &mut HrfPowerIn) {
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = (knobs.powered | knobs.wake << 4 | knobs.sleep << 8) as u16;
        (i.used_i, i.need_i) = (self.used, 0);
        self.twin.early();
        self.twin.late(i);
        let wants = rng.chance(knobs.result) && self.used < self.entries;
        let closed = self.twin.out.closed_o == 1;
        i.need_i = (wants && closed).into();
        self.twin.late(i);
        self.twin.clock(i);
        if rng.chance(knobs.empty) || i.rst_ni == 0 {
            self.used = 0;
        } else if wants && !closed {
            let powered = 4 * knobs.powered as u8;
            let end = if self.used < powered { powered.min(self.entries) } else { self.entries };
            let most = if rng.chance(knobs.jump) { end - self.used } else { 1 };
            self.used += 1 + rng.below(most.into()) as u8;
        }
    }
}

pub(crate) struct PowerCover {
    shape: HrfShape,
    /// Whether a result waited for power in the cycle before.
    waited: bool,
    /// Whether the entries were falling asleep in that cycle.
    fell: bool,
}

const OFF: u8 = 0;
const WAKING: u8 = 1;
const ON: u8 = 2;
const FALLING: u8 = 3;

#[cover]
impl PowerCover {
    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { shape: *shape, waited: false, fell: false }
    }

    fn observe(&mut self, i: &HrfPowerIn, o: &HrfPowerOut, p: &HrfPowerProbe, points: &mut Points) {
        let (entries, powered) = (self.shape.buffer_entries as u8, 4 * (i.cfg_i & 0xf) as u8);
        let (wake, sleep) = (i.cfg_i >> 4 & 0xf, i.cfg_i >> 8);
        let (reset, need, used) = (i.rst_ni == 0, i.need_i == 1, i.used_i);
        let (wakes, sleeps) = (o.wake_o == 1, o.sleep_o == 1);
        let is = |state: u8| p.state_q == state;
        let gates = powered != 0;
        point!("off, the next entry is the first that is gated", gates && is(OFF) && used == powered);
        point!("off, the next entry is below the threshold", gates && is(OFF) && used + 1 == powered);
        point!("no gating", !gates && used == entries);
        point!("wakes at once, 0 cycles", wakes && wake == 0);
        point!("wakes at once, 1 cycle", wakes && wake == 1);
        point!("wakes for 2 cycles", wakes && wake == 2);
        point!("wakes for 3 cycles", wakes && wake == 3);
        point!("wakes for 15 cycles", wakes && wake == 15);
        point!("a result waits while they wake", is(WAKING) && need);
        point!("the result goes away while they wake", is(WAKING) && self.waited && !need);
        point!("the last cycle of waking", is(WAKING) && p.left_q == 1);
        point!("on, entries above the threshold are in use", is(ON) && gates && used > powered);
        point!("on as no warp needs them any more", is(ON) && gates && used == 0);
        point!("all entries are in use, on", is(ON) && gates && used == entries, given = self.shape.buffer_entries > 8);
        point!("off at once", sleeps && sleep == 0);
        point!("asleep in 1 cycle", sleeps && sleep == 1);
        point!("asleep in 2 cycles", sleeps && sleep == 2);
        point!("asleep in 3 cycles", sleeps && sleep == 3);
        point!("asleep in 4 cycles", sleeps && sleep == 4);
        point!("asleep in 7 cycles", sleeps && sleep == 7);
        point!("the next entry is needed while they fall asleep", is(FALLING) && need);
        point!("the last cycle of falling asleep", is(FALLING) && p.left_q == 1);
        point!("wakes directly after a sleep", wakes && self.fell);
        point!("the threshold is 16", wakes && powered == 16, given = self.shape.buffer_entries > 8);
        point!(
            "a threshold above all entries",
            is(OFF) && powered > entries && used == entries,
            given = self.shape.buffer_entries <= 8
        );
        point!("reset while on", reset && is(ON));
        point!("reset while waking", reset && is(WAKING));
        point!("reset while falling asleep", reset && is(FALLING));

        (self.waited, self.fell) = (need, is(FALLING) && !reset);
    }
}
