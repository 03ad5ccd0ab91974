//! ORF and LRF, the part of the register file that software manages: `docs/blocks/hierarchy.md`.

pub(crate) mod config;
#[expect(clippy::module_inception, reason = "a twin has the path of its RTL module")]
mod hierarchy;
mod hierarchy_copies;
mod hierarchy_data;
mod hierarchy_entries;
mod hierarchy_levels;
mod hierarchy_results;
mod hierarchy_scoreboard;
mod shape;

#[cfg(test)]
mod phases;

pub use hierarchy::*;
pub use hierarchy_copies::*;
pub use hierarchy_data::*;
pub use hierarchy_entries::*;
pub use hierarchy_levels::*;
pub use hierarchy_results::*;
pub use hierarchy_scoreboard::*;
pub use shape::*;

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    entry::<HierarchyLevels>("hierarchy/hierarchy_levels", "where an instruction's operands are", &[]),
    entry::<HierarchyEntries>("hierarchy/hierarchy_entries", "what a strand has written, what is under way", &[]),
    entry::<HierarchyData>("hierarchy/hierarchy_data", "arrays of ORF and LRF", &["ram_1r1w"]),
    entry::<HierarchyResults>("hierarchy/hierarchy_results", "results to ORF, LRF and banks", &[]),
    entry::<HierarchyCopies>("hierarchy/hierarchy_copies", "operands that are kept in the ORF", &[]),
    entry::<HierarchyScoreboard>("hierarchy/hierarchy_scoreboard", "heads that use a place that waits", &[]),
    entry::<Hierarchy>("hierarchy/hierarchy", "ORF and LRF in front of the banks", &[]),
];
