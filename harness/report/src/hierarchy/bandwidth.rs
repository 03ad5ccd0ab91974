//! MRF reads per instruction: hierarchy thesis 6.5.6, table 6.1 and figure 6.19.

use gpurf_compiler::hierarchy::HierarchyOptions;
use gpurf_oracle::levels::LevelCounts;

use super::{ENTRIES, SIZE, SIZES, changed, command, lines, plan_with_experiments, ratio, split, unknown, why};
use crate::estimate::Estimate;
use crate::plot::{Plot, Series, Style};
use crate::row::{Claim, PerKernel, Reason, Row, Unit, mean};
use crate::sweep::{Results, SweepPlan};
use crate::usage::Usage;

const TABLE: &str = "hierarchy thesis 6.5.6, table 6.1";
const FIGURE: &str = "hierarchy thesis 6.5.6, figure 6.19";
const BASELINE: Claim = Claim::share(TABLE, "1.23", 1.225, 1.235).in_unit(Unit::Ratio);
const FACTOR: Claim = Claim::share(TABLE, "a factor of three: 2.5-3.5", 2.5, 3.5).in_unit(Unit::Ratio);
const BEST: Claim = Claim::share(FIGURE, "6", 6.0, 6.0).in_unit(Unit::Count);
const TWO_OR_MORE: Claim = Claim::share(FIGURE, "40 %", 0.35, 0.45);
const ONE: Claim = Claim::share(FIGURE, "30 %", 0.25, 0.35);
const TWO: Claim = Claim::share(FIGURE, "from 30 %", 0.25, 0.35);
const TWO_LEFT: Claim = Claim::share(FIGURE, "less than 10 %", 0.0, 0.1);
const MORE_GONE: Claim = Claim::share(FIGURE, "nearly all: 90-100 %", 0.9, 1.0);
const LIVE_IN: Claim = Claim::share("hierarchy thesis 6.5.6", "0.27", 0.265, 0.275).in_unit(Unit::Ratio);
const LIVE_OUT: Claim = Claim::share("hierarchy thesis 6.5.6", "0.17", 0.165, 0.175).in_unit(Unit::Ratio);

/// Entries, and the thesis's MRF reads per instruction with so many entries, as text and as a number.
const TABLE_6_1: [(u32, &str, f64); 8] = [
    (1, "0.57", 0.57),
    (2, "0.48", 0.48),
    (3, "0.41", 0.41),
    (4, "0.37", 0.37),
    (5, "0.36", 0.36),
    (6, "0.35", 0.35),
    (7, "0.38", 0.38),
    (8, "0.38", 0.38),
];

pub fn plan(plan: &mut SweepPlan) {
    plan.usage();
    for entries in SIZES {
        plan_with_experiments(plan, split(entries));
    }
}

/// Register reads per instruction without a hierarchy.
fn baseline(counts: &LevelCounts) -> f64 {
    let reads: u64 = (0..).zip(counts.by_reads).map(|(reads, instructions)| reads * instructions).sum();
    crate::ratio(reads as f64, counts.instructions as f64)
}

fn of_instructions(counts: &LevelCounts, instructions: u64) -> f64 {
    crate::ratio(instructions as f64, counts.instructions as f64)
}

/// MRF reads per instruction.
fn reads(results: &Results<'_>, options: &HierarchyOptions) -> Option<PerKernel> {
    results.levels(options, LevelCounts::mrf_reads_per_instruction)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let design = split(ENTRIES);
    let flat = |claim: Claim, metric: &str, value: fn(&LevelCounts) -> f64| {
        let row = claim.mean(format!("{metric}, MRF alone"), results.levels(&design, value)?);
        Some(row.because(|_| unknown(results, "bandwidth")))
    };
    let mut rows: Vec<Row> = flat(BASELINE, "MRF reads of an instruction", baseline).into_iter().collect();
    for (entries, text, value) in TABLE_6_1 {
        let claim = Claim::share(TABLE, text, value - 0.005, value + 0.005).in_unit(Unit::Ratio);
        rows.extend(reads(results, &split(entries)).map(|values| {
            let row = claim.mean(format!("MRF reads of an instruction, split LRF, {entries} entries"), values);
            row.because(|_| why(results, "bandwidth", &split(entries), &|options| reads(results, options)))
        }));
    }
    let with = |claim: Claim, metric: &str, value: fn(&LevelCounts) -> f64| {
        let row = claim.mean(format!("{metric}, split LRF, {SIZE}"), results.levels(&design, value)?);
        Some(row.because(|_| why(results, "bandwidth", &design, &|options| results.levels(options, value))))
    };
    // The figures show means over benchmarks: a ratio of them is the ratio of two means.
    let of_means =
        |claim: Claim, metric: &str, [part, of]: [fn(&LevelCounts) -> f64; 2], end: fn(Estimate) -> Estimate| {
            let value = |options: &HierarchyOptions| ratio(results, options, part, of).map(end);
            let row = claim.row(format!("{metric}, split LRF, {SIZE}"), value(&design)?);
            let experiments = || changed(&design, |options| value(&options).map(|ratio| ratio.value));
            Some(row.because(|_| Reason::found(experiments(), command(results, "bandwidth"))))
        };
    let live = |claim: Claim, what: &str, values: fn(&Usage) -> u64| {
        let of = |usage: &Usage| crate::ratio(values(usage) as f64, usage.instructions as f64);
        let row = claim.mean(format!("{what} values of strands, for each instruction"), results.usage(of)?);
        Some(row.because(|_| unknown(results, "bandwidth")))
    };
    let others = [
        of_means(
            FACTOR,
            "MRF reads of an instruction without a hierarchy by those with one",
            [baseline, LevelCounts::mrf_reads_per_instruction],
            |factor| factor,
        ),
        best_row(results),
        flat(TWO_OR_MORE, "instructions that read two registers or more", |counts| {
            of_instructions(counts, counts.by_reads[2] + counts.by_reads[3])
        }),
        flat(ONE, "instructions that read one register", |counts| of_instructions(counts, counts.by_reads[1])),
        flat(TWO, "instructions that read two registers", |counts| of_instructions(counts, counts.by_reads[2])),
        with(TWO_LEFT, "instructions that read two registers in the MRF", |counts| {
            of_instructions(counts, counts.by_mrf_reads[2])
        }),
        of_means(
            MORE_GONE,
            "instructions with more than two reads that no longer read so many in the MRF",
            [
                |counts| of_instructions(counts, counts.by_mrf_reads[3]),
                |counts| of_instructions(counts, counts.by_reads[3]),
            ],
            Estimate::one_less,
        ),
        live(LIVE_IN, "live-in", |usage| usage.live_in),
        live(LIVE_OUT, "live-out", |usage| usage.live_out),
    ];
    rows.extend(others.into_iter().flatten());
    rows
}

/// The number of entries with the fewest reads.
fn best_row(results: &Results<'_>) -> Option<Row> {
    let sizes = SIZES.iter().map(|&entries| reads(results, &split(entries))).collect::<Option<Vec<_>>>()?;
    let row = BEST.row("entries with the fewest MRF reads, split LRF", Estimate::least(&SIZES, &sizes));
    Some(row.because(|_| unknown(results, "bandwidth")))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let table = lines(
        "MRF reads of an instruction, split LRF (table 6.1)",
        ("entries", &SIZES),
        "reads, mean",
        &[
            ("here", &|entries| reads(results, &split(entries)).map(|values| mean(&values))),
            ("the thesis", &|entries| TABLE_6_1.iter().find(|row| row.0 == entries).map(|row| row.2)),
            ("MRF alone", &|_| results.levels(&split(ENTRIES), baseline).map(|values| mean(&values))),
        ],
        None,
    );
    [table, bandwidth_plot(results)].into_iter().flatten().collect()
}

/// Instructions by the number of registers that they read from the MRF: figure 6.19.
fn bandwidth_plot(results: &Results<'_>) -> Option<Plot> {
    let part = |options: HierarchyOptions, reads: usize, flat: bool| {
        let part = results.levels(&options, |counts| {
            of_instructions(counts, if flat { counts.by_reads[reads] } else { counts.by_mrf_reads[reads] })
        });
        part.map(|values| mean(&values))
    };
    let series = ["1 read", "2", "3"].into_iter().zip(1..).map(|(name, reads)| {
        let all = [part(split(ENTRIES), reads, true)].into_iter();
        let values = all.chain(SIZES.iter().map(|&entries| part(split(entries), reads, false)));
        Some(Series { name: name.into(), values: values.collect::<Option<_>>()? })
    });
    Some(Plot {
        title: "Instructions by registers read in the MRF, split LRF (figure 6.19)".into(),
        x: "entries".into(),
        y: "part of instructions, mean".into(),
        places: ["MRF alone".to_owned()].into_iter().chain(SIZES.iter().map(u32::to_string)).collect(),
        series: series.collect::<Option<_>>()?,
        style: Style::Stacked,
        band: None,
    })
}
