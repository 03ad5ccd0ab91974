//! `grid`: sums, and blocks in descending order.

use crate::case::{Case, Output};

/// The sums up to each number, and the order in which the blocks end.
pub fn reference(case: &Case) -> Vec<Output> {
    let mut sum = 0u32;
    let sums = case.u32s("words").into_iter().map(|word| {
        sum += word;
        sum
    });
    let sums: Vec<u32> = sums.collect();
    vec![Output::u32("sums", &sums), Output::u32("flags", &[1; 6]), Output::u32("order", &[5, 4, 3, 2, 1, 0])]
}
