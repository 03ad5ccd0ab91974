//! Ranges of records: the bounds looked up in the list of all keys.

use crate::{Case, Output};

/// Keys rise by one or by three.
fn key_of(record: u32) -> u32 {
    2 * record + (record.wrapping_mul(0x9e37_79b1) >> 31)
}

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (levels, fanout, records) = (case.size(0, 1), case.size(0, 2), case.size(0, 3));
    let leaves = fanout.pow(levels as u32);
    let nodes: usize = (0..=levels as u32).map(|level| fanout.pow(level)).sum();
    assert_eq!((case.launch(0).grid[0] as usize, case.size(1, 1)), (nodes, nodes), "a block for each node");

    let keys: Vec<i32> = (0..leaves * records).map(|record| key_of(record as u32) as i32).collect();
    let range = |(start, end): (i32, i32)| {
        let first = keys.binary_search(&start).unwrap_or_default() as i32;
        // If the start is no key, the length counts from the first record of all.
        [first, keys.binary_search(&end).map_or(0, |last| last as i32 - first + 1)]
    };
    let bounds = case.s32s("start").into_iter().zip(case.s32s("end"));
    vec![Output::s32("range", &bounds.flat_map(range).collect::<Vec<_>>())]
}
