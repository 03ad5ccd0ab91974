//! Energy of all organisations: hierarchy thesis 6.5.4, figures 6.13, 6.15 and 6.16.

use gpurf_compiler::hierarchy::HierarchyOptions;
use gpurf_energy::{Chip, Energies, Energy, Traffic};
use gpurf_oracle::levels::LevelCounts;

use super::{
    ACTIVE, ENTRIES, SIZE, SIZES, UNMARKED, cache, cached_levels, cached_two, changed, command, each, kernels, less,
    lines, normalised, plan_with_experiments, ratio, saved, split, two, unified, unknown, unmarked, why,
};
use crate::cached;
use crate::cached::of_cache;
use crate::estimate::{Estimate, Statistic};
use crate::follow::Flushed;
use crate::levels::{flat, traffic};
use crate::plot::{Plot, Series, Style};
use crate::row::{Claim, PerKernel, Reason, Row, Unit, mean};
use crate::sweep::{Measured, Results, SweepPlan};

const FIGURE: &str = "hierarchy thesis 6.5.4, figure 6.13";
pub const HARDWARE: Claim = Claim::share(FIGURE, "34 %", 0.335, 0.345);
pub const SOFTWARE: Claim = Claim::share(FIGURE, "45 %", 0.445, 0.455);
const HARDWARE_DEEP: Claim = Claim::share(FIGURE, "41 %", 0.405, 0.415);
pub const SPLIT: Claim = Claim::share("hierarchy thesis, chapter 6 and 6.5.4, figure 6.13", "54 %", 0.535, 0.545);
const GAIN: Claim = Claim::share(FIGURE, "adding an LRF reduces energy", 0.0001, 1.0).sign();
const GAIN_OF_SOFTWARE: Claim =
    Claim::share(FIGURE, "the benefit is larger when using software control: 54 less 45, 41 less 34 %", 0.0001, 1.0)
        .sign();
const OVER_HARDWARE: Claim = Claim::share("hierarchy thesis 6.5.4", "22 %", 0.215, 0.225);
const SPLIT_OVER_HARDWARE: Claim = Claim::share("hierarchy thesis 6.5.4", "44 %", 0.435, 0.445);
const SPLIT_OVER_DEEP: Claim = Claim::share("hierarchy thesis 6.5.4", "27 %", 0.265, 0.275);
const BEST: Claim = Claim::share(FIGURE, "3", 3.0, 3.0).in_unit(Unit::Count);
const BEST_DEEP: Claim = Claim::share(FIGURE, "6", 6.0, 6.0).in_unit(Unit::Count);
const OF_SM: Claim = Claim::share("hierarchy thesis 6.5.4", "8.3 %", 0.0825, 0.0835);
const OF_CHIP: Claim = Claim::share("hierarchy thesis 6.5.4", "5.8 %", 0.0575, 0.0585);
const MRF_PART: Claim = Claim::share("hierarchy thesis 6.5.4, figure 6.15", "roughly two thirds: 62-72 %", 0.62, 0.72);
const MRF_WIRE: Claim = Claim::share("hierarchy thesis 6.5.4, figure 6.15", "equally split: 45-55 %", 0.45, 0.55);
const HALF_ACCESS: Claim = Claim::share("hierarchy thesis 4.4", "roughly equally split: 45-55 %", 0.45, 0.55);
const ORF_PART: Claim = Claim::share("hierarchy thesis 6.5.4, figure 6.15", "the bulk: 50-100 %", 0.5, 1.0);
const LRF_WIRE: Claim = Claim::share("hierarchy thesis 6.5.4, figure 6.15", "less than 1 %", 0.0, 0.01);
pub const LRF_READS: Claim = Claim::share("hierarchy thesis 6.5.4", "1/3: 28-38 %", 0.28, 0.38);

/// Kernels for which the text on figure 6.16 prints a saving.
const KERNELS: [(&str, Claim); 2] = [
    ("reduction", Claim::share("hierarchy thesis 6.5.4, figure 6.16", "25 %", 0.245, 0.255)),
    ("scalarProd", Claim::share("hierarchy thesis 6.5.4, figure 6.16", "30 %", 0.25, 0.35)),
];

const SMALLEST: Claim = Claim::share(
    "hierarchy thesis 6.5.4, figure 6.16",
    "the smallest gains: no other kernel has smaller ones",
    0.0,
    0.0,
)
.in_unit(Unit::Count);

/// The most efficient design, in the words of rows.
const SPLIT_LEVELS: &str = "software, three levels, split LRF";

/// Entries of the cache below the hardware LRF.
const DEEP_ENTRIES: u32 = 6;

/// Names of events, which count groups of 4 lanes: docs/blocks/hierarchy.md and docs/blocks/mrf.md.
pub mod event {
    events! {
        MRF_READ = "read_groups",
        MRF_SHARED_READ = "hierarchy_mrf_shared_groups",
        MRF_WRITE = "write_groups",
        MRF_SHARED_WRITE = "hierarchy_mrf_write_shared_groups",
        ORF_READ = "hierarchy_orf_read_groups",
        ORF_SHARED_READ = "hierarchy_orf_read_shared_groups",
        ORF_WRITE = "hierarchy_orf_write_groups",
        ORF_SHARED_WRITE = "hierarchy_orf_write_shared_groups",
        COPY = "hierarchy_copy_groups",
        LRF_READ_A = "hierarchy_lrf_a_read_groups",
        LRF_READ_B = "hierarchy_lrf_b_read_groups",
        LRF_READ_C = "hierarchy_lrf_c_read_groups",
        LRF_WRITE = "hierarchy_lrf_write_groups",
    }
}

/// The traffic of a run of the hardware. An operand that is copied to the ORF is read from the MRF and written to the ORF.
pub fn of_run(run: &Measured) -> Traffic {
    let mut traffic = Traffic::default();
    let split = |all: &str, shared: &str| {
        let (all, shared) = (run.event(all), run.event(shared));
        (all.saturating_sub(shared), shared)
    };
    let Traffic { mrf, upper, lrf } = &mut traffic;
    (mrf.private_reads, mrf.shared_reads) = split(event::MRF_READ, event::MRF_SHARED_READ);
    (mrf.private_writes, mrf.shared_writes) = split(event::MRF_WRITE, event::MRF_SHARED_WRITE);
    (upper.private_reads, upper.shared_reads) = split(event::ORF_READ, event::ORF_SHARED_READ);
    (upper.private_writes, upper.shared_writes) = split(event::ORF_WRITE, event::ORF_SHARED_WRITE);
    upper.moving_writes = run.event(event::COPY);
    lrf.reads = [event::LRF_READ_A, event::LRF_READ_B, event::LRF_READ_C].map(|bank| run.event(bank)).iter().sum();
    lrf.writes = run.event(event::LRF_WRITE);
    traffic
}

pub fn plan(plan: &mut SweepPlan) {
    for entries in SIZES {
        [two(entries), unified(entries), split(entries)].into_iter().for_each(|options| plan.levels(options));
        [cached_two(entries), cached_levels(entries)].into_iter().for_each(|point| plan.point(point));
    }
    plan.experiment(unmarked(ENTRIES));
    [two(ENTRIES), split(ENTRIES)].into_iter().for_each(|options| plan_with_experiments(plan, options));
    for entries in [ENTRIES, DEEP_ENTRIES] {
        [Flushed::Leaving, Flushed::StrandEnds].into_iter().for_each(|flushed| plan.cache(cache(entries, flushed)));
    }
}

/// An organisation of figure 6.13.
#[derive(Clone, Copy)]
enum Organisation {
    Hardware,
    HardwareDeep,
    Software(fn(u32) -> HierarchyOptions),
}

impl Organisation {
    /// Energy relative to that of an MRF alone.
    fn energy(self, results: &Results<'_>, entries: u32) -> Option<PerKernel> {
        match self {
            Self::Hardware => cached::energy(results, cached_two, entries),
            Self::HardwareDeep => cached::energy(results, cached_levels, entries),
            Self::Software(of) => normalised(results, &of(entries)),
        }
    }
}

/// How a value that is written back to the MRF is priced.
#[derive(Clone, Copy)]
enum WriteBack {
    /// Its accesses without a wire, as in all rows.
    Accesses,
    /// With the wire of a write, as for a result that goes to the MRF directly.
    Wire,
}

impl WriteBack {
    /// Energy relative to that of an MRF alone.
    fn energy(self, traffic: &Traffic, entries: u32) -> f64 {
        let mut priced = *traffic;
        if matches!(self, Self::Wire) {
            priced.mrf.private_writes += std::mem::take(&mut priced.mrf.moving_writes);
        }
        let energies = Energies::thesis(entries, ACTIVE);
        crate::ratio(energies.of(&priced).total(), energies.of(&traffic.flat()).total())
    }
}

impl Organisation {
    /// Energy relative to that of an MRF alone, if write-backs had the wire of a write.
    fn with_wire(self, results: &Results<'_>, entries: u32) -> Option<PerKernel> {
        let point = match self {
            Self::Hardware => cached_two(entries),
            Self::HardwareDeep => cached_levels(entries),
            // Software writes nothing back.
            Self::Software(_) => return self.energy(results, entries),
        };
        results.each(&point, |run| WriteBack::Wire.energy(&of_cache(run), entries))
    }
}

/// Energy relative to that of an MRF alone, for a hardware cache simulated in program order.
fn followed(results: &Results<'_>, entries: u32, flushed: Flushed, price: WriteBack) -> Option<PerKernel> {
    results.followed(&cache(entries, flushed), |traffic| price.energy(traffic, entries))
}

/// Energy of the accesses and wires of each level.
fn energy_of(counts: &LevelCounts) -> Energy {
    Energies::thesis(ENTRIES, ACTIVE).of(&traffic(counts))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    [saved_rows(results), improved_rows(results), best_rows(results), breakdown_rows(results), kernel_rows(results)]
        .concat()
}

/// The energy that each organisation saves, and the power that this saves in an SM and in the chip.
fn saved_rows(results: &Results<'_>) -> Vec<Row> {
    let hardware = |claim: Claim, metric: &str, organisation: Organisation, entries: u32| {
        let saved = each(organisation.energy(results, entries)?, |energy| 1.0 - energy);
        let row = claim.mean(format!("register file energy saved, {metric}"), saved);
        Some(row.because(|_| why_hardware(results, organisation, entries)))
    };
    let software = |claim: Claim, metric: &str, options: HierarchyOptions| {
        let row = claim.mean(format!("register file energy saved, {metric}, {SIZE}"), saved(results, &options)?);
        Some(row.because(|_| why(results, "energy", &options, &|options| saved(results, options))))
    };
    let gain = || {
        let fewer = less(&normalised(results, &split(ENTRIES))?, &normalised(results, &two(ENTRIES))?);
        let row = GAIN.row(format!("less register file energy with a split LRF than without, {SIZE}"), fewer);
        Some(row.because(|_| unknown(results, "energy")))
    };
    let gain_of_software = || {
        let energies = [
            normalised(results, &two(ENTRIES))?,
            normalised(results, &split(ENTRIES))?,
            Organisation::Hardware.energy(results, ENTRIES)?,
            Organisation::HardwareDeep.energy(results, DEEP_ENTRIES)?,
        ];
        let points = |energies: &[f64]| (energies[0] - energies[1]) - (energies[2] - energies[3]);
        let of_kernel = |name: &String| points(&energies.each_ref().map(|energies| energies[name]));
        let per_kernel = energies[0].keys().map(|name| (name.clone(), of_kernel(name))).collect();
        let more = Estimate::of_means(Statistic::FunctionOfMeans, &energies.each_ref(), per_kernel, points);
        let metric =
            "points of energy that an LRF saves more with software, 3 entries, than with hardware, 3 and 6 entries";
        Some(GAIN_OF_SOFTWARE.row(metric, more).because(|_| unknown(results, "energy")))
    };
    let chip = |claim: Claim, metric: &str, part: fn(f64) -> f64| {
        let saved = saved(results, &split(ENTRIES))?;
        let values = each(saved, part);
        let from = format!("register file energy saved, {SPLIT_LEVELS}, {SIZE}");
        let row = claim.mean(format!("{metric}, split LRF, {SIZE}"), values).derived(from);
        Some(row.because(|_| Reason { erratum: Some(super::errata::CHIP), ..unknown(results, "energy") }))
    };
    let deep_size = "hardware LRF and cache, 6 entries, 8 active warps";
    let rows = [
        hardware(HARDWARE, &format!("hardware cache with last-read bits, {SIZE}"), Organisation::Hardware, ENTRIES),
        software(SOFTWARE, "software, two levels", two(ENTRIES)),
        hardware(HARDWARE_DEEP, deep_size, Organisation::HardwareDeep, DEEP_ENTRIES),
        software(SPLIT, SPLIT_LEVELS, split(ENTRIES)),
        gain(),
        gain_of_software(),
        chip(OF_SM, "power saved, of an SM's dynamic power", |saved| Chip::PAPERS.saving(saved).of_sm),
        chip(OF_CHIP, "power saved, of the chip's dynamic power", |saved| Chip::PAPERS.saving(saved).of_chip),
    ];
    rows.into_iter().flatten().collect()
}

/// Energy efficiency of software relative to that of the hardware.
fn improved_rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, metric: &str, options: HierarchyOptions, organisation: Organisation, entries: u32| {
        let software = normalised(results, &options)?;
        let hardware = organisation.energy(results, entries)?;
        // One minus each saving is the energy that is left: "we are able to improve this savings to 45 %" compares 0.66 with 0.55, which the thesis
        // calls 22 %.
        let row = claim
            .row(format!("energy of {metric} more than that of software"), super::more(&hardware, &software))
            .derived("what hardware saves, and what software saves");
        Some(row.because(|_| {
            let than = |hardware: Option<PerKernel>, software: Option<PerKernel>| {
                Some(super::more(&hardware?, &software?).value)
            };
            let room = normalised(results, &super::larger(options, super::MANY));
            let mut experiments = vec![
                (
                    "if what is written back to the MRF had the wire of a result that goes there at once,".to_owned(),
                    than(organisation.with_wire(results, entries), Some(software.clone())),
                ),
                ("if software had 8 entries at the same price,".to_owned(), than(Some(hardware.clone()), room)),
            ];
            if matches!(organisation, Organisation::Hardware) {
                let followed =
                    |flushed| than(followed(results, entries, flushed, WriteBack::Accesses), Some(software.clone()));
                experiments.extend([
                    ("with a cache followed in program order".to_owned(), followed(Flushed::Leaving)),
                    (
                        "with one that is flushed where software's strands end too".to_owned(),
                        followed(Flushed::StrandEnds),
                    ),
                ]);
            }
            Reason::found(experiments, command(results, "energy"))
        }))
    };
    let rows = [
        row(OVER_HARDWARE, "a hardware cache of 3 entries, two levels,", two(ENTRIES), Organisation::Hardware, ENTRIES),
        row(
            SPLIT_OVER_HARDWARE,
            "a hardware cache of 3 entries, software with a split LRF,",
            split(ENTRIES),
            Organisation::Hardware,
            ENTRIES,
        ),
        row(
            SPLIT_OVER_DEEP,
            "a hardware LRF and cache of 6 entries, software with a split LRF,",
            split(ENTRIES),
            Organisation::HardwareDeep,
            DEEP_ENTRIES,
        ),
    ];
    rows.into_iter().flatten().collect()
}

/// The number of entries with the least energy, for each organisation.
fn best_rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, metric: &str, organisation: Organisation| {
        let energy = |&entries: &u32| organisation.energy(results, entries);
        let sizes = SIZES.iter().map(energy).collect::<Option<Vec<_>>>()?;
        let metric = format!("entries with the least energy, {metric}");
        Some(claim.row(metric, Estimate::least(&SIZES, &sizes)).because(|_| unknown(results, "energy")))
    };
    let rows = [
        row(BEST, "hardware cache with last-read bits", Organisation::Hardware),
        row(BEST, "software, two levels", Organisation::Software(two)),
        row(BEST, "software, split LRF", Organisation::Software(split)),
        row(BEST_DEEP, "hardware LRF and cache", Organisation::HardwareDeep),
    ];
    rows.into_iter().flatten().collect()
}

/// How the energy of the most efficient design is distributed: figure 6.15.
fn breakdown_rows(results: &Results<'_>) -> Vec<Row> {
    let design = split(ENTRIES);
    let row = |claim: Claim, metric: &str, part: fn(&LevelCounts) -> f64| {
        let row = claim.mean(format!("{metric}, split LRF, {SIZE}"), results.levels(&design, part)?);
        Some(row.because(|_| why(results, "energy", &design, &|options| results.levels(options, part))))
    };
    // The figure shows means over benchmarks, so a part of its bars is the ratio of two means.
    let of_means = |claim: Claim, metric: &str, part: fn(&LevelCounts) -> f64, of: fn(&LevelCounts) -> f64| {
        let row = claim.row(format!("{metric}, split LRF, {SIZE}"), ratio(results, &design, part, of)?);
        let experiments = || changed(&design, |options| Some(ratio(results, &options, part, of)?.value));
        Some(row.because(|_| Reason::found(experiments(), command(results, "energy"))))
    };
    let rows = [
        of_means(
            MRF_PART,
            "energy that is the MRF's",
            |counts| normal(counts, |energy| energy.mrf.access + energy.mrf.wire),
            |counts| normal(counts, Energy::total),
        ),
        of_means(
            MRF_WIRE,
            "the MRF's energy that is in wires",
            |counts| normal(counts, |energy| energy.mrf.wire),
            |counts| normal(counts, |energy| energy.mrf.access + energy.mrf.wire),
        ),
        of_means(
            ORF_PART,
            "energy that is not the MRF's and is the ORF's",
            |counts| normal(counts, |energy| energy.upper.access + energy.upper.wire),
            |counts| normal(counts, |energy| energy.total() - energy.mrf.access - energy.mrf.wire),
        ),
        row(LRF_WIRE, "the LRF's wires, of the energy of the MRF alone", |counts| {
            crate::ratio(energy_of(counts).lrf.wire, flat_energy(counts))
        }),
        half_row(results),
        row(LRF_READS, "reads that the LRF serves", |counts| {
            crate::ratio(counts.lrf.reads() as f64, super::operands(counts))
        }),
    ];
    rows.into_iter().flatten().collect()
}

/// The part of the saved energy that accesses save; wires save the rest.
fn half_row(results: &Results<'_>) -> Option<Row> {
    let [accesses, all] = [Energy::access as fn(&Energy) -> f64, Energy::total].map(|part| {
        results.levels(&split(ENTRIES), |counts| {
            let flat = Energies::thesis(ENTRIES, ACTIVE).of(&flat(counts));
            crate::ratio(part(&flat) - part(&energy_of(counts)), flat.total())
        })
    });
    let metric = format!("part of the energy saved that accesses save, not wires, split LRF, {SIZE}");
    let row = HALF_ACCESS.row(metric, Estimate::ratio_of_means(&accesses?, &all?));
    Some(row.because(|_| unknown(results, "energy")))
}

/// A part of the energy, relative to the energy of the MRF alone.
fn normal(counts: &LevelCounts, part: fn(&Energy) -> f64) -> f64 {
    crate::ratio(part(&energy_of(counts)), flat_energy(counts))
}

fn flat_energy(counts: &LevelCounts) -> f64 {
    Energies::thesis(ENTRIES, ACTIVE).of(&flat(counts)).total()
}

/// The part of the energy that one kernel saves with a design.
fn saved_of(results: &Results<'_>, options: &HierarchyOptions, kernel: &str) -> Option<f64> {
    saved(results, options)?.get(kernel).copied()
}

/// Rows of single kernels: figure 6.16. A kernel has a row if it is among those that ran.
fn kernel_rows(results: &Results<'_>) -> Vec<Row> {
    let Some(saved) = saved(results, &split(ENTRIES)) else { return Vec::new() };
    let row = |&(kernel, claim): &(&str, Claim)| {
        let of_kernel =
            |values: &PerKernel| values.get_key_value(kernel).map(|(k, v)| PerKernel::from([(k.clone(), *v)]));
        let row = claim.mean(format!("register file energy saved in {kernel}, split LRF, {SIZE}"), of_kernel(&saved)?);
        Some(row.because(|_| {
            let value = |options| saved_of(results, &options, kernel);
            let command = results.part_command(super::REPORT.name, "energy", Some(kernel));
            Reason::found(changed(&split(ENTRIES), value), command)
        }))
    };
    KERNELS.iter().filter_map(row).chain(smallest_row(results)).collect()
}

/// The number of other kernels that save less than one of those of figure 6.16, if all of these ran.
fn smallest_row(results: &Results<'_>) -> Option<Row> {
    let count = |options: HierarchyOptions| {
        let saved = saved(results, &options)?;
        let named = KERNELS.map(|(kernel, _)| saved.get(kernel).copied());
        let most = named.into_iter().collect::<Option<Vec<f64>>>()?.into_iter().fold(0.0, f64::max);
        let others = saved.iter().filter(|(name, _)| KERNELS.iter().all(|(kernel, _)| kernel != name));
        Some(others.filter(|(_, saved)| **saved < most).count() as f64)
    };
    let metric = format!("kernels that save less than reduction or scalarProd, split LRF, {SIZE}");
    let row = SMALLEST.row(metric, Estimate::extreme(count(split(ENTRIES))?, PerKernel::new()));
    Some(row.because(|_| Reason::found(changed(&split(ENTRIES), count), command(results, "energy"))))
}

/// The saving of a cache if write-backs had a wire, if the cache is simulated in program order, and if it is flushed where strands end.
fn why_hardware(results: &Results<'_>, organisation: Organisation, entries: u32) -> Reason {
    let saved = |energy: Option<PerKernel>| energy.map(|energy| 1.0 - mean(&energy));
    let mut experiments = vec![(
        "if what is written back to the MRF had the wire of a result that goes there at once,".to_owned(),
        saved(organisation.with_wire(results, entries)),
    )];
    if matches!(organisation, Organisation::Hardware) {
        let without = cached::energy(results, unmarked, entries);
        experiments.push((UNMARKED.to_owned(), saved(without)));
        let followed = |flushed| saved(followed(results, entries, flushed, WriteBack::Accesses));
        experiments.extend([
            ("followed in program order".to_owned(), followed(Flushed::Leaving)),
            ("flushed where software's strands end too".to_owned(), followed(Flushed::StrandEnds)),
        ]);
    }
    Reason::found(experiments, command(results, "energy"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let at = |organisation: Organisation| {
        move |entries: u32| organisation.energy(results, entries).map(|energy| mean(&energy))
    };
    let figure_13 = lines(
        "Energy with wires by that of the MRF alone (figure 6.13)",
        ("entries", &SIZES),
        "ratio, mean",
        &[
            ("hardware, two levels", &at(Organisation::Hardware)),
            ("hardware LRF", &at(Organisation::HardwareDeep)),
            ("software, two levels", &at(Organisation::Software(two))),
            ("unified LRF", &at(Organisation::Software(unified))),
            ("split LRF", &at(Organisation::Software(split))),
        ],
        None,
    );
    [figure_13, breakdown_plot(results), kernels_plot(results)].into_iter().flatten().collect()
}

/// The name of a part of an energy, and its value.
type Slice = (&'static str, fn(&Energy) -> f64);

const SLICES: [Slice; 6] = [
    ("MRF wires", |energy| energy.mrf.wire),
    ("MRF", |energy| energy.mrf.access),
    ("ORF wires", |energy| energy.upper.wire),
    ("ORF", |energy| energy.upper.access),
    ("LRF wires", |energy| energy.lrf.wire),
    ("LRF", |energy| energy.lrf.access),
];

/// Wires and accesses of each level, by the number of entries.
fn breakdown_plot(results: &Results<'_>) -> Option<Plot> {
    let part = |slice: fn(&Energy) -> f64, entries: u32| {
        let energies = Energies::thesis(entries, ACTIVE);
        let part = results.levels(&split(entries), |counts| {
            crate::ratio(slice(&energies.of(&traffic(counts))), energies.of(&flat(counts)).total())
        });
        part.map(|values| mean(&values))
    };
    let series = SLICES.iter().map(|(name, slice)| {
        let values = SIZES.iter().map(|&entries| part(*slice, entries)).collect::<Option<_>>()?;
        Some(Series { name: (*name).into(), values })
    });
    Some(Plot {
        title: "Energy with a split LRF by that of the MRF alone (figure 6.15)".into(),
        x: "entries".into(),
        y: "ratio, mean".into(),
        places: SIZES.iter().map(u32::to_string).collect(),
        series: series.collect::<Option<_>>()?,
        style: Style::Stacked,
        band: None,
    })
}

/// Accesses and wires of each kernel.
fn kernels_plot(results: &Results<'_>) -> Option<Plot> {
    let part = |part: fn(&Energy) -> f64| {
        results.levels(&split(ENTRIES), |counts| crate::ratio(part(&energy_of(counts)), flat_energy(counts)))
    };
    let series = vec![("accesses", part(Energy::access)?), ("wires", part(Energy::wire)?)];
    let title = "Energy of each kernel by that of the MRF alone, split LRF, 3 entries (figure 6.16)";
    Some(kernels(title, "ratio", series, Style::Stacked, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_back_with_a_wire_costs_that_of_a_write_more() {
        let mut traffic = Traffic::default();
        (traffic.mrf.private_reads, traffic.upper.private_writes) = (10, 10);
        (traffic.upper.moving_reads, traffic.mrf.moving_writes) = (4, 4);
        let flat = 10.0 * 15.6 + 10.0 * 18.6;
        let more = WriteBack::Wire.energy(&traffic, ENTRIES) - WriteBack::Accesses.energy(&traffic, ENTRIES);
        assert!((more - 4.0 * 7.6 / flat).abs() < 1e-12);
        assert_eq!(
            WriteBack::Accesses.energy(&traffic, ENTRIES),
            cached::normalised(&Energies::thesis(ENTRIES, ACTIVE), &traffic)
        );
    }
}
