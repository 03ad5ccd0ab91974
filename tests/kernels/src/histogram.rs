//! How often each value occurs, and each value of the upper six bits.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (mut of64, mut of256) = ([0; 64], [0; 256]);
    for value in case.u8s("data") {
        of64[usize::from(value >> 2)] += 1;
        of256[usize::from(value)] += 1;
    }
    vec![Output::u32("histogram64", &of64), Output::u32("histogram256", &of256)]
}
