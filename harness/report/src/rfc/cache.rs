//! The cache of section 3.1: every warp has entries, nothing is ever flushed. Figures 6 and 7.

use gpurf_energy::Traffic;

use super::{ENTRIES, kernels, lines, machine, mean_of, part_command, percent};
use crate::cached::of_cache;
use crate::follow::{Flushed, FollowedCache};
use crate::plot::{Plot, Style};
use crate::row::{Claim, Row, mean, mean_over};
use crate::sweep::{Measured, Point, Results, SweepPlan};
use crate::traffic::{accesses_avoided, reads_avoided, writes_avoided};
use crate::usage::Usage;

/// The sizes of figure 6.
const SIZES: [u32; 13] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
const LARGEST: u32 = 13;

const READS: Claim = Claim::share("RFC paper 5.1, figure 6(a)", "45-75 %", 0.45, 0.75);
const WRITES: Claim = Claim::share("RFC paper 5.1, figure 6(b)", "35-75 %", 0.35, 0.75);
pub const READS_MEAN: Claim = Claim::share("RFC paper, introduction", "50 %", 0.45, 0.55);
pub const WRITES_MEAN: Claim = Claim::share("RFC paper, introduction", "43 %", 0.425, 0.435);
const LIVE_MEAN: Claim = Claim::share("RFC paper, abstract", "59 %", 0.585, 0.595);
const LIVE: Claim = Claim::share("RFC paper 5.1, figure 6(c)", "10-15 %", 0.1, 0.15);
const LARGE: Claim = Claim::share("hierarchy thesis 5.4.1", "65-90 %", 0.65, 0.9);
const SINGLE: Claim = Claim::share("RFC paper 5.1, figure 6", "some", 0.0001, 1.0);
const LRU: Claim = Claim::share("RFC paper 3.1", "1-2 %", 0.01, 0.02);
const LRU_LARGE: Claim = Claim::share("hierarchy thesis 5.4.2, figure 5.7", "1-3 %", 0.01, 0.03);
const LRU_SMALL: Claim = Claim::share("hierarchy thesis 5.4.2", "a very small loss", -0.01, 0.0);

/// The cache of all warps.
pub fn all_warps(entries: u32) -> Point {
    machine("rfc-all").with(format!("rfc.entries={entries}"))
}

/// The same with last-read bits.
pub fn live(entries: u32) -> Point {
    all_warps(entries).with("rfc.live=true")
}

fn lru(entries: u32) -> Point {
    all_warps(entries).with("rfc.replacement=lru")
}

/// The same cache in program order, without hardware and without time.
fn followed(entries: u32, live: bool) -> FollowedCache {
    FollowedCache { entries: entries as usize, live, flushed: Flushed::Never }
}

pub fn plan(plan: &mut SweepPlan) {
    plan.usage();
    [followed(ENTRIES, false), followed(ENTRIES, true), followed(LARGEST, true)]
        .into_iter()
        .for_each(|cache| plan.cache(cache));
    for entries in SIZES {
        [all_warps(entries), live(entries), lru(entries)].into_iter().for_each(|point| plan.point(point));
    }
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, metric: &str, point: Point, value: fn(&Traffic) -> f64| {
        let row = claim.mean(metric, results.each(&point, |run| value(&of_cache(run)))?);
        Some(row.because(|row| why(results, row, &point)))
    };
    let live_row = || {
        let more = |a: &Measured, b: &Measured| writes_avoided(&of_cache(a)) - writes_avoided(&of_cache(b));
        let gain = results.both(&live(ENTRIES), &all_warps(ENTRIES), more)?;
        let row = LIVE.mean("more MRF writes avoided with last-read bits, 6 entries", gain);
        Some(row.because(|row| why_live(results, row)))
    };
    let large_row = || {
        let avoided = results.each(&live(LARGEST), |run| accesses_avoided(&of_cache(run)))?;
        let row = LARGE.mean("MRF accesses avoided, 13 entries, last-read bits", avoided);
        Some(row.because(|row| why_large(results, row)))
    };
    let lru_gain = |claim: Claim, metric: &str, entries: u32, value: fn(&Traffic) -> f64| {
        let gain =
            results.both(&lru(entries), &all_warps(entries), |a, b| value(&of_cache(a)) - value(&of_cache(b)))?;
        Some(claim.mean(metric, gain).because(|row| why_lru(results, row)))
    };
    let six = ENTRIES;
    let rows = [
        row(READS, "MRF reads avoided, 6 entries", all_warps(six), reads_avoided),
        row(WRITES, "MRF writes avoided, 6 entries", all_warps(six), writes_avoided),
        row(READS_MEAN, "MRF reads avoided, 6 entries, mean of all workloads", all_warps(six), reads_avoided),
        row(WRITES_MEAN, "MRF writes avoided, 6 entries, mean of all workloads", all_warps(six), writes_avoided),
        row(
            LIVE_MEAN,
            "MRF writes avoided, 6 entries, last-read bits, mean of all workloads",
            live(six),
            writes_avoided,
        ),
        live_row(),
        row(SINGLE, "MRF accesses avoided, a single entry", all_warps(1), accesses_avoided),
        large_row(),
        lru_gain(LRU, "more MRF accesses avoided with LRU than with FIFO, 6 entries", six, accesses_avoided),
        lru_gain(LRU_LARGE, "more MRF reads avoided with LRU than with FIFO, 8 entries", 8, reads_avoided),
        lru_gain(LRU_SMALL, "more MRF reads avoided with LRU than with FIFO, 3 entries", 3, reads_avoided),
    ];
    rows.into_iter().flatten().collect()
}

/// What the code alone makes of a cache of six, without a model of hardware and without time.
fn why(results: &Results<'_>, row: &Row, point: &Point) -> (String, String) {
    let traced = |value: fn(&Usage) -> f64| results.usage(value).map(|values| percent(mean(&values)));
    let (Some(reads), Some(writes), Some(live)) =
        (traced(Usage::reads_avoided), traced(Usage::writes_avoided), traced(Usage::live_writes_avoided))
    else {
        return Default::default();
    };
    let range = row.extremes().map_or_else(String::new, |[least, most]| {
        let [low, high] = [least, most].map(|(name, value)| format!("{} ({name})", row.unit.words(value)));
        format!("; kernels from {low} to {high}, at {}", point.options())
    });
    let why = format!(
        "the code decides: a FIFO of 6 followed through the program by the oracle, without hardware or time, avoids {reads} of reads, {writes} of writes, and {live} of writes if last reads \
         are known{range}"
    );
    (why, part_command(results, "cache"))
}

/// Last reads that the bits say, and all of them, without a model of hardware and without time.
fn why_live(results: &Results<'_>, row: &Row) -> (String, String) {
    let at = |live: bool| results.followed(&followed(ENTRIES, live), writes_avoided).map(|values| mean(&values));
    let dead = results.usage(|usage| usage.live_writes_avoided() - usage.writes_avoided()).map(|values| mean(&values));
    let (Some(with), Some(without), Some(dead)) = (at(true), at(false), dead) else { return Default::default() };
    let [least, most] = row.extremes().unwrap_or_default();
    let why = format!(
        "the bits are the compiler's, so they mark a read as the last one only where it is on every path. A FIFO of 6 followed through the program by the oracle, without hardware or time, avoids \
         {} more with these bits; if it knew of every value, lane by lane, when it has been read for the last time, {} more: what the bits leave out. Kernels from {} ({}) to {} ({})",
        percent(with - without),
        percent(dead),
        row.unit.words(least.1),
        least.0,
        row.unit.words(most.1),
        most.0
    );
    (why, part_command(results, "cache"))
}

/// The same size without a model of hardware, and kernels with few registers and with many.
fn why_large(results: &Results<'_>, row: &Row) -> (String, String) {
    let alone =
        |value: fn(&Traffic) -> f64| results.followed(&followed(LARGEST, true), value).map(|v| percent(mean(&v)));
    let (Some(both), Some(reads), Some(writes)) =
        (alone(accesses_avoided), alone(reads_avoided), alone(writes_avoided))
    else {
        return Default::default();
    };
    let mut kernels: Vec<(u16, &str)> =
        results.kernels.iter().map(|kernel| (kernel.registers(), kernel.name.as_str())).collect();
    kernels.sort_unstable();
    let (few, many) = kernels.split_at(kernels.len() / 2);
    let part =
        |kernels: &[(u16, &str)]| row.unit.words(mean_over(&row.per_kernel, kernels.iter().map(|(_, name)| *name)));
    let least = many.first().map_or(0, |(registers, _)| *registers);
    let why = format!(
        "the code decides: a FIFO of 13 with last-read bits followed through the program by the oracle, without hardware or time, avoids {both} of accesses, {reads} of reads and {writes} of writes. \
         Most of what our kernels read was written within 13 results: they have few registers. The half of them with {least} or more have {}, the others {}",
        part(many),
        part(few)
    );
    (why, part_command(results, "cache"))
}

/// Who gains by LRU and who loses.
fn why_lru(results: &Results<'_>, row: &Row) -> (String, String) {
    let values: Vec<f64> = row.per_kernel.values().copied().collect();
    let count = |holds: fn(f64) -> bool| values.iter().filter(|&&value| holds(value)).count();
    let (gain, lose) = (count(|value| value > 0.01), count(|value| value < -0.01));
    let Some([least, most]) = row.extremes() else { return Default::default() };
    let without = |value: f64| {
        let others = values.iter().sum::<f64>() - value;
        row.unit.words(crate::ratio(others, values.len().saturating_sub(1) as f64))
    };
    let (least_words, most_words) = (row.unit.words(least.1), row.unit.words(most.1));
    let why = format!(
        "kernels do not agree: {gain} of {} gain more than a point, {lose} lose more; from {least_words} ({}) to {most_words} ({}). Without {} the mean is {}, without {} {}",
        values.len(),
        least.0,
        most.0,
        most.0,
        without(most.1),
        least.0,
        without(least.1)
    );
    (why, part_command(results, "cache"))
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
