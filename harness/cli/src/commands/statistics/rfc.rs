//! Counts of the register file cache: accesses of cache and main register file, registers as the instructions name them, data in groups of four
//! lanes.

use super::{Count, Part};

/// The part of a run's statistics.
pub(super) fn part(run: &Count<'_>) -> Part {
    let of = |name: &str| run.of(name);
    let config = &run.config.rfc;
    let registers = run.sum(&["rfc_hit", "rfc_partial", "rfc_miss"]);
    let (lrf_read, lrf_write) = match config.lrf {
        true => (of("rfc_lrf_read_groups"), of("rfc_lrf_write_groups")),
        false => (0, 0),
    };
    let reads = run.sum(&["rfc_read_groups", "read_groups"]) + lrf_read;
    let writes = run.sum(&["rfc_write_groups", "write_groups"]) + lrf_write;
    let mut part = Part::new("rfc");
    part.counts(&[
        ("hits", of("rfc_hit"), "RFC hits", registers),
        ("partial", of("rfc_partial"), "RFC hits of some lanes", registers),
        ("misses", of("rfc_miss"), "RFC misses", registers),
        ("read_groups", of("rfc_read_groups"), "groups read: RFC", reads),
        ("mrf_read_groups", of("read_groups"), "groups read: MRF", reads),
        ("write_groups", of("rfc_write_groups"), "groups written: RFC", writes),
        // Results that bypass the cache, evictions, and flushes. Each group of the latter two was read from the cache.
        ("mrf_write_groups", of("write_groups"), "groups written: MRF", writes),
        ("evict_groups", of("rfc_evict_groups"), "groups evicted or flushed", of("write_groups")),
        // Evicted because another value needed the entry; flushed because the warp gave up its slot; dead, so replaced without a write.
        ("evictions", of("rfc_evict"), "values evicted", 0),
        ("flushes", of("rfc_flush"), "values flushed", 0),
        ("dead", of("rfc_dead"), "values dead when replaced", 0),
    ]);
    if config.lrf {
        let mut lrf = Part::new("lrf");
        lrf.counts(&[
            ("read_groups", lrf_read, "groups read: LRF", reads),
            ("write_groups", lrf_write, "groups written: LRF", writes),
            // Spilled because another result arrived; flushed because the warp gave up its slot.
            ("spill_groups", of("rfc_lrf_spill_groups"), "groups from the LRF to the RFC", lrf_write),
            ("flush_groups", of("rfc_lrf_flush_groups"), "groups from the LRF to the MRF", lrf_write),
        ]);
        part.inner(lrf);
    }
    if config.reads {
        // Operands written to the cache when they were read from the main register file.
        part.counts(&[("fill_groups", of("rfc_fill_groups"), "groups read and allocated", reads)]);
    }
    part
}
