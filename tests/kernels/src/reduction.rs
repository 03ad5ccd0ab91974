//! The sum of an array.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    vec![Output::f64("sum", &[case.f64s("in").iter().sum()])]
}
