//! Sobol's numbers: the exclusive or of the direction numbers of the bits in the index' Gray code.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let vectors = case.u32(0, 2);
    let mut out = Vec::new();
    for directions in case.u32s("directions").chunks(32) {
        for i in 0..vectors {
            let gray = i ^ (i >> 1);
            let set = (0..32).filter(|bit| gray >> bit & 1 == 1);
            let x = set.fold(0, |x, bit| x ^ directions[bit]);
            out.push(x as f32 / 4294967296.0);
        }
    }
    vec![Output::f32("out", &out)]
}
