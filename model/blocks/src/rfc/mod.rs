//! The register file cache: `docs/blocks/rfc.md`.

#[expect(clippy::module_inception, reason = "a twin has the path of its RTL module")]
mod rfc;
mod rfc_data;
mod rfc_evictions;
mod rfc_fills;
mod rfc_lrf;
mod rfc_operands;
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
pub use rfc_operands::*;
pub use rfc_results::*;
pub use rfc_tags::*;
pub use shape::*;
