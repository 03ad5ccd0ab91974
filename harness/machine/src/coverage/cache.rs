//! The data cache.

use gpurf_blocks::cache::CACHE_EVENT;
use gpurf_blocks::config::Config;
use gpurf_blocks::low_bit;

use super::memory::caches;
use super::{Group, Sums, handshakes, situations, sums};

/// A cache with so few lines that programs evict data before its next access, and with few enough misses and rows to use all.
fn small(config: &Config) -> bool {
    caches(config) && config.cache.kilobytes <= 4 && config.cache.misses <= 8 && config.sm.line_rows <= 16
}

/// A store of all bytes of a line allocates it.
fn full_stores(config: &Config) -> bool {
    caches(config) && config.cache.full_stores
}

/// Hints of loads have an effect.
fn hints(config: &Config) -> bool {
    caches(config) && config.cache.hints
}

/// Whether the cache has an event.
macro_rules! event {
    ($look:ident, $name:literal) => {
        $look.out.cache_event_o >> const { low_bit(CACHE_EVENT, $name) } & 1 == 1
    };
}

pub(super) static GROUPS: &[Group] = &[
    handshakes! { "cache", caches, |look|
        "an answer": look.inputs.mem_rsp_valid_i, look.out.mem_rsp_ready_o;
    },
    situations! { "cache", caches, |look| {
            let state = &look.s.cache;
            let (misses, access) = (&state.misses, &state.access);
            let used = usize::from(state.misses_state.count_q);
            let served = look.o.coalescer.served_o;
            let (close, fill, serve) = (event!(look, "cache_close"), event!(look, "cache_fill"), event!(look, "cache_serve"));
        }
        "no miss is in use": misses.empty_o != 0 && look.alive != 0;
        "one miss is in use": used == 1;
        "half of the misses are in use or more": used >= look.shape.misses() / 2;
        "a result of a hit waits for its latency": state.results_state.hits.head_valid_o == 0 && state.results_state.queue.count_q != 0;
        "a hit and an answer at once": access.push_valid_o & misses.result_valid_o != 0;
        "a row waits for an answer that is at hand": misses.mem_rsp_ready_o == 0 && misses.serve_o == 0;
        "a pass while a request stays": served == 0 && look.o.address_unit.global_valid_o != 0 && look.o.cache.req_ready_o == 0;
        "a store closes a miss": close && event!(look, "cache_store");
        "a load joins a miss whose answer is at hand": event!(look, "cache_merge") && misses.open_first_o != 0;
        "an answer is installed as a row takes its lanes from it": fill && serve;
        "a row takes its lanes from an answer that has been installed or dropped": serve && misses.fill_valid_o == 0;
        "an answer is installed as a load hits": fill && event!(look, "cache_hit");
        "hits are in both stages": access.pin_valid_o & access.push_valid_o != 0;
        "a hit passes answers that are to come": access.push_valid_o != 0 && used != 0;
    },
    situations! { "cache", full_stores, |look| {
            let full = event!(look, "cache_store_full");
        }
        "a store takes a place": full;
        "a store takes a place, and closes a miss": full && event!(look, "cache_close");
        "a store takes a place as an answer is at hand": full && event!(look, "cache_fill_wait");
    },
    situations! { "cache", hints, |look| {
            let state = &look.s.cache;
            let bypass = look.o.coalescer.mem_req_valid_o & look.o.coalescer.bypass_o != 0 && event!(look, "cache_miss");
        }
        "a load passes a line by that is there": bypass && state.tags.hit_o != 0;
        "a load passes an open miss by": bypass && state.misses.open_o != 0;
        "a load passes the cache by, its line is not there": bypass && state.tags.hit_o | state.misses.open_o == 0;
    },
    situations! { "cache", small, |look| {
            let misses = &look.s.cache.misses;
        }
        "all misses are in use": misses.room_o == 0;
        "all rows are in use": misses.row_room_o == 0;
    },
];

pub(super) static SUMS: &[Sums] = &[
    sums! { "cache", caches,
        "cache_hit": "a load finds its line";
        "cache_merge": "a load joins an open miss";
        "cache_miss": "a load asks memory";
        "cache_store": "a store";
        "cache_store_hit": "a store finds its line";
        "cache_atomic": "an atomic operation";
        "cache_invalidate": "an atomic operation makes a line invalid";
        "cache_close": "an open miss is closed";
        "cache_fill": "an answer is installed";
        "cache_part": "an answer is not whole";
        "cache_serve": "a row takes its lanes from an answer";
        "cache_wait_memory": "a request waits for memory";
        "cache_fill_wait": "an answer waits to be installed";
    },
    sums! { "cache", full_stores,
        "cache_store_full": "a store of all bytes takes a place";
    },
    sums! { "cache", small,
        "cache_drop": "an answer is not installed, its way is pinned";
        "cache_wait_access": "a request waits for the data";
        "cache_wait_row": "a request waits for a row or a miss";
    },
];
