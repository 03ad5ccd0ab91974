//! Hardware-managed levels above the MRF, as measured for the reports on hardware-managed and on software-managed levels.

use gpurf_energy::{Energies, Traffic};

use crate::row::PerKernel;
use crate::sweep::{Measured, Point, Results};

/// Number of active warps in most of the results.
pub const ACTIVE: u32 = 8;

/// A preset with the paper's bandwidths (RFC paper, table 4): 32 bytes a cycle to memory, and to shared memory. The lines in flight do not limit the
/// bandwidth of memory: 64 of 128 bytes, 400 cycles each, would be 20 bytes a cycle.
pub fn machine(preset: &'static str) -> Point {
    Point::preset(preset).with("memory.bandwidth=32").with("sm.line_rows=128").with("sm.shared_bandwidth=32")
}

/// The register file cache of the active warps, with last-read bits.
pub fn live(entries: u32, active: u32) -> Point {
    machine("rfc-live").with(format!("rfc.entries={entries}")).with(format!("sm.active_warps={active}"))
}

/// The cache of [`live`] with an LRF above it.
pub fn levels(entries: u32) -> Point {
    machine("rfc-hw3").with(format!("rfc.entries={entries}")).with(format!("sm.active_warps={ACTIVE}"))
}

/// Energy relative to that of an MRF alone.
pub fn normalised(energies: &Energies, traffic: &Traffic) -> f64 {
    crate::ratio(energies.of(traffic).total(), energies.of(&traffic.flat()).total())
}

/// Energy of each kernel relative to that of an MRF alone.
pub fn energy(results: &Results<'_>, point: fn(u32) -> Point, entries: u32) -> Option<PerKernel> {
    let energies = Energies::thesis(entries, ACTIVE);
    results.each(&point(entries), |run| normalised(&energies, &of_cache(run)))
}

/// The cache without an LRF.
pub fn two(entries: u32) -> Point {
    live(entries, ACTIVE)
}

/// Values that move between levels: those that leave the LRF, and those that leave the cache.
pub fn moved(traffic: &Traffic) -> f64 {
    (traffic.lrf.moving_reads + traffic.upper.moving_reads) as f64
}

/// Names of events, which count groups of 4 lanes: docs/blocks/rfc.md and docs/blocks/mrf.md.
pub mod event {
    events! {
        MRF_READ = "read_groups",
        MRF_SHARED_READ = "rfc_mrf_shared_groups",
        READ = "rfc_read_groups",
        SHARED_READ = "rfc_read_shared_groups",
        WRITE = "rfc_write_groups",
        SHARED_WRITE = "rfc_write_shared_groups",
        AROUND = "rfc_around_groups",
        SHARED_AROUND = "rfc_around_shared_groups",
        EVICTION = "rfc_evict_groups",
        LRF_READ = "rfc_lrf_read_groups",
        LRF_WRITE = "rfc_lrf_write_groups",
        SPILL = "rfc_lrf_spill_groups",
        LRF_FLUSH = "rfc_lrf_flush_groups",
        FILL = "rfc_fill_groups",
    }
}

/// The traffic of a run with a register file cache.
///
/// An operand is read from the MRF if it misses in the cache in at least one lane. A result is written to the LRF, to the cache or, bypassing both,
/// to the MRF. An evicted or flushed value is read from the cache and written to the MRF. With an LRF, a value that a later result displaces from the
/// LRF is read there and written to the cache, and a flushed value of the LRF is written to the MRF. If reads allocate, a value read from the MRF is
/// also written to the cache.
pub fn of_cache(run: &Measured) -> Traffic {
    let mut traffic = Traffic::default();
    // Splits a count into private and shared accesses. The part of the shared units is never greater than the whole.
    let split = |all: &str, shared: &str| {
        let (all, shared) = (run.event(all), run.event(shared));
        (all.saturating_sub(shared), shared)
    };
    let Traffic { mrf, upper, lrf } = &mut traffic;
    let [spilled, flushed, filled] = [event::SPILL, event::LRF_FLUSH, event::FILL].map(|name| run.event(name));
    (mrf.private_reads, mrf.shared_reads) = split(event::MRF_READ, event::MRF_SHARED_READ);
    (mrf.private_writes, mrf.shared_writes) = split(event::AROUND, event::SHARED_AROUND);
    mrf.moving_writes = run.event(event::EVICTION) + flushed;
    (upper.private_reads, upper.shared_reads) = split(event::READ, event::SHARED_READ);
    (upper.private_writes, upper.shared_writes) = split(event::WRITE, event::SHARED_WRITE);
    // The events count values displaced from the LRF as written by private units.
    upper.private_writes = upper.private_writes.saturating_sub(spilled);
    upper.moving_writes = spilled + filled;
    upper.moving_reads = run.event(event::EVICTION);
    (lrf.reads, lrf.writes, lrf.moving_reads) =
        (run.event(event::LRF_READ), run.event(event::LRF_WRITE), spilled + flushed);
    traffic
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{accesses_avoided, reads_avoided, writes_avoided};

    fn run(counts: &[(&'static str, u64)]) -> Measured {
        Measured::new(1, counts.iter().copied())
    }

    /// A line is in flight for the latency and two cycles.
    #[test]
    fn the_lines_in_flight_do_not_limit_the_bandwidth() {
        let config = machine("rfc-live").config().unwrap();
        assert!(config.sm.line_rows * 128 / (config.memory.latency + 2) >= config.memory.bandwidth);
    }

    #[test]
    fn events_become_traffic() {
        // 100 operands, 60 of them read from the cache; 50 results, 10 of them bypass the cache; 15 values evicted.
        let run = run(&[
            (event::MRF_READ, 40),
            (event::MRF_SHARED_READ, 10),
            (event::READ, 60),
            (event::SHARED_READ, 20),
            (event::WRITE, 40),
            (event::SHARED_WRITE, 5),
            (event::AROUND, 10),
            (event::SHARED_AROUND, 8),
            (event::EVICTION, 15),
        ]);
        let traffic = of_cache(&run);
        assert_eq!((traffic.mrf.private_reads, traffic.mrf.shared_reads, traffic.mrf.moving_reads), (30, 10, 0));
        assert_eq!((traffic.mrf.private_writes, traffic.mrf.shared_writes, traffic.mrf.moving_writes), (2, 8, 15));
        assert_eq!((traffic.upper.private_reads, traffic.upper.shared_reads), (40, 20));
        assert_eq!((traffic.upper.private_writes, traffic.upper.shared_writes), (35, 5));
        assert_eq!((traffic.upper.moving_reads, traffic.upper.moving_writes), (15, 0));
        assert_eq!(reads_avoided(&traffic), 0.6);
        assert_eq!(writes_avoided(&traffic), 0.5);
        assert!((accesses_avoided(&traffic) - (1.0 - 65.0 / 150.0)).abs() < 1e-12);
    }

    #[test]
    fn with_an_lrf_results_go_there_and_on_and_operands_are_filled_in() {
        // 100 operands: 30 are read from the LRF, 40 from the cache, 30 from the MRF, and 12 of the latter are filled into the cache. 50 results: 35
        // go to the LRF, from which 20 move to the cache and 5 to the MRF.
        let run = run(&[
            (event::MRF_READ, 30),
            (event::READ, 40),
            (event::LRF_READ, 30),
            (event::LRF_WRITE, 35),
            (event::WRITE, 25),
            (event::SHARED_WRITE, 5),
            (event::AROUND, 10),
            (event::SHARED_AROUND, 10),
            (event::SPILL, 20),
            (event::LRF_FLUSH, 5),
            (event::EVICTION, 15),
            (event::FILL, 12),
        ]);
        let traffic = of_cache(&run);
        assert_eq!((traffic.lrf.reads, traffic.lrf.writes, traffic.lrf.moving_reads), (30, 35, 25));
        assert_eq!((traffic.upper.private_writes, traffic.upper.shared_writes), (0, 5));
        assert_eq!((traffic.upper.moving_writes, traffic.upper.moving_reads), (32, 15));
        assert_eq!(traffic.mrf.moving_writes, 20);
        let flat = traffic.flat().mrf;
        assert_eq!((flat.reads(), flat.writes()), (100, 50));
        assert_eq!(reads_avoided(&traffic), 0.7);
        assert!((writes_avoided(&traffic) - 0.4).abs() < 1e-12);
    }

    #[test]
    fn more_evictions_than_results_saved_are_a_loss_and_nothing_avoids_nothing() {
        let traffic = of_cache(&run(&[(event::WRITE, 4), (event::EVICTION, 5)]));
        assert_eq!(writes_avoided(&traffic), -0.25);
        assert_eq!(reads_avoided(&Traffic::default()), 0.0);
    }
}
