//! SMs with unified memory, on the model: what kernels leave and commit, whatever the partition is, and that skipped cycles are counted.

use crate::common::{alone, judged, load};
use gpurf_blocks::designs::DESIGNS;
use gpurf_machine::{Settings, Statistics};

/// Runs a kernel, and all of its launches commit what the oracle says.
fn committed(name: &str, settings: Settings, registers: u16) -> Statistics {
    let statistics = judged(name, settings, registers);
    let verdict = statistics.judged.unwrap();
    assert!(verdict.undecided == 0 || name == "bfs", "{name}");
    assert_eq!(verdict.equal + verdict.undecided, statistics.launches, "{name}");
    statistics
}

const FEW: [&str; 5] = ["spmv", "bfs", "needle16", "matrixMul", "histogram"];

#[test]
fn kernels_leave_what_they_must_and_commit_what_the_oracle_says() {
    let mut events = std::collections::BTreeMap::new();
    for name in FEW {
        let statistics =
            committed(name, load("unified-tiny", &["cache.full_stores=true", "unified.gather=aggressive"]), 64);
        let of_memory =
            statistics.events.iter().filter(|(name, _)| name.starts_with("cache_") || name.starts_with("unified_"));
        of_memory.for_each(|(name, count)| *events.entry(name.to_string()).or_insert(0) += count);
    }
    let never: Vec<&str> = events.iter().filter(|(_, count)| **count == 0).map(|(name, _)| name.as_str()).collect();
    // Kernels rarely store to a line on its way, and a cache of 8 KB has a way that is not pinned.
    assert_eq!((events.len(), never), (21, vec!["cache_close", "cache_drop", "cache_invalidate"]));
}

#[test]
fn partitions_sizes_and_policies_change_nothing_but_time() {
    let configurations: [&[&str]; 3] = [
        &["launch.cache_kilobytes=0", "sm.shared_bandwidth=32", "mrf.issue_ports=2"],
        &["launch.cache_kilobytes=1", "unified.kilobytes=64", "sm.shared_bandwidth=64", "cache.replacement=fifo"],
        &["sm.warps=16", "launch.threads=256", "cache.ways=8", "sm.shared_latency=4", "memory.latency=1"],
    ];
    for name in ["scan", "needle", "srad", "histogram", "reduction"] {
        for set in configurations {
            committed(name, load("unified-tiny", set), 20);
        }
    }
}

#[test]
fn every_register_file_whose_banks_serve_memory_has_unified_memory() {
    let sizes = ["unified.kilobytes=64", "cache.kilobytes=4", "mrf.banks=4", "mrf.ports=1r1w", "mrf.issue_ports=2"];
    let mut designs = 0;
    for design in DESIGNS.iter().filter(|design| design.services.serves_memory) {
        for name in ["scan", "needle", "srad"] {
            committed(name, load(design.main_preset, &sizes), 20);
        }
        designs += 1;
    }
    assert_eq!(designs, 3);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    let configurations: [&[&str]; 2] =
        [&[], &["memory.latency=2000", "launch.cache_kilobytes=2", "sm.shared_latency=4"]];
    for name in ["crc32", "needle", "radixSort", "sortingNetworks"] {
        for set in configurations {
            let (statistics, buffers, skipped) = alone(name, load("unified-tiny", set));
            let every = alone(name, Settings { skip: false, ..load("unified-tiny", set) });
            assert_eq!((statistics, buffers, 0), every, "{name} {set:?}");
            assert!(skipped > 0, "{name} {set:?}");
        }
    }
}
