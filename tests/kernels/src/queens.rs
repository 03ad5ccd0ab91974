//! The number of ways to place queens in the remaining rows, for each block of given rows, by trying every field.

use crate::{Case, Output};

const THREADS: usize = 64;

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (size, given) = (case.size(0, 1), case.size(0, 2));
    let mut solutions = vec![0; case.len("solutions")];
    for number in 0..size.pow(given as u32) {
        let (mut digits, mut queens, mut possible) = (number, Vec::new(), true);
        for _ in 0..given {
            possible &= free(&queens, digits % size);
            queens.push(digits % size);
            digits /= size;
        }
        if possible {
            solutions[number / THREADS] += ways(&mut queens, size);
        }
    }
    vec![Output::u32("solutions", &solutions)]
}

/// Whether none of the queens, one a row, attacks this column of the next row.
fn free(queens: &[usize], column: usize) -> bool {
    let attacks = |(row, &other): (usize, &usize)| other == column || other.abs_diff(column) == queens.len() - row;
    !queens.iter().enumerate().any(attacks)
}

fn ways(queens: &mut Vec<usize>, size: usize) -> u32 {
    if queens.len() == size {
        return 1;
    }
    let mut sum = 0;
    for column in 0..size {
        if free(queens, column) {
            queens.push(column);
            sum += ways(queens, size);
            queens.pop();
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::ways;

    #[test]
    fn boards_have_as_many_solutions_as_is_known() {
        assert_eq!([4, 5, 6, 7, 8].map(|size| ways(&mut Vec::new(), size)), [2, 10, 4, 40, 92]);
    }
}
