//! The progress of the warps of non-owners: thesis 2.5.1.6, figure 2.19; 3.4.1.6, figure 3.12.

use super::{NOT_SAID, Registers, Release, Scratchpad, Shared, event, experiments, of_sharing, plan_changed};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row};
use crate::shown::kernels;
use crate::sweep::{Measured, Point, Results, SweepPlan};

const SOURCE: &str = "sharing thesis 2.5.1.6, figure 2.19(a)";
const MOST: Claim = Claim::share(SOURCE, "up to 56 %: 0-56.5 %", 0.0, 0.565);
const LITTLE: Claim = Claim::share(SOURCE, "\"very less progress\": 0-10 %", 0.0, 0.1);
const EACH: &[(&str, Claim)] = &[("sgemm", LITTLE), ("stencil", LITTLE)];
const SOURCE_B: &str = "sharing thesis 2.5.1.6, figure 2.19(b)";
const MOST_B: Claim = Claim::share(SOURCE_B, "up to 100 %: 95-100 %", 0.95, 1.0);
const EACH_B: &[(&str, Claim)] = &[(
    "lavaMD",
    Claim::share("sharing thesis 2.5.1.2", "no instruction in the common part: 100 %, 95-100 %", 0.95, 1.0),
)];
const EACH_3: &[(&str, Claim)] = &[(
    "heartwall",
    Claim::share(
        "sharing thesis 3.4.1.6, figure 3.12",
        "no block accesses the common part: 100 %, 95-100 %",
        0.95,
        1.0,
    ),
)];
const MOST_3: Claim = Claim::none(NOT_SAID);
const MORE: Claim = Claim::none(NOT_SAID);

/// The machine with a larger private part: half.
fn half_private(of: Shared) -> Point {
    of.looked_at().with("share.private=5")
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    of.plan(plan);
    plan.point(half_private(of));
    plan_changed(plan, [of.looked_at()]);
}

/// The fraction of the cycles of non-owners' warps in which they do not wait for a lock.
fn active(run: &Measured) -> f64 {
    let warps = run.event(event::NON_OWNERS) as f64;
    1.0 - crate::ratio((run.event(event::WAIT_LOCK) + run.event(event::WAIT_HOLD)) as f64, warps).min(1.0)
}

/// The progress in each kernel that shares on a machine.
fn each(results: &Results<'_>, point: &Point) -> Option<PerKernel> {
    of_sharing(results, point, results.each(point, active)?)
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let Some(all) = each(results, &of.looked_at()) else { return Vec::new() };
    let why = |value: &dyn Fn(&PerKernel) -> Option<f64>| {
        let at = |point: &Point| each(results, point).and_then(|each| value(&each));
        let half = at(&half_private(of));
        let no_room = if half.is_none() { " (no room for guests)" } else { "" };
        let half = (format!("with half of the {} private{no_room}", of.words()), half);
        let all = [half].into_iter().chain(experiments(|change| at(&change(of.looked_at())))).collect();
        Reason::found(all, of.command(results, "progress"))
    };
    let most = |each: &PerKernel| each.values().copied().reduce(f64::max);
    let metric = "cycles in which warps of non-owners do not wait for a lock";
    let (most_of_any, single) = match of {
        Registers => (MOST, EACH),
        Scratchpad => (MOST_B, EACH_B),
        Release => (MOST_3, EACH_3),
    };
    let mut rows = vec![
        most_of_any
            .row(format!("{metric}, most of any kernel"), Estimate::extreme(most(&all).unwrap_or(0.0), all.clone()))
            .because(|_| why(&most)),
        MORE.mean(metric, all.clone()),
    ];
    for (kernel, claim) in single {
        let Some(&active) = all.get(*kernel) else { continue };
        let row = claim.row(format!("{metric}: {kernel}"), Estimate::number(active));
        rows.push(row.because(|_| why(&|each: &PerKernel| each.get(*kernel).copied())));
    }
    let issued =
        |run: &Measured| crate::ratio(run.event(event::NON_OWNER_ISSUE) as f64, run.event(event::ISSUE) as f64);
    let issued = results.each(&of.looked_at(), issued).and_then(|each| of.of_sharing(results, each));
    rows.extend(issued.map(|each| MORE.mean("instructions that warps of non-owners issue, of all", each)));
    rows
}

pub fn plots(of: Shared, results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let series = vec![
            ("10 % private", each(results, &of.looked_at())?),
            ("50 % private", each(results, &half_private(of))?),
        ];
        Some(kernels(
            "Cycles in which non-owners do not wait for a lock (figure 2.19)",
            "share",
            series,
            Style::Lines,
            None,
        ))
    };
    plot().into_iter().collect()
}
