//! The test kernels on machines with ORF and LRF, compiled for them: levels change nothing but time.

use crate::common::kernels::{committed, skips, spread};
use crate::common::miscounts::every_field_is_counted;
use gpurf_blocks::hierarchy::{HIERARCHY_COUNT_EVENT, HIERARCHY_EVENT};
use gpurf_lockstep::Events;

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

/// Kernels are spread over the configurations, as with other designs.
#[test]
fn kernels_commit_what_the_oracle_says() {
    let mut events = Events::new();
    let mut sums = [[0; 3]; CONFIGURATIONS.len()];
    let counted = ["hierarchy_orf_read", "hierarchy_lrf_read", "hierarchy_strand_end"];
    spread(&CONFIGURATIONS, |kernel, set, place| {
        let statistics = committed(kernel, set, &mut events);
        let count = |name: &str| {
            let mut events = statistics.events.iter();
            events.find(|(event, _)| **event == name).map(|(_, count)| *count).expect("an event of that name")
        };
        assert_eq!(count("hierarchy_unwritten"), 0, "{} {set:?}", kernel.name);
        sums[place].iter_mut().zip(counted).for_each(|(sum, name)| *sum += count(name));
        statistics
    });
    for (set, [orf, lrf, ends]) in CONFIGURATIONS.iter().zip(sums) {
        assert!(ends > 0, "{set:?}");
        // An ORF of 8 entries for 48 warps costs more than it saves: the compiler leaves it alone.
        assert_eq!(orf > 0, !(set.contains(&"orf.entries=8") && set.contains(&"sm.active_warps=48")), "{set:?}");
        assert_eq!(lrf > 0, set.iter().any(|setting| setting.starts_with("lrf.banks")), "{set:?}");
    }
    let words = HIERARCHY_EVENT.iter().chain(HIERARCHY_COUNT_EVENT);
    let never: Vec<&str> = words.map(|(name, _)| *name).filter(|name| events[name] == 0).collect();
    assert_eq!(never, ["hierarchy_unwritten"]);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    skips(&CONFIGURATIONS);
}

/// All that the design has, on few slots and entries so that everything happens soon.
const ORF: &[&str] = &["mrf.issue_ports=2", "sm.warps=8", "sm.active_warps=4", "orf.entries=2", "lrf.banks=split"];

#[test]
fn a_count_that_is_off_by_one_is_found_in_every_field() {
    every_field_is_counted(ORF);
}
