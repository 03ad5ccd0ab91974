//! Stable sorting of pairs by key, in runs that double.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let sorted = |run: usize| -> (Vec<u32>, Vec<u32>) {
        let mut pairs: Vec<(u32, u32)> = case.u32s("keys").into_iter().zip(case.u32s("values")).collect();
        pairs.chunks_mut(run).for_each(|run| run.sort_by_key(|pair| pair.0));
        pairs.into_iter().unzip()
    };
    let mut outputs = Vec::new();
    for launch in 1..case.launches() {
        // After an odd number of merges the result is in the second pair of buffers.
        let names = if launch % 2 == 1 { ["mergedKeys", "mergedValues"] } else { ["keys", "values"] };
        let (keys, values) = sorted(2 * case.u32(launch, 5) as usize);
        outputs.push(Output::u32(names[0], &keys));
        outputs.push(Output::u32(names[1], &values));
    }
    outputs
}
