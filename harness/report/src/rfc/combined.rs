//! The cache of the active warps under the two-level scheduler: RFC paper 5.3, figure 11; hierarchy thesis 5.4.4, figures 5.9 and 5.10.

use gpurf_energy::Traffic;

use super::{ACTIVE, ENTRIES, cache, kernels, lines, machine, mean_of, part_command, unknown};
pub use crate::cached::live;
use crate::cached::of_cache;
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row, Unit};
use crate::sweep::{Measured, Point, Results, SweepPlan};
use crate::traffic::{accesses_avoided, reads_avoided, writes_avoided};

/// The sizes of figure 11 that are run.
pub const SIZES: [u32; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

const READS: Claim = Claim::share("hierarchy thesis 5.4.4; RFC paper, figure 11", "40-60 %", 0.4, 0.6);
const WRITES: Claim = Claim::share("hierarchy thesis 5.4.4; RFC paper, figure 11", "roughly 30-60 %", 0.3, 0.6);
const LIVE: Claim = Claim::share("hierarchy thesis 5.4.4; RFC paper, figure 11", "40-80 %", 0.4, 0.8);
const BOTH: Claim = Claim::share("RFC paper 7", "40-80 %", 0.4, 0.8);
const HALF: Claim = Claim::share("RFC paper 5.5", "half: 45-55 %", 0.45, 0.55);
const MORE_THAN_HALF: Claim = Claim::share("RFC paper 3.3; hierarchy thesis 5.3", "more than half", 0.5, 1.0);
const FLUSHES: Claim = Claim::share("RFC paper 5.3", "roughly 10 %: 5-15 %", 0.05, 0.15);
const FLUSHES_THESIS: Claim = Claim::share("hierarchy thesis 5.4.4", "10-15 %", 0.1, 0.15);
const LOADS: Claim = Claim::share("hierarchy thesis 5.4.4", "30 %", 0.25, 0.35);
const BYPASS: Claim = Claim::share("RFC paper 5.3", "1-2 %, together with the replacement of 5.3", 0.01, 0.02);
const BYPASS_WRITES: Claim = Claim::share("RFC paper 5.3", "30 %", 0.25, 0.35);
const FIVE_TIMES: Claim =
    Claim::share("RFC paper 5.3; hierarchy thesis 5.4.4", "4-6 times; 4 times", 4.0, 6.0).in_unit(Unit::Ratio);
const SATURATED: Claim = Claim::share(
    "hierarchy thesis 5.4.4, figure 5.9",
    "compared with the baseline RFC, limited benefits past 6 entries",
    -1.0,
    -0.0001,
)
.sign();
const SMALLER: Claim = Claim::share("RFC paper 3.3", "21 times", 20.5, 21.5).in_unit(Unit::Ratio);

const AVOIDED_READS: &str = "MRF reads avoided, 6 entries, 8 active warps";
const AVOIDED_WRITES: &str = "MRF writes avoided, 6 entries, 8 active warps, last-read bits";
const AVOIDED: &str = "MRF accesses avoided, 6 entries, 8 active warps, last-read bits";
const FLUSHED: &str = "more MRF accesses than with entries for all warps, 6 entries, last-read bits";

/// The cache of the active warps.
pub fn cache(entries: u32, active: u32) -> Point {
    machine("rfc").with(format!("rfc.entries={entries}")).with(format!("sm.active_warps={active}"))
}

/// A cache that results bypass if they are not read before the slot is given up: "bypassing these values around the RFC saves energy" (RFC paper
/// 5.3). The results of 5.4 are based on those of 5.3.
pub fn around(point: &Point) -> Point {
    point.clone().with("rfc.bypass=true")
}

fn bypass() -> Point {
    around(&live(ENTRIES, ACTIVE))
}

fn loads() -> Point {
    cache(ENTRIES, ACTIVE).with("rfc.loads=true")
}

pub fn plan(plan: &mut SweepPlan) {
    for entries in SIZES {
        [cache(entries, ACTIVE), live(entries, ACTIVE)].into_iter().for_each(|point| plan.point(point));
    }
    [bypass(), loads(), cache::all_warps(ENTRIES), cache::live(ENTRIES), cache::live(8)]
        .into_iter()
        .for_each(|point| plan.point(point));
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let (plain, with_bits) = (cache(ENTRIES, ACTIVE), live(ENTRIES, ACTIVE));
    let row = |claim: Claim, metric: &str, point: &Point, value: fn(&Traffic) -> f64| {
        let row = claim.mean(metric, results.each(point, |run| value(&of_cache(run)))?);
        let never = if *point == plain { cache::all_warps(ENTRIES) } else { cache::live(ENTRIES) };
        Some(row.because(|_| why(results, &never, value)))
    };
    let fewer = |claim: Claim, metric: &str, a: &Point, b: &Point| {
        Some(claim.mean(metric, fewer_moved(results, a, b)?).because(|_| unknown(results, "combined")))
    };
    // The additional accesses avoided, relative to those of an MRF alone.
    let more = |claim: Claim, metric: &str, a: &Point, b: &Point| {
        let more = results.both(a, b, |a, b| accesses_avoided(&of_cache(a)) - accesses_avoided(&of_cache(b)))?;
        Some(claim.mean(metric, more).because(|_| unknown(results, "combined")))
    };
    let all = cache::live(ENTRIES);
    let bytes = |entries: u32, warps: u32| f64::from(entries * warps * 32 * 4);
    let rows = [
        row(READS, AVOIDED_READS, &plain, reads_avoided),
        row(WRITES, "MRF writes avoided, 6 entries, 8 active warps", &plain, writes_avoided),
        row(LIVE, AVOIDED_WRITES, &with_bits, writes_avoided),
        // Last-read bits change no reads.
        row(
            MORE_THAN_HALF,
            "MRF reads avoided by the combined architecture, 6 entries, 8 active warps, last-read bits",
            &with_bits,
            reads_avoided,
        )
        .map(|row| row.derived(AVOIDED_READS)),
        row(
            MORE_THAN_HALF,
            "MRF writes avoided by the combined architecture, 6 entries, 8 active warps, last-read bits",
            &with_bits,
            writes_avoided,
        )
        .map(|row| row.derived(AVOIDED_WRITES)),
        row(BOTH, AVOIDED, &with_bits, accesses_avoided),
        row(
            HALF,
            "less MRF bandwidth for each instruction, 6 entries, 8 active warps, last-read bits",
            &with_bits,
            accesses_avoided,
        )
        .map(|row| row.derived(AVOIDED)),
        more(FLUSHES, FLUSHED, &all, &with_bits),
        more(
            FLUSHES_THESIS,
            "more MRF accesses than with entries for all warps, over all traces, 6 entries, last-read bits",
            &all,
            &with_bits,
        )
        .map(|row| row.derived(FLUSHED)),
        loads_row(results),
        bypass_row(results),
        fewer(
            BYPASS_WRITES,
            "fewer values written back when results not read before the slot is given up go around the cache",
            &bypass(),
            &with_bits,
        ),
        Some(
            SMALLER
                .row("size of the MRF by that of the cache", Estimate::number(128.0 * 1024.0 / bytes(ENTRIES, ACTIVE)))
                .derived("sizes alone"),
        ),
        Some(
            FIVE_TIMES
                .row(
                    "size of a cache of all 32 warps by that of the active ones",
                    Estimate::number(bytes(ENTRIES, 32) / bytes(ENTRIES, ACTIVE)),
                )
                .derived("sizes alone"),
        ),
        saturation(results),
    ];
    rows.into_iter().flatten().collect()
}

/// By what fraction fewer values move to the MRF in configuration `a` than in `b`.
fn fewer_moved(results: &Results<'_>, a: &Point, b: &Point) -> Option<PerKernel> {
    let moved = |run: &Measured| of_cache(run).mrf.moving_writes as f64;
    let fewer = |a: f64, b: f64| if b == 0.0 { 0.0 } else { 1.0 - a / b };
    results.both(a, b, |a, b| fewer(moved(a), moved(b)))
}

/// The row on results that bypass the cache if they are not read before the slot is given up.
fn bypass_row(results: &Results<'_>) -> Option<Row> {
    let plain = live(ENTRIES, ACTIVE);
    let metric = "fewer MRF accesses when results not read before the slot is given up go around the cache";
    let more =
        results.both(&bypass(), &plain, |a, b| accesses_avoided(&of_cache(a)) - accesses_avoided(&of_cache(b)))?;
    Some(BYPASS.mean(metric, more).because(|_| unknown(results, "combined")))
}

/// The row on results of long-latency operations, which bypass the cache, or are written to it if they arrive while their warp has a slot.
fn loads_row(results: &Results<'_>) -> Option<Row> {
    let plain = cache(ENTRIES, ACTIVE);
    let metric = "fewer values written back when results of long-latency operations go around the cache";
    let row = LOADS.mean(metric, fewer_moved(results, &plain, &loads())?);
    Some(row.because(|_| unknown(results, "combined")))
}

/// The gain of entries beyond six, less their gain with entries for all warps, which are never flushed.
fn saturation(results: &Results<'_>) -> Option<Row> {
    let avoided = |run: &Measured| accesses_avoided(&of_cache(run));
    let gain = |[more, fewer]: [Point; 2]| results.both(&more, &fewer, |a, b| avoided(a) - avoided(b));
    let all = gain([cache::live(8), cache::live(ENTRIES)])?;
    let less = gain([live(8, ACTIVE), live(ENTRIES, ACTIVE)])?;
    let less = less.into_iter().map(|(kernel, gain)| (kernel.clone(), gain - all[&kernel])).collect();
    let metric = "more MRF accesses avoided with 8 entries than with 6, last-read bits: with 8 active warps less with entries for all warps";
    Some(SATURATED.mean(metric, less).because(|_| unknown(results, "combined")))
}

/// The experiment: a cache that is never flushed.
fn why(results: &Results<'_>, never: &Point, value: fn(&Traffic) -> f64) -> Reason {
    let avoided = mean_of(results, never, |run| value(&of_cache(run)));
    let words = "with entries for all warps, which are never flushed,".to_owned();
    Reason::found(vec![(words, avoided)], part_command(results, "combined"))
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
