//! The number of steps until a point escapes, as a colour. Near the set's edge rounding decides, so it is computed in single precision, fused where
//! the kernel fuses.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (width, height, crunch) = (case.size(0, 1), case.size(0, 2), case.s32(0, 3));
    let (left, top, scale) = (case.f32(0, 4), case.f32(0, 5), case.f32(0, 6));
    let mut picture = Vec::with_capacity(4 * width * height);
    for y in 0..height {
        for x in 0..width {
            let remaining = escape((x as f32).mul_add(scale, left), (y as f32).mul_add(scale, top), crunch);
            let m = crunch - remaining;
            let colour = if remaining > 0 { [(m * 3) as u8, (m * 5) as u8, (m * 7) as u8, 255] } else { [0; 4] };
            picture.extend(colour);
        }
    }
    vec![Output::u8("picture", picture)]
}

/// The steps that were not needed; 0 if the point did not escape.
fn escape(x0: f32, y0: f32, crunch: i32) -> i32 {
    let (mut x, mut y) = (x0, y0);
    for remaining in (1..=crunch).rev() {
        if x * x + y * y >= 4.0 {
            return remaining;
        }
        (x, y) = (x * x - y * y + x0, (x * y).mul_add(2.0, y0));
    }
    0
}
