//! Performance by the number of banks: stealing paper III-A1, figure 2; VI-A, figure 11(a).

use super::{BANKS, NOT_SAID, gain, stealing, straight, why};
use crate::plot::Plot;
use crate::row::{Claim, Row, mean};
use crate::shown::lines;
use crate::sweep::{Point, Results, SweepPlan};

pub const EIGHT: Claim =
    Claim::share("stealing paper III-A5, VI-B, figures 2, 12", "around 5 % less: -7 to -3 %", -0.07, -0.03);
const MOST: Claim =
    Claim::share("stealing paper III-A1, figure 2", "almost the same, 1.4 % by 11(a): -1 to 2 %", -0.01, 0.02);
const OVER_32: Claim = Claim::share("stealing paper VI-A, figure 11(a)", "5.7 %", 0.0565, 0.0575);
const MORE: Claim = Claim::none(NOT_SAID);

/// What stealing gains on files with this many banks. The paper says it of all four, so each is a claim of its own.
pub const fn same(banks: u32) -> Claim {
    let text = match banks {
        4 => "8 % to 13 %, 4 banks",
        8 => "8 % to 13 %, 8 banks",
        16 => "8 % to 13 %, 16 banks",
        _ => "8 % to 13 %, 32 banks",
    };
    Claim::share("stealing paper VI-A, figure 11(a)", text, 0.08, 0.13)
}

pub fn plan(plan: &mut SweepPlan) {
    why::plan(plan, BANKS.into_iter().flat_map(|banks| [straight(banks), stealing(banks)]));
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, metric: String, point: Point, baseline: Point| {
        let row = claim.mean(format!("IPC gained {metric}"), gain(results, &point, &baseline)?);
        Some(row.because(|_| why::gain_of(results, "banks", &point, &baseline)))
    };
    let mut rows = vec![
        row(EIGHT, "by 8 banks, over 16".into(), straight(8), straight(16)),
        row(MOST, "by 32 banks, over 16".into(), straight(32), straight(16)),
    ];
    for banks in BANKS.into_iter().skip(1) {
        rows.push(row(MORE, format!("by {banks} banks, over 4"), straight(banks), straight(4)));
    }
    for banks in BANKS {
        rows.push(row(same(banks), format!("by stealing, {banks} banks"), stealing(banks), straight(banks)));
    }
    rows.push(row(OVER_32, "by 8 banks with stealing, over 32".into(), stealing(8), straight(32)));
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let by_four = |point: Point| gain(results, &point, &straight(4)).map(|each| 1.0 + mean(&each));
    let plot = lines(
        "IPC by that of 4 banks (figures 2 and 11(a))",
        ("banks", &BANKS),
        "ratio",
        &[("straight", &|banks| by_four(straight(banks))), ("with stealing", &|banks| by_four(stealing(banks)))],
        None,
    );
    plot.into_iter().collect()
}
