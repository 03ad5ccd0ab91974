//! The headlines of the hierarchy thesis, chapter 6. Those of software control are counted on the oracle, which models no machine.

use gpurf_compiler::hierarchy::HierarchyOptions;
use gpurf_energy::Energies;
use gpurf_oracle::levels::LevelCounts;

use super::{ACTIVE, ENTRIES, cached, energy, operands, plan_with_experiments, saved, split, two, unknown, why};
use crate::cached::{normalised, of_cache};
use crate::estimate::Estimate;
use crate::report::{HEADLINES, Machine};
use crate::row::{Claim, Row, Unit};
use crate::sweep::{Measured, Point, Results, SweepPlan};

const PERFORMANCE: Claim =
    Claim::share("hierarchy thesis 6.5, 6.5.4", "no performance loss: 0.98 or more", 0.98, 2.0).in_unit(Unit::Ratio);

/// Table 4.4, latencies from issue to issue, as in the preset `hierarchy-paper`.
const LATENCIES: [&str; 3] = ["sm.alu_latency=3", "sm.sfu_latency=15", "sm.shared_latency=15"];
/// Resources of table 4.4.
const RESOURCES: [&str; 1] = ["sm.shared_bandwidth=32"];

/// A preset with the thesis's latencies, its resources, or both.
pub fn on(machine: Machine, preset: &'static str) -> Point {
    machine.of(Point::preset(preset), &LATENCIES, &RESOURCES)
}

/// The hardware cache with last-read bits, 8 active warps.
fn cache(machine: Machine) -> Point {
    cached::two_on(machine, ENTRIES)
}

pub fn plan(plan: &mut SweepPlan, machine: Machine) {
    [split(ENTRIES), two(ENTRIES)].into_iter().for_each(|options| plan_with_experiments(plan, options));
    [cache(machine), on(machine, "lrf-orf-split"), on(machine, "two-level")]
        .into_iter()
        .for_each(|point| plan.point(point));
}

pub fn rows(results: &Results<'_>, machine: Machine) -> Vec<Row> {
    let software = |claim: Claim, metric: &str, options: HierarchyOptions| {
        let row = claim.mean(format!("register file energy saved, {metric}, 3 entries"), saved(results, &options)?);
        Some(row.because(|_| why(results, HEADLINES, &options, &|options| saved(results, options))))
    };
    let lrf = |counts: &LevelCounts| crate::ratio(counts.lrf.reads() as f64, operands(counts));
    let lrf_reads = || {
        let row = energy::LRF_READS.mean("reads that the LRF serves, split LRF", results.levels(&split(ENTRIES), lrf)?);
        Some(row.because(|_| why(results, HEADLINES, &split(ENTRIES), &|options| results.levels(options, lrf))))
    };
    let hardware = || {
        let energies = Energies::thesis(ENTRIES, ACTIVE);
        let saved = results.each(&cache(machine), |run| 1.0 - normalised(&energies, &of_cache(run)))?;
        let row = energy::HARDWARE.mean("register file energy saved, hardware cache, 3 entries", saved);
        Some(row.because(|_| unknown(results, HEADLINES)))
    };
    let performance = || {
        let ipc = |preset| results.each(&on(machine, preset), Measured::ipc);
        let ratio = Estimate::ratio_of_means(&ipc("lrf-orf-split")?, &ipc("two-level")?);
        let metric = "IPC with LRF and ORF under software control by that without, 8 active warps";
        Some(PERFORMANCE.row(metric, ratio).because(|_| unknown(results, HEADLINES)))
    };
    let rows = [
        software(energy::SPLIT, "three levels, split LRF", split(ENTRIES)),
        software(energy::SOFTWARE, "two levels", two(ENTRIES)),
        lrf_reads(),
        hardware(),
        performance(),
    ];
    rows.into_iter().flatten().collect()
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
