//! How many values are kept, and what their order cannot change: their sum, their exclusive or.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let kept: Vec<u32> = case.u32s("values").into_iter().filter(|&value| value >= case.u32(0, 4)).collect();
    vec![
        Output::u32("count", &[kept.len() as u32]),
        Output::u64("sum", &[kept.iter().map(|&value| u64::from(value)).sum()]),
        Output::u32("parity", &[kept.iter().fold(0, |parity, value| parity ^ value)]),
    ]
}
