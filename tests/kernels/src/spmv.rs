//! A sparse matrix times a vector, the matrix in jagged diagonal storage.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (rows, diagonals) = (case.size(0, 5), case.size(0, 6));
    let start = case.symbol_u32s("diagonalStart");
    let (value, column, vector) = (case.f64s("value"), case.u32s("column"), case.f64s("vector"));
    let permutation = case.u32s("permutation");
    let mut sorted = vec![0.0; rows];
    for ends in start.windows(2).take(diagonals) {
        for (row, i) in (ends[0] as usize..ends[1] as usize).enumerate() {
            sorted[row] += value[i] * vector[column[i] as usize];
        }
    }
    let mut out = vec![0.0; rows];
    for (sum, &row) in sorted.into_iter().zip(&permutation) {
        out[row as usize] = sum;
    }
    vec![Output::f64("out", &out)]
}
