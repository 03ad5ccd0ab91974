//! The steps of sharing: thesis 2.5.1.3, figure 2.15(a).

use super::{
    AGED, Gain, NOT_SAID, WHOLE, aged, baseline, complete, dynamic, gains, mean_gain, ordered, sharing, sharing_aged,
    sharing_in_turn,
};
use crate::plot::Plot;
use crate::row::{Claim, Row};
use crate::sweep::{Point, Results, SweepPlan};

const SOURCE: &str = "sharing thesis 2.5.1.3, figure 2.15(a)";
const LITTLE: Claim =
    Claim::share(SOURCE, "\"good improvements only when OWF optimization is enabled\": -5-2.5 %", -0.05, 0.025);
const LIB: Claim = Claim::share(SOURCE, "2 %: -3-7 %", -0.03, 0.07);
/// With the scheduler that takes turns.
const ALONE: [(&str, Claim); 5] = [
    ("hotspot", Claim::share(SOURCE, "13.65 %: 9-19 %", 0.09, 0.19)),
    ("sgemm", LITTLE),
    ("stencil", LITTLE),
    ("MUM", Claim::share(SOURCE, "-0.15 %: -5-5 %", -0.05, 0.05)),
    ("LIB", LIB),
];
const ORDERED: [(&str, Claim); 5] = [
    ("hotspot", Claim::share(SOURCE, "15.18 %: 10-20 %", 0.10, 0.20)),
    ("sgemm", LITTLE),
    ("stencil", LITTLE),
    ("MUM", Claim::share(SOURCE, "0.08 %: -5-5 %", -0.05, 0.05)),
    ("LIB", LIB),
];
const DYNAMIC: [(&str, Claim); 5] = [
    ("hotspot", Claim::share(SOURCE, "14.58 %: 10-20 %", 0.10, 0.20)),
    ("sgemm", LITTLE),
    ("stencil", LITTLE),
    ("MUM", Claim::share(SOURCE, "6.45 %: 1-11 %", 0.01, 0.11)),
    ("LIB", LIB),
];
const MORE: Claim = Claim::none(NOT_SAID);

/// Steps with the scheduler that takes turns. The last one, owners first, is in `registers`.
fn in_turn() -> [(Gain<'static>, &'static [(&'static str, Claim)]); 3] {
    let gain = |metric, point| Gain { metric, part: "steps", point, over: baseline(), own: baseline().with(WHOLE) };
    let order = ordered(sharing_in_turn());
    [
        (gain("IPC gained by sharing with LRR, over LRR", sharing_in_turn()), &ALONE),
        (gain("IPC gained by sharing with LRR, registers by first use, over LRR", order.clone()), &ORDERED),
        (gain("IPC gained by sharing with LRR, registers by first use, throttled, over LRR", dynamic(order)), &DYNAMIC),
    ]
}

/// What single steps change, and the throttle with samples in time as its reference.
fn single() -> [(&'static str, Point, Point); 4] {
    let (turn, order) = (sharing_in_turn(), ordered(sharing_in_turn()));
    let sampled = order.clone().with("share.throttle=1000");
    [
        ("IPC gained by registers by first use, over sharing with LRR", order.clone(), turn),
        ("IPC gained by throttling, over the same without", dynamic(order.clone()), order.clone()),
        ("IPC gained by throttling with a sampled reference, over the same without", sampled, order.clone()),
        ("IPC gained by owners first, over the same throttled with LRR", complete(), dynamic(order)),
    ]
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
    in_turn().iter().for_each(|(gain, _)| gain.plan(plan));
    single().into_iter().flat_map(|(_, point, over)| [point, over]).for_each(|point| plan.point(point));
    for Gain { point, over, .. } in further() {
        [point, over].into_iter().for_each(|point| plan.point(point));
    }
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (gain, each) in in_turn() {
        rows.extend(gain.mean(results, MORE));
        rows.extend(gain.each(results, each));
    }
    for (metric, point, over) in single() {
        let gains = gains(results, &point, &over);
        rows.extend(gains.map(|gains| MORE.row(metric, mean_gain(&gains), gains)));
    }
    rows.extend(further().iter().filter_map(|gain| gain.mean(results, MORE)));
    rows
}

pub fn plots(_: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
