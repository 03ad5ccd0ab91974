//! The cache of the active warps under the two-level scheduler: RFC paper 5.3, figure 11; hierarchy thesis 5.4.4, figures 5.9 and 5.10.

use gpurf_energy::Traffic;

use super::{ACTIVE, ENTRIES, cache, farthest, kernels, lines, machine, mean_of, part_command, percent};
pub use crate::cached::live;
use crate::cached::of_cache;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Row, Unit, mean};
use crate::sweep::{Measured, Point, Results, SweepPlan};
use crate::traffic::{accesses_avoided, reads_avoided, writes_avoided};

/// The sizes of figure 11 that are run.
pub const SIZES: [u32; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

const READS: Claim = Claim::share("hierarchy thesis 5.4.4; RFC paper, figure 11", "40-60 %", 0.4, 0.6);
const WRITES: Claim = Claim::share("hierarchy thesis 5.4.4; RFC paper, figure 11", "roughly 30-60 %", 0.3, 0.6);
const LIVE: Claim = Claim::share("hierarchy thesis 5.4.4; RFC paper, figure 11", "40-80 %", 0.4, 0.8);
const BOTH: Claim = Claim::share("RFC paper 7", "40-80 %", 0.4, 0.8);
const HALF: Claim = Claim::share("RFC paper 5.5", "half: 45-55 %", 0.45, 0.55);
const FLUSHES: Claim = Claim::share("RFC paper 5.3", "roughly 10 %: 5-15 %", 0.05, 0.15);
const FLUSHES_THESIS: Claim = Claim::share("hierarchy thesis 5.4.4", "10-15 %", 0.1, 0.15);
const LOADS: Claim = Claim::share("hierarchy thesis 5.4.4", "30 %", 0.25, 0.35);
const BYPASS: Claim = Claim::share("RFC paper 5.3", "1-2 %", 0.01, 0.02);
const BYPASS_WRITES: Claim = Claim::share("RFC paper 5.3", "30 %", 0.25, 0.35);
const SMALLER: Claim = Claim::share("RFC paper 3.3", "21 times", 20.5, 21.5).in_unit(Unit::Ratio);

/// The cache of the active warps.
pub fn cache(entries: u32, active: u32) -> Point {
    machine("rfc").with(format!("rfc.entries={entries}")).with(format!("sm.active_warps={active}"))
}

fn bypass() -> Point {
    live(ENTRIES, ACTIVE).with("rfc.bypass=true")
}

fn loads() -> Point {
    cache(ENTRIES, ACTIVE).with("rfc.loads=true")
}

pub fn plan(plan: &mut SweepPlan) {
    for entries in SIZES {
        [cache(entries, ACTIVE), live(entries, ACTIVE)].into_iter().for_each(|point| plan.point(point));
    }
    [bypass(), loads(), cache::all_warps(ENTRIES), cache::live(ENTRIES)]
        .into_iter()
        .for_each(|point| plan.point(point));
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let (plain, with_bits) = (cache(ENTRIES, ACTIVE), live(ENTRIES, ACTIVE));
    let row = |claim: Claim, metric: &str, point: &Point, value: fn(&Traffic) -> f64| {
        let row = claim.mean(metric, results.each(point, |run| value(&of_cache(run)))?);
        Some(row.because(|row| why(results, row, point)))
    };
    let fewer = |claim: Claim, metric: &str, a: &Point, b: &Point| {
        Some(claim.mean(metric, fewer_moved(results, a, b)?).because(|row| why(results, row, a)))
    };
    // More accesses avoided, of those of an MRF alone.
    let more = |claim: Claim, metric: &str, a: &Point, b: &Point| {
        let more = results.both(a, b, |a, b| accesses_avoided(&of_cache(a)) - accesses_avoided(&of_cache(b)))?;
        Some(claim.mean(metric, more).because(|row| why(results, row, b)))
    };
    let all = cache::live(ENTRIES);
    let bytes = |entries: u32, warps: u32| f64::from(entries * warps * 32 * 4);
    let rows = [
        row(READS, "MRF reads avoided, 6 entries, 8 active warps", &plain, reads_avoided),
        row(WRITES, "MRF writes avoided, 6 entries, 8 active warps", &plain, writes_avoided),
        row(LIVE, "MRF writes avoided, 6 entries, 8 active warps, last-read bits", &with_bits, writes_avoided),
        row(BOTH, "MRF accesses avoided, 6 entries, 8 active warps, last-read bits", &with_bits, accesses_avoided),
        row(
            HALF,
            "less MRF bandwidth for each instruction, 6 entries, 8 active warps, last-read bits",
            &with_bits,
            accesses_avoided,
        ),
        more(FLUSHES, "more MRF accesses than with entries for all warps, 6 entries, last-read bits", &all, &with_bits),
        more(
            FLUSHES_THESIS,
            "more MRF accesses than with entries for all warps, over all traces, 6 entries, last-read bits",
            &all,
            &with_bits,
        ),
        loads_row(results),
        bypass_row(results),
        fewer(
            BYPASS_WRITES,
            "fewer values written back when results not read before the slot is given up go around the cache",
            &bypass(),
            &with_bits,
        ),
        Some(SMALLER.row(
            "size of the MRF by that of the cache",
            128.0 * 1024.0 / bytes(ENTRIES, ACTIVE),
            Default::default(),
        )),
    ];
    rows.into_iter().flatten().collect()
}

/// By how much fewer values move to the MRF in one configuration than in another one.
fn fewer_moved(results: &Results<'_>, a: &Point, b: &Point) -> Option<PerKernel> {
    let moved = |run: &Measured| of_cache(run).mrf.moving_writes as f64;
    let fewer = |a: f64, b: f64| if b == 0.0 { 0.0 } else { 1.0 - a / b };
    results.both(a, b, |a, b| fewer(moved(a), moved(b)))
}

/// The part of the results that go around the cache, in words.
fn around(results: &Results<'_>, point: &Point) -> Option<String> {
    let around = |traffic: Traffic| {
        let results = traffic.flat().mrf.writes() as f64;
        crate::ratio((traffic.mrf.private_writes + traffic.mrf.shared_writes) as f64, results)
    };
    results.each(point, |run| around(of_cache(run))).map(|values| percent(mean(&values)))
}

/// Results that are not read before the slot is given up go around the cache.
fn bypass_row(results: &Results<'_>) -> Option<Row> {
    let plain = live(ENTRIES, ACTIVE);
    let metric = "fewer MRF accesses when results not read before the slot is given up go around the cache";
    let more =
        results.both(&bypass(), &plain, |a, b| accesses_avoided(&of_cache(a)) - accesses_avoided(&of_cache(b)))?;
    let (with, without) = (around(results, &bypass())?, around(results, &plain)?);
    let row = BYPASS.mean(metric, more);
    Some(row.because(|_| {
        let why = format!(
            "with the bit {with} of results go around the cache, without it {without}. Such a result is written to the MRF either way, at once or when the cache is flushed: what is saved is \
             the room that it takes from others. The paper's figure includes a replacement that is not built"
        );
        (why, part_command(results, "combined"))
    }))
}

/// Results of long-latency operations go around the cache, or into it: if they come while their warp has a slot.
fn loads_row(results: &Results<'_>) -> Option<Row> {
    let plain = cache(ENTRIES, ACTIVE);
    let metric = "fewer values written back when results of long-latency operations go around the cache";
    let (without, with) = (around(results, &plain)?, around(results, &loads())?);
    let row = LOADS.mean(metric, fewer_moved(results, &plain, &loads())?);
    Some(row.because(|_| {
        let why = format!(
            "a result can be cached only if its warp still has its slot when it comes: {without} of results go around the cache, and {with} also where long-latency results may be cached"
        );
        (why, part_command(results, "combined"))
    }))
}

/// How often slots are given up, and what a cache that is never flushed does.
fn why(results: &Results<'_>, row: &Row, point: &Point) -> (String, String) {
    let leaves = |event: &'static str| {
        let each = results.each(point, |run| 1000.0 * crate::ratio(run.event(event) as f64, run.event("issue") as f64));
        each.map(|values| mean(&values))
    };
    let all = |value: fn(&Traffic) -> f64| mean_of(results, &cache::live(ENTRIES), |run| value(&of_cache(run)));
    let (Some(marks), Some(barriers), Some(reads), Some(writes)) =
        (leaves("leave_mark"), leaves("leave_barrier"), all(reads_avoided), all(writes_avoided))
    else {
        return Default::default();
    };
    let (reads, writes) = (percent(reads), percent(writes));
    let far = farthest(row);
    let far_words = far
        .map_or_else(String::new, |(name, value)| format!("; farthest off is {name} with {}", row.unit.words(value)));
    let why = format!(
        "of 1000 instructions of warps {marks:.0} need a long-latency result and {barriers:.0} wait at a barrier: the cache is flushed then. Entries for all warps, never flushed, avoid \
         {reads} of reads and {writes} of writes with last-read bits{far_words}"
    );
    (why, part_command(results, "combined"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let at = |point: fn(u32, u32) -> Point, value: fn(&Traffic) -> f64| {
        move |entries: u32| mean_of(results, &point(entries, ACTIVE), |run| value(&of_cache(run)))
    };
    let each = || {
        let value = |point: Point, value: fn(&Traffic) -> f64| results.each(&point, |run| value(&of_cache(run)));
        let series = vec![
            ("reads", value(cache(ENTRIES, ACTIVE), reads_avoided)?),
            ("writes", value(cache(ENTRIES, ACTIVE), writes_avoided)?),
            ("writes, last-read bits", value(live(ENTRIES, ACTIVE), writes_avoided)?),
        ];
        let title = "MRF accesses avoided with 6 entries and 8 active warps, each kernel (thesis, figure 5.10)";
        Some(kernels(title, "part avoided", series, Style::Lines, None))
    };
    let plots = [
        lines(
            "MRF accesses avoided under the two-level scheduler, 8 active warps (figure 11)",
            ("entries", &SIZES),
            "part avoided, mean",
            &[
                ("reads", &at(cache, reads_avoided)),
                ("writes", &at(cache, writes_avoided)),
                ("writes, last-read bits", &at(live, writes_avoided)),
            ],
            None,
        ),
        each(),
    ];
    plots.into_iter().flatten().collect()
}
