//! Unified memory.

gpurf_blocks::unified_blocks!(stimulus);

mod columns;
mod partition;

pub(crate) use columns::{Columns, ColumnsKnobs, ColumnsOf, WithColumns, register_in};
pub(crate) use partition::{cache_rows, cache_sizes};

use gpurf_blocks::unified::CLUSTERS;
use gpurf_lockstep::Rng;

/// All clusters.
const ALL: u8 = u8::MAX;

/// Clusters: all, one, or any, none included.
fn some_clusters(rng: &mut Rng) -> u8 {
    match rng.below(4) {
        0 => ALL,
        1 => 1 << rng.below(CLUSTERS as u64),
        _ => rng.next_u64() as u8,
    }
}

/// The clusters of a set.
fn clusters(set: u8) -> impl Iterator<Item = usize> {
    (0..CLUSTERS).filter(move |g| set >> g & 1 == 1)
}

/// The clusters in which something holds.
fn clusters_where(holds: impl Fn(usize) -> bool) -> u8 {
    (0..CLUSTERS).fold(0, |set, g| set | u8::from(holds(g)) << g)
}

/// Bytes of a cluster that are written: all, one, a word or any, but not none.
fn some_bytes(rng: &mut Rng) -> u16 {
    match rng.below(4) {
        0 => u16::MAX,
        1 => 1 << rng.below(16),
        2 => 0xf << (4 * rng.below(4)),
        _ => rng.next_u64() as u16 | 1 << rng.below(16),
    }
}

/// Bytes of each cluster that a store writes to a line: in some clusters none, but not none of the line.
fn bytes_of_store(rng: &mut Rng) -> [u16; CLUSTERS] {
    let (some, one) = (some_clusters(rng), rng.below(CLUSTERS as u64) as usize);
    std::array::from_fn(|g| if g == one || some >> g & 1 == 1 { some_bytes(rng) } else { 0 })
}

/// The clusters in which a mask has a lane.
fn clusters_of_lanes(mask: u32) -> u8 {
    clusters_where(|g| mask >> (4 * g) & 0xf != 0)
}
