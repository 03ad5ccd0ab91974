//! `pictures`: a picture between its texels, and rows of a table.

use crate::case::{Case, Output};

/// The enlarged picture and the rows.
pub fn reference(case: &Case) -> Vec<Output> {
    const WIDTH: usize = 12;
    const HEIGHT: usize = 7;
    const PITCH: usize = 16;
    let picture = case.u8s("picture");
    let texel = |x: i32, y: i32| {
        let (x, y) = (x.clamp(0, WIDTH as i32 - 1) as usize, y.clamp(0, HEIGHT as i32 - 1) as usize);
        f32::from(picture[y * PITCH + x]) / 255.0
    };
    // The texel at or before a place, and the weight of the next one in 1/256.
    let place = |at: usize| {
        let at = (at as f32 + 0.5) / 3.0 - 0.5;
        let weight = ((at - at.floor()) * 256.0 + 0.5).floor();
        (at.floor() as i32, weight / 256.0)
    };
    let mut result = Vec::new();
    for y in 0..3 * HEIGHT {
        for x in 0..3 * WIDTH {
            let ((x, right), (y, below)) = (place(x), place(y));
            let corners = [
                ((1.0 - right) * (1.0 - below), texel(x, y)),
                (right * (1.0 - below), texel(x + 1, y)),
                ((1.0 - right) * below, texel(x, y + 1)),
                (right * below, texel(x + 1, y + 1)),
            ];
            result.push(corners.iter().fold(0.0f32, |sum, (weight, value)| weight.mul_add(*value, sum)));
        }
    }
    let rows = case.s16s("rows");
    let row = |key: i32| rows.chunks(4).nth(key as usize).map_or([0; 4], |row| [0, 1, 2, 3].map(|n| i32::from(row[n])));
    let found: Vec<i32> = case.s32s("keys").into_iter().flat_map(row).collect();
    vec![Output::f32("result", &result), Output::s32("found", &found)]
}
