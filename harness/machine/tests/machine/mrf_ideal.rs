//! The test kernels on a register file that never has a conflict.

use crate::common::kernels::{commits, skips};

/// The preset's, two instructions a cycle on few warps, and two levels with short memory.
const IDEAL: [&[&str]; 3] = [
    &["ideal.present=true"],
    &["ideal.present=true", "mrf.issue_ports=2", "sm.warps=8", "sm.scheduler=round_robin"],
    &["ideal.present=true", "mrf.issue_ports=2", "sm.active_warps=8", "sm.patience=3", "memory.latency=1"],
];

#[test]
fn kernels_commit_what_the_oracle_says() {
    commits(&IDEAL, &[], &[]);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    skips(&IDEAL);
}
