//! Counts of ORF and LRF: accesses of each level, in groups of four lanes.

use super::{Count, Part};

/// The part of a run's statistics.
pub(super) fn part(run: &Count<'_>) -> Part {
    let lrf_read: u64 = ["a", "b", "c"].map(|bank| run.of(&format!("hierarchy_lrf_{bank}_read_groups"))).iter().sum();
    let (orf_read, mrf_read) = (run.of("hierarchy_orf_read_groups"), run.of("read_groups"));
    let (lrf_write, orf_write) = (run.of("hierarchy_lrf_write_groups"), run.of("hierarchy_orf_write_groups"));
    let mrf_write = run.of("write_groups");
    let (reads, writes) = (lrf_read + orf_read + mrf_read, lrf_write + orf_write + mrf_write);
    let mut part = Part::new("hierarchy");
    part.counts(&[
        ("lrf_read_groups", lrf_read, "groups of four lanes read from the LRF", reads),
        ("orf_read_groups", orf_read, "groups of four lanes read from the ORF", reads),
        ("mrf_read_groups", mrf_read, "groups of four lanes read from the main register file", reads),
        ("lrf_write_groups", lrf_write, "groups of four lanes written to the LRF", writes),
        ("orf_write_groups", orf_write, "groups of four lanes written to the ORF", writes),
        ("mrf_write_groups", mrf_write, "groups of four lanes written to the main register file", writes),
        // Operands of the main register file that were written to the ORF for a later read.
        ("copy_groups", run.of("hierarchy_copy_groups"), "groups of four lanes copied to the ORF", mrf_read),
    ]);
    part
}
