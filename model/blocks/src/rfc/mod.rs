//! The register file cache: `docs/blocks/rfc.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! rfc_blocks {
    ($callback:ident) => {
        $callback! { rfc:
            rfc_tags RfcTags "what the cache holds, what makes room",
            rfc_data RfcData "data of the cache",
            rfc_evictions RfcEvictions "values on their way to the banks",
            rfc_results RfcResults "results to cache or banks",
            rfc_lrf RfcLrf "last results above the cache",
            rfc_fills RfcFills "operands that reads allocate",
            rfc_power RfcPower "words below the cache that are ON, in SLEEP or OFF",
            rfc Rfc "register file cache",
        }
    };
}

rfc_blocks!(declare_blocks);

pub(crate) mod config;
mod shape;

#[cfg(test)]
mod phases;

pub use shape::*;
