//! How much is shared: thesis 2.5.1.8, table 2.5.

use super::{REPORT, WHOLE, aged, event, gains as gains_of, mean_gain, of_sharing, plan_shares, sharing};
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Row, mean};
use crate::shown::{Line, lines, percent};
use crate::sweep::{Measured, Point, Results, SweepPlan, by};

const SOURCE: &str = "sharing thesis, table 2.5";

/// Tenths that are private, and the geometric mean of the table's column by that of 0 %.
const AMOUNTS: [(u32, Claim); 5] = [
    (9, Claim::share(SOURCE, "as without: -0.05-0.05 %", -0.0005, 0.0005)),
    (7, Claim::share(SOURCE, "-0.9 %: -3.5-1.5 %", -0.035, 0.015)),
    (5, Claim::share(SOURCE, "-1.0 %: -3.5-1.5 %", -0.035, 0.015)),
    (3, Claim::share(SOURCE, "-1.0 %: -3.5-1.5 %", -0.035, 0.015)),
    (1, Claim::share(SOURCE, "1.3 %: -1-4 %", -0.01, 0.04)),
];
const BEST: Claim = Claim::share(SOURCE, "5 of 8, one of them no better than 70 %: 50-75 %", 0.5, 0.75);

fn with(private: u32) -> Point {
    // The preset's own is another name of the same machine.
    sharing().with(format!("share.private={private}"))
}

/// The further blocks with registers of their own.
fn own() -> Point {
    aged().with(WHOLE)
}

pub fn plan(plan: &mut SweepPlan) {
    plan_shares(plan);
    [aged(), own()].into_iter().for_each(|point| plan.point(point));
    AMOUNTS.into_iter().for_each(|(private, _)| plan.point(with(private)));
}

/// Warps of non-owners and how they wait, of the kernels that share, in words.
fn waiting(results: &Results<'_>, private: u32) -> String {
    let of = |value: fn(&Measured) -> f64| {
        let each = results.each(&with(private), value).and_then(|each| of_sharing(results, &sharing(), each));
        each.map_or(0.0, |each| mean(&each))
    };
    let warps = of(|run| run.a_cycle(event::NON_OWNERS));
    let part = of(|run| crate::ratio(run.event(event::WAIT_LOCK) as f64, run.event(event::NON_OWNERS) as f64));
    format!("{warps:.1} warps of non-owners a cycle, which wait for their locks for {} of it", percent(part))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (private, claim) in AMOUNTS {
        let Some(gains) = gains_of(results, &with(private), &aged()) else { continue };
        let metric = format!("IPC gained with {} % shared, over owners first without pairs", 100 - 10 * private);
        let row = claim.row(metric, mean_gain(&gains), gains);
        let why = || {
            let own = gains_of(results, &own(), &aged()).map_or_else(String::new, |gains| percent(mean_gain(&gains)));
            format!(
                "there are {}; if nothing is shared, and the further blocks have all of their registers (a file of 256 KB), it \
                 is {own}",
                waiting(results, private)
            )
        };
        rows.push(row.because(|_| (why(), REPORT.command(results, "amount"))));
    }
    let best = || {
        let ipc: Vec<PerKernel> = AMOUNTS
            .iter()
            .map(|(private, _)| by(results, &with(*private), &aged(), Measured::ipc))
            .collect::<Option<_>>()?;
        let share = of_sharing(results, &sharing(), ipc.last()?.clone())?;
        let most = |name: &String| ipc.iter().map(|each| each[name]).fold(1.0, f64::max);
        let best = share.iter().map(|(name, ipc)| (name.clone(), f64::from(u8::from(*ipc >= most(name))))).collect();
        let row = BEST.mean("kernels that are fastest with 90 % shared", best);
        Some(row.because(|_| {
            let with =
                |private| format!("with {} % shared there are {}", 100 - 10 * private, waiting(results, private));
            (format!("{}; {}", with(1), with(5)), REPORT.command(results, "amount"))
        }))
    };
    rows.extend(best());
    rows
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let of = |shared: u32| Some(mean_gain(&gains_of(results, &with(10 - shared / 10), &aged())?));
    let series: [Line<'_>; 1] = [("sharing", &of)];
    let x = ("% shared", [10, 30, 50, 70, 90].as_slice());
    lines("IPC gained over owners first without pairs (table 2.5)", x, "share", &series, None).into_iter().collect()
}
