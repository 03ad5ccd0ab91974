//! C = alpha A B + beta C of complex numbers, column-major.

use crate::{Case, Output};

/// Real and imaginary part.
type Complex = [f64; 2];

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (lda, ldb, ldc, inner) = (case.size(0, 1), case.size(0, 3), case.size(0, 5), case.size(0, 6));
    let (alpha, beta) = ([case.f64(0, 7), case.f64(0, 8)], [case.f64(0, 9), case.f64(0, 10)]);
    let [a, b, c] = ["a", "b", "c"].map(|buffer| complex(&case.f64s(buffer)));
    let element = |(i, &old): (usize, &Complex)| {
        let (row, column) = (i % ldc, i / ldc);
        let products = (0..inner).map(|k| multiply(a[k * lda + row], b[column * ldb + k]));
        add(multiply(alpha, products.fold([0.0; 2], add)), multiply(beta, old))
    };
    let c: Vec<Complex> = c.iter().enumerate().map(element).collect();
    vec![Output::f64("c", c.as_flattened())]
}

fn complex(parts: &[f64]) -> Vec<Complex> {
    parts.chunks_exact(2).map(|parts| [parts[0], parts[1]]).collect()
}

fn add(x: Complex, y: Complex) -> Complex {
    [x[0] + y[0], x[1] + y[1]]
}

fn multiply(x: Complex, y: Complex) -> Complex {
    [x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]]
}
