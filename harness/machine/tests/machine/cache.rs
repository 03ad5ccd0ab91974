//! SMs with a data cache, on the model: what kernels leave and commit, and that skipped cycles are counted.

use crate::common::{alone, judged, load};
use gpurf_kernels::KERNELS;
use gpurf_machine::Settings;

#[test]
fn kernels_leave_what_they_must_and_commit_what_the_oracle_says() {
    let mut events = std::collections::BTreeMap::new();
    for kernel in KERNELS {
        let statistics = judged(kernel.name, load("cached-tiny", &["cache.full_stores=true"]), 64);
        let verdict = statistics.judged.unwrap();
        assert_eq!(verdict.equal + verdict.undecided, statistics.launches, "{}", kernel.name);
        assert!(verdict.undecided == 0 || kernel.name == "bfs", "{}", kernel.name);
        assert!(verdict.writes > 1000, "{}", kernel.name);
        let of_cache = statistics.events.iter().filter(|(name, _)| name.starts_with("cache_"));
        of_cache.for_each(|(name, count)| *events.entry(name.to_string()).or_insert(0) += count);
    }
    // Kernels use atomic operations on words that they do not load, and few hits at a time: programs meet these two.
    let never: Vec<&str> = events.iter().filter(|(_, count)| **count == 0).map(|(name, _)| name.as_str()).collect();
    assert_eq!((events.len(), never), (17, vec!["cache_invalidate", "cache_wait_access"]));
}

#[test]
fn sizes_and_policies_change_nothing_but_time() {
    let configurations: [&[&str]; 4] = [
        &["cache.ways=1", "cache.misses=4", "cache.replacement=fifo", "sm.line_rows=4", "mrf.issue_ports=2"],
        &["cache.ways=8", "sm.shared_latency=4", "memory.latency=1", "memory.bandwidth=128"],
        &["cache.kilobytes=512", "cache.misses=128", "sm.line_rows=128", "sm.shared_latency=32"],
        &[
            "cache.ways=4",
            "memory.bandwidth=1",
            "memory.granule=32",
            "memory.row_cycles=30",
            "memory.l2_kilobytes=16",
            "sm.warps=8",
            "sm.scheduler=round_robin",
        ],
    ];
    for name in ["compact", "mergeSort", "radixSort", "scan", "srad", "kmeans"] {
        for set in configurations {
            // Few registers: some values live in local memory.
            let statistics = judged(name, load("cached-tiny", set), 16);
            assert_eq!(statistics.judged.unwrap().undecided, 0, "{name} {set:?}");
        }
    }
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    let configurations: [&[&str]; 3] = [
        &[],
        &["memory.bandwidth=1", "memory.row_cycles=300", "cache.ways=1", "cache.misses=4", "sm.line_rows=4"],
        &["memory.latency=2000", "memory.l2_kilobytes=4", "cache.kilobytes=64", "sm.warps=8", "sm.shared_latency=4"],
    ];
    for name in ["crc32", "needle", "radixSort", "countBytes", "sortingNetworks"] {
        for set in configurations {
            let (statistics, buffers, skipped) = alone(name, load("cached-tiny", set));
            let every = alone(name, Settings { skip: false, ..load("cached-tiny", set) });
            assert_eq!((statistics, buffers, 0), every, "{name} {set:?}");
            assert!(skipped > 0, "{name} {set:?}");
        }
    }
}
