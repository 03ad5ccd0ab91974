//! A picture, moved and scaled with cubic B-splines.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let size = |n| case.s32(0, n) as i64;
    let (out_width, out_height, width, height) = (size(2), size(3), size(4), size(5));
    let (left, top, scale) = (case.f32(0, 6), case.f32(0, 7), case.f32(0, 8));
    let picture = case.u8s("picture");
    let pixel = |x: i64, y: i64| f64::from(picture[(y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize]);

    let mut out = Vec::new();
    for y in 0..out_height {
        for x in 0..out_width {
            // In single precision, because an error of a place is multiplied by the differences of pixels.
            let place = |first: f32, n: i64| f64::from(scale.mul_add(n as f32, first));
            let (u, v) = (place(left, x), place(top, y));
            let neighbours = (-1..=2).flat_map(|j| (-1..=2).map(move |i| (i, j)));
            let parts = neighbours.map(|(i, j)| {
                let (column, row) = (u.floor() as i64 + i, v.floor() as i64 + j);
                spline(u - column as f64) * spline(v - row as f64) * pixel(column, row)
            });
            out.push(parts.sum());
        }
    }
    vec![Output::f64("out", &out)]
}

/// The cubic B-spline around zero.
fn spline(at: f64) -> f64 {
    let at = at.abs();
    let outer = (2.0 - at).max(0.0).powi(3) / 6.0;
    let inner = (1.0 - at).max(0.0).powi(3) / 6.0;
    outer - 4.0 * inner
}
