//! The sums of all values up to each one.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let values = case.s32s("values");
    let outputs = (0..case.launches()).step_by(2).map(|launch| {
        let sums = values[..case.size(launch, 3)].iter().scan(0i32, |sum, &value| {
            *sum = sum.wrapping_add(value);
            Some(*sum)
        });
        let name = if case.buffer_argument(launch, 0) == "sums" { "sums" } else { "wideSums" };
        Output::s32(name, &sums.collect::<Vec<_>>())
    });
    outputs.collect()
}
