//! The headlines of the hierarchy thesis, chapter 6. Software's are counted on the oracle, where no machine is.

use gpurf_compiler::hierarchy::HierarchyOptions;
use gpurf_energy::{Energies, Traffic};
use gpurf_oracle::levels::LevelCounts;

use super::{ACTIVE, ENTRIES, REPORT, energy, operands, percent, plan_with_experiments, saved, split, two, why};
use crate::cached::{normalised, of_cache};
use crate::report::{HEADLINES, Machine};
use crate::row::{Claim, Row, mean};
use crate::sweep::{Point, Results, SweepPlan};
use crate::traffic::{reads_avoided, writes_avoided};

/// Table 4.4, from issue to issue: the preset `hierarchy-paper`.
const LATENCIES: [&str; 3] = ["sm.alu_latency=3", "sm.sfu_latency=15", "sm.shared_latency=15"];
/// Table 4.4.
const RESOURCES: [&str; 1] = ["sm.shared_bandwidth=32"];

/// A preset with the thesis's latencies, or resources, or both.
fn on(machine: Machine, preset: &'static str) -> Point {
    machine.of(Point::preset(preset), &LATENCIES, &RESOURCES)
}

/// The hardware cache with last-read bits, 8 active warps.
fn cache(machine: Machine) -> Point {
    on(machine, "rfc-live").with(format!("rfc.entries={ENTRIES}"))
}

pub fn plan(plan: &mut SweepPlan, machine: Machine) {
    [split(ENTRIES), two(ENTRIES)].into_iter().for_each(|options| plan_with_experiments(plan, options));
    plan.point(cache(machine));
}

pub fn rows(results: &Results<'_>, machine: Machine) -> Vec<Row> {
    let software = |claim: Claim, metric: &str, options: HierarchyOptions| {
        let row = claim.mean(format!("register file energy saved, {metric}, 3 entries"), saved(results, &options)?);
        Some(row.because(|row| why(results, row, HEADLINES, &options, &|options| saved(results, options))))
    };
    let lrf = |counts: &LevelCounts| crate::ratio(counts.lrf.reads() as f64, operands(counts));
    let lrf_reads = || {
        let row = energy::LRF_READS.mean("reads that the LRF serves, split LRF", results.levels(&split(ENTRIES), lrf)?);
        Some(row.because(|row| why(results, row, HEADLINES, &split(ENTRIES), &|options| results.levels(options, lrf))))
    };
    let hardware = || {
        let energies = Energies::thesis(ENTRIES, ACTIVE);
        let saved = results.each(&cache(machine), |run| 1.0 - normalised(&energies, &of_cache(run)))?;
        let row = energy::HARDWARE.mean("register file energy saved, hardware cache, 3 entries", saved);
        Some(row.because(|_| why_hardware(results, &cache(machine))))
    };
    let rows = [
        software(energy::SPLIT, "three levels, split LRF", split(ENTRIES)),
        software(energy::SOFTWARE, "two levels", two(ENTRIES)),
        lrf_reads(),
        hardware(),
    ];
    rows.into_iter().flatten().collect()
}

/// What the cache avoids.
fn why_hardware(results: &Results<'_>, point: &Point) -> (String, String) {
    let each = |value: fn(&Traffic) -> f64| results.each(point, |run| value(&of_cache(run))).map(|v| percent(mean(&v)));
    let (Some(reads), Some(writes)) = (each(reads_avoided), each(writes_avoided)) else { return Default::default() };
    let why = format!(
        "energy is a function of counts: {reads} of MRF reads and {writes} of writes are avoided. What is written back has no wire; the part energy has the price with one"
    );
    (why, REPORT.command(results, HEADLINES))
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::preset;

    use super::*;

    #[test]
    fn the_whole_machine_is_the_papers_preset_and_none_of_it_the_designs() {
        let of = |machine| on(machine, "lrf-orf-split").config().unwrap();
        assert_eq!(of(Machine::PAPER), preset("hierarchy-paper").unwrap().config);
        assert_eq!(of(Machine::DESIGN), preset("lrf-orf-split").unwrap().config);
    }
}
