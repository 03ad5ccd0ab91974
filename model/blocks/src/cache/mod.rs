//! The data cache between the coalescer and memory: `docs/cache.md`.

use crate::design::EventWord;

pub(crate) mod config;

/// Fields of `cache_event_t`, most significant first.
pub const CACHE_EVENT: EventWord = &[
    ("cache_hit", 1),
    ("cache_merge", 1),
    ("cache_miss", 1),
    ("cache_store", 1),
    ("cache_store_hit", 1),
    ("cache_atomic", 1),
    ("cache_invalidate", 1),
    ("cache_close", 1),
    ("cache_fill", 1),
    ("cache_drop", 1),
    ("cache_part", 1),
    ("cache_serve", 1),
    ("cache_wait_access", 1),
    ("cache_wait_row", 1),
    ("cache_wait_memory", 1),
    ("cache_fill_wait", 1),
];
