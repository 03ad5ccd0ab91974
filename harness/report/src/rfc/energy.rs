//! Energy: RFC paper 5.4 and 5.5, figure 12 and table 5; hierarchy thesis 4.4, 5.4.5 to 5.4.7.

use gpurf_energy::{Chip, Distance, Encoding, Energies, Energy, Traffic};

use super::{ACTIVE, ENTRIES, combined, errata, lines, mean_of, part_command, two_level, unknown};
use crate::cached::normalised;
use crate::cached::of_cache;
use crate::estimate::Estimate;
use crate::plot::{Plot, Series, Style};
use crate::row::{Claim, PerKernel, Reason, Row, Unit, mean};
use crate::sweep::{Measured, Point, Results, SweepPlan};

/// Numbers of entries, and of active warps, in figure 12.
const SIZES: [u32; 3] = [4, 6, 8];

const FIGURE_12: Claim = Claim::share("RFC paper 5.4, figure 12", "20-40 %", 0.2, 0.4);
const CHOSEN: Claim = Claim::share("RFC paper 5.4, table 5, compute", "24 %", 0.235, 0.245);
const CHOSEN_OF_ALL: Claim = Claim::share("RFC paper 5.4", "25 %, of all traces, with shaders", 0.245, 0.255);
const IDEAL: Claim = Claim::share("RFC paper 5.4", "58 %", 0.575, 0.585);
pub const SAVED: Claim = Claim::share("RFC paper 5.4, compute", "35 %", 0.345, 0.355);
const SAVED_OF_ALL: Claim =
    Claim::share("RFC paper, abstract and 5.5", "36 %, of all traces, with shaders", 0.355, 0.365);
const THESIS_SAVED: Claim =
    Claim::share("hierarchy thesis 5.4.6, figure 5.12(b)", "36 %, of all traces, with shaders", 0.355, 0.365);
const LEAST: Claim = Claim::share("hierarchy thesis 5.4.5", "at least 20 %", 0.2, 1.0);
const BITS: Claim = Claim::share("hierarchy thesis 5.4.5; 5.5", "10-20 %; roughly 10 %", 0.1, 0.2);
const WIRES: Claim = Claim::share("hierarchy thesis 5.4.5, figure 5.13(a)", "roughly one third: 28-38 %", 0.28, 0.38);
const BEST: Claim = Claim::share("hierarchy thesis 5.4.5, figure 5.12", "6", 6.0, 6.0).in_unit(Unit::Count);
const SM_WATTS: Claim =
    Claim::share("RFC paper 5.5; hierarchy thesis 5.4.6", "about 0.2 W", 0.15, 0.25).in_unit(Unit::Watts);
const CHIP_WATTS: Claim =
    Claim::share("RFC paper 5.5; hierarchy thesis 5.4.6", "3.3 W", 3.25, 3.35).in_unit(Unit::Watts);
const OF_SM: Claim = Claim::share("RFC paper 5.5; hierarchy thesis 5.4.6", "5.4 %", 0.0535, 0.0545);
const OF_CHIP: Claim = Claim::share("RFC paper 5.5; hierarchy thesis 5.4.6", "3.8 %", 0.0375, 0.0385);
const OVERHEAD: Claim = Claim::share("hierarchy thesis 4.4.2, 5.4.7", "1.2 %", 0.0115, 0.0125);

pub const HALF_ACCESS: Claim = Claim::share("hierarchy thesis 4.4", "roughly equally split: 45-55 %", 0.45, 0.55);
const LANE_BYTES: Claim = Claim::share("RFC paper 5.4", "192 bytes", 192.0, 192.0).in_unit(Unit::Count);
const ALL_BYTES: Claim = Claim::share("RFC paper 5.4", "6,144 bytes", 6144.0, 6144.0).in_unit(Unit::Count);

/// Rows of table 5: distances of the MRF and of the cache in mm; normalised energy of compute, as text and as a number.
pub const TABLE_5: [(f64, f64, &str, f64); 4] =
    [(0.0, 0.0, "0.76", 0.76), (1.0, 1.0, "0.87", 0.87), (1.0, 0.2, "0.65", 0.65), (1.0, 0.0, "0.63", 0.63)];

/// The fraction of results that bypass the cache: those of long-latency operations, and by 5.3 those that are not read before the slot is given up.
/// The paper prints no number. With this one, its means and prices give 0.76, 0.87 and 0.65 of table 5 ([`with_the_papers_means`]).
const AROUND: f64 = 0.22;

/// Bits added to an instruction: one deschedule bit, and a last-read bit for each of three sources.
const BITS_ADDED: u32 = 4;

pub fn plan(plan: &mut SweepPlan) {
    for (entries, active) in SIZES.into_iter().flat_map(|entries| SIZES.map(|active| (entries, active))) {
        let point = combined::live(entries, active);
        plan.experiment(combined::around(&point));
        plan.point(point);
    }
    for entries in combined::SIZES {
        [combined::live(entries, ACTIVE), combined::cache(entries, ACTIVE)]
            .into_iter()
            .for_each(|point| plan.point(point));
    }
    plan.point(two_level::active(32));
}

/// The RFC paper's machine with other distances.
pub fn at(entries: u32, active: u32, mrf: f64, cache: f64) -> Energies {
    let both = |way| Distance { private: way, shared: way };
    Energies { mrf_distance: both(mrf), upper_distance: both(cache), ..Energies::rfc_paper(entries, active) }
}

/// The traffic if every operand and result went to the cache.
pub fn ideal(traffic: &Traffic) -> Traffic {
    Traffic { upper: traffic.flat().mrf, ..Traffic::default() }
}

/// The traffic of the same operands and results with the paper's means: half of the reads and 59 % of the writes are avoided, and 22 % of the results
/// bypass the cache.
pub fn with_the_papers_means(traffic: &Traffic) -> Traffic {
    let flat = traffic.flat().mrf;
    let part = |count: u64, part: f64| (count as f64 * part) as u64;
    let (reads, writes) = (flat.reads(), flat.writes());
    let (to_mrf, past) = (part(writes, 0.41), part(writes, AROUND));
    let mut means = Traffic::default();
    means.mrf.private_reads = reads - part(reads, 0.5);
    means.upper.private_reads = part(reads, 0.5);
    means.mrf.private_writes = past;
    means.upper.private_writes = writes - past;
    means.upper.moving_reads = to_mrf - past;
    means.mrf.moving_writes = to_mrf - past;
    means
}

fn saved(results: &Results<'_>, point: &Point, energies: &Energies) -> Option<PerKernel> {
    results.each(point, |run| 1.0 - normalised(energies, &of_cache(run)))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let chosen = combined::live(ENTRIES, ACTIVE);
    let less_one = |energy: f64| 1.0 - energy;
    let command = || part_command(results, "energy");
    let saving = |row: Row, point: &Point, energies: &Energies| {
        row.because(|_| why(results, point, energies, less_one, command()))
    };
    let size = "6 entries, 8 active warps";
    let chosen_metric = format!("register file energy saved by the design point chosen, {size}, no wires");
    let saved_metric = format!("register file energy saved with wires, {size}");
    let mut rows = Vec::new();
    for (entries, active) in SIZES.iter().flat_map(|&entries| SIZES.map(|active| (entries, active))) {
        let energies = at(entries, active, 0.0, 0.0);
        let point = combined::live(entries, active);
        let Some(saved) = saved(results, &point, &energies) else { continue };
        let row = FIGURE_12
            .mean(format!("register file energy saved, {entries} entries, {active} active warps, no wires"), saved);
        let row = if point == chosen { row.derived(&chosen_metric) } else { row };
        rows.push(saving(row, &point, &energies));
    }
    let no_wires = at(ENTRIES, ACTIVE, 0.0, 0.0);
    let wires = Energies::rfc_paper(ENTRIES, ACTIVE);
    let thesis = Energies::thesis(ENTRIES, ACTIVE);
    if let Some(saved) = saved(results, &chosen, &no_wires) {
        rows.push(saving(CHOSEN.mean(&chosen_metric, saved.clone()), &chosen, &no_wires));
        let row = CHOSEN_OF_ALL.mean(format!("{chosen_metric}, the paper's mean of all traces"), saved);
        rows.push(saving(row.derived(&chosen_metric), &chosen, &no_wires));
    }
    if let Some(saved) = results.each(&chosen, |run| 1.0 - normalised_to_flat(&no_wires, &of_cache(run))) {
        let row = IDEAL.mean(format!("energy saved if all accesses went to the cache, {size}"), saved);
        rows.push(row.because(|_| unknown(results, "energy")));
    }
    for line in TABLE_5 {
        let (mrf, cache, ..) = line;
        let energies = at(ENTRIES, ACTIVE, mrf, cache);
        let metric = format!("energy by that of the MRF alone, MRF at {mrf} mm, cache at {cache} mm, {size}");
        let Some(values) = results.each(&chosen, |run| normalised(&energies, &of_cache(run))) else { continue };
        let row = of_table_5(line).mean(metric, values);
        let row = match (mrf, cache) {
            (0.0, 0.0) => row.derived(&chosen_metric),
            (1.0, 0.2) => row.derived(&saved_metric),
            _ => row,
        };
        rows.push(row.because(|_| Reason {
            // The last line contradicts the two above it.
            erratum: ((mrf, cache) == (1.0, 0.0)).then_some(errata::TABLE_5),
            ..why(results, &chosen, &energies, |energy| energy, command())
        }));
    }
    if let Some(saved) = saved(results, &chosen, &wires) {
        rows.extend(chip_rows(results, &saved, &saved_metric));
        rows.push(saving(SAVED.mean(&saved_metric, saved.clone()), &chosen, &wires));
        let row = SAVED_OF_ALL.mean(format!("{saved_metric}, the paper's mean of all traces"), saved);
        rows.push(saving(row.derived(&saved_metric), &chosen, &wires));
    }
    rows.extend(thesis_rows(results, &chosen, &thesis));
    rows.extend(halves(results, &chosen, &thesis));
    rows.extend(best_row(results));
    let overhead = Estimate::number(Encoding::THESIS.overhead(BITS_ADDED));
    let metric = "dynamic power of the chip for 4 more bits in an instruction of 32";
    rows.push(OVERHEAD.row(metric, overhead).derived("bits alone"));
    let bytes = |entries: u32, warps: u32| Estimate::number(f64::from(entries * warps * 4));
    let lane = LANE_BYTES.row("bytes of the cache of a lane, 6 entries, 8 active warps", bytes(ENTRIES, ACTIVE));
    let all = ALL_BYTES.row("bytes of the cache of the SM, 6 entries, 8 active warps", bytes(ENTRIES * 32, ACTIVE));
    rows.extend([lane, all].map(|row| row.derived("sizes alone")));
    rows
}

/// The claim of a row of table 5.
pub fn of_table_5((_, _, text, value): (f64, f64, &'static str, f64)) -> Claim {
    Claim::share("RFC paper 5.4, table 5, compute", text, value - 0.005, value + 0.005).in_unit(Unit::Ratio)
}

/// The part of the saved energy that accesses save; wires save the rest.
fn halves(results: &Results<'_>, chosen: &Point, thesis: &Energies) -> Option<Row> {
    let [accesses, all] = [Energy::access as fn(&Energy) -> f64, Energy::total].map(|part| {
        results.each(chosen, |run| {
            let traffic = of_cache(run);
            let flat = thesis.of(&traffic.flat());
            crate::ratio(part(&flat) - part(&thesis.of(&traffic)), flat.total())
        })
    });
    let row = HALF_ACCESS.row(
        "part of the energy saved that accesses save, not wires, 6 entries, 8 active warps",
        Estimate::ratio_of_means(&accesses?, &all?),
    );
    Some(row.because(|_| Reason { erratum: Some(errata::HALVES), ..unknown(results, "energy") }))
}

/// Energy of the ideal traffic relative to that of an MRF alone.
fn normalised_to_flat(energies: &Energies, traffic: &Traffic) -> f64 {
    crate::ratio(energies.of(&ideal(traffic)).total(), energies.of(&traffic.flat()).total())
}

/// The power that a saving of register file energy is in an SM and in the chip: a multiple of it.
fn chip_rows(results: &Results<'_>, saved: &PerKernel, from: &str) -> [Row; 4] {
    let whole = Chip::PAPERS.saving(1.0);
    let row = |claim: Claim, metric: &str, of_all: f64| {
        let row = claim.row(metric, Estimate::mean(saved.clone()).scaled(of_all, 0.0).alone()).derived(from);
        row.because(|_| unknown(results, "energy"))
    };
    [
        row(SM_WATTS, "power saved in an SM", whole.sm_watts),
        row(CHIP_WATTS, "power saved in the chip", whole.chip_watts),
        row(OF_SM, "power saved, of an SM's dynamic power", whole.of_sm),
        row(OF_CHIP, "power saved, of the chip's dynamic power", whole.of_chip),
    ]
}

fn thesis_rows(results: &Results<'_>, chosen: &Point, thesis: &Energies) -> Vec<Row> {
    let saved_with = saved(results, chosen, thesis);
    let size = "6 entries, 8 active warps";
    let bits = results.both(chosen, &combined::cache(ENTRIES, ACTIVE), |with, without| {
        1.0 - crate::ratio(thesis.of(&of_cache(with)).total(), thesis.of(&of_cache(without)).total())
    });
    let wires = results.each(chosen, |run| {
        let energy = thesis.of(&of_cache(run));
        crate::ratio(energy.wire(), energy.total())
    });
    let least = saved_with.as_ref().map(|saved| saved.values().copied().fold(f64::INFINITY, f64::min));
    let command = || part_command(results, "energy");
    let rows = [
        saved_with.clone().map(|saved| {
            let row = THESIS_SAVED.mean(format!("register file energy saved, the thesis's energies, {size}"), saved);
            row.because(|_| why(results, chosen, thesis, |energy| 1.0 - energy, command()))
        }),
        least.zip(saved_with).map(|(least, saved)| {
            let metric = format!("register file energy saved, least of all kernels, {size}");
            LEAST.row(metric, Estimate::extreme(least, saved)).because(|_| unknown(results, "energy"))
        }),
        bits.map(|bits| {
            let row = BITS.mean(format!("register file energy saved by last-read bits, {size}"), bits);
            row.because(|_| unknown(results, "energy"))
        }),
        wires.map(|wires| {
            let row = WIRES.mean(format!("part of the energy that is spent in wires, {size}"), wires);
            row.because(|_| unknown(results, "energy"))
        }),
    ];
    rows.into_iter().flatten().collect()
}

/// The number of entries with the least energy.
fn best_row(results: &Results<'_>) -> Option<Row> {
    let energy = |&entries: &u32| each_energy(results, combined::live, entries);
    let sizes = combined::SIZES.iter().map(energy).collect::<Option<Vec<_>>>()?;
    let row = BEST.row("entries with the least energy, 8 active warps", Estimate::least(&combined::SIZES, &sizes));
    Some(row.because(|_| unknown(results, "energy")))
}

/// Energy of each kernel by the thesis's constants, relative to that of the MRF alone.
fn each_energy(results: &Results<'_>, point: fn(u32, u32) -> Point, entries: u32) -> Option<PerKernel> {
    let energies = Energies::thesis(entries, ACTIVE);
    results.each(&point(entries, ACTIVE), |run| normalised(&energies, &of_cache(run)))
}

/// Mean normalised energy by the thesis's constants.
fn thesis_energy(results: &Results<'_>, point: fn(u32, u32) -> Point, entries: u32) -> Option<f64> {
    each_energy(results, point, entries).map(|values| mean(&values))
}

/// Mean energy relative to that of the MRF alone, with as many accesses avoided as in the paper.
fn papers_energy(results: &Results<'_>, point: &Point, energies: &Energies) -> Option<f64> {
    mean_of(results, point, |run| normalised(energies, &with_the_papers_means(&of_cache(run))))
}

/// Experiments on the same row: with as many accesses avoided as in the paper, and with a cache that results bypass if they are not read in time.
pub fn why(
    results: &Results<'_>,
    point: &Point,
    energies: &Energies,
    of: impl Fn(f64) -> f64,
    command: String,
) -> Reason {
    let papers = papers_energy(results, point, energies).map(&of);
    let means = "with 50 % of the reads and 59 % of the writes avoided, the paper's means, and 22 % of the results around the cache,";
    let around = mean_of(results, &combined::around(point), |run| normalised(energies, &of_cache(run))).map(&of);
    let words = "with results around the cache that are not read before the slot is given up (rfc.bypass=true)";
    Reason::found(vec![(means.to_owned(), papers), (words.to_owned(), around)], command)
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let figure_12 = || {
        let sizes: Vec<(u32, u32)> = SIZES.iter().flat_map(|&entries| SIZES.map(|active| (entries, active))).collect();
        let energy = |&(entries, active): &(u32, u32)| {
            let energies = at(entries, active, 0.0, 0.0);
            results
                .each(&combined::live(entries, active), |run| normalised(&energies, &of_cache(run)))
                .map(|values| mean(&values))
        };
        let all = mean(&results.each(&two_level::active(32), Measured::ipc)?);
        let ipc = |&(entries, active): &(u32, u32)| {
            results.each(&combined::live(entries, active), Measured::ipc).map(|values| crate::ratio(mean(&values), all))
        };
        Some(Plot {
            title: "Energy of register file accesses by that of the MRF alone, and IPC by that of all warps active (figure 12)".into(),
            x: "entries / active warps".into(),
            y: "ratio".into(),
            places: sizes.iter().map(|(entries, active)| format!("{entries}/{active}")).collect(),
            series: vec![
                Series { name: "energy".into(), values: sizes.iter().map(energy).collect::<Option<_>>()? },
                Series { name: "IPC".into(), values: sizes.iter().map(ipc).collect::<Option<_>>()? },
            ],
            style: Style::Bars,
            band: Some([0.6, 0.8]),
        })
    };
    let thesis = lines(
        "Energy with wires by that of the MRF alone, the thesis's energies (thesis, figure 5.12)",
        ("entries", &combined::SIZES),
        "ratio, mean",
        &[
            ("without last-read bits", &|entries| thesis_energy(results, combined::cache, entries)),
            ("with", &|entries| thesis_energy(results, combined::live, entries)),
        ],
        None,
    );
    [figure_12(), thesis].into_iter().flatten().collect()
}
