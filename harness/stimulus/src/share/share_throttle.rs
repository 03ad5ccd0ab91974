//! `share_throttle`.

use gpurf_blocks::config::Config;
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::share::{ShareThrottle, ShareThrottleIn, ShareThrottleOut, ShareThrottleProbe};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<ShareThrottle, ShareThrottleDriver, ShareThrottleCover>();

/// Decides at the beginning of a period how many stalls it is to have; a twin says where in a round the block is.
pub(crate) struct ShareThrottleDriver {
    period: u32,
    reset: Reset,
    twin: Twin<ShareThrottle>,
    stalls: Stalls,
    /// Cycle of this period in which reset is asserted.
    reset_at: Option<u32>,
}

/// Stalls of a period.
#[derive(Clone, Copy)]
enum Stalls {
    /// So many in each cycle.
    Each(u8),
    /// With the chance of the knob in each cycle.
    Random,
    /// So many together, if there is room for them.
    Together(u32),
}

knobs! {
    pub(crate) struct ShareThrottleKnobs {
        poles: "a reference period has no stalls, or as many as possible" = [200, 600],
        extreme: "another period has" = [50, 300],
        near: "another period has about as many stalls as the reference" = [0, 300, 800],
        stall: "a cycle has stalls" = [50, 300, 700, 950],
        reset = [0, 0, 20, 200],
    }
}

/// Stalls of a cycle, at most.
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
            reset_at: None,
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ShareThrottleKnobs, i: &mut ShareThrottleIn) {
        self.twin.early();
        let p = self.twin.probe(i);
        if p.cycle_q == 0 {
            // A run has one round of the longest periods at most, and the counts are to be full.
            let full = p.number_q == 0 && self.period > LONG;
            self.stalls = if full { Stalls::Each(MOST as u8) } else { stalls(rng, knobs, &p) };
            // The chance is that of a period, or no round of long ones would come to its end.
            self.reset_at = rng.chance(knobs.reset).then(|| rng.below(self.period.into()) as u32);
        }
        let resets = self.reset_at.take_if(|at| *at == u32::from(p.cycle_q)).is_some();
        i.rst_ni = self.reset.next(rng, if resets { 1000 } else { 0 });
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

/// Stalls of the period that begins.
fn stalls(rng: &mut Rng, knobs: &ShareThrottleKnobs, p: &ShareThrottleProbe) -> Stalls {
    let reference = p.number_q == 0;
    if rng.chance(if reference { knobs.poles } else { knobs.extreme }) {
        Stalls::Each(if rng.chance(500) { 0 } else { MOST as u8 })
    } else if !reference && rng.chance(knobs.near) {
        Stalls::Together((p.reference_q + rng.below(3) as u32).saturating_sub(1))
    } else {
        Stalls::Random
    }
}

pub(crate) struct ShareThrottleCover {
    /// Periods are so short that many rounds of them are run.
    short: bool,
    /// They are so long that the counts fill their registers.
    long: bool,
}

#[cover]
impl ShareThrottleCover {
    const LEVELS: [&str; 11] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
    const STALLS: [&str; 4] = ["no stall", "one stall", "two stalls", "three stalls"];

    fn new(shape: &SmShape, _: &Config) -> Self {
        let period = shape.period();
        Self { short: period <= 100, long: period > LONG as usize }
    }

    fn observe(&mut self, i: &ShareThrottleIn, o: &ShareThrottleOut, p: &ShareThrottleProbe, points: &mut Points) {
        for stalls in 0..4 {
            point!("a cycle with {STALLS[stalls]}", i.rst_ni == 1 && usize::from(i.stall_i) == stalls);
        }
        let reference = p.number_q == 0;
        point!("reset inside a period", i.rst_ni == 0 && p.cycle_q != 0, given = self.short);
        point!("non-owners may use memory", o.allow_o == 1);
        point!("they may not in a reference period", o.allow_o == 0 && reference);
        point!("they may not in another one", o.allow_o == 0 && !reference, given = self.short);
        point!("a count has its top bit", p.count_q >> 17 == 1, given = self.long);
        if i.rst_ni == 1 {
            self.period(i, o, p, points);
        }
    }

    /// What a period's end finds.
    #[given(self.short)]
    fn period(&self, i: &ShareThrottleIn, o: &ShareThrottleOut, p: &ShareThrottleProbe, points: &mut Points) {
        let last = o.event_o >> 2 & 1 == 1;
        let reference = p.number_q == 0;
        let (total, level) = (p.count_q + u32::from(i.stall_i), usize::from(p.level_q));
        let compares = last && !reference;
        for tenths in 0..11 {
            point!("a period ends at level {LEVELS[tenths]}", compares && level == tenths);
        }
        let (more, fewer) = (compares && total > p.reference_q, compares && total < p.reference_q);
        point!("more stalls than in the reference: the level goes down", more && level > 0);
        point!("more, and the level is 0", more && level == 0);
        point!("fewer: it goes up", fewer && level < 10);
        point!("fewer, and it is 10", fewer && level == 10);
        let equal = compares && total == p.reference_q;
        point!("as many, and some", equal && total > 0);
        point!("none in both", equal && total == 0);
        point!("one more", more && total == p.reference_q + 1);
        point!("one fewer", fewer && total + 1 == p.reference_q);
        point!("the stalls of the last cycle make more of it", more && p.count_q <= p.reference_q);
        point!("the stalls of the last cycle make as many of it", equal && p.count_q < p.reference_q);
        point!("a reference period has more stalls than that before", last && reference && total > p.reference_q);
        point!("a reference period has fewer stalls than that before", last && reference && total < p.reference_q);
        point!("a round ends", last && p.number_q == 13);
    }
}
