//! Read allocation: operands are also written to the cache. RFC paper 3.1; hierarchy thesis 5.2.3, 5.4.3, figure 5.8.

use gpurf_energy::Traffic;

use super::{ENTRIES, cache, lines, mean_of, unknown};
use crate::cached::of_cache;
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Row};
use crate::sweep::{Point, Results, SweepPlan};
use crate::traffic::{reads_avoided, writes_avoided};

/// Numbers of entries that are run; the last one is what the paper calls large.
const SIZES: [u32; 4] = [3, ENTRIES, 9, LARGE];
const LARGE: u32 = 13;

const FEWER: Claim = Claim::share("RFC paper 3.1", "5 %", 0.045, 0.055);
const MORE: Claim = Claim::share("RFC paper 3.1", "10-20 %", 0.1, 0.2);
const LARGE_ONLY: Claim = Claim::share(
    "hierarchy thesis 5.4.3, figure 5.8",
    "only outperforms the baseline policy with a very large number of entries: not with 6",
    -1.0,
    0.0,
)
.sign();
const EVEN_SO: Claim = Claim::share(
    "hierarchy thesis 5.4.3, figure 5.8",
    "the baseline policy outperforms even when liveness information is used",
    -1.0,
    0.0,
)
.sign();

/// The cache `of`, with reads that allocate.
fn allocating(of: fn(u32) -> Point, entries: u32) -> Point {
    of(entries).with("rfc.reads=true")
}

pub fn plan(plan: &mut SweepPlan) {
    for entries in SIZES {
        [cache::all_warps(entries), cache::live(entries)].into_iter().for_each(|point| plan.point(point));
        [allocating(cache::all_warps, entries), allocating(cache::live, entries)]
            .into_iter()
            .for_each(|point| plan.point(point));
    }
}

/// The additional accesses avoided with reads that allocate.
fn gain(results: &Results<'_>, of: fn(u32) -> Point, entries: u32, value: fn(&Traffic) -> f64) -> Option<PerKernel> {
    results.both(&allocating(of, entries), &of(entries), |a, b| value(&of_cache(a)) - value(&of_cache(b)))
}

fn negated(values: PerKernel) -> PerKernel {
    values.into_iter().map(|(name, value)| (name, -value)).collect()
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let explained = |row: Row| row.because(|_| unknown(results, "reads"));
    let all = cache::all_warps;
    let rows = [
        gain(results, all, LARGE, reads_avoided)
            .map(|gain| explained(FEWER.mean("fewer MRF reads with reads that allocate, 13 entries", gain))),
        gain(results, all, LARGE, writes_avoided)
            .map(|gain| explained(MORE.mean("more MRF writes with reads that allocate, 13 entries", negated(gain)))),
        gain(results, all, ENTRIES, writes_avoided)
            .map(|gain| explained(MORE.mean("more MRF writes with reads that allocate, 6 entries", negated(gain)))),
        gain(results, all, ENTRIES, reads_avoided)
            .map(|gain| explained(LARGE_ONLY.mean("more MRF reads avoided with reads that allocate, 6 entries", gain))),
        gain(results, cache::live, ENTRIES, writes_avoided).map(|gain| {
            explained(EVEN_SO.mean("more MRF writes avoided with reads that allocate, 6 entries, last-read bits", gain))
        }),
    ];
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let at = |point: &Point, value: fn(&Traffic) -> f64| mean_of(results, point, |run| value(&of_cache(run)));
    let plot = lines(
        "MRF accesses avoided by a cache of all warps, with and without reads that allocate (thesis, figure 5.8)",
        ("entries", &SIZES),
        "part avoided, mean",
        &[
            ("reads", &|entries| at(&cache::all_warps(entries), reads_avoided)),
            ("reads, reads allocate", &|entries| at(&allocating(cache::all_warps, entries), reads_avoided)),
            ("writes, last-read bits", &|entries| at(&cache::live(entries), writes_avoided)),
            ("writes, last-read bits, reads allocate", &|entries| {
                at(&allocating(cache::live, entries), writes_avoided)
            }),
        ],
        None,
    );
    plot.into_iter().collect()
}
