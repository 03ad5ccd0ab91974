//! A step of finite differences: each cell from four neighbours on either side in each direction. The rim stays zero.

use crate::case::widen;
use crate::{Case, Output};

const RADIUS: usize = 4;

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let [nx, ny, nz] = [2, 3, 4].map(|argument| case.size(0, argument));
    let factor = widen(&case.symbol_f32s("factor"));
    let cells = case.f64s("in");
    let row = nx + 2 * RADIUS;
    let plane = row * (ny + 2 * RADIUS);
    let mut out = vec![0.0; cells.len()];
    for z in RADIUS..nz + RADIUS {
        for y in RADIUS..ny + RADIUS {
            for x in RADIUS..nx + RADIUS {
                let i = z * plane + y * row + x;
                let around = |distance: usize| -> f64 {
                    let steps = [distance, distance * row, distance * plane];
                    steps.map(|step| cells[i - step] + cells[i + step]).iter().sum()
                };
                let far = (1..=RADIUS).map(|distance| factor[distance] * around(distance));
                out[i] = factor[0] * cells[i] + far.sum::<f64>();
            }
        }
    }
    vec![Output::f64("out", &out)]
}
