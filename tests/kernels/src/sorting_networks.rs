//! Pairs sorted by key, then by value, array by array.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let mut pairs: Vec<(u32, u32)> = case.u32s("keys").into_iter().zip(case.u32s("values")).collect();
    // The first step of the merge compares the halves of an array.
    let array = 2 * case.u32(1, 2) as usize;
    pairs.chunks_mut(array).for_each(|array| array.sort_unstable());
    let (keys, values): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
    vec![Output::u32("keys", &keys), Output::u32("values", &values)]
}
