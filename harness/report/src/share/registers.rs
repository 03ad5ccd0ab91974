//! IPC with register sharing: thesis 2.5.1.2, figure 2.13(a); over owners first without sharing: table 2.5.

use super::{Gain, WHOLE, aged, baseline, complete};
use crate::plot::{Plot, Style};
use crate::row::{Claim, Row};
use crate::shown::kernels;
use crate::sweep::{Results, SweepPlan};

const OVER: &str = "sharing thesis 2.5.1.2, figure 2.13(a)";
const TABLE: &str = "sharing thesis, table 2.5: 90 % by 0 %";

pub const MEAN: Claim = Claim::share(OVER, "10.99 %: 6-16 %", 0.06, 0.16);
/// By the kernels' own names.
const EACH: [(&str, Claim); 8] = [
    ("hotspot", Claim::share(OVER, "21.76 %: 17-27 %", 0.17, 0.27)),
    ("stencil", Claim::share(OVER, "23.45 %: 18-28 %", 0.18, 0.28)),
    ("sgemm", Claim::share(OVER, "4.06 %: -1-9 %", -0.01, 0.09)),
    ("backprop", Claim::share(OVER, "5.82 %: 1-11 %", 0.01, 0.11)),
    ("mri-q", Claim::share(OVER, "-0.72 %: -6-4 %", -0.06, 0.04)),
    ("bPlusTree", Claim::share(OVER, "11.98 %: 7-17 %", 0.07, 0.17)),
    ("MUM", Claim::share(OVER, "24.14 %: 19-29 %", 0.19, 0.29)),
    ("LIB", Claim::share(OVER, "0.84 %: -4-6 %", -0.04, 0.06)),
];

pub const ALONE: Claim = Claim::share(TABLE, "1.3 %: -1-4 %", -0.01, 0.04);
const EACH_ALONE: [(&str, Claim); 8] = [
    ("hotspot", Claim::share(TABLE, "2.9 %: 0-5.5 %", 0.0, 0.055)),
    ("stencil", Claim::share(TABLE, "-1.7 %: -4-1 %", -0.04, 0.01)),
    ("sgemm", Claim::share(TABLE, "1.2 %: -1-4 %", -0.01, 0.04)),
    ("backprop", Claim::share(TABLE, "0.7 %: -2-3 %", -0.02, 0.03)),
    ("mri-q", Claim::share(TABLE, "0.4 %: -2-3 %", -0.02, 0.03)),
    ("bPlusTree", Claim::share(TABLE, "2.4 %: 0-5 %", 0.0, 0.05)),
    ("MUM", Claim::share(TABLE, "2.3 %: 0-5 %", 0.0, 0.05)),
    ("LIB", Claim::share(TABLE, "2.4 %: 0-5 %", 0.0, 0.05)),
];

const SCHEDULER: Claim =
    Claim::share("sharing thesis, figure 2.13(a) by table 2.5", "10.99 % by 1.3 %: 9.5 %, 4.5-14.5 %", 0.045, 0.145);

/// Sharing over the baseline.
pub fn over_baseline(part: &str) -> Gain<'_> {
    Gain {
        metric: "IPC gained by sharing, over LRR",
        part,
        point: complete(),
        over: baseline(),
        own: aged().with(WHOLE),
    }
}

/// Sharing over the same scheduler.
pub fn over_aged(part: &str) -> Gain<'_> {
    Gain {
        metric: "IPC gained by sharing, over owners first without pairs",
        part,
        point: complete(),
        over: aged(),
        own: aged().with(WHOLE),
    }
}

/// The scheduler over the baseline, nothing shared.
fn scheduler() -> Gain<'static> {
    Gain {
        metric: "IPC gained by the scheduler, nothing shared, over LRR",
        part: "registers",
        point: aged(),
        over: baseline(),
        own: aged().with(WHOLE),
    }
}

pub fn plan(plan: &mut SweepPlan) {
    [over_baseline("registers"), over_aged("registers"), scheduler()].iter().for_each(|gain| gain.plan(plan));
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let (all, alone) = (over_baseline("registers"), over_aged("registers"));
    let mut rows = Vec::new();
    rows.extend(all.mean(results, MEAN));
    rows.extend(all.each(results, &EACH));
    rows.extend(scheduler().mean(results, SCHEDULER));
    rows.extend(alone.mean(results, ALONE));
    rows.extend(alone.each(results, &EACH_ALONE));
    rows
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let of = |gain: Gain<'_>| super::gains(results, &gain.point, &gain.over);
        let series = vec![
            ("sharing over LRR", of(over_baseline("registers"))?),
            ("its scheduler over LRR", of(scheduler())?),
            ("sharing over its scheduler", of(over_aged("registers"))?),
        ];
        Some(kernels("IPC gained (figure 2.13(a), table 2.5)", "share", series, Style::Lines, Some([0.06, 0.16])))
    };
    plot().into_iter().collect()
}
