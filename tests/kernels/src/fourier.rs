//! Fourier transforms of 1024 complex numbers, by halves.

use std::f64::consts::PI;

use crate::{Case, Output};

const POINTS: usize = 1024;

type Complex = [f64; 2];

fn product(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// The transform of every `step`-th number from the first on.
fn transform(numbers: &[Complex], step: usize) -> Vec<Complex> {
    let points = numbers.len().div_ceil(step);
    if points == 1 {
        return vec![numbers[0]];
    }
    let (even, odd) = (transform(numbers, 2 * step), transform(&numbers[step..], 2 * step));
    let turned: Vec<Complex> = odd
        .into_iter()
        .enumerate()
        .map(|(k, odd)| {
            let (sine, cosine) = (-2.0 * PI * k as f64 / points as f64).sin_cos();
            product([cosine, sine], odd)
        })
        .collect();
    let sums = even.iter().zip(&turned).map(|(a, b)| [a[0] + b[0], a[1] + b[1]]);
    let differences = even.iter().zip(&turned).map(|(a, b)| [a[0] - b[0], a[1] - b[1]]);
    sums.chain(differences).collect()
}

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let numbers: Vec<Complex> = case.f64s("in").chunks(2).map(|number| [number[0], number[1]]).collect();
    let out: Vec<f64> = numbers.chunks(POINTS).flat_map(|numbers| transform(numbers, 1)).flatten().collect();
    vec![Output::f64("out", &out)]
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::{Complex, product, transform};

    #[test]
    fn halves_give_the_sum_that_defines_the_transform() {
        let numbers: Vec<Complex> = (0..16).map(|i| [f64::from(i * i % 7), f64::from(i % 5)]).collect();
        for (k, found) in transform(&numbers, 1).into_iter().enumerate() {
            let mut sum = [0.0; 2];
            for (i, &number) in numbers.iter().enumerate() {
                let (sine, cosine) = (-2.0 * PI * (i * k) as f64 / 16.0).sin_cos();
                let term = product(number, [cosine, sine]);
                sum = [sum[0] + term[0], sum[1] + term[1]];
            }
            assert!((sum[0] - found[0]).abs() < 1e-9 && (sum[1] - found[1]).abs() < 1e-9, "{k}");
        }
    }
}
