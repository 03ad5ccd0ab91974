//! The report on unified memory: one set of banks for registers, scratchpad memory and data cache (hierarchy thesis, chapter 7).

mod banks;
mod best;
mod conflicts;
mod dram;
mod energy;
mod errata;
mod headlines;
mod limited;
mod partition;
mod performance;
mod sensitivity;
mod sizes;

use best::{Best, Case, best, best_of, cases, faster};
pub use energy::{storage, usual_activity};

use crate::code::Code;
use crate::estimate::Estimate;
use crate::experiments::{self, Change, Experiment, SAME};
use crate::kernels::UNIFIED_MEMORY;
use crate::report::{Definition, Headlines, Part};
use crate::row::{Absent, Claim, PerKernel, Reason, Row};
use crate::sweep::{Point, Results, SweepPlan};

/// The reports on unified memory.
pub const REPORTS: &[Definition] = &[REPORT];

/// The presets are the thesis's machine, as far as it is known, so headlines do not depend on which of its parameters a machine has.
const REPORT: Definition = Definition {
    name: "unified",
    title: "Unified memory: one set of banks for registers, scratchpad memory and data cache (hierarchy thesis, chapter 7)",
    kernels: UNIFIED_MEMORY,
    code: Code::PTX,
    orders: None,
    headlines: Headlines { plan: |plan, _| headlines::plan(plan), rows: |results, _| headlines::rows(results) },
    settings: &["unified.gather=aggressive", "launch.cache_kilobytes=64", "launch.cache_kilobytes=256"],
    parts: &[
        Part { name: "performance", plan: performance::plan, rows: performance::rows, plots: performance::plots },
        Part { name: "sizes", plan: sizes::plan, rows: sizes::rows, plots: sizes::plots },
        Part { name: "limited", plan: limited::plan, rows: limited::rows, plots: |_| Vec::new() },
        Part { name: "dram", plan: dram::plan, rows: dram::rows, plots: dram::plots },
        Part { name: "energy", plan: energy::plan, rows: energy::rows, plots: energy::plots },
        Part { name: "partition", plan: partition::plan, rows: partition::rows, plots: |_| Vec::new() },
        Part { name: "errata", plan: |_| (), rows: errata::rows, plots: |_| Vec::new() },
        Part { name: "banks", plan: banks::plan, rows: banks::rows, plots: |_| Vec::new() },
        Part { name: "conflicts", plan: conflicts::plan, rows: conflicts::rows, plots: |_| Vec::new() },
        Part { name: "sensitivity", plan: sensitivity::plan, rows: sensitivity::rows, plots: |_| Vec::new() },
    ],
    absent: ABSENT,
};

const ABSENT: &[Absent] = &[
    Absent {
        source: "hierarchy thesis 7.1.2, figure 7.1",
        text: "BFS and mummer gain little from more registers; DGEMM needs them; PCR and Hotspot gain from occupancy",
        why: "a report compiles a kernel once, with as many registers as it needs; bytes spilled with 32 and 24 are in tests/kernels/README.md",
    },
    Absent {
        source: "hierarchy thesis 7.3.1",
        text: "7.125 KB of tags for a cache of 384 KB",
        why: "a cache has a power of two of lines here; the thesis proposes 256 KB itself",
    },
    Absent {
        source: "hierarchy thesis, figures 7.1 to 7.4, 7.7 to 7.12, table 7.1",
        text: "the bars of each benchmark; the table's cells",
        why: "the text that this project has prints no numbers for them, but those that are compared",
    },
];

/// The source of rows with results that the thesis does not have.
const NOT_SAID: &str = "not in the thesis";

/// A design of figures 7.7 to 7.9.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Design {
    /// 128 KB of registers, 32 KB of scratchpad memory, 32 KB of cache.
    Fixed128,
    /// 128, 64 and 64 KB.
    Fixed128With64,
    /// 256, 64 and 64 KB: the baseline.
    Fixed256,
    /// 256 KB of each.
    Large256,
    /// 512 KB of each.
    Large512,
    /// 256 KB of registers, and 64 KB in two parts, of which the driver chooses one as the cache.
    Limited,
    /// The limited design with 16 KB of cache and 48 KB of scratchpad memory.
    Limited16,
    /// The limited design with 48 KB of cache and 16 KB of scratchpad memory.
    Limited48,
    /// One set of banks, 128 KB.
    Unified128,
    /// One set of banks, 256 KB.
    Unified256,
    /// One set of banks, 384 KB: as large as the baseline.
    Unified384,
    /// One set of banks, 512 KB.
    Unified512,
}

use Design::{Fixed128, Fixed128With64, Fixed256, Large256, Large512, Limited, Limited16, Limited48};
use Design::{Unified128, Unified256, Unified384, Unified512};

impl Design {
    /// Its name in rows.
    fn name(self) -> &'static str {
        match self {
            Fixed128 => "128/32/32 KB",
            Fixed128With64 => "128/64/64 KB",
            Fixed256 => "256/64/64 KB",
            Large256 => "256/256/256 KB",
            Large512 => "512/512/512 KB",
            Limited => "256/64 KB limited",
            Limited16 => "limited, 16 KB of cache",
            Limited48 => "limited, 48 KB of cache",
            Unified128 => "128 KB unified",
            Unified256 => "256 KB unified",
            Unified384 => "384 KB unified",
            Unified512 => "512 KB unified",
        }
    }

    /// The configurations from which the driver chooses, besides the tile: as many threads as fit, or fewer; with unified memory also as many as leave
    /// room for the largest cache. The largest cache is a choice only in the design that the thesis compares most, to limit the number of runs.
    fn points(self) -> Vec<Point> {
        let point = match self {
            Fixed128 => Point::preset("fixed-128-32"),
            Fixed128With64 => Point::preset("fixed-256").with("mrf.kilobytes=128"),
            Fixed256 => Point::preset("fixed-256"),
            Large256 => large(256),
            Large512 => large(512).with("mrf.kilobytes=512"),
            Limited => return [Limited16.points(), Limited48.points()].concat(),
            Limited16 => Point::preset("limited-16"),
            Limited48 => Point::preset("limited-48"),
            Unified128 => Point::preset("unified-128"),
            Unified256 => Point::preset("unified-256"),
            Unified384 => Point::preset("unified-384"),
            Unified512 => Point::preset("unified-512"),
        };
        let chosen = (self == Unified384).then(|| point.clone().with("launch.cache_kilobytes=256"));
        let fewer = self.fewer(&point);
        [point].into_iter().chain(chosen).chain(fewer).map(Point::fitting).collect()
    }

    /// The design with fewer threads than fit: 768 of each benchmark of which it holds more; of needle's largest tile the 576 of table 7.2.
    fn fewer(self, point: &Point) -> Vec<Point> {
        let held = match self {
            Unified128 => 2,
            Fixed128 | Fixed128With64 | Limited48 => 3,
            Fixed256 | Limited16 | Unified256 => 4,
            Large256 | Large512 | Unified384 | Unified512 => HELD.len(),
            // Its points are those of its two halves.
            Limited => 0,
        };
        let unified = matches!(self, Unified128 | Unified256 | Unified384 | Unified512);
        let of = |(name, blocks): (&'static str, &str)| {
            point.clone().with(if unified { "launch.threads=768" } else { blocks }).only(name)
        };
        let needle = match self {
            Unified384 | Unified512 => Some("launch.threads=576"),
            Large512 => Some("sm.blocks=9"),
            _ => None,
        };
        let needle = needle.map(|threads| point.clone().with(threads).only("needle64"));
        HELD[..held].iter().copied().map(of).chain(needle).collect()
    }
}

/// Benchmarks, those first of which even small designs hold more than 768 threads; and the number of blocks that have 768.
const HELD: [(&str, &str); 5] = [
    ("bfs", "sm.blocks=3"),
    ("MUM", "sm.blocks=3"),
    ("hotspot", "sm.blocks=3"),
    ("pcr", "sm.blocks=6"),
    ("cgemm", "sm.blocks=3"),
];

/// The points of the unified design that all benchmarks have. Parts on its banks have these alone, to limit the number of runs.
fn common_points() -> Vec<Point> {
    Unified384.points().into_iter().filter(|point| point.only.is_none()).collect()
}

/// The baseline with this much scratchpad memory, and this much cache.
fn large(kilobytes: u32) -> Point {
    let sizes = ["sm.shared_kilobytes", "cache.kilobytes"].map(|key| format!("{key}={kilobytes}"));
    sizes.into_iter().fold(Point::preset("fixed-256"), Point::with)
}

/// Memory that moves 128 bytes a cycle, and as many requests in flight as a machine may have: with a latency of 400 they allow 41 bytes a cycle.
const WIDE: [&str; 3] = ["memory.bandwidth=128", "cache.misses=128", "sm.line_rows=128"];
/// The latencies of table 4.4 from issue to issue, as `hierarchy-paper` has them.
const ISSUE_TO_ISSUE: [&str; 3] = ["sm.alu_latency=3", "sm.sfu_latency=15", "sm.shared_latency=15"];

/// A point with settings.
fn with_all(point: Point, settings: [&str; 3]) -> Point {
    settings.into_iter().fold(point, Point::with)
}

/// The experiments of most rows.
const CHANGES: [Experiment; 3] = [
    // "The large number of hardware threads are able to tolerate latency from cache misses" (7.5.7): this distinguishes latency from bandwidth.
    (
        "with memory that moves 128 bytes a cycle and has twice the requests in flight (memory.bandwidth=128, cache.misses=128, sm.line_rows=128)",
        |point| with_all(point, WIDE),
    ),
    (
        "with the latencies of table 4.4 from issue to issue (sm.alu_latency=3, sm.sfu_latency=15, sm.shared_latency=15)",
        |point| with_all(point, ISSUE_TO_ISSUE),
    ),
    // The thesis has 128 bytes per cycle in section 2.4.2, and 32 in table 4.4.
    ("with 32 bytes a cycle of scratchpad memory (sm.shared_bandwidth=32)", |point| {
        point.with("sm.shared_bandwidth=32")
    }),
];

/// Experiments with other data of one benchmark, on rows that compare the unified design with the baseline. The other benchmarks keep their data.
const DATA: [(&str, Experiment); 4] = [
    ("needle", ("with sequences of 2048, as in the thesis (needle*-unified-2048.toml)", |point| point.on("2048"))),
    ("bfs", ("with 98,304 nodes (bfs-unified-98304.toml)", |point| point.on("98304"))),
    (
        "bfs",
        ("with 98,304 nodes whose edge lists follow each other (bfs-unified-lists.toml)", |point| point.on("lists")),
    ),
    ("MUM", ("with a tree of 81 KB (MUM-unified-small.toml)", |point| point.on("small"))),
];

/// Plans the unified design and the baseline, their variants in the experiments, and the runs on other data.
fn plan_compared(plan: &mut SweepPlan) {
    plan_changed(plan, &[Fixed256, Unified384]);
    for point in [Fixed256, Unified384].into_iter().flat_map(Design::points) {
        // A point for one benchmark has no runs on the data of others.
        let of = |name: &str| point.only.is_none_or(|only| only.starts_with(name));
        DATA.iter().filter(|(name, _)| of(name)).for_each(|(_, (_, change))| plan.experiment(change(point.clone())));
    }
}

/// The experiments with other data on a row about one benchmark, or about all of them. There are none for kernels without other data, such as small
/// runs.
fn on_data(results: &Results<'_>, of: Option<&str>, value: Value<'_>) -> Vec<(String, Option<f64>)> {
    let has = |name: &str| results.kernels.iter().any(|kernel| kernel.data.is_some() && kernel.name.starts_with(name));
    let experiments = DATA.iter().filter(|(name, _)| of.is_none_or(|of| of == *name) && has(name));
    let changed =
        |(_, (words, change)): &(&str, Experiment)| ((*words).to_owned(), value(*change).map(|changed| changed.value));
    experiments.map(changed).collect()
}

/// Plans designs without experiments.
fn plan_designs(plan: &mut SweepPlan, designs: &[Design]) {
    designs.iter().flat_map(|design| design.points()).for_each(|point| plan.point(point));
}

/// Plans designs, and their variants in the experiments.
fn plan_changed(plan: &mut SweepPlan, designs: &[Design]) {
    experiments::plan(plan, &CHANGES, designs.iter().flat_map(|design| design.points()));
}

/// The value of a row with a change: over all benchmarks, and of each.
type Value<'a> = &'a dyn Fn(Change) -> Option<Estimate>;

/// A row, with the results of the experiments if it does not agree.
fn row(results: &Results<'_>, part: &str, claim: Claim, metric: &str, value: Value<'_>) -> Option<Row> {
    row_with(results, part, claim, metric, value, Vec::new)
}

/// A row that compares the unified design with the baseline, about one benchmark or about all, with the experiments on other data too.
fn row_compared(
    results: &Results<'_>,
    part: &str,
    claim: Claim,
    metric: &str,
    of: Option<&str>,
    value: Value<'_>,
) -> Option<Row> {
    row_with(results, part, claim, metric, value, || on_data(results, of, value))
}

/// A row with additional experiments of its own.
fn row_with(
    results: &Results<'_>,
    part: &str,
    claim: Claim,
    metric: &str,
    value: Value<'_>,
    more: impl FnOnce() -> Vec<(String, Option<f64>)>,
) -> Option<Row> {
    let row = claim.row(metric, value(SAME)?);
    Some(row.because(|_| {
        let changed = experiments::values(&CHANGES, |change| value(change).map(|changed| changed.value));
        Reason::found([changed, more()].concat(), REPORT.command(results, part))
    }))
}

/// A value of each benchmark that both designs run; `None` if a run is missing.
fn compared(
    results: &Results<'_>,
    designs: [Design; 2],
    change: Change,
    value: impl Fn(&Best<'_>, &Best<'_>) -> f64,
) -> Option<PerKernel> {
    compared_at(results, designs.map(|design| design.points().into_iter().map(change).collect()), value)
}

/// A value of each benchmark from its fastest run in each of two lists of configurations; `None` if a run is missing.
fn compared_at(
    results: &Results<'_>,
    [a, b]: [Vec<Point>; 2],
    value: impl Fn(&Best<'_>, &Best<'_>) -> f64,
) -> Option<PerKernel> {
    let mut all = PerKernel::new();
    for case in cases(results) {
        let fastest = |points: &[Point]| best_of(results, &case.kernels, points);
        if let (Some(a), Some(b)) = (fastest(&a)?, fastest(&b)?) {
            let value = value(&a, &b);
            all.insert(case.name, value);
        }
    }
    (!all.is_empty()).then_some(all)
}

/// The gain of run `a` over run `b`. It is computed from cycles, not IPC, because tiles of another size execute other instructions.
fn gain(a: &Best<'_>, b: &Best<'_>) -> f64 {
    faster(a, b) - 1.0
}

/// The gain of the first design over the second.
fn gains(results: &Results<'_>, designs: [Design; 2], change: Change) -> Option<PerKernel> {
    compared(results, designs, change, gain)
}

/// The number of benchmarks for which a condition holds.
fn count(each: &PerKernel, holds: impl Fn(f64) -> bool) -> f64 {
    each.values().filter(|value| holds(**value)).count() as f64
}

/// The least and the greatest value.
fn ends(each: &PerKernel) -> Option<[f64; 2]> {
    let least = each.values().copied().reduce(f64::min)?;
    Some([least, each.values().copied().reduce(f64::max)?])
}

/// The value of one benchmark.
fn of_case(each: Option<PerKernel>, name: &str) -> Option<Estimate> {
    Some(Estimate::number(*each?.get(name)?))
}

/// Names of events: docs/blocks/mrf_arbiter.md, docs/blocks/sm.md, docs/blocks/cache.md, docs/machine.md.
mod event {
    events! {
        ISSUE = "issue",
        READ_GROUPS = "read_groups",
        WRITE_GROUPS = "write_groups",
        SHARED = "shared",
        SHARED_LANES = "shared_lanes",
        CACHE_HIT = "cache_hit",
        CACHE_STORE_HIT = "cache_store_hit",
        CACHE_STORE_FULL = "cache_store_full",
        CACHE_FILL = "cache_fill",
        MEMORY_READ = "memory_read_bytes",
        MEMORY_WRITTEN = "memory_written_bytes",
    }
}

#[cfg(test)]
mod tests;
