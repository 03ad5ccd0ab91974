//! The test kernels on the model of the SM: buffers right, commits as the oracle says.

use crate::common::{FLOATS, INTEGERS, alone, run, settings};
use gpurf_kernels::KERNELS;
use gpurf_machine::Settings;

#[test]
fn kernels_leave_what_they_must_and_commit_what_the_oracle_says() {
    for kernel in KERNELS {
        let statistics = run(kernel, &[], 64);
        let judged = statistics.judged.unwrap();
        assert_eq!(judged.equal + judged.undecided, statistics.launches, "{}", kernel.name);
        // Its blocks see each other's plain stores: a node is visited when another block has stored so.
        assert!(judged.undecided == 0 || kernel.name == "bfs", "{}", kernel.name);
        assert!(judged.writes > 1000, "{}", kernel.name);
    }
}

#[test]
fn sizes_and_policies_change_nothing_but_time() {
    let configurations: [&[&str]; 5] = [
        &["mrf.issue_ports=2", "sm.scheduler=round_robin"],
        &["mrf.banks=4", "mrf.ports=1r1w", "mrf.collectors=4", "sm.warps=8"],
        &["sm.shared_bandwidth=32", "memory.latency=1", "memory.bandwidth=128", "sm.warps=48"],
        &["sm.line_rows=4", "memory.bandwidth=1", "mrf.issue_ports=2", "mrf.banks=2"],
        &[
            "sm.alu_latency=2",
            "sm.shared_latency=4",
            "sm.sfu_latency=8",
            "mrf.read_order=round_robin",
            "mrf.kilobytes=64",
        ],
    ];
    for kernel in KERNELS.iter().filter(|kernel| INTEGERS.contains(&kernel.name) || FLOATS.contains(&kernel.name)) {
        let mut cycles = Vec::new();
        for set in configurations {
            // Few registers: some values live in local memory.
            let statistics = run(kernel, set, 16);
            assert_eq!(statistics.judged.unwrap().undecided, 0);
            cycles.push(statistics.cycles);
        }
        cycles.sort_unstable();
        cycles.dedup();
        assert_eq!(cycles.len(), configurations.len(), "{}", kernel.name);
    }
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    let configurations: [&[&str]; 4] = [
        &[],
        &["mrf.issue_ports=2", "sm.warps=8", "sm.scheduler=round_robin"],
        &["mrf.banks=4", "mrf.ports=1r1w", "mrf.collectors=4", "memory.bandwidth=1"],
        &["sm.line_rows=4", "memory.latency=2000", "sm.warps=48", "sm.alu_latency=16", "sm.shared_latency=32"],
    ];
    for name in ["crc32", "needle", "radixSort", "countBytes", "sortingNetworks"] {
        for set in configurations {
            let (statistics, buffers, skipped) = alone(name, settings(set));
            let every = alone(name, Settings { skip: false, ..settings(set) });
            assert_eq!((statistics, buffers, 0), every, "{name} {set:?}");
            assert!(skipped > 0, "{name} {set:?}");
        }
    }
}
