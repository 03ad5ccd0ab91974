//! The hardware three-level hierarchy, an LRF above the cache: hierarchy thesis 6.5.2 and 6.5.4, figures 6.11 and 6.13; 5.4.5.

use gpurf_energy::{Energies, Traffic};

use super::{ACTIVE, ENTRIES, combined, lines, part_command, percent};
use crate::cached::of_cache;
use crate::cached::{energy, levels, moved, two};
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Row, Unit, mean};
use crate::sweep::{Point, Results, SweepPlan};

const SAVED: Claim = Claim::share("hierarchy thesis 6.5.4, figure 6.13; 5.4.5", "41 %", 0.405, 0.415);
const BEST: Claim = Claim::share("hierarchy thesis 6.5.4, figure 6.13", "6", 6.0, 6.0).in_unit(Unit::Count);
const GAIN: Claim = Claim::share("hierarchy thesis 6.5.4, figure 6.13", "adding an LRF reduces energy", 0.0001, 1.0);
const OVERHEAD: Claim = Claim::share("hierarchy thesis 6.5.2, figure 6.11", "40 %", 0.35, 0.45);

pub fn plan(plan: &mut SweepPlan) {
    for entries in combined::SIZES {
        [levels(entries), two(entries)].into_iter().for_each(|point| plan.point(point));
    }
}

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
    let explained = rows.into_iter().flatten().map(|row| row.because(|_| why(results)));
    explained.chain(best_row(results)).collect()
}

/// Where operands and results go, with the LRF and without.
fn why(results: &Results<'_>) -> (String, String) {
    let share = |part: fn(&Traffic) -> u64, whole: fn(&Traffic) -> u64| {
        let each = results.each(&levels(ENTRIES), |run| {
            let traffic = of_cache(run);
            crate::ratio(part(&traffic) as f64, whole(&traffic) as f64)
        });
        each.map(|values| percent(mean(&values)))
    };
    let (reads, writes) = (|t: &Traffic| t.flat().mrf.reads(), |t: &Traffic| t.flat().mrf.writes());
    let shares = [
        share(|t| t.lrf.reads, reads),
        share(|t| t.upper.private_reads + t.upper.shared_reads, reads),
        share(|t| t.lrf.writes, writes),
        share(|t| t.lrf.moving_reads, writes),
        share(|t| t.upper.moving_reads, writes),
    ];
    let (Some([lrf, cache, written, left, evicted]), Some(without)) = (
        shares.into_iter().collect::<Option<Vec<_>>>().and_then(|shares| <[String; 5]>::try_from(shares).ok()),
        energy(results, two, ENTRIES),
    ) else {
        return Default::default();
    };
    let why = format!(
        "{lrf} of operands come from the LRF and {cache} from the cache; {written} of results go to the LRF, and values of {left} of them leave it alive, which costs a read of it and a write of the \
         cache or the MRF; {evicted} leave the cache. Without the LRF the same kernels save {}",
        percent(1.0 - mean(&without))
    );
    (why, part_command(results, "levels"))
}

/// The size with the least energy.
fn best_row(results: &Results<'_>) -> Option<Row> {
    let energy = |&entries: &u32| Some((entries, mean(&energy(results, levels, entries)?)));
    let sizes = combined::SIZES.iter().map(energy).collect::<Option<Vec<_>>>()?;
    let &(best, _) = sizes.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let row = BEST.row(
        "entries below a hardware LRF with the least energy, 8 active warps",
        f64::from(best),
        PerKernel::new(),
    );
    Some(row.because(|_| {
        let list: Vec<String> = sizes.iter().map(|(entries, energy)| format!("{entries}: {energy:.3}")).collect();
        let why = format!("energy by that of the MRF alone, by entries: {}.", list.join(", "));
        (why, part_command(results, "levels"))
    }))
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
