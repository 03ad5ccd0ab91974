//! Stable sorting of runs by their lowest bits.

use crate::{Case, Output};

const NAMES: [[&str; 2]; 2] = [["even", "odd"], ["shortEven", "shortOdd"]];

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let outputs = (0..case.launches()).flat_map(|launch| {
        let [even, odd] = NAMES[launch];
        let sorted = |bits: u32| {
            let mut keys = case.u32s(even);
            let runs = keys.chunks_mut(case.launch(launch).block[0] as usize);
            runs.for_each(|run| run.sort_by_key(|key| key % (1 << bits)));
            keys
        };
        // Four passes of two bits each: the last but one has left its result in the other buffer.
        [Output::u32(even, &sorted(8)), Output::u32(odd, &sorted(6))]
    });
    outputs.collect()
}
