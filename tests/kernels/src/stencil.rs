//! A seven-point stencil on the inner cells of a volume.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (c0, c1) = (case.f64(0, 0), case.f64(0, 1));
    let (nx, ny, nz) = (case.size(0, 4), case.size(0, 5), case.size(0, 6));
    let cells = case.f64s("in");
    let mut out = vec![0.0; cells.len()];
    for z in 1..nz - 1 {
        for y in 1..ny - 1 {
            for x in 1..nx - 1 {
                let i = (z * ny + y) * nx + x;
                let near = [i - 1, i + 1, i - nx, i + nx, i - nx * ny, i + nx * ny];
                out[i] = near.iter().map(|&near| cells[near]).sum::<f64>() * c1 - cells[i] * c0;
            }
        }
    }
    vec![Output::f64("out", &out)]
}
