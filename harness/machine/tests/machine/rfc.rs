//! The test kernels under the two-level scheduler and with the register file cache; its events are counted a third time.

mod hazards;

use crate::common::kernels::{commits, skips};
use crate::common::miscounts::{add, every_field_is_counted, is_found, value};
use gpurf_blocks::rfc::{RFC_COUNT_EVENT, RFC_EVENT, RFC_EXTRA_EVENT};

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

/// All that the design has, on few slots and entries so that everything happens soon.
const RFC: &[&str] = &[
    "mrf.issue_ports=2",
    "mrf.banks=2",
    "mrf.collectors=4",
    "sm.warps=8",
    "sm.active_warps=4",
    "sm.patience=20",
    "rfc.entries=2",
    "rfc.lrf=true",
    "rfc.reads=true",
    "rfc.live=true",
];

/// A cache alone.
const FIFO: &[&str] = &["sm.warps=8", "sm.active_warps=4", "rfc.entries=2", "rfc.live=true"];

#[test]
fn kernels_commit_what_the_oracle_says() {
    commits(&CONFIGURATIONS, &[RFC_EVENT, RFC_COUNT_EVENT, RFC_EXTRA_EVENT], &["rfc_spare"]);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    skips(&CONFIGURATIONS);
}

#[test]
fn a_count_that_is_off_by_one_is_found_in_every_field() {
    every_field_is_counted(RFC);
}

#[test]
fn a_definition_that_both_sides_misread_is_found() {
    // A value that is clean when it makes room counts as written back.
    is_found(
        RFC,
        |out| {
            let word = &mut out.design_event_o[1];
            let more = value(RFC_COUNT_EVENT, *word, "rfc_dead");
            add(RFC_COUNT_EVENT, word, "rfc_evict", more);
        },
        "rfc_evict",
    );
    // An operand of which the cache has some lanes is a miss.
    is_found(
        FIFO,
        |out| {
            let more = value(RFC_EVENT, out.design_event_o[0], "rfc_partial");
            add(RFC_EVENT, &mut out.design_event_o[0], "rfc_miss", more);
        },
        "rfc_miss",
    );
}
