//! Walsh-Hadamard transform of each vector, product with the spectrum, transform back.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let n = 1 << case.size(0, 1);
    let (mut data, spectrum) = (case.f64s("data"), case.f64s("spectrum"));
    for (vector, spectrum) in data.chunks_mut(n).zip(spectrum.chunks(n)) {
        transform(vector);
        for (value, factor) in vector.iter_mut().zip(spectrum) {
            *value *= factor / n as f64;
        }
        transform(vector);
    }
    vec![Output::f64("data", &data)]
}

fn transform(vector: &mut [f64]) {
    if vector.len() == 1 {
        return;
    }
    let (low, high) = vector.split_at_mut(vector.len() / 2);
    for (a, b) in low.iter_mut().zip(high.iter_mut()) {
        (*a, *b) = (*a + *b, *a - *b);
    }
    transform(low);
    transform(high);
}
