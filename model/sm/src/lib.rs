//! The streaming multiprocessor: the twins of `gpurf-blocks`, composed as `rtl/sm/sm.sv` composes the modules.
//!
//! [`Sm`] is a block like any other: the same ports, a record for each cycle, memories. What is compared inside follows from its blocks: all
//! their outputs, as the nets of the RTL, and the registers that no output shows. The page `docs/blocks/sm.md` specifies it.

mod nets;
pub mod partition;
mod ports;
pub mod residency;
mod sm;

pub use nets::{Outputs, SmProbe, States};
pub use ports::{SM_EVENT, SmIn, SmOut};
pub use sm::Sm;

use gpurf_blocks::registry;
pub use gpurf_blocks::registry::Entry;

/// The SM in the form in which the other blocks are listed.
pub const ENTRY: Entry = registry::entry::<Sm>("sm/sm", "the streaming multiprocessor");

/// The block of that name, the SM included.
pub fn find(name: &str) -> Option<&'static Entry> {
    if name == ENTRY.name { Some(&ENTRY) } else { registry::find(name) }
}

/// A name that no block has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no block {name}; there are: {}", all().map(|entry| entry.name).collect::<Vec<_>>().join(", "))]
pub struct NoBlock {
    name: String,
}

/// The block of that name, where the name comes from a user and may be wrong.
///
/// # Errors
/// If there is no such block; the message lists all blocks.
pub fn named(name: &str) -> Result<&'static Entry, NoBlock> {
    find(name).ok_or_else(|| NoBlock { name: name.to_owned() })
}

/// Every block, leaves first, the SM last.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    registry::blocks().chain(std::iter::once(&ENTRY))
}

#[cfg(test)]
mod tests;
