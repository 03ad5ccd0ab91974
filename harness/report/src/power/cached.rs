//! GREENER below a register file cache: `docs/power.md`, "Below a cache".

use gpurf_energy::leakage::Leakage;

use super::levels::{OURS, all_on};
use super::{Of, baseline, cycles, savings};
use crate::row::Row;
use crate::sweep::{Point, Results};

/// Rows on leakage saved, relative to the same machine without power states and to the baseline, and on cycles.
pub(super) const METRICS: [&str; 3] = [
    "leakage energy of the main register file saved by GREENER with RFC",
    "leakage energy of the main register file saved by GREENER with RFC, over the baseline without",
    "cycles that GREENER with RFC takes more",
];

/// The machine with GREENER and a register file cache.
pub(super) fn cached() -> Point {
    Point::preset("greener-rfc")
}

pub(super) fn rows(results: &Results<'_>, leakage: &Leakage) -> [Option<Row>; 3] {
    let saving = |metric, all_on: &Point| {
        savings::row(results, (OURS, metric, "levels"), leakage, (&cached(), all_on), Of::Energy)
    };
    let [own, whole, more] = METRICS;
    let points = (&cached(), &all_on(cached()));
    [
        saving(own, &all_on(cached())),
        saving(whole, &baseline()),
        cycles::row_over(results, OURS, more, points, "levels"),
    ]
}
