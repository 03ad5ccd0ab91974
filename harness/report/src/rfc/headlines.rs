//! The headlines of the RFC paper, with all or some of its machine's parameters.

use gpurf_energy::{Energies, Traffic};

use super::two_level::{EIGHT, relative};
use super::{ENTRIES, REPORT, cache, combined, energy};
use crate::cached::{normalised, of_cache};
use crate::report::{HEADLINES, Machine};
use crate::row::{Claim, Reason, Row, Unit};
use crate::sweep::{Point, Results, SweepPlan};
use crate::traffic::{reads_avoided, writes_avoided};

const CACHE: Claim =
    Claim::share("RFC paper 3.1, 3.3 and 5.4", "without loss: 0.98 or more", 0.98, 2.0).in_unit(Unit::Ratio);

/// Latencies of table 4, from issue to issue, as in the preset `rfc-paper`.
const LATENCIES: [&str; 3] = ["sm.alu_latency=3", "sm.sfu_latency=15", "sm.shared_latency=15"];
/// Resources of table 4, with as many lines in flight as the bandwidth of memory needs.
const RESOURCES: [&str; 4] =
    ["memory.bandwidth=32", "sm.line_rows=128", "sm.shared_bandwidth=32", "sm.shared_kilobytes=32"];

/// The same resources, with a cache that frees entries and evicts as early as possible (docs/blocks/rfc.md).
const CACHE_RESOURCES: [&str; 6] =
    [RESOURCES[0], RESOURCES[1], RESOURCES[2], RESOURCES[3], "rfc.release=true", "rfc.prompt=true"];

/// The same resources without a cache; slots are handed over while results of their warps are in flight.
const SLOT_RESOURCES: [&str; 5] = [RESOURCES[0], RESOURCES[1], RESOURCES[2], RESOURCES[3], "sm.handover=true"];

fn cached(machine: Machine, preset: &'static str) -> Point {
    machine.of(Point::preset(preset), &LATENCIES, &CACHE_RESOURCES)
}

/// The cache of the active warps with last-read bits: 6 entries, 8 active warps.
pub fn live(machine: Machine) -> Point {
    cached(machine, "rfc-live")
}

/// The cache of all warps: 6 entries.
fn all_warps(machine: Machine) -> Point {
    cached(machine, "rfc-all")
}

/// Eight active warps.
fn eight(machine: Machine) -> Point {
    machine.of(Point::preset("two-level"), &LATENCIES, &SLOT_RESOURCES)
}

/// All warps active: no warp ever gives up its slot.
fn all_active(machine: Machine) -> Point {
    eight(machine).with("sm.active_warps=32").with("sm.stay=true")
}

pub fn plan(plan: &mut SweepPlan, machine: Machine) {
    [live, all_warps, eight, all_active].into_iter().for_each(|point| plan.point(point(machine)));
    plan.experiment(combined::around(&live(machine)));
}

pub fn rows(results: &Results<'_>, machine: Machine) -> Vec<Row> {
    let avoided = |claim: Claim, metric: &str, point: Point, value: fn(&Traffic) -> f64| {
        let row = claim.mean(metric, results.each(&point, |run| value(&of_cache(run)))?);
        Some(row.because(|_| Reason::unknown(command(results))))
    };
    let saved = || {
        let energies = Energies::rfc_paper(ENTRIES, super::ACTIVE);
        let saved = results.each(&live(machine), |run| 1.0 - normalised(&energies, &of_cache(run)))?;
        let row = energy::SAVED.mean("register file energy saved with wires, 6 entries, 8 active warps", saved);
        Some(row.because(|_| energy::why(results, &live(machine), &energies, |energy| 1.0 - energy, command(results))))
    };
    let ipc = |claim: Claim, metric: &str, a: Point, b: Point| Some(claim.row(metric, relative(results, &a, &b)?));
    // With entries for all warps, the cache is never flushed and no slot is given up.
    let never = || {
        let ratio = relative(results, &all_warps(machine), &all_active(machine)).map(|ratio| ratio.value);
        let words = "with entries for all warps, by all 32 active warps without a cache,".to_owned();
        Reason::found(vec![(words, ratio)], command(results))
    };
    let rows = [
        saved(),
        avoided(cache::READS_MEAN, "MRF reads avoided, 6 entries for each warp", all_warps(machine), reads_avoided),
        avoided(cache::WRITES_MEAN, "MRF writes avoided, 6 entries for each warp", all_warps(machine), writes_avoided),
        ipc(EIGHT, "IPC of 8 active warps by that of all 32", eight(machine), all_active(machine))
            .map(|row| row.because(|_| Reason::unknown(command(results)))),
        ipc(CACHE, "IPC with the cache, 6 entries, 8 active warps, by that without", live(machine), eight(machine))
            .map(|row| row.because(|_| never())),
    ];
    rows.into_iter().flatten().collect()
}

fn command(results: &Results<'_>) -> String {
    REPORT.command(results, HEADLINES)
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::preset;

    use super::*;

    #[test]
    fn the_whole_machine_is_the_papers_preset_and_none_of_it_the_designs() {
        assert_eq!(live(Machine::PAPER).config().unwrap(), preset("rfc-paper").unwrap().config);
        assert_eq!(live(Machine::DESIGN).config().unwrap(), preset("rfc-live").unwrap().config);
    }
}
