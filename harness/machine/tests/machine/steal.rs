//! The test kernels with bank stealing; its events are counted a third time.

use crate::common::kernels::{commits, skips};
use crate::common::miscounts::{add, every_field_is_counted, is_found, value};
use gpurf_blocks::steal::{STEAL_EVENT, STEAL_PLACE_EVENT};

/// Bank stealing: the paper's eight banks, each kind alone, one port, two levels; and shapes and policies in which every hazard comes often.
const STEALING: [&[&str]; 9] = [
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
        "steal.unread=true",
        "sm.scheduler=round_robin",
    ],
    &[
        "mrf.banks=8",
        "mrf.issue_ports=2",
        "steal.present=true",
        "steal.read=true",
        "steal.write=true",
        "steal.redirect=true",
        "steal.drop=true",
    ],
    &[
        "mrf.banks=4",
        "mrf.collectors=4",
        "mrf.issue_ports=2",
        "steal.present=true",
        "steal.write=true",
        "steal.drop=true",
        "memory.latency=1",
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

/// All that the design has, on few slots and entries so that everything happens soon.
const STEAL: &[&str] = &[
    "mrf.banks=4",
    "mrf.collectors=4",
    "mrf.issue_ports=2",
    "sm.warps=8",
    "steal.present=true",
    "steal.read=true",
    "steal.write=true",
    "steal.eager=true",
    "steal.drop=true",
];

#[test]
fn kernels_commit_what_the_oracle_says() {
    commits(&STEALING, &[STEAL_EVENT, STEAL_PLACE_EVENT], &["blocking_read"]);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    skips(&STEALING);
}

#[test]
fn a_count_that_is_off_by_one_is_found_in_every_field() {
    every_field_is_counted(STEAL);
}

#[test]
fn a_definition_that_both_sides_misread_is_found() {
    // A stolen operand counts as one that was read in its turn.
    is_found(
        STEAL,
        |out| {
            let less = value(STEAL_EVENT, out.design_event_o[0], "stolen");
            add(STEAL_EVENT, &mut out.design_event_o[0], "stolen", 0u64.wrapping_sub(less));
        },
        "stolen",
    );
}
