//! ORF and LRF, the part of the register file that software manages: `docs/blocks/hierarchy.md`.

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
