//! Energy: hierarchy thesis 7.5.3, 7.5.4, figures 7.8 and 7.9.

use gpurf_blocks::config::Config;
use gpurf_energy::storage::{Activity, BankAccesses, Core, SmEnergy, Storage};

use super::best::faster;
use super::{
    Best, Change, Design, Fixed128, Fixed128With64, Fixed256, Large256, Large512, Limited, SAME, Unified256, Unified384,
};
use super::{
    NOT_SAID, REPORT, best, cases, count, dram, ends, event, of_case, performance, plan_compared, plan_designs, row,
    row_compared, row_with,
};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row, Unit};
use crate::shown::kernels;
use crate::sweep::{Measured, Results, SweepPlan};

const PART: &str = "energy";
const SOURCE: &str = "hierarchy thesis 7.5.3, figure 7.8(a)";
const EFFICIENCY: &str = "hierarchy thesis 7.5.4, figure 7.8(b)";
const SAVED: Claim = Claim::share(SOURCE, "0 to 20 %: 6 of 6", 6.0, 6.0).in_unit(Unit::Count);
const MOST_SAVED: Claim = Claim::share(SOURCE, "20 %: 17.5-22.5 %", 0.175, 0.225);
const LARGE: Claim = Claim::share(SOURCE, "large increases: 10 % or more", 0.1, 10.0);
const REGISTERS: Claim = Claim::share("hierarchy thesis 7.5.3", "0.12 to 1.16 %", 0.00115, 0.01165);
const MEMORY: Claim = Claim::share("hierarchy thesis 7.5.3", "0.004 to 0.072 %", 0.000_035, 0.000_725);
const NEEDLE: Claim = Claim::share(EFFICIENCY, "up to 120 % (1.4: 115 %): 110-125 %", 1.1, 1.25);
const TENTH: Claim = Claim::share(EFFICIENCY, "10 % or greater for 4 of 6", 4.0, 4.0).in_unit(Unit::Count);
const HOTSPOT: Claim = Claim::share(EFFICIENCY, "no improvement (1.4: 0.2 %): -2-2 %", -0.02, 0.02);
const SMALL_HOTSPOT: Claim = Claim::share(EFFICIENCY, "an efficiency gain: above 0", 1e-4, 1.0);
const LIMITED_BETTER: Claim = Claim::share(EFFICIENCY, "improves: above 0", 1e-4, 10.0);
const LIMITED_WORSE: Claim = Claim::share(EFFICIENCY, "underperforms: below 0", -1.0, -1e-4);
const MORE: Claim = Claim::none(NOT_SAID);

pub fn plan(plan: &mut SweepPlan) {
    plan_compared(plan);
    plan_designs(plan, &[Fixed128, Fixed128With64, Limited, Large256, Large512, Unified256]);
}

/// The storage of a machine.
pub fn storage(config: &Config) -> Storage {
    if config.unified.is_present() {
        return Storage::Unified(config.unified.kilobytes as f64);
    }
    Storage::Partitioned {
        registers: config.mrf.kilobytes as f64,
        scratchpad: config.sm.shared_kilobytes as f64,
        cache: config.cache.kilobytes as f64,
    }
}

/// Accesses of 16 bytes in a cache line.
pub const OF_LINE: f64 = 8.0;
/// Words of a 16-byte access.
const WORDS: f64 = 4.0;

/// The activity of a run, with lines priced as in the thesis.
pub fn usual_activity(run: &Measured, storage: Storage) -> Activity {
    activity(run, storage, OF_LINE)
}

/// Prices that an experiment may change.
#[derive(Clone, Copy)]
struct Prices {
    /// Factor on the core's energy.
    core: f64,
    /// Accesses of 16 bytes that a cache line counts for; with unified memory also the maximum that a pass of scratchpad memory counts for.
    line: f64,
}

impl Prices {
    /// The thesis's prices.
    const USUAL: Self = Self { core: 1.0, line: OF_LINE };
}

/// The accesses of a run. No event counts how many banks a pass of scratchpad memory accesses, whether it reads or writes, or how many bytes a store
/// writes to the cache: the greatest possible numbers are taken, as writes. A pass accesses one word for each of its lanes if banks are four bytes
/// wide; with unified memory it accesses at most as many banks as it has lanes, and at most `line`.
pub fn activity(run: &Measured, storage: Storage, line: f64) -> Activity {
    let of = |name: &str| run.event(name) as f64;
    let lanes = of(event::SHARED_LANES);
    let scratchpad = match storage {
        Storage::Partitioned { .. } => lanes / WORDS,
        Storage::Unified(_) => lanes.min(line * of(event::SHARED)),
    };
    Activity {
        cycles: run.cycles,
        instructions: run.event(event::ISSUE),
        registers: BankAccesses { reads: of(event::READ_GROUPS), writes: of(event::WRITE_GROUPS) },
        scratchpad: BankAccesses { reads: 0.0, writes: scratchpad },
        cache: BankAccesses {
            reads: line * of(event::CACHE_HIT),
            writes: line * (of(event::CACHE_FILL) + of(event::CACHE_STORE_HIT) + of(event::CACHE_STORE_FULL)),
        },
        dram_bytes: dram::bytes(run),
    }
}

/// The energy of a run. The energy of instructions and the leakage other than SRAM's are fitted to the baseline's run.
fn energy(best: &Best<'_>, baseline: &Best<'_>, prices: Prices) -> Option<SmEnergy> {
    let storage = storage(&best.config);
    let core = Core::thesis(baseline.run.cycles, baseline.run.event(event::ISSUE)).scaled(prices.core);
    Some(SmEnergy::of(storage, core, &activity(best.run, storage, prices.line)))
}

/// A value of each benchmark that both designs and the baseline run, from the runs and energies of the designs.
fn priced(
    results: &Results<'_>,
    designs: [Design; 2],
    change: Change,
    prices: Prices,
    value: impl Fn([(&Best<'_>, &SmEnergy); 2]) -> f64,
) -> Option<PerKernel> {
    let mut all = PerKernel::new();
    for case in cases(results) {
        let [a, b, baseline] = [designs[0], designs[1], Fixed256].map(|design| best(results, &case, design, change));
        if let (Some(a), Some(b), Some(baseline)) = (a?, b?, baseline?) {
            let [of_a, of_b] = [energy(&a, &baseline, prices)?, energy(&b, &baseline, prices)?];
            all.insert(case.name, value([(&a, &of_a), (&b, &of_b)]));
        }
    }
    (!all.is_empty()).then_some(all)
}

/// The fraction of design b's energy that design a saves.
fn saved(results: &Results<'_>, designs: [Design; 2], change: Change, prices: Prices) -> Option<PerKernel> {
    priced(results, designs, change, prices, |[(_, a), (_, b)]| 1.0 - crate::ratio(a.total(), b.total()))
}

/// Performance by energy relative to that of another design, less 1. The thesis calls this performance per watt: its gains of 75.6 % in performance
/// and 20 % in energy give its 120 %.
fn efficiency(results: &Results<'_>, designs: [Design; 2], change: Change) -> Option<PerKernel> {
    priced(results, designs, change, Prices::USUAL, |[(a, of_a), (b, of_b)]| {
        faster(a, b) * crate::ratio(of_b.total(), of_a.total()) - 1.0
    })
}

/// The fraction of a design's energy that one part takes.
fn part(results: &Results<'_>, design: Design, change: Change, prices: Prices, part: OfEnergy) -> Option<PerKernel> {
    priced(results, [design, Fixed256], change, prices, |[(_, energy), _]| crate::ratio(part(energy), energy.total()))
}

/// The row of the headline.
pub fn headline(results: &Results<'_>, part: &str) -> Option<Row> {
    let metric = "performance by energy gained by 384 KB unified, over 256/64/64 KB: needle";
    row_compared(results, part, NEEDLE, metric, Some(performance::HEADLINE), &|change| {
        of_case(efficiency(results, [Unified384, Fixed256], change), performance::HEADLINE)
    })
}

/// The energy of one part.
type OfEnergy = fn(&SmEnergy) -> f64;

/// The parts of the energy in figure 7.9.
const PARTS: [(&str, OfEnergy); 5] = [
    ("core, dynamic", |energy| energy.core_dynamic),
    ("core, leakage", |energy| energy.core_leakage),
    ("SRAM leakage", |energy| energy.sram_leakage),
    ("bank accesses", SmEnergy::banks),
    ("DRAM", |energy| energy.dram),
];

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let both = [Unified384, Fixed256];
    let mut rows = vec![headline(results, PART)];
    rows.push(row_compared(
        results,
        PART,
        SAVED,
        "benchmarks of which 384 KB unified saves 0 to 20 % of the energy",
        None,
        &|change| {
            let each = saved(results, both, change, Prices::USUAL)?;
            Some(Estimate::extreme(count(&each, |saved| (-0.005..=0.205).contains(&saved)), each))
        },
    ));
    let metric = "energy saved by 384 KB unified, most of any benchmark";
    rows.push(row_compared(results, PART, MOST_SAVED, metric, None, &|change| {
        let each = saved(results, both, change, Prices::USUAL)?;
        Some(Estimate::extreme(ends(&each)?[1], each))
    }));
    rows.push(row_compared(
        results,
        PART,
        TENTH,
        "benchmarks with 10 % more performance by energy, 384 KB unified",
        None,
        &|change| {
            let each = efficiency(results, both, change)?;
            Some(Estimate::extreme(count(&each, |gain| gain >= 0.1), each))
        },
    ));
    for (claim, design, size) in [(HOTSPOT, Unified384, "384"), (SMALL_HOTSPOT, Unified256, "256")] {
        let metric = format!("performance by energy gained by {size} KB unified, over 256/64/64 KB: hotspot");
        let efficiency = |change| efficiency(results, [design, Fixed256], change);
        rows.push(row(results, PART, claim, &metric, &|change| of_case(efficiency(change), "hotspot")));
    }
    for (claim, over) in [(LIMITED_BETTER, Fixed128), (LIMITED_WORSE, Fixed256)] {
        let metric = format!("performance by energy gained by 256/64 KB limited, over {}", over.name());
        rows.push(row(results, PART, claim, &metric, &|change| {
            efficiency(results, [Limited, over], change).map(Estimate::mean)
        }));
    }
    for design in [Large256, Large512] {
        let more = || {
            let each = saved(results, [design, Fixed256], SAME, Prices::USUAL)?
                .into_iter()
                .map(|(name, saved)| (name, -saved));
            Some(each.collect::<PerKernel>())
        };
        let Some(each) = more() else { continue };
        let metric = format!("energy that {} takes more than 256/64/64 KB", design.name());
        let row = LARGE.mean(metric, each);
        rows.push(Some(row.because(|_| Reason::unknown(REPORT.command(results, PART)))));
    }
    let registers: OfEnergy = |energy| energy.registers;
    let memory: OfEnergy = |energy| energy.scratchpad + energy.cache;
    for (claim, of, what) in [(REGISTERS, registers, "registers"), (MEMORY, memory, "scratchpad memory and cache")] {
        for (end, word) in ["least", "most"].into_iter().enumerate() {
            let metric = format!("energy of bank accesses of {what}, of all, 384 KB unified: {word} of any benchmark");
            let value = |change| {
                let each = part(results, Unified384, change, Prices::USUAL, of)?;
                Some(Estimate::extreme(ends(&each)?[end], each))
            };
            let one = || {
                let words =
                    "if a line and a pass of scratchpad memory were charged for one bank and not for up to eight";
                let each = part(results, Unified384, SAME, Prices { line: 1.0, ..Prices::USUAL }, of);
                let value = each.and_then(|each| Some(ends(&each)?[end]));
                if what == "registers" { Vec::new() } else { vec![(words.to_owned(), value)] }
            };
            rows.push(row_with(results, PART, claim, &metric, &value, one));
        }
    }
    let small = saved(results, [Fixed128With64, Fixed256], SAME, Prices::USUAL);
    rows.push(small.map(|each| MORE.mean("energy saved by 128/64/64 KB, over 256/64/64 KB", each)));
    for design in both {
        for (name, of) in PARTS {
            let each = part(results, design, SAME, Prices::USUAL, of);
            rows.push(each.map(|each| MORE.mean(format!("energy of {}: {name}", design.name()), each)));
        }
    }
    for (core, words) in [(0.5, "half"), (2.0, "twice")] {
        let metric = format!("energy saved by 384 KB unified, if the core took {words} of what it takes");
        rows.push(saved(results, both, SAME, Prices { core, ..Prices::USUAL }).map(|each| MORE.mean(metric, each)));
    }
    rows.push(saved(results, both, SAME, Prices::USUAL).map(|each| MORE.mean("energy saved by 384 KB unified", each)));
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let saved = || {
        let series = vec![
            ("energy saved", saved(results, [Unified384, Fixed256], SAME, Prices::USUAL)?),
            ("performance by energy gained", efficiency(results, [Unified384, Fixed256], SAME)?),
        ];
        let title = "384 KB unified over 256/64/64 KB (figure 7.8)";
        Some(kernels(title, "share", series, Style::Bars, None))
    };
    let parts = || {
        let of =
            |&(name, of): &(&'static str, OfEnergy)| Some((name, part(results, Unified384, SAME, Prices::USUAL, of)?));
        let series: Vec<_> = PARTS.iter().map(of).collect::<Option<_>>()?;
        Some(kernels("Energy of 384 KB unified (figure 7.9)", "share", series, Style::Stacked, None))
    };
    [saved(), parts()].into_iter().flatten().collect()
}
