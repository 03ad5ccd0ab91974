//! The report on register sharing: pairs of blocks with some registers in common (sharing thesis, chapter 2).

mod amount;
mod gto;
mod half;
mod headlines;
mod idle;
mod lock;
mod others;
mod progress;
mod registers;
mod residency;
mod steps;

use std::collections::BTreeSet;

use gpurf_compiler::Schedule;

use crate::kernels::SHARING_THESIS_REGISTERS;
use crate::report::{Definition, Headlines, Part};
use crate::row::{Absent, Claim, PerKernel, Row, geometric_mean};
use crate::shown::percent;
use crate::sweep::{Measured, Point, Results, SweepPlan, by};

/// What can be made.
pub const REPORTS: &[Definition] = &[REPORT];

/// The report.
const REPORT: Definition = Definition {
    name: "sharing",
    title: "Register sharing: two blocks, some registers in common (sharing thesis, chapter 2)",
    kernels: SHARING_THESIS_REGISTERS,
    schedule: Schedule::None,
    orders: None,
    headlines: Headlines { plan: headlines::plan, rows: headlines::rows },
    parts: &[
        Part { name: "residency", plan: residency::plan, rows: residency::rows, plots: residency::plots },
        Part { name: "registers", plan: registers::plan, rows: registers::rows, plots: registers::plots },
        Part { name: "others", plan: others::plan, rows: others::rows, plots: others::plots },
        Part { name: "steps", plan: steps::plan, rows: steps::rows, plots: steps::plots },
        Part { name: "amount", plan: amount::plan, rows: amount::rows, plots: amount::plots },
        Part { name: "gto", plan: gto::plan, rows: gto::rows, plots: gto::plots },
        Part { name: "idle", plan: idle::plan, rows: idle::rows, plots: idle::plots },
        Part { name: "progress", plan: progress::plan, rows: progress::rows, plots: progress::plots },
        Part { name: "lock", plan: lock::plan, rows: lock::rows, plots: lock::plots },
        Part { name: "half", plan: half::plan, rows: half::rows, plots: half::plots },
    ],
    absent: ABSENT,
};

const ABSENT: &[Absent] = &[
    Absent {
        source: "sharing thesis, table 2.1, figure 2.13(a)",
        text: "backprop 5.82 %, mri-q -0.72 %",
        why: "registers do not limit ours: with 18 of a thread 48 warps fit, with 32 four blocks leave nothing over. The compiler's --registers \
              is a bound from above, and there is nothing that makes a kernel take more",
    },
    Absent {
        source: "sharing thesis 2.5.1.2 to 2.5.1.5",
        text: "what more and fewer misses of the L1 and L2 caches do",
        why: "the SM has no data cache",
    },
    Absent {
        source: "sharing thesis 2.5.1.9, figure 2.21",
        text: "warp-level divergence: 2.87 %",
        why: "another paper's design, which is not built",
    },
    Absent {
        source: "sharing thesis 2.2.2, figures 2.12(b) to 2.22(b), tables 2.7 and 2.8",
        text: "sharing of scratchpad memory: 12.47 %",
        why: "not built",
    },
];

/// What rows say of results that the thesis does not have.
const NOT_SAID: &str = "not in the thesis";

/// The thesis's *Unshared-LRR*.
fn baseline() -> Point {
    Point::preset("fermi")
}

/// The same scheduled by age. Owners first without pairs of blocks is this, as in the column without sharing of the thesis's table 2.5.
fn aged() -> Point {
    baseline().with(AGED)
}

/// The thesis's *Shared-OWF*, without its dynamic warp execution and without its order of registers.
fn sharing() -> Point {
    Point::preset("share-registers")
}

/// The thesis's *Shared-OWF-Unrolled-Dyn*: all of it, with the stalls of another SM as the throttle's reference.
fn complete() -> Point {
    dynamic(ordered(sharing()))
}

/// Registers named in the order of first use.
fn ordered(point: Point) -> Point {
    point.with("compiler.register_order=first_use")
}

/// Dynamic warp execution: periods of 1000 cycles, compared with those of another SM.
fn dynamic(point: Point) -> Point {
    point.with("share.throttle=1000").with("share.reference=external")
}

/// The thesis's *Shared-LRR-NoOpt*.
fn sharing_in_turn() -> Point {
    sharing().with(NO_CLASSES).with("sm.scheduler=round_robin")
}

/// Sharing scheduled by age, whoever owns.
fn sharing_aged() -> Point {
    sharing().with(NO_CLASSES)
}

const AGED: &str = "sm.scheduler=greedy_then_oldest";
const NO_CLASSES: &str = "share.owner_first=false";

/// A file in which as many blocks as share have all of their registers.
const WHOLE: &str = "mrf.kilobytes=256";
/// A memory of twice the bandwidth.
const WIDE: &str = "memory.bandwidth=32";

/// What every part needs: it says which kernels share.
fn plan_shares(plan: &mut SweepPlan) {
    plan.point(sharing());
}

/// The kernels some of whose warps share registers with a block beside theirs.
fn shares(results: &Results<'_>, point: &Point) -> Option<BTreeSet<String>> {
    let shares = results.each(point, |run| run.event(event::NON_OWNERS) as f64)?;
    Some(shares.into_iter().filter(|(_, warps)| *warps > 0.0).map(|(name, _)| name).collect())
}

/// The values of the kernels that share; nothing if none does.
fn of_sharing(results: &Results<'_>, point: &Point, values: PerKernel) -> Option<PerKernel> {
    let share = shares(results, point)?;
    let values: PerKernel = values.into_iter().filter(|(name, _)| share.contains(name)).collect();
    (!values.is_empty()).then_some(values)
}

/// What IPC gains at one point over another one, of the kernels that share.
fn gains(results: &Results<'_>, a: &Point, b: &Point) -> Option<PerKernel> {
    of_sharing(results, &sharing(), by(results, a, b, Measured::ipc)?).map(gained)
}

fn gained(ratios: PerKernel) -> PerKernel {
    ratios.into_iter().map(|(name, ratio)| (name, ratio - 1.0)).collect()
}

/// 1 for each kernel that gains, 0 for the others.
fn gaining(gains: &PerKernel) -> PerKernel {
    gains.iter().map(|(name, gain)| (name.clone(), f64::from(u8::from(*gain > 0.0)))).collect()
}

/// The thesis's kind of mean of gains: of the ratios, and geometric (2.5.1.2).
fn mean_gain(gains: &PerKernel) -> f64 {
    geometric_mean(&gains.iter().map(|(name, gain)| (name.clone(), gain + 1.0)).collect()) - 1.0
}

/// What is compared, and where its rows are.
struct Gain<'a> {
    metric: &'a str,
    part: &'a str,
    point: Point,
    over: Point,
    /// The same warps with registers of their own.
    own: Point,
}

impl Gain<'_> {
    /// What it needs to have run.
    fn plan(&self, plan: &mut SweepPlan) {
        plan_shares(plan);
        let Self { point, over, own, .. } = self;
        [point.clone(), over.clone(), own.clone(), point.clone().with(WIDE), over.clone().with(WIDE)]
            .into_iter()
            .for_each(|point| plan.point(point));
    }

    /// The row of the mean over the kernels that share.
    fn mean(&self, results: &Results<'_>, claim: Claim) -> Option<Row> {
        let gains = gains(results, &self.point, &self.over)?;
        let row = claim.row(self.metric, mean_gain(&gains), gains);
        Some(row.because(|_| self.why(results, |gains| Some(mean_gain(gains)))))
    }

    /// The row of the greatest gain.
    fn most(&self, results: &Results<'_>, claim: Claim, metric: &str) -> Option<Row> {
        let most = |gains: &PerKernel| gains.values().copied().reduce(f64::max);
        let gains = gains(results, &self.point, &self.over)?;
        Some(claim.row(metric, most(&gains)?, gains).because(|_| self.why(results, most)))
    }

    /// The rows of single kernels; those that do not run or do not share have none.
    fn each(&self, results: &Results<'_>, claims: &[(&str, Claim)]) -> Vec<Row> {
        let gains = gains(results, &self.point, &self.over).unwrap_or_default();
        let row = |&(kernel, claim): &(&str, Claim)| {
            let row = claim.row(format!("{}: {kernel}", self.metric), *gains.get(kernel)?, PerKernel::new());
            Some(row.because(|_| self.why(results, |gains| gains.get(kernel).copied())))
        };
        claims.iter().filter_map(row).collect()
    }

    /// What two experiments move, each of which changes one thing.
    fn why(&self, results: &Results<'_>, value: impl Fn(&PerKernel) -> Option<f64>) -> (String, String) {
        let Self { part, point, over, own, .. } = self;
        let gain = |a: &Point, b: &Point| {
            gains(results, a, b).and_then(|gains| value(&gains)).map_or_else(|| "not known".to_owned(), percent)
        };
        let why = format!(
            "if nothing is shared, and the further blocks have all of their registers (a file of 256 KB), it is {}; with twice \
             the memory's bandwidth ({WIDE}) on both sides it is {}. No other cause was looked for",
            gain(own, over),
            gain(&point.clone().with(WIDE), &over.clone().with(WIDE)),
        );
        (why, REPORT.command(results, part))
    }
}

/// Names of events: docs/blocks/share_locks.md, docs/blocks/sm.md.
mod event {
    events! {
        NON_OWNERS = "non_owners",
        OWNERS = "owners",
        NON_OWNER_ISSUE = "non_owner_issue",
        WAIT_LOCK = "wait_lock",
        WAIT_HOLD = "wait_hold",
        ISSUE = "issue",
        EMPTY = "stall_empty",
        BARRIER = "stall_barrier",
        FETCH = "stall_fetch",
        SCOREBOARD = "stall_scoreboard",
        COLLECTOR = "stall_collector",
        OTHER = "stall_other",
    }
}

#[cfg(test)]
mod tests;
