//! How a block without the lock of scratchpad memory detects that it needs the lock: by probes, or by the compiler's marks alone. The thesis checks
//! where the address is known, which takes no time.

use super::{Gain, NOT_SAID, Shared, event, scratchpad_event};
use crate::plot::Plot;
use crate::row::{Claim, Row};
use crate::sweep::{Measured, Point, Results, SweepPlan};

const MORE: Claim = Claim::none(NOT_SAID);

fn marks(of: Shared) -> Point {
    of.complete().with("share.check=mark")
}

fn over(of: Shared) -> Gain<'static> {
    let metric = "IPC gained by the compiler's marks alone, over probes";
    Gain { of, metric, part: "check", point: marks(of), over: of.complete(), own: of.own() }
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    of.plan(plan);
    [of.complete(), marks(of), of.baseline()].into_iter().for_each(|point| plan.point(point));
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let over_baseline = Gain {
        metric: "IPC gained by sharing with the compiler's marks alone, over LRR",
        over: of.baseline(),
        ..over(of)
    };
    let mut rows: Vec<Row> = over(of).mean(results, MORE).into_iter().collect();
    rows.extend(over_baseline.mean(results, MORE));
    let part =
        |a: &'static str, b: &'static str| move |run: &Measured| crate::ratio(run.event(a) as f64, run.event(b) as f64);
    for (metric, a, b) in [
        ("probes, by instruction", scratchpad_event::PROBE, event::ISSUE),
        ("probes that find the common area, of all", scratchpad_event::PROBE_COMMON, scratchpad_event::PROBE),
    ] {
        let each = results.each(&of.complete(), part(a, b)).and_then(|each| of.of_sharing(results, each));
        rows.extend(each.map(|each| MORE.mean(metric, each)));
    }
    rows
}

pub fn plots(_: Shared, _: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
