//! Drivers and coverage of the register file cache.

pub(crate) mod cache;
mod core;
pub(crate) mod data;
pub(crate) mod evictions;
pub(crate) mod fills;
pub(crate) mod lrf;
pub(crate) mod results;
mod stage;
pub(crate) mod tags;

pub(crate) use core::{Core, CoreKnobs, Done, Instruction};
pub(crate) use stage::STAGE;

/// Stimulus of its blocks.
pub(crate) const BLOCKS: &[crate::Entry] = &[
    crate::entry::<tags::TagsDriver, tags::TagsCover>("rfc_tags"),
    crate::entry::<data::DataDriver, data::DataCover>("rfc_data"),
    crate::entry::<evictions::EvictionsDriver, evictions::EvictionsCover>("rfc_evictions"),
    crate::entry::<results::ResultsDriver, results::ResultsCover>("rfc_results"),
    crate::entry::<lrf::LrfDriver, lrf::LrfCover>("rfc_lrf"),
    crate::entry::<fills::FillsDriver, fills::FillsCover>("rfc_fills"),
    crate::entry::<cache::RfcDriver, cache::RfcCover>("rfc"),
];
