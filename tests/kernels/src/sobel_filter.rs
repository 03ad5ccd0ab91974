//! Sobel's edges; the picture's edge is repeated.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (width, height, gain) = (case.size(0, 2), case.size(0, 3), case.f32(0, 4));
    let picture = case.u8s("picture");
    let mut edges = Vec::with_capacity(picture.len());
    for y in 0..height {
        for x in 0..width {
            // Offsets from 0 to 2; 1 is the pixel itself.
            let at = |dx: usize, dy: usize| {
                let x = (x + dx).saturating_sub(1).min(width - 1);
                let y = (y + dy).saturating_sub(1).min(height - 1);
                i32::from(picture[y * width + x])
            };
            let column = |dx: usize| at(dx, 0) + 2 * at(dx, 1) + at(dx, 2);
            let row = |dy: usize| at(0, dy) + 2 * at(1, dy) + at(2, dy);
            let sum = (column(2) - column(0)).abs() + (row(0) - row(2)).abs();
            edges.push(((gain * sum as f32) as i32).min(255) as u8);
        }
    }
    vec![Output::u8("edges", edges)]
}
