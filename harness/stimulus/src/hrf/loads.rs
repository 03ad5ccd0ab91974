//! `hrf_loads`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfLoads, HrfLoadsIn, HrfLoadsOut, HrfLoadsProbe, HrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, Twin, lane_mask};
use crate::{Cover, Driver, Knob, Knobs};

/// Keeps a twin, to know whether something waits.
pub(crate) struct LoadsDriver {
    shape: HrfShape,
    reset: Reset,
    twin: Twin<HrfLoads>,
}

const PUSH: usize = 0;
const POP: usize = 1;
const MARK: usize = 2;
const PARTIAL: usize = 3;

impl Driver for LoadsDriver {
    type In = HrfLoadsIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "push", doc: "a result comes", values: &[50, 300, 950] },
        Knob { name: "pop", doc: "the bank takes the oldest", values: &[50, 250, 950] },
        Knob { name: "mark", doc: "a drain begins", values: &[0, 20, 200] },
        Knob { name: "partial", doc: "a result has not all lanes", values: &[0, 900] },
        RESET,
    ];

    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape) }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HrfLoadsIn) {
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.get(4));
        i.push_valid_i = rng.chance(knobs.get(PUSH)).into();
        i.push_entry_i = rng.below(self.shape.mrf.depth as u64) as u16;
        i.push_mask_i = lane_mask(rng, knobs.get(PARTIAL));
        if i.push_valid_i == 1 {
            rng.fill(&mut i.push_data_i.0);
        }
        i.pop_i = (self.twin.out.head_valid_o == 1 && rng.chance(knobs.get(POP))).into();
        i.mark_i = rng.chance(knobs.get(MARK)).into();
        self.twin.clock(i);
    }
}

pub(crate) struct LoadsCover {
    places: u8,
}

impl Cover for LoadsCover {
    type In = HrfLoadsIn;
    type Out = HrfLoadsOut;
    type Probe = HrfLoadsProbe;

    fn points(shape: &HrfShape) -> Vec<&'static str> {
        let mut points = vec![
            "a result comes, nothing waits",
            "a result comes into the last free place",
            "a result comes, and there is no room",
            "a result comes and one goes, there is no room",
            "a result comes and the only one goes",
            "the only one goes",
            "one goes of a full queue",
            "places begin anew",
            "a drain begins, nothing waits",
            "a drain begins, some wait",
            "a drain begins, the queue is full",
            "a drain begins as a result comes",
            "a drain begins as one goes",
            "a drain begins as the only one goes",
            "a drain begins as one goes and a result comes",
            "a drain begins while some are older than the one before",
            "an older one goes",
            "the last of the older ones goes, a younger one stays",
            "a younger one goes",
            "older and younger ones wait",
            "no lanes",
            "a result comes in reset",
            "reset under load",
            "reset while some are older",
        ];
        if shape.loads > 2 {
            points.push("a result comes and one goes");
        }
        points
    }

    fn new(shape: &HrfShape) -> Self {
        Self { places: shape.loads as u8 }
    }

    fn observe(&mut self, i: &HrfLoadsIn, o: &HrfLoadsOut, p: &HrfLoadsProbe, hit: &mut dyn FnMut(&'static str)) {
        let (reset, comes, goes, mark) = (i.rst_ni == 0, i.push_valid_i == 1, i.pop_i == 1, i.mark_i == 1);
        let (count, before, full) = (p.count_q, p.before_q, p.count_q == self.places);
        let (old, younger) = (o.old_o == 1, before < count);
        let points = [
            ("a result comes, nothing waits", comes && count == 0),
            ("a result comes into the last free place", comes && count + 1 == self.places),
            ("a result comes, and there is no room", comes && full && !goes),
            ("a result comes and one goes, there is no room", comes && full && goes),
            ("a result comes and one goes", comes && goes && count > 1 && !full),
            ("a result comes and the only one goes", comes && goes && count == 1),
            ("the only one goes", !comes && goes && count == 1),
            ("one goes of a full queue", !comes && goes && full),
            ("places begin anew", goes && p.first_q + 1 == self.places),
            ("a drain begins, nothing waits", mark && count == 0),
            ("a drain begins, some wait", mark && count != 0 && !full),
            ("a drain begins, the queue is full", mark && full),
            ("a drain begins as a result comes", mark && comes && !goes && !full),
            ("a drain begins as one goes", mark && goes && !comes && count > 1),
            ("a drain begins as the only one goes", mark && goes && count == 1),
            ("a drain begins as one goes and a result comes", mark && goes && comes),
            ("a drain begins while some are older than the one before", mark && old),
            ("an older one goes", goes && old && before > 1),
            ("the last of the older ones goes, a younger one stays", goes && before == 1 && younger),
            ("a younger one goes", goes && !old),
            ("older and younger ones wait", old && younger),
            ("no lanes", goes && o.head_mask_o == 0),
            ("a result comes in reset", reset && comes),
            ("reset under load", reset && count > 1),
            ("reset while some are older", reset && old),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
