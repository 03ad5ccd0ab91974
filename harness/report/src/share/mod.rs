//! Reports on pairs of blocks that share registers or scratchpad memory (sharing thesis, chapters 2 and 3). Each part is written once, for all of
//! them.

mod amount;
mod check;
mod errata;
mod gained;
mod gto;
mod half;
mod headlines;
mod idle;
mod lock;
mod misses;
mod others;
mod progress;
mod release;
mod residency;
mod steps;

use std::collections::BTreeSet;

use crate::code::Code;
use crate::estimate::Estimate;
use crate::experiments::{self, Change, Experiment, SAME};
use crate::kernels::{SHARING_THESIS_REGISTERS, SHARING_THESIS_RELEASE, SHARING_THESIS_SCRATCHPAD};
use crate::report::{Definition, Headlines, Part};
use crate::row::{Absent, Claim, PerKernel, Reason, Row};
use crate::sweep::{Measured, Point, Results, SweepPlan, by};

use Shared::{Registers, Release, Scratchpad};

/// The reports of this technique.
pub const REPORTS: &[Definition] = &[REGISTERS, SCRATCHPAD, RELEASE];

/// A part of the report on one kind of sharing.
macro_rules! part {
    ($of:expr, $name:literal, $module:ident) => {
        Part {
            name: $name,
            plan: |plan| $module::plan($of, plan),
            rows: |results| $module::rows($of, results),
            plots: |results| $module::plots($of, results),
        }
    };
}

/// The presets are the thesis's machine, as far as it is known, so headlines do not depend on which of its parameters a machine has.
macro_rules! headlines {
    ($of:expr) => {
        Headlines { plan: |plan, _| headlines::plan($of, plan), rows: |results, _| headlines::rows($of, results) }
    };
}

const REGISTERS: Definition = Definition {
    name: "sharing",
    title: "Register sharing: two blocks, some registers in common (sharing thesis, chapter 2)",
    kernels: SHARING_THESIS_REGISTERS,
    code: Code::PTX,
    orders: None,
    headlines: headlines!(Registers),
    settings: &["share.lock=first", "share.owner_first=false", "share.throttle=1000"],
    parts: &[
        part!(Registers, "residency", residency),
        part!(Registers, "registers", gained),
        part!(Registers, "others", others),
        part!(Registers, "steps", steps),
        part!(Registers, "amount", amount),
        part!(Registers, "gto", gto),
        part!(Registers, "idle", idle),
        part!(Registers, "progress", progress),
        part!(Registers, "misses", misses),
        part!(Registers, "lock", lock),
        part!(Registers, "half", half),
    ],
    absent: &[
        Absent {
            source: "sharing thesis, table 2.1, figure 2.13(a)",
            text: "backprop 5.82 %, mri-q -0.72 %",
            why: "registers do not limit ours: with 18 of a thread 48 warps fit, with 32 four blocks leave nothing over. The compiler's \
                  --registers is a bound from above, and there is nothing that makes a kernel take more",
        },
        CACHES,
        DIVERGENCE,
    ],
};

const SCRATCHPAD: Definition = Definition {
    name: "scratchpad",
    title: "Scratchpad sharing: two blocks, some scratchpad memory in common (sharing thesis, chapter 2)",
    kernels: SHARING_THESIS_SCRATCHPAD,
    code: Code::PTX,
    orders: None,
    headlines: headlines!(Scratchpad),
    settings: &["share.lock=first", "share.owner_first=false", "share.check=mark"],
    parts: &[
        part!(Scratchpad, "residency", residency),
        part!(Scratchpad, "scratchpad", gained),
        part!(Scratchpad, "others", others),
        part!(Scratchpad, "steps", steps),
        part!(Scratchpad, "amount", amount),
        part!(Scratchpad, "gto", gto),
        part!(Scratchpad, "idle", idle),
        part!(Scratchpad, "progress", progress),
        part!(Scratchpad, "misses", misses),
        part!(Scratchpad, "lock", lock),
        part!(Scratchpad, "half", half),
        part!(Scratchpad, "check", check),
        part!(Scratchpad, "errata", errata),
    ],
    absent: &[CACHES, DIVERGENCE],
};

const RELEASE: Definition = Definition {
    name: "relssp",
    title: "Scratchpad sharing with the compiler's part: layout and relssp (sharing thesis, chapter 3)",
    kernels: SHARING_THESIS_RELEASE,
    code: Code::PTX,
    orders: None,
    headlines: headlines!(Release),
    settings: &["share.lock=first", "share.owner_first=false", "share.check=mark"],
    parts: &[
        part!(Release, "residency", residency),
        part!(Release, "relssp", gained),
        part!(Release, "places", release),
        part!(Release, "others", others),
        part!(Release, "gto", gto),
        part!(Release, "progress", progress),
        part!(Release, "misses", misses),
        part!(Release, "half", half),
        part!(Release, "check", check),
    ],
    absent: &[
        Absent {
            source: "sharing thesis, table 3.3",
            text: "NW1, NW2",
            why: "the text that this project has lacks the table's bytes, and with those of table 2.2 seven blocks reside, not one",
        },
        Absent {
            source: "sharing thesis, table 3.5",
            text: "instructions that relssp and split edges add",
            why: "a test of the compiler has them (docs/scratchpad-compiler.md, \"How it is judged\")",
        },
        Absent {
            source: "sharing thesis 3.4.1.9, 3.4.1.10, figures 3.15 and 3.16",
            text: "48 and 64 KB of scratchpad memory; shared memory multiplexing",
            why: "bytes of the kernels of table 3.7 are not in the text that this project has; multiplexing rewrites kernels",
        },
        CACHES,
    ],
};

const CACHES: Absent = Absent {
    source: "sharing thesis 2.5.1.2 to 2.5.1.5, 3.4.1.2",
    text: "what more and fewer misses of the L2 cache do",
    why: "one SM cannot fill an L2 cache that many share; the experiments with twice the memory's bandwidth show what a more effective one would do",
};

const DIVERGENCE: Absent = Absent {
    source: "sharing thesis 2.5.1.9, figure 2.21",
    text: "warp-level divergence: 2.87 %",
    why: "another paper's design, which is not built",
};

/// The source of rows with results that the thesis does not have.
const NOT_SAID: &str = "not in the thesis";

/// The resource that blocks share, and the chapter whose machine is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shared {
    /// Registers, chapter 2.
    Registers,
    /// Scratchpad memory, chapter 2.
    Scratchpad,
    /// Scratchpad memory, chapter 3: more registers and blocks, and code that releases the shared part.
    Release,
}

impl Shared {
    /// A preset, on the machine of its chapter.
    fn machine(self, preset: &'static str) -> Point {
        let point = L1.iter().fold(Point::preset(preset), |point, setting| point.with(*setting));
        if self == Release { point.with("mrf.kilobytes=256").with("sm.blocks=16") } else { point }
    }

    /// The thesis's *Unshared-LRR*.
    fn baseline(self) -> Point {
        self.machine(if self == Registers { "fermi" } else { "fermi-16k" })
    }

    /// The baseline with scheduling by age. Owners first without pairs of blocks is the same, as in the column without sharing of the thesis's tables
    /// 2.5 and 2.7.
    fn aged(self) -> Point {
        self.baseline().with(AGED)
    }

    /// The thesis's *Shared-OWF*; for registers without its dynamic warp execution and its register order.
    fn sharing(self) -> Point {
        self.machine(if self == Registers { "share-registers" } else { "share-scratchpad" })
    }

    /// All optimisations. For registers: the thesis's *Shared-OWF-Unrolled-Dyn*, with the stalls of another SM as the throttle's reference. For
    /// chapter 3: *Shared-OWF-OPT*.
    fn complete(self) -> Point {
        match self {
            Registers => dynamic(ordered(self.sharing())),
            Scratchpad => self.sharing(),
            Release => self.sharing().with(MINIMAL).with(OPTIMAL),
        }
    }

    /// The machine on which progress is examined; for registers without throttle and register order. Figure 2.19(a) shows progress with and without
    /// register order.
    fn looked_at(self) -> Point {
        if self == Registers { self.sharing() } else { self.complete() }
    }

    /// The thesis's *Shared-LRR-NoOpt*.
    fn in_turn(self) -> Point {
        self.by_age().with("sm.scheduler=round_robin")
    }

    /// Sharing scheduled by age, without priority for owners.
    fn by_age(self) -> Point {
        self.sharing().with(NO_CLASSES)
    }

    /// The setting that doubles the shared resource, so that as many blocks as share have all of it; and the resource in words.
    fn twice(self) -> (&'static str, &'static str) {
        match self {
            Registers => (WHOLE, "registers (a file of 256 KB)"),
            Scratchpad | Release => ("sm.shared_kilobytes=32", "scratchpad memory (32 KB)"),
        }
    }

    /// The machine with nothing shared and twice the resource: the additional blocks have all that they request.
    fn own(self) -> Point {
        self.aged().with(self.twice().0)
    }

    /// The experiment with [`Shared::own`], in words.
    fn own_words(self) -> String {
        format!("with nothing shared, and all of their {} for the further blocks,", self.twice().1)
    }

    /// The shared resource, in words.
    fn words(self) -> &'static str {
        if self == Registers { "registers" } else { "scratchpad memory" }
    }

    /// The command that repeats a part.
    fn command(self, results: &Results<'_>, part: &str) -> String {
        let report = match self {
            Registers => &REGISTERS,
            Scratchpad => &SCRATCHPAD,
            Release => &RELEASE,
        };
        report.command(results, part)
    }

    /// Plans the runs that every part needs: they show which kernels share.
    fn plan(self, plan: &mut SweepPlan) {
        plan.point(self.sharing());
    }

    /// The values of the kernels that share; `None` if no kernel shares.
    fn of_sharing(self, results: &Results<'_>, values: PerKernel) -> Option<PerKernel> {
        of_sharing(results, &self.sharing(), values)
    }

    /// The IPC that the kernels that share gain on one machine over another.
    fn gains(self, results: &Results<'_>, a: &Point, b: &Point) -> Option<PerKernel> {
        self.of_sharing(results, by(results, a, b, Measured::ipc)?).map(gained)
    }
}

/// Registers are named in the order of first use.
fn ordered(point: Point) -> Point {
    point.with("compiler.register_order=first_use")
}

/// Dynamic warp execution: stalls in periods of 1000 cycles are compared with those of another SM.
fn dynamic(point: Point) -> Point {
    point.with("share.throttle=1000").with("share.reference=external")
}

const AGED: &str = "sm.scheduler=greedy_then_oldest";
const NO_CLASSES: &str = "share.owner_first=false";
const MINIMAL: &str = "compiler.share_layout=minimal";
const OPTIMAL: &str = "compiler.relssp=optimal";

/// The thesis's L1 cache (tables 2.3 and 3.2: 16 KB), with the other parameters that GPGPU-Sim 3, its simulator, has in its configuration of a
/// machine with the table's SMs, threads, registers and timings (TeslaC2050): sets of four lines of 128 bytes, 32 misses; stores move at least 32
/// bytes.
const L1: [&str; 4] = ["cache.kilobytes=16", "cache.ways=4", "cache.misses=32", "memory.granule=32"];

/// The experiments of most rows.
const CHANGES: [Experiment; 3] = [
    UNCACHED,
    // An effect that the thesis's L2 cache may have; these machines have none.
    ("with twice the memory's bandwidth (memory.bandwidth=32)", |point| point.with("memory.bandwidth=32")),
    // "The additional thread blocks launched by our approach help in hiding execution latencies" (2.5.1.3).
    ("with twice the ALU's latency (sm.alu_latency=16)", |point| point.with("sm.alu_latency=16")),
];

/// The machine without a cache, on which all reports ran before the cache was built.
const UNCACHED: Experiment = ("without the cache (cache.kilobytes=0)", |point| point.with("cache.kilobytes=0"));

/// Plans machines with and without the cache, for parts in which further experiments would be too many runs.
fn plan_uncached(plan: &mut SweepPlan, points: impl IntoIterator<Item = Point>) {
    experiments::plan(plan, &[UNCACHED], points);
}

/// Plans machines, and their variants in the experiments.
fn plan_changed(plan: &mut SweepPlan, points: impl IntoIterator<Item = Point>) {
    experiments::plan(plan, &CHANGES, points);
}

/// The words of each experiment, with the value of a row in it.
fn experiments(value: impl Fn(Change) -> Option<f64>) -> Vec<(String, Option<f64>)> {
    experiments::values(&CHANGES, value)
}

/// A register file in which as many blocks as share have all of their registers.
const WHOLE: &str = "mrf.kilobytes=256";

/// The kernels of which some warps are non-owners, that is, whose blocks share.
fn shares(results: &Results<'_>, point: &Point) -> Option<BTreeSet<String>> {
    let shares = results.each(point, |run| run.event(event::NON_OWNERS) as f64)?;
    Some(shares.into_iter().filter(|(_, warps)| *warps > 0.0).map(|(name, _)| name).collect())
}

/// The values of the kernels that share; `None` if no kernel shares.
fn of_sharing(results: &Results<'_>, point: &Point, values: PerKernel) -> Option<PerKernel> {
    let share = shares(results, point)?;
    let values: PerKernel = values.into_iter().filter(|(name, _)| share.contains(name)).collect();
    (!values.is_empty()).then_some(values)
}

fn gained(ratios: PerKernel) -> PerKernel {
    ratios.into_iter().map(|(name, ratio)| (name, ratio - 1.0)).collect()
}

/// 1 for each kernel that gains, 0 for the others.
fn gaining(gains: &PerKernel) -> PerKernel {
    gains.iter().map(|(name, gain)| (name.clone(), f64::from(u8::from(*gain > 0.0)))).collect()
}

/// The thesis's mean of gains: the geometric mean of the ratios (2.5.1.2).
fn mean_gain(gains: &PerKernel) -> f64 {
    Estimate::gain(gains).value
}

/// A comparison of two machines, and the part that has its rows.
struct Gain<'a> {
    of: Shared,
    metric: &'a str,
    part: &'a str,
    point: Point,
    over: Point,
    /// The machine with the same warps and nothing shared.
    own: Point,
}

impl Gain<'_> {
    /// Plans its runs.
    fn plan(&self, plan: &mut SweepPlan) {
        self.of.plan(plan);
        plan.point(self.own.clone());
        plan_changed(plan, [self.point.clone(), self.over.clone()]);
    }

    /// The gains of the kernels that share.
    fn gains(&self, results: &Results<'_>) -> Option<PerKernel> {
        self.of.gains(results, &self.point, &self.over)
    }

    /// The row of the mean over the kernels that share.
    fn mean(&self, results: &Results<'_>, claim: Claim) -> Option<Row> {
        let gains = self.gains(results)?;
        let row = claim.row(self.metric, Estimate::gain(&gains));
        Some(row.because(|_| self.why(results, |gains| Some(mean_gain(gains)))))
    }

    /// The row of the greatest gain.
    fn most(&self, results: &Results<'_>, claim: Claim, metric: &str) -> Option<Row> {
        let most = |gains: &PerKernel| gains.values().copied().reduce(f64::max);
        let gains = self.gains(results)?;
        Some(claim.row(metric, Estimate::extreme(most(&gains)?, gains)).because(|_| self.why(results, most)))
    }

    /// The rows of single kernels; a kernel that does not run or does not share has none.
    fn each(&self, results: &Results<'_>, claims: &[(&str, Claim)]) -> Vec<Row> {
        let gains = self.gains(results).unwrap_or_default();
        let row = |&(kernel, claim): &(&str, Claim)| {
            let row = claim.row(format!("{}: {kernel}", self.metric), Estimate::number(*gains.get(kernel)?));
            Some(row.because(|_| self.why(results, |gains| gains.get(kernel).copied())))
        };
        claims.iter().filter_map(row).collect()
    }

    /// The reason with the results of the experiments, each of which changes one thing.
    fn why(&self, results: &Results<'_>, value: impl Fn(&PerKernel) -> Option<f64>) -> Reason {
        let Self { of, part, point, over, own, .. } = self;
        let gain = |a: &Point, b: &Point| value(&of.gains(results, a, b)?);
        let mut all = vec![(of.own_words(), gain(own, over))];
        all.extend(experiments(|change| gain(&change(point.clone()), &change(over.clone()))));
        Reason::found(all, of.command(results, part))
    }
}

/// Names of events: docs/blocks/share_locks.md, docs/blocks/scratchpad_locks.md, docs/blocks/sm.md.
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

/// Names of the cache's events: docs/blocks/cache.md.
mod cache_event {
    events! {
        HIT = "cache_hit",
        MERGE = "cache_merge",
        MISS = "cache_miss",
    }
}

/// Names of events of scratchpad sharing only: docs/blocks/scratchpad_locks.md.
mod scratchpad_event {
    events! {
        PROBE = "probe",
        PROBE_COMMON = "probe_common",
        LOCK_FREE = "lock_free",
        LOCK_EARLY = "lock_early",
    }
}

#[cfg(test)]
mod tests;
