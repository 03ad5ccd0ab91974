//! Counts of the data cache: outcomes of requests and answers, and reasons for waiting.

use super::{Count, Part};

/// The part of a run's statistics; `None` without a data cache.
pub(super) fn part(run: &Count<'_>) -> Option<Part> {
    (run.config.cache.kilobytes != 0).then(|| {
        let of = |name: &str| run.of(name);
        let loads = run.sum(&["cache_hit", "cache_merge", "cache_miss"]);
        let (stores, atomics) = (of("cache_store"), of("cache_atomic"));
        let answers = run.sum(&["cache_fill", "cache_drop", "cache_part"]);
        let cycles = run.statistics.cycles;
        let mut part = Part::new("cache");
        part.counts(&[
            ("hits", of("cache_hit"), "lines loaded: in the cache", loads),
            ("merges", of("cache_merge"), "lines loaded: already in flight", loads),
            ("misses", of("cache_miss"), "lines loaded: from memory", loads),
            ("stores", stores, "lines stored", 0),
            ("store_hits", of("cache_store_hit"), "lines stored: in the cache too", stores),
            ("store_fulls", of("cache_store_full"), "lines stored: whole, into the cache", stores),
            ("atomics", atomics, "lines of atomic operations", 0),
            ("invalidated", of("cache_invalidate"), "lines of atomic operations: in the cache until then", atomics),
            ("closed", of("cache_close"), "misses closed by a store or an atomic operation", of("cache_miss")),
            ("fills", of("cache_fill"), "answers installed", answers),
            ("dropped", of("cache_drop"), "answers not installed: way in use", answers),
            ("parts", of("cache_part"), "answers not installed: line not whole", answers),
            ("rows_served", of("cache_serve"), "rows served from answers", 0),
            ("wait_access", of("cache_wait_access"), "requests waiting: for the data", cycles),
            ("wait_row", of("cache_wait_row"), "requests waiting: for a row or a miss", cycles),
            ("wait_memory", of("cache_wait_memory"), "requests waiting: for memory", cycles),
            ("wait_fill", of("cache_fill_wait"), "answers waiting", cycles),
        ]);
        part
    })
}
