//! Over other schedulers: thesis 2.5.1.4, figures 2.16(a) and 2.17(a).

use super::registers::over_aged;
use super::{Gain, NOT_SAID, WHOLE, aged, baseline, complete};
use crate::plot::Plot;
use crate::row::{Claim, Row};
use crate::sweep::{Results, SweepPlan};

const GTO: Claim = Claim::share("sharing thesis 2.5.1.4, figure 2.16(a)", "up to 3.9 %: 0-3.95 %", 0.0, 0.0395);
const LEVELS: Claim = Claim::share("sharing thesis 2.5.1.4, figure 2.17(a)", "up to 27.22 %: 0-27.25 %", 0.0, 0.2725);
const MORE: Claim = Claim::none(NOT_SAID);

/// The thesis does not say how many of its warps are active: as many as in its chapter 4 here.
fn two_level() -> Gain<'static> {
    Gain {
        metric: "IPC gained by sharing, over two levels, 8 active warps",
        part: "gto",
        point: complete(),
        over: baseline().with("sm.active_warps=8"),
        own: aged().with(WHOLE),
    }
}

pub fn plan(plan: &mut SweepPlan) {
    [over_aged("gto"), two_level()].iter().for_each(|gain| gain.plan(plan));
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let rows = [
        over_aged("gto").most(results, GTO, "IPC gained by sharing, over GTO, most of any kernel"),
        two_level().most(results, LEVELS, "IPC gained by sharing, over two levels, 8 active warps, most of any kernel"),
        two_level().mean(results, MORE),
    ];
    rows.into_iter().flatten().collect()
}

pub fn plots(_: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
