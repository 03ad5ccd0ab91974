//! The number of values that are kept, and results that do not depend on their order: sum and exclusive or.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let kept: Vec<u32> = case.u32s("values").into_iter().filter(|&value| value >= case.u32(0, 4)).collect();
    vec![
        Output::u32("count", &[kept.len() as u32]),
        Output::u64("sum", &[kept.iter().map(|&value| u64::from(value)).sum()]),
        Output::u32("parity", &[kept.iter().fold(0, |parity, value| parity ^ value)]),
    ]
}
