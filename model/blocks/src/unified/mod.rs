//! Unified memory: one set of banks for registers, scratchpad memory and the data cache. `docs/unified.md`.

use crate::GROUP_LANES;
use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! unified_blocks {
    ($callback:ident) => {
        $callback! { unified:
            unified_bank UnifiedBank "one column of the unified banks",
            unified_arbiter UnifiedArbiter "memory's accesses to the unified banks",
            unified_shared UnifiedShared "scratchpad memory in the unified banks",
        }
    };
}

unified_blocks!(declare_blocks);

mod columns;
pub(crate) mod config;
#[cfg(test)]
mod phases;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use columns::{COLUMNS_INPUTS, COLUMNS_OUTPUTS};
pub use columns::{Columns, ColumnsIn, ColumnsOut};

use crate::LANES;
use crate::sizes::width;

/// Clusters: the 4-lane groups of a warp register.
pub const CLUSTERS: usize = LANES / GROUP_LANES;
/// Bytes of a cluster's bank.
pub const CLUSTER_BYTES: usize = GROUP_LANES * size_of::<u32>();
/// Columns: bank b of every cluster.
pub const COLUMNS: usize = 4;
/// Word places: the place of word k of cluster g is 4g + k, in whichever column the word is.
pub const WORDS: usize = LANES;
/// Bytes of a word.
pub const WORD_BYTES: usize = size_of::<u32>();
/// Banks: cluster g of column b is bank 8b + g.
pub const BANKS: usize = COLUMNS * CLUSTERS;
/// Bytes of a row: one entry of all banks.
pub const ROW_BYTES: u32 = (COLUMNS * CLUSTERS * CLUSTER_BYTES) as u32;
/// Width of a column's number.
pub(crate) const COLUMN_W: u32 = width(COLUMNS);
/// Width of R and S.
pub(crate) const ROWS_W: u32 = 11;
/// Width of the logarithm of the cache's lines.
pub(crate) const LOG_W: u32 = 4;
/// Width of the number of 128 bytes of scratchpad memory.
pub(crate) const SHARED_ROW_W: u32 = 12;
