//! `hrf_loads`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfLoads, HrfLoadsIn, HrfLoadsOut, HrfLoadsProbe, HrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin, lane_mask};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HrfLoads, LoadsDriver, LoadsCover>();

/// Driver of `hrf_loads`. A twin tells whether a result waits.
pub(crate) struct LoadsDriver {
    shape: HrfShape,
    reset: Reset,
    twin: Twin<HrfLoads>,
}

knobs! {
    pub(crate) struct LoadsKnobs {
        push: "a result comes" = [50, 300, 950],
        pop: "the bank takes the oldest" = [50, 250, 950],
        mark: "a drain begins" = [0, 20, 200],
        partial: "a result has not all lanes" = [0, 900],
        reset,
    }
}

impl Driver for LoadsDriver {
    type In = HrfLoadsIn;
    type Knobs = LoadsKnobs;

    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape) }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &LoadsKnobs, i: &mut HrfLoadsIn) {
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.push_valid_i = rng.chance(knobs.push).into();
        i.push_entry_i = rng.below(self.shape.mrf.depth as u64) as u16;
        i.push_mask_i = lane_mask(rng, knobs.partial);
        if i.push_valid_i == 1 {
            rng.fill(&mut i.push_data_i.0);
        }
        i.pop_i = (self.twin.out.head_valid_o == 1 && rng.chance(knobs.pop)).into();
        i.mark_i = rng.chance(knobs.mark).into();
        self.twin.clock(i);
    }
}

pub(crate) struct LoadsCover {
    shape: HrfShape,
}

#[cover]
impl LoadsCover {
    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &HrfLoadsIn, o: &HrfLoadsOut, p: &HrfLoadsProbe, points: &mut Points) {
        let (reset, comes, goes, mark) = (i.rst_ni == 0, i.push_valid_i == 1, i.pop_i == 1, i.mark_i == 1);
        let places = self.shape.loads as u8;
        let (count, before, full) = (p.count_q, p.before_q, p.count_q == places);
        let (old, younger) = (o.old_o == 1, before < count);
        point!("a result comes, nothing waits", comes && count == 0);
        point!("a result comes into the last free place", comes && count + 1 == places);
        point!("a result comes, and there is no room", comes && full && !goes);
        point!("a result comes and one goes, there is no room", comes && full && goes);
        point!("a result comes and one goes", comes && goes && count > 1 && !full, given = self.shape.loads > 2);
        point!("a result comes and the only one goes", comes && goes && count == 1);
        point!("the only one goes", !comes && goes && count == 1);
        point!("one goes of a full queue", !comes && goes && full);
        point!("places begin anew", goes && p.first_q + 1 == places);
        point!("a drain begins, nothing waits", mark && count == 0);
        point!("a drain begins, some wait", mark && count != 0 && !full);
        point!("a drain begins, the queue is full", mark && full);
        point!("a drain begins as a result comes", mark && comes && !goes && !full);
        point!("a drain begins as one goes", mark && goes && !comes && count > 1);
        point!("a drain begins as the only one goes", mark && goes && count == 1);
        point!("a drain begins as one goes and a result comes", mark && goes && comes);
        point!("a drain begins while some are older than the one before", mark && old);
        point!("an older one goes", goes && old && before > 1);
        point!("the last of the older ones goes, a younger one stays", goes && before == 1 && younger);
        point!("a younger one goes", goes && !old);
        point!("older and younger ones wait", old && younger);
        point!("no lanes", goes && o.head_mask_o == 0);
        point!("a result comes in reset", reset && comes);
        point!("reset under load", reset && count > 1);
        point!("reset while some are older", reset && old);
    }
}
