//! Unified memory.

gpurf_blocks::unified_blocks!(stimulus);

mod columns;
mod partition;

pub(crate) use columns::{Columns, ColumnsKnobs, ColumnsOf, WithColumns, register_in};
pub(crate) use partition::{cache_rows, cache_sizes};

use gpurf_blocks::unified::{BANKS, CLUSTERS, COLUMNS, WORDS};
use gpurf_lockstep::Rng;

/// All clusters.
const ALL: u8 = u8::MAX;

/// Clusters: all, one, or a random set, which may be empty.
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

/// The word places of a set.
fn words(set: u32) -> impl Iterator<Item = usize> {
    (0..WORDS).filter(move |w| set >> w & 1 == 1)
}

/// The word places at which something holds.
fn words_where(holds: impl Fn(usize) -> bool) -> u32 {
    (0..WORDS).fold(0, |set, w| set | u32::from(holds(w)) << w)
}

/// Word places of some clusters: all of each cluster, or a random set that is not empty.
fn some_words(rng: &mut Rng) -> u32 {
    let (some, whole) = (some_clusters(rng), rng.chance(500));
    clusters(some).fold(0, |set, g| set | if whole { 0xf } else { 1 + rng.below(15) as u32 } << (QUAD * g))
}

/// Words of a cluster.
const QUAD: usize = WORDS / CLUSTERS;

/// The numbers of the banks in these clusters of each column: cluster g of column b is 8b + g.
fn banks(of_columns: [u8; COLUMNS]) -> impl Iterator<Item = usize> {
    (0..BANKS).filter(move |bank| of_columns[bank / CLUSTERS] >> (bank % CLUSTERS) & 1 == 1)
}

/// The columns in which a cluster is accessed.
fn columns_of(of_columns: &[u8; COLUMNS], cluster: usize) -> u8 {
    (0..COLUMNS).fold(0, |set, b| set | (of_columns[b] >> cluster & 1) << b)
}

/// Bytes of a cluster that are written: all, one, a word, or a random set that is not empty.
fn some_bytes(rng: &mut Rng) -> u16 {
    match rng.below(4) {
        0 => u16::MAX,
        1 => 1 << rng.below(16),
        2 => 0xf << (4 * rng.below(4)),
        _ => rng.next_u64() as u16 | 1 << rng.below(16),
    }
}

/// Bytes of each cluster that a store writes to a line: some clusters may have none, but not all of them.
fn bytes_of_store(rng: &mut Rng) -> [u16; CLUSTERS] {
    let (some, one) = (some_clusters(rng), rng.below(CLUSTERS as u64) as usize);
    std::array::from_fn(|g| if g == one || some >> g & 1 == 1 { some_bytes(rng) } else { 0 })
}

/// The clusters in which a set has a lane, or a word place: a line has as many word places as a warp has lanes.
fn clusters_of(set: u32) -> u8 {
    clusters_where(|g| set >> (QUAD * g) & 0xf != 0)
}
