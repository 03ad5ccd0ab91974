//! Each inner cell becomes the mean of its six neighbours.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (nx, ny, nz) = (case.size(0, 0), case.size(0, 1), case.size(0, 2));
    let cells = case.f64s("in");
    let mut out = cells.clone();
    for z in 1..nz - 1 {
        for y in 1..ny - 1 {
            for x in 1..nx - 1 {
                let i = (z * ny + y) * nx + x;
                let near = [i - 1, i + 1, i - nx, i + nx, i - nx * ny, i + nx * ny];
                out[i] = near.iter().map(|&near| cells[near]).sum::<f64>() / 6.0;
            }
        }
    }
    vec![Output::f64("out", &out)]
}
