//! The data cache between the coalescer and memory: `docs/cache.md`.

use crate::design::EventWord;
use crate::entry::declare_blocks;
use crate::instances::{renamed, stem};
use crate::{Block, Field, Ports, Shows, Wide, intern};

pub(crate) mod config;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! cache_blocks {
    ($callback:ident) => {
        $callback! { cache:
            cache_tags CacheTags "which lines are in the cache",
            cache_misses CacheMisses "what waits for memory",
            cache_access CacheAccess "data of the cache",
            cache_results CacheResults "hits and answers on their way to the result bus",
            cache Cache "the data cache",
        }
    };
}

cache_blocks!(declare_blocks);

#[cfg(test)]
mod phases;
mod row;

pub use row::{CacheRow, ROW_BITS, ROW_WORDS};

/// Fields of `cache_event_t`, most significant first.
pub const CACHE_EVENT: EventWord = &[
    ("cache_hit", 1),
    ("cache_merge", 1),
    ("cache_miss", 1),
    ("cache_store", 1),
    ("cache_store_hit", 1),
    ("cache_store_full", 1),
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

/// Width of `event_o`.
pub(crate) const CACHE_EVENT_BITS: u32 = CACHE_EVENT.len() as u32;

/// A set of more elements than this is not an integer at a port, but words of 32 bits.
const NARROW_SET: usize = u64::BITS as usize;
/// Number of 32-bit words of such a set.
const SET_WORDS: usize = (u128::BITS / u32::BITS) as usize;

/// A set in the form of a port.
#[inline]
fn wide(set: u128) -> Wide<SET_WORDS> {
    Wide::from_u128(set)
}

/// Signals compared of a block inside another: its outputs, read at the instance, and its registers. `at`: where outputs and registers begin in the record.
fn inside<B: Block>(name: &str, path: &str, shape: &B::Shape, at: [usize; 2], fields: &mut Vec<Field>) {
    let net = |port: &str| intern(format!("{name}_{}", stem(port)));
    let registers = B::Probe::fields(shape);
    let ports = B::Out::fields(shape).into_iter().map(|field| (field, at[0]));
    for (mut field, offset) in ports.chain(registers.into_iter().map(|field| (field, at[1]))) {
        field.valid_by = field.valid_by.map(net);
        field.shows = field.shows.map(|shows| Shows { valid: shows.valid.map(net), ..shows });
        let name = net(field.name).to_owned();
        fields.push(renamed(field, name).inside(path, offset));
    }
}

/// The lowest number below `count` that is not in a set.
#[inline]
fn lowest_free(used: u128, count: usize) -> Option<usize> {
    let free = used.trailing_ones() as usize;
    (free < count).then_some(free)
}

/// The members of a set, lowest first.
#[inline]
fn members(set: u128) -> impl Iterator<Item = usize> {
    let half = u64::BITS as usize;
    let of = |set: u64, from: usize| crate::mrf::bits::set_bits(set).map(move |bit| bit + from);
    of(set as u64, 0).chain(of((set >> half) as u64, half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_lowest_first() {
        let set = 1 << 127 | 1 << 64 | 1 << 63 | 1;
        assert_eq!(members(set).collect::<Vec<_>>(), [0, 63, 64, 127]);
        assert_eq!(members(0).next(), None);
    }

    #[test]
    fn the_lowest_free_number_is_below_the_count() {
        assert_eq!(
            [0, 0b1, 0b101, 0b111, 0b1111].map(|used| lowest_free(used, 4)),
            [Some(0), Some(1), Some(1), Some(3), None]
        );
        assert_eq!((lowest_free(u128::MAX, 128), lowest_free(u128::MAX >> 1, 128)), (None, Some(127)));
    }
}
