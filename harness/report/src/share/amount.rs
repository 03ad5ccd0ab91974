//! The amount of sharing: thesis 2.5.1.8, tables 2.5 and 2.7.

use super::gained::{ALONE, ALONE_B};
use super::{Change, Registers, SAME, Shared, UNCACHED, mean_gain, plan_uncached};
use crate::estimate::Estimate;
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Reason, Row, mean};
use crate::shown::{Line, lines};
use crate::sweep::{Measured, Point, Results, SweepPlan, by};

const SOURCE: &str = "sharing thesis, table 2.5";
const SOURCE_B: &str = "sharing thesis, table 2.7";

/// The thesis's claims by private tenths: the geometric mean of the table's column relative to that of 0 %; and the kernels for which 90 % are best.
/// The claim on 90 % is the headline.
struct Claims {
    amounts: [(u32, Claim); 5],
    best: Claim,
}

const REGISTERS: Claims = Claims {
    amounts: [
        (9, Claim::share(SOURCE, "as without: -0.05-0.05 %", -0.0005, 0.0005)),
        (7, Claim::share(SOURCE, "-0.9 %: -3.5-1.5 %", -0.035, 0.015)),
        (5, Claim::share(SOURCE, "-1.0 %: -3.5-1.5 %", -0.035, 0.015)),
        (3, Claim::share(SOURCE, "-1.0 %: -3.5-1.5 %", -0.035, 0.015)),
        (1, ALONE),
    ],
    best: Claim::share(SOURCE, "5 of 8, one of them no better than 70 %: 50-75 %", 0.5, 0.75),
};

const SCRATCHPAD: Claims = Claims {
    amounts: [
        (9, Claim::share(SOURCE_B, "as without: -0.05-0.05 %", -0.0005, 0.0005)),
        (7, Claim::share(SOURCE_B, "as without: -0.05-0.05 %", -0.0005, 0.0005)),
        (5, Claim::share(SOURCE_B, "2.5 %: 0-5 %", 0.0, 0.05)),
        (3, Claim::share(SOURCE_B, "0.8 %: -2-3 %", -0.02, 0.03)),
        (1, ALONE_B),
    ],
    best: Claim::share(SOURCE_B, "4 of 7: 42-72 %", 0.42, 0.72),
};

fn claims(of: Shared) -> &'static Claims {
    if of == Registers { &REGISTERS } else { &SCRATCHPAD }
}

/// The column without sharing has the thesis's scheduler (2.5.1.8), so the others have all of its mechanisms.
fn with(of: Shared, private: u32) -> Point {
    // The preset's own amount gives another name of the same machine.
    of.complete().with(format!("share.private={private}"))
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    of.plan(plan);
    plan.point(of.own());
    plan_uncached(plan, [of.aged()]);
    plan_uncached(plan, claims(of).amounts.iter().map(|(private, _)| with(of, *private)));
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for &(private, claim) in &claims(of).amounts {
        let gains = |change: Change| of.gains(results, &change(with(of, private)), &change(of.aged()));
        let Some(all) = gains(SAME) else { continue };
        let metric = format!("IPC gained with {} % shared, over owners first without pairs", 100 - 10 * private);
        let row = claim.row(metric, Estimate::gain(&all));
        let why = || {
            let own = of.gains(results, &of.own(), &of.aged());
            let mut all = vec![(of.own_words(), own.map(|gains| mean_gain(&gains)))];
            all.push((UNCACHED.0.to_owned(), gains(UNCACHED.1).map(|gains| mean_gain(&gains))));
            all
        };
        rows.push(row.because(|_| Reason::found(why(), of.command(results, "amount"))));
    }
    let best_with = |change: Change| {
        let amounts = claims(of).amounts.iter();
        let ipc: Vec<PerKernel> = amounts
            .map(|(private, _)| by(results, &change(with(of, *private)), &change(of.aged()), Measured::ipc))
            .collect::<Option<_>>()?;
        let share = of.of_sharing(results, ipc.last()?.clone())?;
        let most = |name: &String| ipc.iter().map(|each| each[name]).fold(1.0, f64::max);
        Some(share.iter().map(|(name, ipc)| (name.clone(), f64::from(u8::from(*ipc >= most(name))))).collect())
    };
    let best = || {
        let row = claims(of).best.mean("kernels that are fastest with 90 % shared", best_with(SAME)?);
        Some(row.because(|_| {
            let all = vec![(UNCACHED.0.to_owned(), best_with(UNCACHED.1).map(|best: PerKernel| mean(&best)))];
            Reason::found(all, of.command(results, "amount"))
        }))
    };
    rows.extend(best());
    rows
}

pub fn plots(of: Shared, results: &Results<'_>) -> Vec<Plot> {
    let gain = |shared: u32| Some(mean_gain(&of.gains(results, &with(of, 10 - shared / 10), &of.aged())?));
    let series: [Line<'_>; 1] = [("sharing", &gain)];
    let x = ("% shared", [10, 30, 50, 70, 90].as_slice());
    lines("IPC gained over owners first without pairs (tables 2.5, 2.7)", x, "share", &series, None)
        .into_iter()
        .collect()
}
