//! `share_throttle`: limits how often non-owners use memory. `docs/blocks/share_throttle.md`.

use std::cmp::Ordering;

use crate::config::Reference;
use crate::mrf::bits::pack;
use crate::shape::SmShape;
use crate::{Block, Decode, Ports, field, ports};

/// Fields of `share_throttle_event_t`, most significant first.
pub const SHARE_THROTTLE_EVENT: &[(&str, u32)] =
    &[("throttle_level", 4), ("throttle_period", 1), ("throttle_reference", 1), ("throttle_allow", 1)];

/// Width of `event_o`.
pub(crate) const THROTTLE_EVENT_BITS: u32 = 7;

/// Periods of a round; the first period is the reference.
const PERIODS: u8 = 14;
/// The highest level: non-owners may use memory in every cycle except those of the reference.
const TENTHS: u8 = 10;
/// Width of a count of stalls.
pub const THROTTLE_COUNT_BITS: u32 = 18;

ports! {
    /// Inputs of [`ShareThrottle`].
    pub struct ShareThrottleIn(s: &SmShape) {
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Stalls of this cycle.
        stall_i: u8 = field(2),
        /// There is an external reference.
        reference_valid_i: u8 = field(1),
        /// Stalls of the external reference in the period that is in progress.
        reference_i: u32 = field(THROTTLE_COUNT_BITS).valid_by("reference_valid_i"),
    }
}

ports! {
    /// Outputs of [`ShareThrottle`].
    pub struct ShareThrottleOut(s: &SmShape) {
        /// Non-owners may issue memory instructions in this cycle.
        allow_o: u8 = field(1).early(),
        /// The level, and where in a round the cycle is: `share_throttle_event_t`.
        event_o: u8 = field(THROTTLE_EVENT_BITS).early().shown(Decode::Packed(SHARE_THROTTLE_EVENT)),
    }
}

ports! {
    /// State of [`ShareThrottle`].
    pub struct ShareThrottleProbe(s: &SmShape) {
        /// Stalls of the period so far.
        count_q: u32 = field(THROTTLE_COUNT_BITS),
        /// Stalls of the last reference period.
        reference_q: u32 = field(THROTTLE_COUNT_BITS),
        /// Cycle of the period.
        cycle_q: u16 = field(16),
        /// A register with linear feedback.
        random_q: u16 = field(16),
        /// Number of the period; 0: the reference period, if there are such periods.
        number_q: u8 = field(4),
        /// Tenths of the cycles in which warps of non-owners may use memory.
        level_q: u8 = field(4),
    }
}

/// Throttles memory instructions of non-owners by the stalls of the SM: "dynamic warp execution" (sharing thesis 2.3.3).
///
/// A direct caller asks ([`allows`](Self::allows), [`event`](Self::event)) and ends the cycle with [`advance`](Self::advance).
#[derive(Clone, Debug)]
pub struct ShareThrottle {
    /// Number of the last cycle of a period.
    last: u16,
    reference: Reference,
    cycle_q: u16,
    number_q: u8,
    count_q: u32,
    reference_q: u32,
    level_q: u8,
    random_q: u16,
}

impl ShareThrottle {
    /// Whether non-owners may issue memory instructions.
    #[inline]
    pub fn allows(&self) -> bool {
        !self.is_reference() && self.random_q % u16::from(TENTHS) < u16::from(self.level_q)
    }

    #[inline]
    fn is_reference(&self) -> bool {
        match self.reference {
            Reference::Sampled => self.number_q == 0,
            Reference::External => false,
            Reference::Held => true,
        }
    }

    /// `share_throttle_event_t`.
    #[inline]
    pub fn event(&self) -> u8 {
        let values =
            [self.level_q.into(), (self.cycle_q == self.last).into(), self.is_reference().into(), self.allows().into()];
        pack(SHARE_THROTTLE_EVENT, values) as u8
    }

    /// Clock edge after a cycle with this number of stalls. `reference`: stalls of the external reference in this period, if any.
    #[inline]
    pub fn advance(&mut self, stalls: u8, reference: Option<u32>) {
        let feedback = self.random_q >> 15 ^ self.random_q >> 13 ^ self.random_q >> 12 ^ self.random_q >> 10;
        self.random_q = self.random_q << 1 | feedback & 1;
        let total = self.count_q + u32::from(stalls);
        if self.cycle_q == self.last {
            self.end_period(total, reference);
            (self.cycle_q, self.count_q) = (0, 0);
        } else {
            (self.cycle_q, self.count_q) = (self.cycle_q + 1, total & ((1 << THROTTLE_COUNT_BITS) - 1));
        }
    }

    /// Ends a period with this number of stalls.
    fn end_period(&mut self, total: u32, external: Option<u32>) {
        let other = match self.reference {
            Reference::External => external,
            Reference::Sampled | Reference::Held if self.is_reference() => {
                self.reference_q = total;
                None
            }
            Reference::Sampled | Reference::Held => Some(self.reference_q),
        };
        match other.map(|other| total.cmp(&other)) {
            Some(Ordering::Greater) => self.level_q = self.level_q.saturating_sub(1),
            Some(Ordering::Less) => self.level_q = (self.level_q + 1).min(TENTHS),
            Some(Ordering::Equal) | None => {}
        }
        if self.reference == Reference::Sampled {
            self.number_q = (self.number_q + 1) % PERIODS;
        }
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        (self.cycle_q, self.number_q, self.count_q, self.reference_q) = (0, 0, 0, 0);
        (self.level_q, self.random_q) = (TENTHS, 1);
    }
}

impl Block for ShareThrottle {
    const NAME: &'static str = "share_throttle";
    const PARAMETERS: &'static [&'static str] = &["Period", "Reference"];

    type Shape = SmShape;
    type In = ShareThrottleIn;
    type Out = ShareThrottleOut;
    type Probe = ShareThrottleProbe;

    fn new(shape: &SmShape) -> Self {
        let last = (shape.period() - 1) as u16;
        let reference = shape.reference;
        Self { last, reference, cycle_q: 0, number_q: 0, count_q: 0, reference_q: 0, level_q: TENTHS, random_q: 1 }
    }

    #[inline]
    fn early(&self, out: &mut ShareThrottleOut) {
        (out.allow_o, out.event_o) = (self.allows().into(), self.event());
    }

    #[inline]
    fn late(&mut self, _: &ShareThrottleIn, _: &mut ShareThrottleOut) {}

    fn clock(&mut self, inputs: &ShareThrottleIn, _: &ShareThrottleOut) {
        if inputs.rst_ni == 0 {
            self.reset();
        } else {
            self.advance(inputs.stall_i, (inputs.reference_valid_i != 0).then_some(inputs.reference_i));
        }
    }

    fn probe(&self, _: &ShareThrottleIn, _: &ShareThrottleOut, probe: &mut ShareThrottleProbe) {
        *probe = Ports::zeroed();
        (probe.cycle_q, probe.number_q) = (self.cycle_q, self.number_q);
        (probe.count_q, probe.reference_q) = (self.count_q, self.reference_q);
        (probe.level_q, probe.random_q) = (self.level_q, self.random_q);
    }
}

#[cfg(test)]
mod tests;
