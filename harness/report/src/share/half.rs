//! Sharing with half of the shared resource: thesis 2.5.1.7, figure 2.20; 3.4.1.8, figure 3.14.

use super::{Gain, NOT_SAID, Registers, Release, Scratchpad, Shared, gaining};
use crate::plot::Plot;
use crate::row::{Claim, Row};
use crate::sweep::{Results, SweepPlan};

const FASTER: Claim = Claim::share("sharing thesis 2.5.1.7, figure 2.20(a)", "5 of 8: 50-75 %", 0.5, 0.75);
const SOURCE_B: &str = "sharing thesis 2.5.1.7, figure 2.20(b)";
const FASTER_B: Claim = Claim::share(SOURCE_B, "1 of 7, 3 \"comparable\": 14-58 %", 0.14, 0.58);
const EACH_B: [(&str, Claim); 2] = [
    ("lavaMD", Claim::share(SOURCE_B, "\"performs better\": above 0", 0.0, 1.0).sign()),
    ("CONV2", Claim::share(SOURCE_B, "\"degrades\": below 0", -1.0, 0.0).sign()),
];
const SOURCE_3: &str = "sharing thesis 3.4.1.8, figure 3.14";
const FASTER_3: Claim = Claim::share(SOURCE_3, "4 of 14, 5 \"comparable\": 28-65 %", 0.28, 0.65);
const ABOVE: Claim = Claim::share(SOURCE_3, "\"improvement\": above 0", 0.0, 1.0).sign();
const EACH_3: [(&str, Claim); 4] = [("DCT3", ABOVE), ("DCT4", ABOVE), ("NQU", ABOVE), ("heartwall", ABOVE)];
const MORE: Claim = Claim::none(NOT_SAID);

/// The thesis's comparison: half of the resource with sharing, all of it without. It explains the gain of MUM by the throttle, so its machine has all
/// mechanisms.
fn twice(of: Shared) -> Gain<'static> {
    let metric = match of {
        Registers => "IPC gained by sharing, over LRR with twice the registers",
        Scratchpad | Release => "IPC gained by sharing, over LRR with twice the scratchpad memory",
    };
    Gain { of, metric, part: "half", point: of.complete(), over: of.baseline().with(of.twice().0), own: of.own() }
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    twice(of).plan(plan);
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let (claim, each): (_, &[_]) = match of {
        Registers => (FASTER, &[]),
        Scratchpad => (FASTER_B, &EACH_B),
        Release => (FASTER_3, &EACH_3),
    };
    let gain = twice(of);
    let count = || {
        let gains = of.gains(results, &gain.point, &gain.over)?;
        let metric = format!("kernels that are faster with sharing than with twice the {} and LRR", of.words());
        let row = claim.mean(metric, gaining(&gains));
        Some(row.because(|_| gain.why(results, |gains| Some(crate::mean(&gaining(gains))))))
    };
    let mut rows: Vec<Row> = [count(), gain.mean(results, MORE)].into_iter().flatten().collect();
    rows.extend(gain.each(results, each));
    rows
}

pub fn plots(_: Shared, _: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
