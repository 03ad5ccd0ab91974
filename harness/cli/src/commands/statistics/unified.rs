//! Counts of unified memory: accesses that wait for a column of the banks.

use super::{Count, Part};

/// The part of a run's statistics; `None` without unified memory.
pub(super) fn part(run: &Count<'_>) -> Option<Part> {
    run.config.unified.is_present().then(|| {
        let of = |name: &str| run.of(name);
        let cycles = run.statistics.cycles;
        let mut part = Part::new("unified");
        part.counts(&[
            ("cache_read_wait", of("unified_cache_read_wait"), "hits waiting: for their column", cycles),
            ("cache_write_wait", of("unified_cache_write_wait"), "stores and lines waiting: for their column", cycles),
            ("shared_read_lost", of("unified_shared_read_lost"), "scratchpad: banks not read", 0),
            ("shared_write_lost", of("unified_shared_write_lost"), "scratchpad: banks not written", 0),
        ]);
        part
    })
}
