//! The hardware three-level hierarchy, an LRF above the cache: hierarchy thesis 6.5.2 and 6.5.4, figures 6.11 and 6.13; 5.4.5.

use gpurf_energy::Energies;

use super::{ACTIVE, ENTRIES, combined, lines, unknown};
use crate::cached::of_cache;
use crate::cached::{energy, levels, moved, two};
use crate::estimate::Estimate;
use crate::plot::Plot;
use crate::row::{Claim, Row, Unit, mean};
use crate::sweep::{Point, Results, SweepPlan};

const SAVED: Claim = Claim::share("hierarchy thesis 6.5.4, figure 6.13; 5.4.5", "41 %", 0.405, 0.415);
const BEST: Claim = Claim::share("hierarchy thesis 6.5.4, figure 6.13", "6", 6.0, 6.0).in_unit(Unit::Count);
const GAIN: Claim =
    Claim::share("hierarchy thesis 6.5.4, figure 6.13", "adding an LRF reduces energy", 0.0001, 1.0).sign();
const OVERHEAD: Claim = Claim::share("hierarchy thesis 6.5.2, figure 6.11", "40 %", 0.35, 0.45);

pub fn plan(plan: &mut SweepPlan) {
    for entries in combined::SIZES {
        [levels(entries), two(entries)].into_iter().for_each(|point| plan.point(point));
    }
}

/// "We have not evaluated the effectiveness of the three-level design for the traces employed in this chapter" (5.4.5): the thesis's numbers are for
/// the kernels of chapter 6, in their own instruction order, as in the report `hierarchy`.
const ELSEWHERE: &str = "the same claim in the report `hierarchy`, on the code of the thesis's chapter 6";

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let size = "6 entries, 8 active warps, last-read bits";
    let saved = energy(results, levels, ENTRIES).map(|energy| {
        let saved = energy.into_iter().map(|(name, energy)| (name, 1.0 - energy)).collect();
        SAVED.mean(format!("register file energy saved with a hardware LRF, {size}"), saved)
    });
    let gain = results.both(&levels(ENTRIES), &two(ENTRIES), |with, without| {
        let energies = Energies::thesis(ENTRIES, ACTIVE);
        1.0 - crate::ratio(energies.of(&of_cache(with)).total(), energies.of(&of_cache(without)).total())
    });
    let overhead = results.each(&levels(ENTRIES), |run| {
        let traffic = of_cache(run);
        crate::ratio(moved(&traffic), traffic.flat().mrf.writes() as f64)
    });
    let rows = [
        saved,
        gain.map(|gain| GAIN.mean(format!("less register file energy with a hardware LRF than without, {size}"), gain)),
        overhead
            .map(|part| OVERHEAD.mean(format!("values written from one level to another, of results, {size}"), part)),
    ];
    let rows = rows.into_iter().flatten().map(|row| row.because(|_| unknown(results, "levels")));
    rows.chain(best_row(results)).map(|row| row.derived(ELSEWHERE)).collect()
}

/// The number of entries with the least energy.
fn best_row(results: &Results<'_>) -> Option<Row> {
    let energy = |&entries: &u32| energy(results, levels, entries);
    let sizes = combined::SIZES.iter().map(energy).collect::<Option<Vec<_>>>()?;
    let metric = "entries below a hardware LRF with the least energy, 8 active warps";
    Some(BEST.row(metric, Estimate::least(&combined::SIZES, &sizes)).because(|_| unknown(results, "levels")))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let at = |point: fn(u32) -> Point| move |entries: u32| energy(results, point, entries).map(|values| mean(&values));
    let plot = lines(
        "Energy with wires by that of the MRF alone, hardware-managed (thesis, figure 6.13)",
        ("entries", &combined::SIZES),
        "ratio, mean",
        &[("two levels", &at(two)), ("three levels", &at(levels))],
        None,
    );
    plot.into_iter().collect()
}
