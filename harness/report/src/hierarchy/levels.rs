//! Reads and writes of each level: hardware against software control, split against unified LRF. Hierarchy thesis 6.5.1 to 6.5.3, figures 6.10 to 6.12.

use gpurf_compiler::hierarchy::HierarchyOptions;
use gpurf_energy::Traffic;
use gpurf_oracle::levels::LevelCounts;

use super::{
    ENTRIES, SIZE, SIZES, UNMARKED, basic, cache, cached_levels, cached_two, changed, command, each, less, lines, more,
    operands, plan_with_experiments, results_of, split, two, unified, unknown, unmarked, why,
};
use crate::cached::of_cache;
use crate::estimate::Estimate;
use crate::follow::Flushed;
use crate::plot::{Plot, Series, Style};
use crate::row::{Claim, PerKernel, Reason, Row, mean};
use crate::sweep::{Point, Results, SweepPlan};

const HARDWARE_READS: Claim = Claim::share("hierarchy thesis 6.5.1, figure 6.10", "20 %", 0.15, 0.25);
const MRF_READS: Claim = Claim::share("hierarchy thesis 6.5.1, figure 6.10", "slightly: 0-10 %", 0.0, 0.1);
const FEWER_WRITES: Claim = Claim::share("hierarchy thesis 6.5.1, figure 6.10", "roughly 20 %: 15-25 %", 0.15, 0.25);
const OPTIMISED_READS: Claim = Claim::share("hierarchy thesis 6.5.1", "20 %", 0.15, 0.25);
const OPTIMISED_WRITES: Claim = Claim::share("hierarchy thesis 6.5.1", "8 %", 0.075, 0.085);
const LRF_READS: Claim = Claim::share("hierarchy thesis 6.5.2, figure 6.11", "30 %", 0.25, 0.35);
const OVERHEAD: Claim = Claim::share("hierarchy thesis 6.5.2, figure 6.11", "from 40 %", 0.35, 0.45);
const SOFTWARE_OVERHEAD: Claim = Claim::share("hierarchy thesis 6.5.2, figure 6.11", "less than 10 %", 0.0, 0.1);
const DEEP_READS: Claim =
    Claim::share("hierarchy thesis 6.5.2, figure 6.11", "reduces the number of MRF reads", 0.0001, 1.0).sign();
const MRF_WRITES: Claim = Claim::share("hierarchy thesis 6.5.2, figure 6.11", "slightly: 0-10 %", 0.0, 0.1);
const SPLIT_READS: Claim = Claim::share("hierarchy thesis 6.5.3, figure 6.12", "nearly 20 %: 15-20 %", 0.15, 0.2);
const SPLIT_ORF_READS: Claim = Claim::share("hierarchy thesis 6.5.3, figure 6.12", "decrease", 0.0001, 1.0).sign();
const SPLIT_WRITES: Claim = Claim::share("hierarchy thesis 6.5.3, figure 6.12", "increases", 0.0001, 1.0).sign();
const SPLIT_ORF_WRITES: Claim = Claim::share("hierarchy thesis 6.5.3, figure 6.12", "decreasing", 0.0001, 1.0).sign();

/// Sizes for which the thesis says that software reads the MRF less often than hardware: "probable ORF sizes".
const PROBABLE: [u32; 4] = [2, 3, 4, 5];

/// Allocation across forward branches, and no other optimisation.
fn forward(options: HierarchyOptions) -> HierarchyOptions {
    HierarchyOptions { forward_branches: true, ..basic(options) }
}

pub fn plan(plan: &mut SweepPlan) {
    for entries in SIZES {
        [two(entries), basic(two(entries)), unified(entries), split(entries)]
            .into_iter()
            .for_each(|options| plan.levels(options));
        [cached_two(entries), cached_levels(entries)].into_iter().for_each(|point| plan.point(point));
    }
    plan.experiment(unmarked(ENTRIES));
    for entries in PROBABLE {
        plan_with_experiments(plan, basic(two(entries)));
        [Flushed::Leaving, Flushed::StrandEnds].into_iter().for_each(|flushed| plan.cache(cache(entries, flushed)));
    }
    [forward(two(ENTRIES)), basic(unified(ENTRIES))].into_iter().for_each(|options| plan.levels(options));
    [basic(two(ENTRIES)), two(ENTRIES), unified(ENTRIES), split(ENTRIES)]
        .into_iter()
        .for_each(|options| plan_with_experiments(plan, options));
}

/// A kind of access in a run of the model, relative to its operands or results.
fn hardware(
    results: &Results<'_>,
    point: &Point,
    part: fn(&Traffic) -> u64,
    of: fn(&Traffic) -> u64,
) -> Option<PerKernel> {
    results.each(point, |run| {
        let traffic = of_cache(run);
        crate::ratio(part(&traffic) as f64, of(&traffic) as f64)
    })
}

/// Accesses counted on the oracle, relative to the kernel's operands.
fn of_operands(results: &Results<'_>, options: &HierarchyOptions, part: fn(&LevelCounts) -> u64) -> Option<PerKernel> {
    results.levels(options, |counts| crate::ratio(part(counts) as f64, operands(counts)))
}

/// Accesses counted on the oracle, relative to the kernel's results.
fn of_results(results: &Results<'_>, options: &HierarchyOptions, part: fn(&LevelCounts) -> u64) -> Option<PerKernel> {
    results.levels(options, |counts| crate::ratio(part(counts) as f64, results_of(counts)))
}

fn all_operands(traffic: &Traffic) -> u64 {
    traffic.flat().mrf.reads()
}

fn all_results(traffic: &Traffic) -> u64 {
    traffic.flat().mrf.writes()
}

fn all_reads(traffic: &Traffic) -> u64 {
    traffic.mrf.reads() + traffic.upper.reads() + traffic.lrf.reads + traffic.lrf.moving_reads
}

fn all_writes(traffic: &Traffic) -> u64 {
    traffic.mrf.writes() + traffic.upper.writes() + traffic.lrf.writes
}

/// Writes of the ORF, including copies of operands.
fn orf_writes(counts: &LevelCounts) -> u64 {
    counts.orf.writes() + counts.orf.copies
}

fn software_writes(counts: &LevelCounts) -> u64 {
    counts.mrf.writes() + orf_writes(counts) + counts.lrf.writes()
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    [control_rows(results), optimised_rows(results), depth_rows(results), split_rows(results)].concat()
}

/// Hardware against the most basic software: figure 6.10.
fn control_rows(results: &Results<'_>) -> Vec<Row> {
    let (cache, software) = (cached_two(ENTRIES), basic(two(ENTRIES)));
    let overhead =
        |cache: &Point| hardware(results, cache, all_reads, all_operands).map(|reads| each(reads, |reads| reads - 1.0));
    let mut rows: Vec<Row> = Vec::new();
    rows.extend(overhead(&cache).map(|reads| {
        let metric = format!("reads on top of operands with a hardware cache, last-read bits, {SIZE}");
        HARDWARE_READS.mean(metric, reads).because(|_| {
            let without = overhead(&unmarked(ENTRIES)).map(|reads| mean(&reads));
            Reason::found(vec![(UNMARKED.to_owned(), without)], command(results, "levels"))
        })
    }));
    for entries in PROBABLE {
        let software = basic(two(entries));
        let fewer = hardware(results, &cached_two(entries), |traffic| traffic.mrf.reads(), all_operands)
            .zip(of_operands(results, &software, |counts| counts.mrf.reads()))
            .map(|(hardware, software)| less(&software, &hardware));
        rows.extend(fewer.map(|fewer| {
            let metric = format!("fewer MRF reads with basic software than with a hardware cache, {entries} entries");
            MRF_READS.row(metric, fewer).because(|_| why_basic(results, entries))
        }));
    }
    let writes = hardware(results, &cache, |traffic| traffic.upper.writes(), all_results)
        .zip(of_results(results, &software, orf_writes))
        .map(|(hardware, software)| less(&software, &hardware));
    rows.extend(writes.map(|fewer| {
        let metric = format!("fewer ORF writes with basic software than writes of a hardware cache, {SIZE}");
        FEWER_WRITES.row(metric, fewer).because(|_| unknown(results, "levels"))
    }));
    rows
}

/// The effect of partial ranges and read operands.
fn optimised_rows(results: &Results<'_>) -> Vec<Row> {
    let (before, behind) = (forward(two(ENTRIES)), two(ENTRIES));
    let reads = of_operands(results, &before, |counts| counts.mrf.reads())
        .zip(of_operands(results, &behind, |counts| counts.mrf.reads()))
        .map(|(before, behind)| less(&behind, &before));
    let writes = of_results(results, &before, orf_writes)
        .zip(of_results(results, &behind, orf_writes))
        .map(|(before, behind)| more(&behind, &before));
    let rows = [
        reads.map(|fewer| {
            let metric = format!("fewer MRF reads with partial ranges and read operands, {SIZE}");
            OPTIMISED_READS.row(metric, fewer)
        }),
        writes.map(|more| {
            let metric = format!("more ORF writes with partial ranges and read operands, {SIZE}");
            OPTIMISED_WRITES.row(metric, more)
        }),
    ];
    rows.into_iter().flatten().map(|row| row.because(|_| unknown(results, "levels"))).collect()
}

/// Three levels: figure 6.11.
fn depth_rows(results: &Results<'_>) -> Vec<Row> {
    let (cache, software) = (cached_levels(ENTRIES), unified(ENTRIES));
    let lrf = |options: &HierarchyOptions| of_operands(results, options, |counts| counts.lrf.reads());
    let overhead = |options: &HierarchyOptions| {
        of_results(results, options, software_writes).map(|writes| each(writes, |writes| writes - 1.0))
    };
    let mut rows: Vec<Row> = Vec::new();
    rows.extend(lrf(&software).map(|reads| {
        let row = LRF_READS.mean(format!("reads that a unified LRF serves, {SIZE}"), reads);
        row.because(|_| why(results, "levels", &software, &lrf))
    }));
    let hardware_overhead = hardware(results, &cache, all_writes, all_results);
    rows.extend(hardware_overhead.map(|writes| {
        let metric = format!("writes on top of results, hardware LRF and cache, {SIZE}");
        let row = OVERHEAD.mean(metric, each(writes, |writes| writes - 1.0));
        row.because(|_| unknown(results, "levels"))
    }));
    rows.extend(overhead(&software).map(|writes| {
        let row = SOFTWARE_OVERHEAD.mean(format!("writes on top of results, software, unified LRF, {SIZE}"), writes);
        row.because(|_| {
            let of = |options: HierarchyOptions| overhead(&options).map(|values| mean(&values));
            let mut experiments = changed(&software, of);
            // Figure 6.10 is about "our most basic software-managed ORF"; the optimisations and what they write come later (6.5.1, 6.5.4).
            experiments.push(("with basic software, without optimisations,".to_owned(), of(basic(software))));
            Reason::found(experiments, command(results, "levels"))
        })
    }));
    let writes = hardware(results, &cache, |traffic| traffic.mrf.writes(), all_results).zip(of_results(
        results,
        &software,
        |counts| counts.mrf.writes(),
    ));
    rows.extend(writes.map(|(hardware, software)| {
        let metric = format!("more MRF writes with software than with hardware, three levels, {SIZE}");
        MRF_WRITES.row(metric, more(&software, &hardware)).because(|_| unknown(results, "levels"))
    }));
    let reads = hardware(results, &cache, |traffic| traffic.mrf.reads(), all_operands).zip(of_operands(
        results,
        &software,
        |counts| counts.mrf.reads(),
    ));
    rows.extend(reads.map(|(hardware, software)| {
        let metric = format!("fewer MRF reads with software than with hardware, three levels, {SIZE}");
        DEEP_READS.row(metric, less(&software, &hardware)).because(|_| unknown(results, "levels"))
    }));
    rows
}

/// An LRF with one bank for each source: figure 6.12.
fn split_rows(results: &Results<'_>) -> Vec<Row> {
    let by = |claim: Claim, metric: &str, part: fn(&LevelCounts) -> u64, change: Change| {
        let of = |options: HierarchyOptions| of_operands(results, &options, part);
        let changed = of(split(ENTRIES)).zip(of(unified(ENTRIES))).map(|(split, one)| change(&split, &one))?;
        Some(claim.row(format!("{metric}, {SIZE}"), changed).because(|_| unknown(results, "levels")))
    };
    let rows = [
        by(SPLIT_READS, "more reads of the LRF with a split one", |counts| counts.lrf.reads(), more),
        by(SPLIT_ORF_READS, "fewer reads of the ORF with a split LRF", |counts| counts.orf.reads(), less),
        by(SPLIT_WRITES, "more writes of the LRF with a split one", |counts| counts.lrf.writes(), more),
        by(SPLIT_ORF_WRITES, "fewer writes of the ORF with a split LRF", orf_writes, less),
    ];
    rows.into_iter().flatten().collect()
}

/// A comparison of two lists of values.
type Change = fn(&PerKernel, &PerKernel) -> Estimate;

/// Experiments on the MRF reads of basic software: contents kept where warps are descheduled, more entries, and comparison with a cache simulated in
/// program order.
fn why_basic(results: &Results<'_>, entries: u32) -> Reason {
    let software = |options: &HierarchyOptions| of_operands(results, options, |counts| counts.mrf.reads());
    let cached = hardware(results, &cached_two(entries), |traffic| traffic.mrf.reads(), all_operands);
    let fewer = |software: Option<PerKernel>, hardware: Option<PerKernel>| Some(less(&software?, &hardware?).value);
    let design = basic(two(entries));
    let mut experiments = super::changed(&design, |options| fewer(software(&options), cached.clone()));
    let followed = |flushed: Flushed| {
        let reads = |traffic: &Traffic| crate::ratio(traffic.mrf.reads() as f64, all_operands(traffic) as f64);
        fewer(software(&design), results.followed(&cache(entries, flushed), reads))
    };
    experiments.extend([
        ("by a cache followed in program order".to_owned(), followed(Flushed::Leaving)),
        ("by one that is flushed where software's strands end too".to_owned(), followed(Flushed::StrandEnds)),
    ]);
    Reason::found(experiments, command(results, "levels"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let software = |of: fn(u32) -> HierarchyOptions, part: fn(&LevelCounts) -> u64| {
        move |entries: u32| of_operands(results, &of(entries), part).map(|values| mean(&values))
    };
    let hardware_at = |of: fn(u32) -> Point, part: fn(&Traffic) -> u64| {
        move |entries: u32| hardware(results, &of(entries), part, all_operands).map(|values| mean(&values))
    };
    let (sizes, part) = (("entries", &SIZES[..]), "part of operands, mean");
    let plots = [
        lines(
            "Reads of two levels (figure 6.10)",
            sizes,
            part,
            &[
                ("MRF, hardware", &hardware_at(cached_two, |t| t.mrf.reads())),
                ("cache, write-backs included", &hardware_at(cached_two, |t| t.upper.reads())),
                ("MRF, basic software", &software(|n| basic(two(n)), |c| c.mrf.reads())),
                ("ORF, basic software", &software(|n| basic(two(n)), |c| c.orf.reads())),
                ("MRF, software", &software(two, |c| c.mrf.reads())),
                ("ORF, software", &software(two, |c| c.orf.reads())),
            ],
            None,
        ),
        lines(
            "Reads of three levels (figure 6.11)",
            sizes,
            part,
            &[
                ("MRF, hardware", &hardware_at(cached_levels, |t| t.mrf.reads())),
                ("cache, write-backs included", &hardware_at(cached_levels, |t| t.upper.reads())),
                ("LRF, hardware", &hardware_at(cached_levels, |t| t.lrf.reads + t.lrf.moving_reads)),
                ("MRF, software", &software(unified, |c| c.mrf.reads())),
                ("ORF, software", &software(unified, |c| c.orf.reads())),
                ("LRF, software", &software(unified, |c| c.lrf.reads())),
            ],
            None,
        ),
        writes_plot(results),
        lines(
            "Reads with a unified and a split LRF (figure 6.12)",
            sizes,
            part,
            &[
                ("MRF, unified", &software(unified, |c| c.mrf.reads())),
                ("ORF, unified", &software(unified, |c| c.orf.reads())),
                ("LRF, unified", &software(unified, |c| c.lrf.reads())),
                ("MRF, split", &software(split, |c| c.mrf.reads())),
                ("ORF, split", &software(split, |c| c.orf.reads())),
                ("LRF, split", &software(split, |c| c.lrf.reads())),
            ],
            None,
        ),
    ];
    plots.into_iter().flatten().collect()
}

/// Writes of each level, for every organisation with three entries.
fn writes_plot(results: &Results<'_>) -> Option<Plot> {
    let cache = |point: Point| {
        let part = |part: fn(&Traffic) -> u64| hardware(results, &point, part, all_results).map(|values| mean(&values));
        Some([part(|t| t.mrf.writes())?, part(|t| t.upper.writes())?, part(|t| t.lrf.writes)?])
    };
    let software = |options: HierarchyOptions| {
        let part = |part: fn(&LevelCounts) -> u64| of_results(results, &options, part).map(|values| mean(&values));
        Some([part(|c| c.mrf.writes())?, part(orf_writes)?, part(|c| c.lrf.writes())?])
    };
    let all = [
        cache(cached_two(ENTRIES))?,
        software(basic(two(ENTRIES)))?,
        software(two(ENTRIES))?,
        cache(cached_levels(ENTRIES))?,
        software(unified(ENTRIES))?,
        software(split(ENTRIES))?,
    ];
    let series = ["MRF", "ORF or cache", "LRF"].into_iter().enumerate();
    Some(Plot {
        title: "Writes of each level, 3 entries (figures 6.10 to 6.12)".into(),
        x: String::new(),
        y: "part of results, mean".into(),
        places: ["hardware, 2", "basic software, 2", "software, 2", "hardware, 3", "unified LRF", "split LRF"]
            .map(String::from)
            .to_vec(),
        series: series
            .map(|(level, name)| Series { name: name.into(), values: all.iter().map(|parts| parts[level]).collect() })
            .collect(),
        style: Style::Stacked,
        band: None,
    })
}
