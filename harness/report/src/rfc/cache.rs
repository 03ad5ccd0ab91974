//! The cache of section 3.1: every warp has its own entries, and there are no flushes. Figures 6 and 7.

use gpurf_energy::Traffic;

use super::{ACTIVE, ENTRIES, combined, errata, kernels, lines, machine, mean_of, part_command, unknown};
use crate::cached::of_cache;
use crate::follow::{Flushed, FollowedCache};
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row, mean};
use crate::sweep::{Measured, Point, Results, SweepPlan};
use crate::traffic::{accesses_avoided, reads_avoided, writes_avoided};

/// Numbers of entries in figure 6.
const SIZES: [u32; 13] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
const LARGEST: u32 = 13;
/// "A 5-entry per-thread register file cache" (hierarchy thesis, 1.4).
const FIVE: u32 = 5;
/// "RFC designs sized larger than 6 entries per-thread" (hierarchy thesis 5.4.2).
const LARGER: [u32; 7] = [7, 8, 9, 10, 11, 12, 13];

const READS: Claim = Claim::share("RFC paper 5.1, figure 6(a)", "45-75 %", 0.45, 0.75);
const WRITES: Claim = Claim::share("RFC paper 5.1, figure 6(b)", "35-75 %", 0.35, 0.75);
pub const READS_MEAN: Claim = Claim::share("RFC paper, introduction", "50 %", 0.45, 0.55);
pub const WRITES_MEAN: Claim = Claim::share("RFC paper, introduction", "43 %", 0.425, 0.435);
const LIVE_MEAN: Claim = Claim::share("RFC paper, abstract", "59 %", 0.585, 0.595);
pub const LIVE: Claim = Claim::share("RFC paper 5.1, figure 6(c); hierarchy thesis 5.4.1", "10-15 %", 0.1, 0.15);
const LARGE: Claim = Claim::share("hierarchy thesis 5.4.1", "65-90 %", 0.65, 0.9);
const FILTERED: Claim = Claim::share(
    "hierarchy thesis 1.4; chapter 5, before 5.1, and 5.5",
    "50-60 %, 5 entries; 4 to 6 entries",
    0.5,
    0.6,
);
const SINGLE: Claim = Claim::share("RFC paper 5.1, figure 6", "some", 0.0001, 1.0).sign();
const LRU: Claim = Claim::share("RFC paper 3.1", "1-2 %", 0.01, 0.02);
const LRU_LARGE: Claim = Claim::share("hierarchy thesis 5.4.2, figure 5.7", "1-3 %", 0.01, 0.03);
const LRU_WRITES: Claim =
    Claim::share("hierarchy thesis 5.4.2, figure 5.7(b)", "slightly larger than 1-3 % of reads: 1-5 %", 0.01, 0.05);
const LRU_LIVE: Claim = Claim::share("hierarchy thesis 5.4.2", "negligible: -1-1 %", -0.01, 0.01);
const LRU_SMALL: Claim = Claim::share("hierarchy thesis 5.4.2", "a very small loss", -0.01, 0.0);

const MEAN_READS: &str = "MRF reads avoided, 6 entries, mean of all workloads";
const MEAN_WRITES: &str = "MRF writes avoided, 6 entries, mean of all workloads";

/// The cache with entries for all warps.
pub fn all_warps(entries: u32) -> Point {
    machine("rfc-all").with(format!("rfc.entries={entries}"))
}

/// The cache with entries for all warps and last-read bits.
pub fn live(entries: u32) -> Point {
    all_warps(entries).with("rfc.live=true")
}

fn lru(entries: u32) -> Point {
    all_warps(entries).with("rfc.replacement=lru")
}

/// LRU with last-read bits.
fn live_lru(entries: u32) -> Point {
    live(entries).with("rfc.replacement=lru")
}

/// The same cache simulated in program order, without a model of hardware or timing.
fn followed(entries: u32, live: bool) -> FollowedCache {
    FollowedCache { entries: entries as usize, live, flushed: Flushed::Never }
}

/// A cache with entries for the active warps only.
fn active_only(entries: u32, live: bool) -> Point {
    if live { combined::live(entries, ACTIVE) } else { combined::cache(entries, ACTIVE) }
}

pub fn plan(plan: &mut SweepPlan) {
    plan.usage();
    plan.point(live_lru(8));
    // The experiments of the rows with these numbers of entries, without or with last-read bits.
    for (entries, live) in [(1, false), (FIVE, false), (ENTRIES, false), (ENTRIES, true), (LARGEST, false)] {
        plan.cache(followed(entries, live));
        plan.experiment(active_only(entries, live));
    }
    for entries in SIZES {
        [all_warps(entries), live(entries), lru(entries)].into_iter().for_each(|point| plan.point(point));
    }
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row_of = |claim: Claim, metric: &str, (entries, live_bits): (u32, bool), value: fn(&Traffic) -> f64| {
        let point = if live_bits { live(entries) } else { all_warps(entries) };
        let row = claim.mean(metric, results.each(&point, |run| value(&of_cache(run)))?);
        Some(row.because(|_| why(results, entries, live_bits, value)))
    };
    let row = |claim, metric, entries, value| row_of(claim, metric, (entries, false), value);
    let live_row = || {
        let more = |a: &Measured, b: &Measured| writes_avoided(&of_cache(a)) - writes_avoided(&of_cache(b));
        let gain = results.both(&live(ENTRIES), &all_warps(ENTRIES), more)?;
        let row = LIVE.mean("more MRF writes avoided with last-read bits, 6 entries", gain);
        Some(row.because(|_| Reason { erratum: Some(errata::LIVE), ..why_live(results) }))
    };
    // The mean over sizes, of each kernel.
    let lru_gain =
        |claim: Claim, metric: &str, sizes: &[u32], [lru, fifo]: [fn(u32) -> Point; 2], value: fn(&Traffic) -> f64| {
            let gain = |a: &Measured, b: &Measured| value(&of_cache(a)) - value(&of_cache(b));
            let mut mean = PerKernel::new();
            for &entries in sizes {
                for (kernel, gain) in results.both(&lru(entries), &fifo(entries), gain)? {
                    *mean.entry(kernel).or_default() += gain / sizes.len() as f64;
                }
            }
            Some(claim.mean(metric, mean).because(|_| unknown(results, "cache")))
        };
    let six = ENTRIES;
    let rows = [
        row(READS, "MRF reads avoided, 6 entries", six, reads_avoided).map(|row| row.derived(MEAN_READS)),
        row(WRITES, "MRF writes avoided, 6 entries", six, writes_avoided).map(|row| row.derived(MEAN_WRITES)),
        row(READS_MEAN, MEAN_READS, six, reads_avoided),
        row(WRITES_MEAN, MEAN_WRITES, six, writes_avoided),
        row_of(
            LIVE_MEAN,
            "MRF writes avoided, 6 entries, last-read bits, mean of all workloads",
            (six, true),
            writes_avoided,
        ),
        live_row(),
        row(SINGLE, "MRF reads avoided, a single entry", 1, reads_avoided),
        row(SINGLE, "MRF writes avoided, a single entry", 1, writes_avoided),
        row(FILTERED, "MRF accesses avoided, 5 entries", FIVE, accesses_avoided),
        row(LARGE, "MRF accesses avoided, 13 entries", LARGEST, accesses_avoided),
        lru_gain(
            LRU,
            "more MRF accesses avoided with LRU than with FIFO, 6 entries",
            &[six],
            [lru, all_warps],
            accesses_avoided,
        ),
        lru_gain(
            LRU_LARGE,
            "more MRF reads avoided with LRU than with FIFO, mean of 7 to 13 entries",
            &LARGER,
            [lru, all_warps],
            reads_avoided,
        ),
        lru_gain(
            LRU_SMALL,
            "more MRF reads avoided with LRU than with FIFO, 3 entries",
            &[3],
            [lru, all_warps],
            reads_avoided,
        ),
        lru_gain(
            LRU_WRITES,
            "more MRF writes avoided with LRU than with FIFO, mean of 7 to 13 entries",
            &LARGER,
            [lru, all_warps],
            writes_avoided,
        ),
        lru_gain(
            LRU_LIVE,
            "more MRF writes avoided with LRU than with FIFO, 8 entries, last-read bits",
            &[8],
            [live_lru, live],
            writes_avoided,
        ),
    ];
    rows.into_iter().flatten().collect()
}

/// Experiments: the same cache in program order, without a model of hardware or timing, and a cache with entries for the active warps only.
fn why(results: &Results<'_>, entries: u32, live: bool, value: fn(&Traffic) -> f64) -> Reason {
    let cache = followed(entries, live);
    let active = active_only(entries, live);
    // The paper says "over half of all register accesses" and 36 % of both together (RFC paper, introduction).
    let words = "with entries for the 8 active warps alone";
    let experiments = vec![
        (IN_ORDER.to_owned(), mean_followed(results, &cache, value)),
        (words.to_owned(), mean_of(results, &active, |run| value(&of_cache(run)))),
    ];
    Reason::found(experiments, part_command(results, "cache"))
}

/// The simulation on the oracle, in the words of reasons.
const IN_ORDER: &str = "followed in program order on the oracle, without hardware or time,";

/// The mean over kernels for a cache simulated in program order.
fn mean_followed(results: &Results<'_>, cache: &FollowedCache, value: fn(&Traffic) -> f64) -> Option<f64> {
    results.followed(cache, value).map(|values| mean(&values))
}

/// Experiments: the gain of the last-read bits in program order, and the gain if all last reads were known; neither has a model of hardware or
/// timing.
fn why_live(results: &Results<'_>) -> Reason {
    let at = |live: bool| mean_followed(results, &followed(ENTRIES, live), writes_avoided);
    let bits = at(true).zip(at(false)).map(|(with, without)| with - without);
    let known = results.usage(|usage| usage.live_writes_avoided() - usage.writes_avoided()).map(|each| mean(&each));
    let experiments = vec![
        (IN_ORDER.to_owned(), bits),
        ("in program order, if every last read were known, lane by lane,".to_owned(), known),
    ];
    Reason::found(experiments, part_command(results, "cache"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let at = |point: fn(u32) -> Point, value: fn(&Traffic) -> f64| {
        move |entries: u32| mean_of(results, &point(entries), |run| value(&of_cache(run)))
    };
    let sizes = ("entries", &SIZES[..]);
    let part = "part avoided, mean";
    let six = |point: Point, value: fn(&Traffic) -> f64| results.each(&point, |run| value(&of_cache(run)));
    let each = || {
        let reads = ("reads", six(all_warps(ENTRIES), reads_avoided)?);
        let writes = ("writes", six(all_warps(ENTRIES), writes_avoided)?);
        let live = ("writes, last-read bits", six(live(ENTRIES), writes_avoided)?);
        Some(kernels(
            "MRF accesses avoided with 6 entries, each kernel (figure 7)",
            "part avoided",
            vec![reads, writes, live],
            Style::Lines,
            None,
        ))
    };
    let plots = [
        lines(
            "MRF accesses avoided by a cache of all warps (figure 6)",
            sizes,
            part,
            &[
                ("reads", &at(all_warps, reads_avoided)),
                ("writes", &at(all_warps, writes_avoided)),
                ("writes, last-read bits", &at(live, writes_avoided)),
            ],
            None,
        ),
        each(),
        lines(
            "FIFO and LRU (thesis, figure 5.7)",
            sizes,
            part,
            &[
                ("reads, FIFO", &at(all_warps, reads_avoided)),
                ("reads, LRU", &at(lru, reads_avoided)),
                ("writes, FIFO", &at(all_warps, writes_avoided)),
                ("writes, LRU", &at(lru, writes_avoided)),
            ],
            None,
        ),
    ];
    plots.into_iter().flatten().collect()
}
