//! The test kernels on machines with ORF and LRF, compiled for them: levels change nothing but time.

mod common;

use common::{alone, run, settings};
use gpurf_kernels::KERNELS;
use gpurf_machine::Settings;

/// The three organisations of the thesis (6.2); then one, three and eight entries with shapes and policies in which every hazard comes often.
const CONFIGURATIONS: [&[&str]; 8] = [
    &["mrf.banks=4", "mrf.ports=1r1w", "sm.active_warps=8", "orf.entries=3"],
    &["mrf.banks=4", "mrf.ports=1r1w", "sm.active_warps=8", "orf.entries=3", "lrf.banks=unified"],
    &["mrf.banks=4", "mrf.ports=1r1w", "sm.active_warps=8", "orf.entries=3", "lrf.banks=split"],
    &[
        "mrf.banks=4",
        "mrf.ports=1r1w",
        "mrf.issue_ports=2",
        "sm.active_warps=8",
        "orf.entries=3",
        "lrf.banks=split",
        "sm.scheduler=round_robin",
    ],
    &[
        "mrf.issue_ports=2",
        "mrf.banks=2",
        "mrf.collectors=4",
        "sm.warps=8",
        "sm.active_warps=2",
        "sm.patience=1",
        "orf.entries=1",
        "lrf.banks=unified",
    ],
    &["mrf.issue_ports=2", "mrf.banks=4", "sm.warps=48", "sm.active_warps=48", "orf.entries=8", "sm.alu_latency=2"],
    &["sm.active_warps=4", "sm.patience=3", "orf.entries=8", "lrf.banks=split", "memory.latency=1"],
    &["sm.active_warps=32", "sm.stay=true", "orf.entries=1", "sm.alu_latency=16"],
];

#[test]
fn kernels_commit_what_the_oracle_says() {
    for kernel in KERNELS {
        for set in CONFIGURATIONS {
            let statistics = run(kernel, set, 64);
            let judged = statistics.judged.unwrap();
            assert!(judged.undecided == 0 || kernel.name == "bfs", "{} {set:?}", kernel.name);
            assert!(judged.writes > 1000, "{} {set:?}", kernel.name);
            let count =
                |name: &str| statistics.events.iter().find(|(event, _)| **event == name).map_or(0, |(_, count)| *count);
            assert_eq!(count("hierarchy_unwritten"), 0, "{} {set:?}", kernel.name);
            assert!(count("hierarchy_orf_read") > 0 && count("hierarchy_strand_end") > 0, "{} {set:?}", kernel.name);
            let lrf = set.iter().any(|setting| setting.starts_with("lrf.banks"));
            assert_eq!(count("hierarchy_lrf_read") > 0, lrf, "{} {set:?}", kernel.name);
        }
    }
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    for name in ["crc32", "needle", "radixSort", "countBytes", "vectorAdd", "srad"] {
        for set in CONFIGURATIONS {
            let (statistics, buffers, skipped) = alone(name, settings(set));
            let every = alone(name, Settings { skip: false, ..settings(set) });
            assert_eq!((statistics, buffers, 0), every, "{name} {set:?}");
            assert!(skipped > 0 || set.contains(&"memory.latency=1"), "{name} {set:?}");
        }
    }
}
