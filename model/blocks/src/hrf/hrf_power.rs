//! `hrf_power`: power gating of a buffer's upper entries. `docs/blocks/hrf_power.md`.

use super::shape::HrfShape;
use crate::{Block, Decode, field, ports};

const STATES: Decode = Decode::Enum(&["off", "waking", "on", "falling asleep"]);

ports! {
    /// Inputs of [`HrfPower`].
    pub struct HrfPowerIn(s: &HrfShape) {
        /// Straps: powered entries in fours, cycles to wake, cycles to sleep.
        cfg_i: u16 = field(11),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Entries in use.
        used_i: u8 = field(s.used_w()),
        /// A result waits for the next entry.
        need_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`HrfPower`].
    pub struct HrfPowerOut(s: &HrfShape) {
        /// The next entry has no power.
        closed_o: u8 = field(1),
        /// State of the buffer's power.
        state_o: u8 = field(2).early().shown(STATES),
        /// A wake-up begins at this edge.
        wake_o: u8 = field(1),
        /// A sleep begins at this edge.
        sleep_o: u8 = field(1),
    }
}

ports! {
    /// State of [`HrfPower`].
    pub struct HrfPowerProbe(s: &HrfShape) {
        /// State of the buffer's power.
        state_q: u8 = field(2).shown(STATES),
        /// Cycles until the next one.
        left_q: u8 = field(4),
    }
}

/// The power state of the upper entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Power {
    #[default]
    Off,
    Waking,
    On,
    FallingAsleep,
}

/// The straps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PowerStraps {
    /// Number of entries that are always on; 0: all entries.
    threshold: u8,
    wake: u8,
    sleep: u8,
}

impl PowerStraps {
    #[inline]
    pub(crate) fn of(word: u16) -> Self {
        Self { threshold: 4 * (word & 0xf) as u8, wake: (word >> 4 & 0xf) as u8, sleep: (word >> 8 & 0x7) as u8 }
    }

    /// Whether there is power gating.
    #[inline]
    pub(crate) fn gates(&self) -> bool {
        self.threshold != 0
    }
}

/// Power of a buffer's upper entries (hybrid paper 5.2): they wake up for the first result that needs one and sleep when it is empty.
#[derive(Clone, Debug, Default)]
pub struct HrfPower {
    state_q: Power,
    left_q: u8,
}

impl HrfPower {
    /// The power state.
    #[inline]
    pub(crate) fn state(&self) -> Power {
        self.state_q
    }

    /// Whether the entries are on or off, and no wake-up or sleep is in progress.
    #[inline]
    pub(crate) fn is_steady(&self) -> bool {
        matches!(self.state_q, Power::Off | Power::On)
    }

    /// Whether the next entry has no power.
    #[inline]
    pub(crate) fn closed(&self, straps: PowerStraps, used: u8) -> bool {
        straps.gates() && used >= straps.threshold && self.state_q != Power::On
    }

    /// Whether a wake-up begins.
    #[inline]
    pub(crate) fn wakes(&self, need: bool) -> bool {
        self.state_q == Power::Off && need
    }

    /// Whether a sleep begins.
    #[inline]
    pub(crate) fn sleeps(&self, used: u8) -> bool {
        self.state_q == Power::On && used == 0
    }

    /// The clock edge.
    #[inline]
    pub(crate) fn advance(&mut self, running: bool, straps: PowerStraps, used: u8, need: bool) {
        if !running {
            *self = Self::default();
            return;
        }
        let counted = |left: u8, then: Power, state: Power| {
            if left == 1 { (then, left) } else { (state, left.wrapping_sub(1) & 0xf) }
        };
        (self.state_q, self.left_q) = match self.state_q {
            Power::Off if need && straps.wake <= 1 => (Power::On, self.left_q),
            Power::Off if need => (Power::Waking, straps.wake - 1),
            Power::Waking => counted(self.left_q, Power::On, Power::Waking),
            Power::On if used == 0 && straps.sleep == 0 => (Power::Off, self.left_q),
            Power::On if used == 0 => (Power::FallingAsleep, straps.sleep),
            Power::FallingAsleep => counted(self.left_q, Power::Off, Power::FallingAsleep),
            Power::Off | Power::On => return,
        };
    }
}

impl Block for HrfPower {
    const NAME: &'static str = "hrf_power";
    const PARAMETERS: &'static [&'static str] = &["BufferEntries"];

    type Shape = HrfShape;
    type In = HrfPowerIn;
    type Out = HrfPowerOut;
    type Probe = HrfPowerProbe;

    fn new(_: &HrfShape) -> Self {
        Self::default()
    }

    fn early(&self, out: &mut HrfPowerOut) {
        out.state_o = self.state_q as u8;
    }

    fn late(&mut self, inputs: &HrfPowerIn, out: &mut HrfPowerOut) {
        out.closed_o = self.closed(PowerStraps::of(inputs.cfg_i), inputs.used_i).into();
        out.wake_o = self.wakes(inputs.need_i != 0).into();
        out.sleep_o = self.sleeps(inputs.used_i).into();
    }

    fn clock(&mut self, inputs: &HrfPowerIn, _: &HrfPowerOut) {
        let straps = PowerStraps::of(inputs.cfg_i);
        self.advance(inputs.rst_ni != 0, straps, inputs.used_i, inputs.need_i != 0);
    }

    fn probe(&self, _: &HrfPowerIn, _: &HrfPowerOut, probe: &mut HrfPowerProbe) {
        (probe.state_q, probe.left_q) = (self.state_q as u8, self.left_q);
    }
}

#[cfg(test)]
mod tests;
