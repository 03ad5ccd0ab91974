//! The test kernels under other schedulers, with the register file cache, on the hybrid register file and with bank stealing: they change nothing but time.

mod common;

use common::{alone, run, settings};
use gpurf_blocks::hrf::{HRF_COUNT_EVENT, HRF_EVENT};
use gpurf_blocks::rfc::{RFC_COUNT_EVENT, RFC_EVENT, RFC_EXTRA_EVENT};
use gpurf_blocks::steal::STEAL_EVENT;
use gpurf_kernels::KERNELS;
use gpurf_lockstep::Events;
use gpurf_machine::Settings;

/// The hybrid file's presets: with buffers, with power gating, without buffers, SRAM behind the same scheduler; and shapes and policies in which every hazard comes often.
const HYBRID: [&[&str]; 7] = [
    &["mrf.banks=2", "sm.active_warps=2", "sm.alternate=true", "hrf.stt_ram=true"],
    &["mrf.banks=2", "sm.active_warps=2", "sm.alternate=true", "hrf.stt_ram=true", "hrf.gating=true"],
    &["mrf.banks=2", "sm.active_warps=2", "sm.alternate=true", "hrf.stt_ram=true", "hrf.buffer_entries=0"],
    &["sm.active_warps=2", "sm.alternate=true"],
    &[
        "mrf.banks=2",
        "mrf.collectors=4",
        "sm.warps=8",
        "sm.active_warps=2",
        "sm.alternate=true",
        "sm.patience=3",
        "hrf.stt_ram=true",
        "hrf.buffer_entries=4",
        "hrf.load_entries=2",
        "hrf.write_latency=9",
        "hrf.read_latency=3",
    ],
    &[
        "mrf.banks=2",
        "sm.warps=48",
        "sm.active_warps=2",
        "sm.alternate=true",
        "sm.patience=20",
        "hrf.stt_ram=true",
        "hrf.buffer_entries=11",
        "hrf.gating=true",
        "hrf.powered_entries=4",
        "hrf.wake_cycles=15",
        "hrf.sleep_cycles=7",
        "hrf.write_latency=1",
        "memory.latency=1",
    ],
    &[
        "mrf.banks=2",
        "sm.scheduler=round_robin",
        "hrf.stt_ram=true",
        "hrf.buffer_entries=0",
        "hrf.write_latency=15",
        "hrf.read_latency=4",
    ],
];

/// Two levels; a cache; dead values; an LRF above it (hierarchy thesis, 6.5.2); reads that allocate (5.2); all warps active with a cache for loads too (RFC paper, 3.1); and shapes and policies in which
/// every hazard comes often.
const CONFIGURATIONS: [&[&str]; 15] = [
    &["mrf.banks=4", "mrf.ports=1r1w", "sm.active_warps=8"],
    &["mrf.banks=4", "mrf.ports=1r1w", "sm.active_warps=8", "rfc.entries=6"],
    &["mrf.banks=4", "mrf.ports=1r1w", "sm.active_warps=8", "rfc.entries=6", "rfc.live=true"],
    &["mrf.banks=4", "mrf.ports=1r1w", "sm.active_warps=8", "rfc.entries=6", "rfc.live=true", "rfc.lrf=true"],
    &["mrf.banks=4", "mrf.ports=1r1w", "sm.active_warps=8", "rfc.entries=6", "rfc.live=true", "rfc.reads=true"],
    &["mrf.banks=4", "mrf.ports=1r1w", "sm.active_warps=32", "sm.stay=true", "rfc.entries=6", "rfc.loads=true"],
    &["mrf.banks=4", "mrf.ports=1r1w", "sm.active_warps=8", "rfc.entries=6", "mrf.issue_ports=2"],
    &[
        "mrf.issue_ports=2",
        "sm.active_warps=8",
        "rfc.entries=4",
        "rfc.live=true",
        "rfc.bypass=true",
        "rfc.replacement=lru",
        "sm.scheduler=round_robin",
    ],
    &[
        "mrf.issue_ports=2",
        "mrf.banks=2",
        "mrf.collectors=4",
        "sm.warps=8",
        "sm.active_warps=2",
        "sm.patience=1",
        "rfc.entries=1",
        "rfc.live=true",
        "rfc.loads=true",
    ],
    &[
        "mrf.issue_ports=2",
        "mrf.banks=2",
        "mrf.collectors=4",
        "sm.warps=8",
        "sm.active_warps=2",
        "sm.patience=1",
        "rfc.entries=1",
        "rfc.lrf=true",
        "rfc.reads=true",
        "rfc.live=true",
        "rfc.loads=true",
    ],
    &[
        "mrf.issue_ports=2",
        "sm.active_warps=8",
        "rfc.entries=4",
        "rfc.lrf=true",
        "rfc.reads=true",
        "rfc.live=true",
        "rfc.bypass=true",
        "rfc.replacement=lru",
        "sm.scheduler=round_robin",
    ],
    &["sm.active_warps=4", "sm.patience=3", "rfc.entries=2", "rfc.lrf=true", "memory.latency=1"],
    &["sm.active_warps=4", "sm.patience=3", "rfc.entries=2", "rfc.reads=true", "rfc.loads=true", "memory.latency=1"],
    &[
        "mrf.issue_ports=2",
        "mrf.banks=4",
        "sm.warps=48",
        "sm.active_warps=48",
        "rfc.entries=16",
        "rfc.replacement=lru",
        "rfc.live=true",
        "rfc.loads=true",
        "rfc.bypass=true",
        "sm.scheduler=round_robin",
    ],
    &[
        "sm.active_warps=4",
        "sm.patience=3",
        "rfc.entries=2",
        "rfc.replacement=lru",
        "rfc.loads=true",
        "memory.latency=1",
    ],
];

/// Bank stealing: the paper's eight banks, each kind alone, one port, two levels; and shapes and policies in which every hazard comes often.
const STEALING: [&[&str]; 7] = [
    &["mrf.banks=8", "mrf.issue_ports=2", "sm.warps=48", "steal.present=true", "steal.read=true", "steal.write=true"],
    &["mrf.banks=8", "mrf.issue_ports=2", "steal.present=true", "steal.read=true", "sm.scheduler=round_robin"],
    &["mrf.banks=16", "mrf.collectors=16", "mrf.issue_ports=2", "steal.present=true", "steal.write=true"],
    &["mrf.banks=4", "steal.present=true", "steal.read=true", "steal.write=true", "steal.eager=true"],
    &[
        "mrf.banks=2",
        "mrf.collectors=4",
        "mrf.issue_ports=2",
        "sm.warps=8",
        "steal.present=true",
        "steal.read=true",
        "steal.write=true",
        "steal.eager=true",
        "memory.latency=1",
    ],
    &[
        "mrf.banks=4",
        "mrf.issue_ports=2",
        "sm.active_warps=8",
        "sm.patience=3",
        "steal.present=true",
        "steal.read=true",
        "steal.write=true",
        "steal.eager=true",
        "sm.scheduler=round_robin",
    ],
    &[
        "mrf.banks=32",
        "mrf.issue_ports=2",
        "mrf.read_order=round_robin",
        "sm.active_warps=8",
        "steal.present=true",
        "steal.read=true",
        "steal.write=true",
    ],
];

/// Every kernel commits what the oracle says, and its events are what was counted, in every third of these configurations. (All kernels at all presets: goldens, and
/// regressions.) All fields of these event words count something.
fn commits(sets: &[&[&str]], words: &[&[(&str, u32)]]) {
    let mut events = Events::new();
    for (k, kernel) in KERNELS.iter().enumerate() {
        for set in sets.iter().skip(k % 3).step_by(3) {
            let statistics = run(kernel, set, 64);
            let judged = statistics.judged.unwrap();
            assert!(judged.undecided == 0 || kernel.name == "bfs", "{} {set:?}", kernel.name);
            assert!(judged.writes > 1000, "{} {set:?}", kernel.name);
            let counted = set.iter().any(|setting| COUNTED.iter().any(|key| setting.starts_with(key)));
            assert_eq!(judged.counts > 0, counted && judged.equal > 0, "{} {set:?}", kernel.name);
            statistics.events.iter().for_each(|(name, count)| *events.entry(name).or_default() += count);
        }
    }
    let never = words.iter().copied().flatten().map(|(name, _)| *name).filter(|name| events[name] == 0);
    let never: Vec<&str> = never.filter(|name| !SELDOM.contains(name)).collect();
    assert_eq!(never, [""; 0]);
}

/// Settings that choose a register file whose events are counted a third time.
const COUNTED: [&str; 3] = ["rfc.entries", "hrf.stt_ram", "steal.present"];

/// What no kernel does: nothing is there; a bank that reads an operand for whose register a result waits.
const SELDOM: [&str; 2] = ["rfc_spare", "blocking_read"];

/// Skipped cycles are counted as if they had been run.
fn skips(sets: &[&[&str]]) {
    for set in sets {
        let mut in_all = 0;
        for name in ["crc32", "needle", "radixSort", "countBytes", "vectorAdd", "srad"] {
            let (statistics, buffers, skipped) = alone(name, settings(set));
            let every = alone(name, Settings { skip: false, ..settings(set) });
            assert_eq!((statistics, buffers, 0), every, "{name} {set:?}");
            in_all += skipped;
        }
        // Where each write takes long, a kernel may leave no cycle empty.
        assert!(in_all > 0 || set.contains(&"memory.latency=1"), "{set:?}");
    }
}

#[test]
fn kernels_commit_what_the_oracle_says() {
    commits(&CONFIGURATIONS, &[RFC_EVENT, RFC_COUNT_EVENT, RFC_EXTRA_EVENT]);
    commits(&HYBRID, &[HRF_EVENT, HRF_COUNT_EVENT]);
}

#[test]
fn kernels_commit_what_the_oracle_says_where_banks_are_stolen() {
    commits(&STEALING, &[STEAL_EVENT]);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    skips(&CONFIGURATIONS);
    skips(&HYBRID);
    skips(&STEALING);
}
