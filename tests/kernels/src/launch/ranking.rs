//! `ranking`: the distance of each node to the end of the list; no node has a successor any more.

use crate::case::{Case, Output};

pub fn reference(_: &Case) -> Vec<Output> {
    const NODES: usize = 256;
    let mut list = vec![0u64; NODES];
    // Starts at the first node: the last one is that whose successor would be the first.
    let mut node = 0;
    for passed in 0..NODES as u64 {
        list[node] = 0xffff_ffff << 32 | (NODES as u64 - 1 - passed);
        node = (5 * node + 3) % NODES;
    }
    vec![Output::u64("list", &list)]
}
