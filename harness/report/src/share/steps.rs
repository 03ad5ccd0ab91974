//! The steps of sharing: thesis 2.5.1.3, figure 2.15(a).

use super::{AGED, Gain, NOT_SAID, WHOLE, aged, baseline, sharing, sharing_aged, sharing_in_turn};
use crate::plot::Plot;
use crate::row::{Claim, Row};
use crate::sweep::{Results, SweepPlan};

const SOURCE: &str = "sharing thesis 2.5.1.3, figure 2.15(a)";
const HOTSPOT: Claim = Claim::share(SOURCE, "13.65 %: 9-19 %", 0.09, 0.19);
const LITTLE: Claim =
    Claim::share(SOURCE, "\"good improvements only when OWF optimization is enabled\": -5-2.5 %", -0.05, 0.025);
/// With the scheduler that takes turns.
const EACH: [(&str, Claim); 5] = [
    ("hotspot", HOTSPOT),
    ("sgemm", LITTLE),
    ("stencil", LITTLE),
    ("MUM", Claim::share(SOURCE, "-0.15 %: -5-5 %", -0.05, 0.05)),
    ("LIB", Claim::share(SOURCE, "2 %: -3-7 %", -0.03, 0.07)),
];
const MORE: Claim = Claim::none(NOT_SAID);

/// Sharing alone.
fn in_turn() -> Gain<'static> {
    Gain {
        metric: "IPC gained by sharing with LRR, over LRR",
        part: "steps",
        point: sharing_in_turn(),
        over: baseline(),
        own: baseline().with(WHOLE),
    }
}

/// Then by age, then owners first.
fn further() -> [Gain<'static>; 2] {
    let own = || baseline().with(AGED).with(WHOLE);
    [
        Gain {
            metric: "IPC gained by sharing with GTO, over GTO",
            part: "steps",
            point: sharing_aged(),
            over: aged(),
            own: own(),
        },
        Gain {
            metric: "IPC gained by owners first, over sharing with GTO",
            part: "steps",
            point: sharing(),
            over: sharing_aged(),
            own: own(),
        },
    ]
}

pub fn plan(plan: &mut SweepPlan) {
    in_turn().plan(plan);
    for Gain { point, over, .. } in further() {
        [point, over].into_iter().for_each(|point| plan.point(point));
    }
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = in_turn().mean(results, MORE).into_iter().collect();
    rows.extend(in_turn().each(results, &EACH));
    rows.extend(further().iter().filter_map(|gain| gain.mean(results, MORE)));
    rows
}

pub fn plots(_: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
