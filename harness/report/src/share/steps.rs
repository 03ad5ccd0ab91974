//! The steps of sharing: thesis 2.5.1.3, figure 2.15.

use super::{Gain, NOT_SAID, Registers, Shared, dynamic, ordered};
use crate::estimate::Estimate;
use crate::plot::Plot;
use crate::row::{Claim, Row};
use crate::sweep::{Point, Results, SweepPlan};

const SOURCE: &str = "sharing thesis 2.5.1.3, figure 2.15(a)";
const LITTLE: Claim =
    Claim::share(SOURCE, "\"good improvements only when OWF optimization is enabled\": -5-2.5 %", -0.05, 0.025);
const LIB: Claim = Claim::share(SOURCE, "2 %: -3-7 %", -0.03, 0.07);
/// Claims for the round-robin scheduler.
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
const SOURCE_B: &str = "sharing thesis 2.5.1.3, figure 2.15(b)";
const ALONE_B: [(&str, Claim); 5] = [
    ("lavaMD", Claim::share(SOURCE_B, "28 %: 23-33 %", 0.23, 0.33)),
    ("CONV1", Claim::share(SOURCE_B, "5.68 %: 1-11 %", 0.01, 0.11)),
    ("CONV2", Claim::share(SOURCE_B, "6.21 %: 1-11 %", 0.01, 0.11)),
    ("SRAD1", Claim::share(SOURCE_B, "11.1 %: 6-16 %", 0.06, 0.16)),
    ("SRAD2", Claim::share(SOURCE_B, "5.28 %: 0-10 %", 0.0, 0.10)),
];
const MORE: Claim = Claim::none(NOT_SAID);

/// A gain, and the thesis's claims on single kernels.
type Step = (Gain<'static>, &'static [(&'static str, Claim)]);

/// Steps with the round-robin scheduler. The last step, owners first, is in `registers` and `scratchpad`.
fn in_turn(of: Shared) -> Vec<Step> {
    let own = || of.baseline().with(of.twice().0);
    let gain = |metric, point| Gain { of, metric, part: "steps", point, over: of.baseline(), own: own() };
    let alone = gain("IPC gained by sharing with LRR, over LRR", of.in_turn());
    if of != Registers {
        return vec![(alone, &ALONE_B)];
    }
    let order = ordered(of.in_turn());
    vec![
        (alone, &ALONE),
        (gain("IPC gained by sharing with LRR, registers by first use, over LRR", order.clone()), &ORDERED),
        (gain("IPC gained by sharing with LRR, registers by first use, throttled, over LRR", dynamic(order)), &DYNAMIC),
    ]
}

/// The effects of single steps, and of the throttle with periodic samples as its reference.
fn single(of: Shared) -> Vec<(&'static str, Point, Point)> {
    if of != Registers {
        return vec![("IPC gained by owners first, over sharing with LRR", of.sharing(), of.in_turn())];
    }
    let (turn, order) = (of.in_turn(), ordered(of.in_turn()));
    let sampled = order.clone().with("share.throttle=1000");
    vec![
        ("IPC gained by registers by first use, over sharing with LRR", order.clone(), turn),
        ("IPC gained by throttling, over the same without", dynamic(order.clone()), order.clone()),
        ("IPC gained by throttling with a sampled reference, over the same without", sampled, order.clone()),
        ("IPC gained by owners first, over the same throttled with LRR", of.complete(), dynamic(order)),
    ]
}

/// Further steps: sharing scheduled by age, then owners first.
fn further(of: Shared) -> [Gain<'static>; 2] {
    let gain = |metric, point, over| Gain { of, metric, part: "steps", point, over, own: of.own() };
    [
        gain("IPC gained by sharing with GTO, over GTO", of.by_age(), of.aged()),
        gain("IPC gained by owners first, over sharing with GTO", of.sharing(), of.by_age()),
    ]
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    in_turn(of).iter().for_each(|(gain, _)| gain.plan(plan));
    single(of).into_iter().flat_map(|(_, point, over)| [point, over]).for_each(|point| plan.point(point));
    for Gain { point, over, .. } in further(of) {
        [point, over].into_iter().for_each(|point| plan.point(point));
    }
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (gain, each) in in_turn(of) {
        rows.extend(gain.mean(results, MORE));
        rows.extend(gain.each(results, each));
    }
    for (metric, point, over) in single(of) {
        let gains = of.gains(results, &point, &over);
        rows.extend(gains.map(|gains| MORE.row(metric, Estimate::gain(&gains))));
    }
    rows.extend(further(of).iter().filter_map(|gain| gain.mean(results, MORE)));
    rows
}

pub fn plots(_: Shared, _: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
