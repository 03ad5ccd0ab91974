//! A number is the exclusive or of a table's entries for the bits of its index.

use crate::{Case, Output};

const BITS: usize = 31;

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (seed, n) = (case.u32(0, 1), case.u32(0, 2));
    let mut out = Vec::new();
    for table in case.symbol_u32s("table").chunks(BITS) {
        for index in seed..seed + n {
            let set = (0..BITS).filter(|bit| index >> bit & 1 == 1);
            let result = set.fold(0, |result, bit| result ^ table[bit]);
            out.push((result + 1) as f32 / 2147483648.0);
        }
    }
    vec![Output::f32("out", &out)]
}
