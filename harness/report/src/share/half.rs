//! Sharing in half of the registers: thesis 2.5.1.7, figure 2.20(a).

use super::{Gain, NOT_SAID, WHOLE, aged, baseline, gaining, of_sharing, sharing};
use crate::plot::Plot;
use crate::row::{Claim, Row};
use crate::sweep::{Measured, Point, Results, SweepPlan, by};

const SOURCE: &str = "sharing thesis 2.5.1.7, figure 2.20(a)";
const FASTER: Claim = Claim::share(SOURCE, "5 of 8: 50-75 %", 0.5, 0.75);
const MORE: Claim = Claim::none(NOT_SAID);

/// Half of the thesis's file.
const SMALL: &str = "mrf.kilobytes=64";

/// The thesis's: 128 KB with sharing, 256 KB without.
fn twice() -> Gain<'static> {
    Gain {
        metric: "IPC gained by sharing, over LRR with twice the registers",
        part: "half",
        point: sharing(),
        over: baseline().with(WHOLE),
        own: aged().with(WHOLE),
    }
}

pub fn plan(plan: &mut SweepPlan) {
    twice().plan(plan);
    [baseline(), baseline().with(SMALL), aged().with(SMALL), sharing().with(SMALL)]
        .into_iter()
        .for_each(|point| plan.point(point));
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let count = || {
        let gain = twice();
        let gains = super::gains(results, &gain.point, &gain.over)?;
        let row =
            FASTER.mean("kernels that are faster with sharing than with twice the registers and LRR", gaining(&gains));
        Some(row.because(|_| gain.why(results, |gains| Some(crate::mean(&gaining(gains))))))
    };
    let small = sharing().with(SMALL);
    let in_small = |metric: &str, over: Point| {
        let gains = of_sharing(results, &small, by(results, &small, &over, Measured::ipc)?).map(super::gained)?;
        Some(MORE.row(metric, super::mean_gain(&gains), gains))
    };
    let rows = [
        count(),
        twice().mean(results, MORE),
        in_small("IPC gained by sharing in 64 KB, over LRR in 64 KB", baseline().with(SMALL)),
        in_small("IPC gained by sharing in 64 KB, over GTO in 64 KB", aged().with(SMALL)),
        in_small("IPC gained by sharing in 64 KB, over LRR in 128 KB", baseline()),
    ];
    rows.into_iter().flatten().collect()
}

pub fn plots(_: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
