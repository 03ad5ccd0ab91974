//! The limit study: hierarchy thesis 6.6.

use gpurf_compiler::hierarchy::HierarchyOptions;
use gpurf_energy::{Energies, Level, PrivateLevel, Traffic};
use gpurf_oracle::levels::LevelCounts;

use super::{
    ACTIVE, ENTRIES, MANY, SIZE, cache, command, each, kept, kernels, larger, less, normalised, split, two, unknown,
    variable,
};
use crate::cached;
use crate::follow::Flushed;
use crate::levels::flat;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row, mean};
use crate::sweep::{Results, SweepPlan};

const EIGHT: Claim = Claim::share("hierarchy thesis 6.6.3", "9 %", 0.085, 0.095);
const FIVE: Claim = Claim::share("hierarchy thesis 6.6.3", "6 %", 0.055, 0.065);
const KEPT: Claim = Claim::share("hierarchy thesis 6.6.3", "8 %", 0.075, 0.085);
const VARIABLE: Claim = Claim::share("hierarchy thesis 6.6.1", "6 %", 0.055, 0.065);
const FEWER_WARPS: Claim = Claim::share("hierarchy thesis 6.6.1", "an additional 6 %", 0.055, 0.065);
const LOOPS: Claim = Claim::share("hierarchy thesis 6.6.2", "only 5 %", 0.0, 0.055);
const IDEAL_LRF: Claim = Claim::share("hierarchy thesis 6.6.4", "87 %", 0.865, 0.875);
const IDEAL_ORF: Claim = Claim::share("hierarchy thesis 6.6.4", "61 %", 0.605, 0.615);

/// Entries of each warp if the entries of the ORF that 8 active warps have are shared by 6.
const ENTRIES_OF_SIX: u32 = ENTRIES * ACTIVE / 6;

/// Entries that stand for a more realistic gain of better scheduling.
const REALISTIC: u32 = 5;

pub fn plan(plan: &mut SweepPlan) {
    for options in [split(ENTRIES), two(ENTRIES)] {
        [options, larger(options, MANY), larger(options, REALISTIC), kept(options), larger(kept(options), MANY)]
            .into_iter()
            .for_each(|options| plan.levels(options));
    }
    variable::plan(plan);
    [Flushed::Leaving, Flushed::Loops].into_iter().for_each(|flushed| plan.cache(cache(ENTRIES, flushed)));
}

/// The energy of the figures' hardware cache, simulated in program order, relative to that of the MRF alone.
fn cache_energy(results: &Results<'_>, flushed: Flushed) -> Option<PerKernel> {
    let energies = Energies::thesis(ENTRIES, ACTIVE);
    results.followed(&cache(ENTRIES, flushed), |traffic| cached::normalised(&energies, traffic))
}

/// The part of the energy that is saved if all operands and results were in one level.
fn ideal(results: &Results<'_>, energies: &Energies, all: fn(&Level) -> Traffic) -> Option<PerKernel> {
    results.levels(&split(ENTRIES), |counts: &LevelCounts| {
        let mrf = flat(counts);
        1.0 - crate::ratio(energies.of(&all(&mrf.mrf)).total(), energies.of(&mrf).total())
    })
}

/// The thesis's energies without wires.
fn without_wires(entries: u32) -> Energies {
    Energies { wire: 0.0, ..Energies::thesis(entries, ACTIVE) }
}

fn in_the_lrf(all: &Level) -> Traffic {
    Traffic { lrf: PrivateLevel { reads: all.reads(), moving_reads: 0, writes: all.writes() }, ..Traffic::default() }
}

fn in_the_orf(all: &Level) -> Traffic {
    Traffic { upper: *all, ..Traffic::default() }
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let than_real = |claim: Claim, metric: &str, of: fn(HierarchyOptions) -> HierarchyOptions| {
        let fewer = less(&normalised(results, &of(split(ENTRIES)))?, &normalised(results, &split(ENTRIES))?);
        let row = claim.row(format!("less energy {metric}, split LRF, {SIZE}"), fewer);
        Some(row.because(|_| why(results, of)))
    };
    let ideal_row = |claim: Claim, metric: &str, entries: u32, all: fn(&Level) -> Traffic| {
        let saved = ideal(results, &without_wires(entries), all)?;
        let row = claim.mean(format!("energy saved if all operands and results were in {metric}, no wires"), saved);
        Some(row.because(|_| why_ideal(results, entries, all)))
    };
    let variable_row = |claim: Claim, metric: &str, [entries, than]: [Option<PerKernel>; 2]| {
        let row = claim.row(format!("less energy {metric}, split LRF"), less(&entries?, &than?));
        Some(row.because(|_| unknown(results, "limits")))
    };
    let shared = |entries: u32| variable::normalised(results, f64::from(entries));
    let loops = || {
        let fewer = less(&cache_energy(results, Flushed::Leaving)?, &cache_energy(results, Flushed::Loops)?);
        let metric = "less energy if a hardware cache keeps its values past backward branches, last-read bits";
        Some(LOOPS.row(format!("{metric}, {SIZE}"), fewer).because(|_| unknown(results, "limits")))
    };
    let rows = [
        variable_row(
            VARIABLE,
            "with entries shared out to strands, 24 for 8 active warps: the best share",
            [shared(ENTRIES), normalised(results, &split(ENTRIES))],
        ),
        variable_row(
            FEWER_WARPS,
            "with 24 shared entries for 6 active warps instead of 8: the best share",
            [shared(ENTRIES_OF_SIX), shared(ENTRIES)],
        ),
        loops(),
        than_real(EIGHT, "with 8 entries at the price of 3", |options| larger(options, MANY)),
        than_real(FIVE, "with 5 entries at the price of 3", |options| larger(options, REALISTIC)),
        than_real(KEPT, "if contents stay where a warp is descheduled", kept),
        ideal_row(IDEAL_LRF, "the LRF", ENTRIES, in_the_lrf),
        ideal_row(IDEAL_ORF, "an ORF of 5 entries", REALISTIC, in_the_orf),
    ];
    rows.into_iter().flatten().collect()
}

/// The same metric without an LRF.
fn why(results: &Results<'_>, of: fn(HierarchyOptions) -> HierarchyOptions) -> Reason {
    let energy = |options: HierarchyOptions| normalised(results, &options);
    let without = energy(of(two(ENTRIES))).zip(energy(two(ENTRIES))).map(|(ideal, real)| less(&ideal, &real).value);
    Reason::found(vec![("without an LRF".to_owned(), without)], command(results, "limits"))
}

/// The same metric with wires.
fn why_ideal(results: &Results<'_>, entries: u32, all: fn(&Level) -> Traffic) -> Reason {
    let with_wires = ideal(results, &Energies::thesis(entries, ACTIVE), all).map(|saved| mean(&saved));
    Reason::found(vec![("with wires".to_owned(), with_wires)], command(results, "limits"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let design = split(ENTRIES);
    let of = |options: HierarchyOptions| normalised(results, &options);
    let series = || {
        Some(vec![
            ("3 entries", of(design)?),
            ("8 at the price of 3", of(larger(design, MANY))?),
            ("contents stay", of(kept(design))?),
            ("both", of(larger(kept(design), MANY))?),
            (
                "all in the LRF",
                each(ideal(results, &Energies::thesis(ENTRIES, ACTIVE), in_the_lrf)?, |saved| 1.0 - saved),
            ),
        ])
    };
    let title = "Energy of each kernel by that of the MRF alone, split LRF: limits (6.6)";
    series().map(|series| kernels(title, "ratio", series, Style::Lines, None)).into_iter().collect()
}
