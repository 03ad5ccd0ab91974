//! Instructions that meet a conflict at a bank, with and without the levels above the register file: hierarchy thesis 7.5.5, figure 7.10.

use gpurf_machine::measures::{
    IN_CONFLICT, IN_CONFLICT_CACHE, IN_CONFLICT_OWN, IN_CONFLICT_OWN_MEMORY, IN_CONFLICT_OWN_REGISTERS,
    IN_CONFLICT_OWN_SCRATCHPAD, IN_CONFLICT_REGISTERS, IN_CONFLICT_SCRATCHPAD,
};

use super::best::{best_of, cases};
use super::{CHANGES, Change, NOT_SAID, REPORT, SAME, common_points, event};
use crate::estimate::Estimate;
use crate::experiments::{self, Experiment};
use crate::row::{Claim, PerKernel, Reason, Row};
use crate::sweep::{Measured, Point, Results, SweepPlan};

const PART: &str = "conflicts";
const MORE: Claim = Claim::share("hierarchy thesis 7.5.5, figure 7.10", "roughly 5 %: 3-7 points", 0.03, 0.07);
const FEWER: Claim =
    Claim::share("hierarchy thesis 7.5.5, figure 7.10", "fewer than the baseline: below 0", -1.0, -1e-4).sign();
const SHARE: Claim = Claim::none(NOT_SAID);

/// The machines of figure 7.10.
#[derive(Clone, Copy)]
enum Machine {
    Baseline,
    Unified,
    UnifiedWithHierarchy,
}

use Machine::{Baseline, Unified, UnifiedWithHierarchy};

impl Machine {
    fn name(self) -> &'static str {
        match self {
            Baseline => "256/64/64 KB without LRF and ORF",
            Unified => "384 KB unified without LRF and ORF",
            UnifiedWithHierarchy => "384 KB unified",
        }
    }

    /// The configurations among which the driver may choose, with as many threads as fit.
    fn points(self) -> Vec<Point> {
        let points = match self {
            Baseline => vec![Point::preset("fixed-256-flat").fitting()],
            Unified => {
                let point = Point::preset("unified-384-flat");
                [point.clone(), point.with("launch.cache_kilobytes=256")].map(Point::fitting).into()
            }
            UnifiedWithHierarchy => common_points(),
        };
        points.into_iter().map(Point::measured).collect()
    }
}

/// The experiments on a row. The baseline's scratchpad memory has no gather rule to change.
const EXPERIMENTS: [Experiment; 2] = [
    CHANGES[0],
    ("with clusters that gather from several of their banks (unified.gather=aggressive)", |point| {
        if point.preset == "fixed-256-flat" { point } else { point.with("unified.gather=aggressive") }
    }),
];

pub fn plan(plan: &mut SweepPlan) {
    for machine in [Baseline, Unified, UnifiedWithHierarchy] {
        experiments::plan(plan, &EXPERIMENTS, machine.points());
    }
}

/// The fraction of a benchmark's instructions that a measure counts, in its best configuration.
fn shares(results: &Results<'_>, machine: Machine, change: Change, measure: &str) -> Option<PerKernel> {
    let points: Vec<Point> = machine.points().into_iter().map(change).collect();
    let share = |run: &Measured| crate::ratio(run.event(measure) as f64, run.event(event::ISSUE) as f64);
    let mut all = PerKernel::new();
    for case in cases(results) {
        if let Some(best) = best_of(results, &case.kernels, &points)? {
            all.insert(case.name, share(best.run));
        }
    }
    (!all.is_empty()).then_some(all)
}

/// Percentage points by which a machine exceeds the baseline, as a fraction.
fn more(results: &Results<'_>, machine: Machine, change: Change, measure: &str) -> Option<Estimate> {
    let baseline = shares(results, Baseline, change, measure)?;
    let shares = shares(results, machine, change, measure)?;
    let more = shares.into_iter().filter_map(|(name, share)| Some((name.clone(), share - baseline.get(&name)?)));
    Some(Estimate::mean(more.collect()))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let compared = [(MORE, Unified), (FEWER, UnifiedWithHierarchy)].into_iter().filter_map(|(claim, machine)| {
        let (name, baseline) = (machine.name(), Baseline.name());
        let metric = format!("instructions with a bank conflict, {name} less {baseline}, mean");
        // "Each instruction that accesses a bank more than once" (4.2).
        let row = claim.row(metric, more(results, machine, SAME, IN_CONFLICT_OWN)?);
        Some(row.because(|_| {
            let value = |change: Change, measure: &str| more(results, machine, change, measure).map(|more| more.value);
            let waits = "if an instruction that waits for accesses of others counts too";
            let mut found = experiments::values(&EXPERIMENTS, |change| value(change, IN_CONFLICT_OWN));
            found.push((waits.to_owned(), value(SAME, IN_CONFLICT)));
            Reason::found(found, REPORT.command(results, PART))
        }))
    });
    let shown = [
        ("a bank conflict", IN_CONFLICT_OWN),
        ("two registers of a bank", IN_CONFLICT_OWN_REGISTERS),
        ("several passes of scratchpad memory", IN_CONFLICT_OWN_SCRATCHPAD),
        ("scratchpad memory or cache in a bank of a register", IN_CONFLICT_OWN_MEMORY),
        ("a wait for a bank", IN_CONFLICT),
        ("a wait of a register read", IN_CONFLICT_REGISTERS),
        ("a wait in scratchpad memory", IN_CONFLICT_SCRATCHPAD),
        ("a wait of the data cache", IN_CONFLICT_CACHE),
    ];
    let each = [Baseline, Unified, UnifiedWithHierarchy].into_iter().flat_map(|machine| {
        shown.into_iter().filter_map(move |(what, measure)| {
            let shares = shares(results, machine, SAME, measure)?;
            Some(SHARE.mean(format!("instructions with {what}, {}, mean", machine.name()), shares))
        })
    });
    compared.chain(each).collect()
}
