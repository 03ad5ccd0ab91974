//! Counts of ORF and LRF.

use serde::Serialize;

use super::{Count, Part, share};
use crate::output::grouped;

/// Accesses of each level, in groups of four lanes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HierarchyStats {
    /// Read as operands in the LRF.
    pub lrf_read_groups: u64,
    /// In the ORF.
    pub orf_read_groups: u64,
    /// In the main register file.
    pub mrf_read_groups: u64,
    /// Results written to the LRF.
    pub lrf_write_groups: u64,
    /// To the ORF.
    pub orf_write_groups: u64,
    /// To the main register file.
    pub mrf_write_groups: u64,
    /// Operands of the main register file that were written to the ORF for a later read.
    pub copy_groups: u64,
}

impl HierarchyStats {
    fn of(count: &Count<'_>) -> Self {
        let lrf = ["a", "b", "c"].map(|bank| count.of(&format!("hierarchy_lrf_{bank}_read_groups")));
        Self {
            lrf_read_groups: lrf.iter().sum(),
            orf_read_groups: count.of("hierarchy_orf_read_groups"),
            mrf_read_groups: count.of("read_groups"),
            lrf_write_groups: count.of("hierarchy_lrf_write_groups"),
            orf_write_groups: count.of("hierarchy_orf_write_groups"),
            mrf_write_groups: count.of("write_groups"),
            copy_groups: count.of("hierarchy_copy_groups"),
        }
    }
}

/// The part of a run's statistics.
pub(super) fn part(count: &Count<'_>) -> Part {
    let stats = HierarchyStats::of(count);
    Part::new("hierarchy", &stats, |row| {
        let reads = stats.lrf_read_groups + stats.orf_read_groups + stats.mrf_read_groups;
        let writes = stats.lrf_write_groups + stats.orf_write_groups + stats.mrf_write_groups;
        let rows = [
            ("groups of four lanes read from the LRF", stats.lrf_read_groups, reads),
            ("groups of four lanes read from the ORF", stats.orf_read_groups, reads),
            ("groups of four lanes read from the main register file", stats.mrf_read_groups, reads),
            ("groups of four lanes written to the LRF", stats.lrf_write_groups, writes),
            ("groups of four lanes written to the ORF", stats.orf_write_groups, writes),
            ("groups of four lanes written to the main register file", stats.mrf_write_groups, writes),
            ("groups of four lanes copied to the ORF", stats.copy_groups, stats.mrf_read_groups),
        ];
        for (name, number, whole) in rows {
            row(name, grouped(number), share(number, whole));
        }
    })
}
