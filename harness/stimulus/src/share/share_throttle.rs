//! `share_throttle`.

use gpurf_blocks::config::{Config, Reference};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::share::{ShareThrottle, ShareThrottleIn, ShareThrottleOut, ShareThrottleProbe, THROTTLE_COUNT_BITS};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<ShareThrottle, ShareThrottleDriver, ShareThrottleCover>();

/// Driver of `share_throttle`. At the beginning of a period it decides how many stalls the period has. A twin tells where in a round the block is.
pub(crate) struct ShareThrottleDriver {
    period: u32,
    reset: Reset,
    twin: Twin<ShareThrottle>,
    stalls: Stalls,
    /// What the stalls are compared with, and the stalls of the external reference in this period.
    reference: Reference,
    outside: Option<u32>,
    /// Cycle of this period in which reset is asserted.
    reset_at: Option<u32>,
}

/// Stalls of a period.
#[derive(Clone, Copy)]
enum Stalls {
    /// This many in each cycle.
    Each(u8),
    /// In each cycle with the chance of the knob `stall`.
    Random,
    /// This many in the whole period, as far as they fit.
    Together(u32),
}

knobs! {
    pub(crate) struct ShareThrottleKnobs {
        poles: "a period that is not compared has no stalls, or as many as possible" = [200, 600],
        extreme: "another period has, or the reference from outside" = [50, 300],
        near: "another period has about as many stalls as the reference" = [0, 300, 800],
        outside: "there is a reference from outside in a period" = [300, 900, 1000],
        few: "it has few stalls" = [0, 500, 1000],
        stall: "a cycle has stalls" = [50, 300, 700, 950],
        reset = [0, 0, 20, 200],
    }
}

/// Most stalls of a cycle.
const MOST: u32 = 3;
/// A longer period can fill a count of 18 bits.
const LONG: u32 = 44_000;

impl Driver for ShareThrottleDriver {
    type In = ShareThrottleIn;
    type Knobs = ShareThrottleKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            period: shape.period() as u32,
            reset: Reset::default(),
            twin: Twin::new(shape),
            stalls: Stalls::Random,
            reference: shape.reference,
            outside: None,
            reset_at: None,
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ShareThrottleKnobs, i: &mut ShareThrottleIn) {
        self.twin.early();
        let p = self.twin.probe(i);
        if p.cycle_q == 0 {
            // A run has at most one round of the longest periods, and the counts have to become full in it.
            let full = p.number_q == 0 && self.period > LONG;
            self.outside = rng.chance(knobs.outside).then(|| outside(rng, knobs, self.period));
            self.stalls = if full { Stalls::Each(MOST as u8) } else { self.stalls(rng, knobs, &p) };
            // The chance applies to a whole period; otherwise no round of long periods would end.
            self.reset_at = rng.chance(knobs.reset).then(|| rng.below(self.period.into()) as u32);
        }
        let resets = self.reset_at.take_if(|at| *at == u32::from(p.cycle_q)).is_some();
        i.rst_ni = self.reset.next(rng, if resets { 1000 } else { 0 });
        // These inputs count in the last cycle of a period only.
        let last = u32::from(p.cycle_q) == self.period - 1;
        let random = rng.below(1 << THROTTLE_COUNT_BITS) as u32;
        let outside = if last { self.outside } else { rng.chance(500).then_some(random) };
        (i.reference_valid_i, i.reference_i) = (outside.is_some().into(), outside.unwrap_or(random));
        i.stall_i = match self.stalls {
            Stalls::Each(stalls) => stalls,
            Stalls::Random if rng.chance(knobs.stall) => 1 + rng.below(MOST.into()) as u8,
            Stalls::Random => 0,
            Stalls::Together(all) => {
                let (left, behind) = (all.saturating_sub(p.count_q), self.period - 1 - u32::from(p.cycle_q));
                let (least, most) = (left.saturating_sub(MOST * behind).min(MOST), left.min(MOST));
                (least + rng.below(u64::from(most - least) + 1) as u32) as u8
            }
        };
        self.twin.late(i);
        self.twin.clock(i);
    }
}

impl ShareThrottleDriver {
    /// Stalls of the period that begins.
    fn stalls(&self, rng: &mut Rng, knobs: &ShareThrottleKnobs, p: &ShareThrottleProbe) -> Stalls {
        // The stalls that they are compared with, if any.
        let other = match self.reference {
            Reference::External => self.outside,
            Reference::Sampled if p.number_q != 0 => Some(p.reference_q),
            Reference::Sampled | Reference::Held => None,
        };
        if rng.chance(if other.is_none() { knobs.poles } else { knobs.extreme }) {
            Stalls::Each(if rng.chance(500) { 0 } else { MOST as u8 })
        } else if let Some(other) = other.filter(|_| rng.chance(knobs.near)) {
            Stalls::Together((other + rng.below(3) as u32).saturating_sub(1))
        } else {
            Stalls::Random
        }
    }
}

/// Stalls of the external reference in the period that begins.
fn outside(rng: &mut Rng, knobs: &ShareThrottleKnobs, period: u32) -> u32 {
    let most = MOST * period;
    if rng.chance(knobs.extreme) {
        if rng.chance(500) { 0 } else { most }
    } else if rng.chance(100) {
        // A number that differs from the others in a high bit only.
        1 << rng.below(THROTTLE_COUNT_BITS.into()) | rng.below(u64::from(most) + 1) as u32
    } else {
        let most = if rng.chance(knobs.few) { most / 8 } else { most };
        rng.below(u64::from(most) + 1) as u32
    }
}

pub(crate) struct ShareThrottleCover {
    /// Whether periods are so short that many rounds of them are run.
    short: bool,
    /// Whether periods are so long that the counts fill their registers.
    long: bool,
    /// What the stalls are compared with.
    reference: Reference,
}

#[cover]
impl ShareThrottleCover {
    const LEVELS: [&str; 11] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
    const STALLS: [&str; 4] = ["no stall", "one stall", "two stalls", "three stalls"];

    fn new(shape: &SmShape, _: &Config) -> Self {
        let period = shape.period();
        Self { short: period <= 100, long: period > LONG as usize, reference: shape.reference }
    }

    /// Whether the level changes, and many periods are run.
    fn changes(&self) -> bool {
        self.short && self.reference != Reference::Held
    }

    /// Whether, in addition, there are reference periods among them.
    fn samples(&self) -> bool {
        self.short && self.reference == Reference::Sampled
    }

    fn is_external(&self) -> bool {
        self.reference == Reference::External
    }

    fn observe(&mut self, i: &ShareThrottleIn, o: &ShareThrottleOut, p: &ShareThrottleProbe, points: &mut Points) {
        for stalls in 0..4 {
            point!("a cycle with {STALLS[stalls]}", i.rst_ni == 1 && usize::from(i.stall_i) == stalls);
        }
        let reference = o.event_o >> 1 & 1 == 1;
        point!("reset inside a period", i.rst_ni == 0 && p.cycle_q != 0, given = self.short);
        point!("non-owners may use memory", o.allow_o == 1, given = self.reference != Reference::Held);
        point!("they may not in a reference period", o.allow_o == 0 && reference, given = !self.is_external());
        point!("they may not in another one", o.allow_o == 0 && !reference, given = self.changes());
        point!("a count has its top bit", p.count_q >> 17 == 1, given = self.long);
        if i.rst_ni == 1 {
            self.period(i, o, p, points);
            self.reference(i, o, p, points);
        }
    }

    /// Points at the end of a reference period.
    #[given(self.samples())]
    fn reference(&self, i: &ShareThrottleIn, o: &ShareThrottleOut, p: &ShareThrottleProbe, points: &mut Points) {
        let ends = o.event_o >> 2 & 1 == 1 && o.event_o >> 1 & 1 == 1;
        let total = p.count_q + u32::from(i.stall_i);
        point!("a reference period has more stalls than that before", ends && total > p.reference_q);
        point!("a reference period has fewer stalls than that before", ends && total < p.reference_q);
        point!("a round ends", o.event_o >> 2 & 1 == 1 && p.number_q == 13);
    }

    /// Points at the end of a period.
    #[given(self.changes())]
    fn period(&self, i: &ShareThrottleIn, o: &ShareThrottleOut, p: &ShareThrottleProbe, points: &mut Points) {
        let last = o.event_o >> 2 & 1 == 1;
        let (total, level) = (p.count_q + u32::from(i.stall_i), usize::from(p.level_q));
        let external = self.is_external();
        let there = !external || i.reference_valid_i == 1;
        let other = if external { i.reference_i } else { p.reference_q };
        let compares = last && o.event_o >> 1 & 1 == 0 && there;
        point!("no reference from outside", last && !there, given = self.is_external());
        for tenths in 0..11 {
            point!("a period ends at level {LEVELS[tenths]}", compares && level == tenths);
        }
        let (more, fewer) = (compares && total > other, compares && total < other);
        point!("more stalls than in the reference: the level goes down", more && level > 0);
        point!("more, and the level is 0", more && level == 0);
        point!("fewer: it goes up", fewer && level < 10);
        point!("fewer, and it is 10", fewer && level == 10);
        let equal = compares && total == other;
        point!("as many, and some", equal && total > 0);
        point!("none in both", equal && total == 0);
        point!("one more", more && total == other + 1);
        point!("one fewer", fewer && total + 1 == other);
        point!("the stalls of the last cycle make more of it", more && p.count_q <= other);
        point!("the stalls of the last cycle make as many of it", equal && p.count_q < other);
    }
}
