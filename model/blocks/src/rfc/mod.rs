//! The register file cache: `docs/blocks/rfc.md`.

pub(crate) mod config;
#[expect(clippy::module_inception, reason = "a twin has the path of its RTL module")]
mod rfc;
mod rfc_data;
mod rfc_evictions;
mod rfc_fills;
mod rfc_lrf;
mod rfc_results;
mod rfc_tags;
mod shape;

#[cfg(test)]
mod phases;

pub use rfc::*;
pub use rfc_data::*;
pub use rfc_evictions::*;
pub use rfc_fills::*;
pub use rfc_lrf::*;
pub use rfc_results::*;
pub use rfc_tags::*;
pub use shape::*;

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    entry::<RfcTags>("rfc/rfc_tags", "what the cache holds, what makes room", &[]),
    entry::<RfcData>("rfc/rfc_data", "data of the cache", &["ram_1r1w"]),
    entry::<RfcEvictions>("rfc/rfc_evictions", "values on their way to the banks", &[]),
    entry::<RfcResults>("rfc/rfc_results", "results to cache or banks", &[]),
    Entry { words_are_registers: true, ..entry::<RfcLrf>("rfc/rfc_lrf", "last results above the cache", &[]) },
    entry::<RfcFills>("rfc/rfc_fills", "operands that reads allocate", &[]),
    entry::<Rfc>("rfc/rfc", "register file cache", &[]),
];
