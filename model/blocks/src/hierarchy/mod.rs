//! ORF and LRF, the part of the register file that software manages: `docs/blocks/hierarchy.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! hierarchy_blocks {
    ($callback:ident) => {
        $callback! { hierarchy:
            hierarchy_levels HierarchyLevels "where an instruction's operands are",
            hierarchy_entries HierarchyEntries "what a strand has written, results in flight",
            hierarchy_data HierarchyData "arrays of ORF and LRF",
            hierarchy_results HierarchyResults "results to ORF, LRF and banks",
            hierarchy_copies HierarchyCopies "operands that are kept in the ORF",
            hierarchy_scoreboard HierarchyScoreboard "heads that use a place that waits",
            hierarchy Hierarchy "ORF and LRF in front of the banks",
        }
    };
}

hierarchy_blocks!(declare_blocks);

pub(crate) mod config;
mod shape;

#[cfg(test)]
mod phases;

pub use shape::*;
