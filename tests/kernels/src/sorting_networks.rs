//! Batcher's bitonic network, comparator by comparator: among equal keys the network decides which value comes first.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (keys, values) = (case.u32s("keys"), case.u32s("values"));
    let run = 2 * case.launch(0).block[0] as usize;
    let array = case.u32(1, 2) as usize;
    let mut pairs: Vec<(u32, u32)> = keys.into_iter().zip(values).collect();
    for pairs in pairs.chunks_mut(array) {
        // Runs that alternate are the first stages of the network of the whole array.
        let mut size = 2;
        while size <= array {
            merge(pairs, size);
            size *= 2;
        }
    }
    assert!(array == 2 * run, "the manifest merges two runs");
    let (keys, values): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
    vec![Output::u32("keys", &keys), Output::u32("values", &values)]
}

/// Merges bitonic runs of `size`: every second one descends, but the last size ascends.
fn merge(pairs: &mut [(u32, u32)], size: usize) {
    let mut stride = size / 2;
    while stride > 0 {
        for low in (0..pairs.len()).filter(|i| i & stride == 0) {
            let ascending = low & size == 0;
            if (pairs[low].0 > pairs[low + stride].0) == ascending {
                pairs.swap(low, low + stride);
            }
        }
        stride /= 2;
    }
}
