//! The effect of more of one kind of memory: hierarchy thesis 7.1, 7.1.2, 7.6, figures 7.2 and 7.3.

use super::best::{Best, best_of, faster};
use super::{CHANGES, Change, dram, experiments, gain, row};
use crate::estimate::Estimate;
use crate::row::{Claim, Reason, Row, Unit};
use crate::sweep::{Kernel, Point, Results, SweepPlan};

const PART: &str = "sensitivity";
const TILES: Claim = Claim::share("hierarchy thesis 7.1.2, figure 7.2", "over 2x: 2-3", 2.0, 3.0).in_unit(Unit::Ratio);
const FEWER: Claim =
    Claim::share("hierarchy thesis 7.1.2, figure 7.3", "768 faster than 1024: above 0", 1e-4, 1.0).sign();
const MORE_CACHE: Claim =
    Claim::share("hierarchy thesis 7.1.2, figure 7.3", "a large performance benefit: 10 % or more", 0.1, 3.0);
const TRAFFIC: Claim =
    Claim::share("hierarchy thesis 7.1, table 7.1", "can go up: above 1", 1.0, 10.0).in_unit(Unit::Ratio).sign();
const MOST: Claim = Claim::share("hierarchy thesis 7.6", "as high as 3x: 2.5-3.5", 2.5, 3.5).in_unit(Unit::Ratio);

/// As much scratchpad memory as possible beside registers and a cache of 64 KB, for the kernels whose names start with `name`.
fn unbounded(name: &'static str) -> Point {
    Point::preset("unified-512").with("launch.cache_kilobytes=64").fitting().only(name)
}

/// The same for MUM, with this number of threads.
fn threads(threads: u32) -> Point {
    unbounded("MUM").with(format!("launch.threads={threads}"))
}

/// The baseline with a cache of this size.
fn cache(kilobytes: u32) -> Point {
    Point::preset("fixed-256").with(format!("cache.kilobytes={kilobytes}")).fitting()
}

/// The baseline with a scratchpad memory of this size.
fn scratchpad(kilobytes: u32) -> Point {
    Point::preset("fixed-256").with(format!("sm.shared_kilobytes={kilobytes}")).fitting()
}

/// A small and a large size of each kind of memory.
fn provisions() -> [(&'static str, [Point; 2]); 2] {
    [
        ("cache, 16 and 512 KB", [cache(16), cache(512)]),
        ("scratchpad memory, 16 and 512 KB", [scratchpad(16), scratchpad(512)]),
    ]
}

/// Configurations of the rows on a single benchmark.
fn tiles() -> Point {
    unbounded("needle")
}

fn fewer() -> [Point; 2] {
    [threads(768), threads(1024)]
}

fn caches() -> [Point; 2] {
    [cache(512), cache(256)].map(|point| point.only("pcr"))
}

fn traffic() -> [Point; 2] {
    [cache(64), cache(0)].map(|point| point.only("needle"))
}

pub fn plan(plan: &mut SweepPlan) {
    experiments::plan(plan, &CHANGES, [tiles()].into_iter().chain(fewer()).chain(caches()).chain(traffic()));
    provisions().into_iter().flat_map(|(_, points)| points).for_each(|point| plan.point(point));
}

/// The kernels whose names start with `name`.
fn kernels<'a>(results: &Results<'a>, name: &str) -> Vec<&'a Kernel> {
    results.kernels.iter().filter(|kernel| kernel.name.starts_with(name)).collect()
}

/// A value from the best runs of kernels in two configurations.
fn of_two(
    results: &Results<'_>,
    name: &str,
    [a, b]: [Point; 2],
    change: Change,
    value: impl Fn(&Best<'_>, &Best<'_>) -> f64,
) -> Option<Estimate> {
    let kernels = kernels(results, name);
    let [a, b] = [a, b].map(|point| best_of(results, &kernels, &[change(point)]));
    Some(Estimate::number(value(&a??, &b??)))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let mut rows = vec![
        row(
            results,
            PART,
            TILES,
            "performance of tiles of 64, by those of 16, any scratchpad memory: needle",
            &|change| {
                let of = |name| best_of(results, &kernels(results, name), &[change(tiles())]);
                Some(Estimate::number(faster(&of("needle64")??, &of("needle16")??)))
            },
        ),
        row(results, PART, FEWER, "performance gained by 768 threads, over 1024, cache of 64 KB: MUM", &|change| {
            of_two(results, "MUM", fewer(), change, gain)
        }),
        row(results, PART, MORE_CACHE, "performance gained by a cache of 512 KB, over 256 KB: pcr", &|change| {
            of_two(results, "pcr", caches(), change, gain)
        }),
        row(results, PART, TRAFFIC, "DRAM bytes with a cache of 64 KB, by those without: needle", &|change| {
            of_two(results, "needle", traffic(), change, |a, b| {
                crate::ratio(dram::bytes(a.run) as f64, dram::bytes(b.run) as f64)
            })
        }),
    ];
    rows.push(most(results));
    rows.into_iter().flatten().collect()
}

/// The row on the greatest gain of any benchmark from any kind of memory. It has no experiments, which would be many runs.
fn most(results: &Results<'_>) -> Option<Row> {
    let mut all = Vec::new();
    for (what, [small, large]) in provisions() {
        for case in super::cases(results) {
            let of = |point: &Point| best_of(results, &case.kernels, std::slice::from_ref(point));
            if let (Some(small), Some(large)) = (of(&small)?, of(&large)?) {
                all.push((case.name.clone(), what, faster(&large, &small)));
            }
        }
    }
    all.sort_by(|a, b| b.2.total_cmp(&a.2));
    let most = all.first()?.2;
    let row = MOST.row(
        "performance with a large cache or scratchpad memory by a small one, most of any benchmark",
        Estimate::number(most),
    );
    Some(row.because(|_| Reason::unknown(super::REPORT.command(results, PART))))
}
