//! Levels above the MRF that hardware manages, as the reports on them and on those that software manages measure them.

use gpurf_energy::{Energies, Traffic};

use crate::row::PerKernel;
use crate::sweep::{Point, Results};
use crate::traffic::of_cache;

/// Active warps that most of the results are for.
pub const ACTIVE: u32 = 8;

/// A preset with the paper's bandwidths (RFC paper, table 4): 32 bytes a cycle to memory, and to shared memory.
pub fn machine(preset: &'static str) -> Point {
    Point::preset(preset).with("memory.bandwidth=32").with("sm.shared_bandwidth=32")
}

/// The cache of the active warps with last-read bits.
pub fn live(entries: u32, active: u32) -> Point {
    machine("rfc-live").with(format!("rfc.entries={entries}")).with(format!("sm.active_warps={active}"))
}

/// The same, and an LRF above it.
pub fn levels(entries: u32) -> Point {
    machine("rfc-hw3").with(format!("rfc.entries={entries}")).with(format!("sm.active_warps={ACTIVE}"))
}

/// Energy by that of an MRF alone.
pub fn normalised(energies: &Energies, traffic: &Traffic) -> f64 {
    crate::ratio(energies.of(traffic).total(), energies.of(&traffic.flat()).total())
}

/// Energy by that of an MRF alone, of each kernel.
pub fn energy(results: &Results<'_>, point: fn(u32) -> Point, entries: u32) -> Option<PerKernel> {
    let energies = Energies::thesis(entries, ACTIVE);
    results.each(&point(entries), |run| normalised(&energies, &of_cache(run)))
}

/// The cache alone.
pub fn two(entries: u32) -> Point {
    live(entries, ACTIVE)
}

/// Values that are moved between levels: those that leave the LRF, and those that leave the cache.
pub fn moved(traffic: &Traffic) -> f64 {
    (traffic.lrf.moving_reads + traffic.upper.moving_reads) as f64
}
