//! Means of the pixels of a window, weighted by how alike they or their surroundings are; the picture's edge is repeated.

use crate::{Case, Output};

const RADIUS: i64 = 3;
/// Pixels of a thread block, across and down.
const BLOCK: i64 = 8;
/// A pixel with less weight differs from the one in the middle.
const DIFFERS: f64 = 0.05;
/// If less of the window is alike, the pixel is at an edge.
const EDGE: f64 = 0.7;

type Colour = [f64; 3];
/// The pixel at a column and a row.
type Pixels<'a> = &'a dyn Fn(i64, i64) -> Colour;
/// Weights of the window around a pixel, with the noise of the picture.
type Weights = fn(Pixels<'_>, i64, i64, f64) -> Vec<f64>;

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let picture = case.u8s("picture");
    let result = |launch: usize, weights: Weights| {
        let (width, height) = (case.s32(launch, 2) as i64, case.s32(launch, 3) as i64);
        let (noise, blend) = (case.f64(launch, 4), case.f64(launch, 5));
        let pixel = |x: i64, y: i64| {
            let at = 4 * (y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize;
            [0, 1, 2].map(|channel| f64::from(picture[at + channel]) / 255.0)
        };
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let colours = places.flat_map(|(x, y)| mean(&pixel, x, y, &weights(&pixel, x, y, noise), blend));
        colours.collect::<Vec<f64>>()
    };
    vec![
        Output::f64("byNeighbours", &result(0, weights_of_pixels)),
        Output::f64("byBlocks", &result(1, weights_of_surroundings)),
    ]
}

/// Places around a pixel, row by row.
fn window() -> impl Iterator<Item = (i64, i64)> {
    (-RADIUS..=RADIUS).flat_map(|j| (-RADIUS..=RADIUS).map(move |i| (i, j)))
}

fn pixels() -> f64 {
    window().count() as f64
}

fn difference(a: Colour, b: Colour) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

fn weight(difference: f64, noise: f64, i: i64, j: i64) -> f64 {
    (-(difference * noise + (i * i + j * j) as f64 / pixels())).exp()
}

/// By each pixel's difference from the one in the middle.
fn weights_of_pixels(pixel: Pixels<'_>, x: i64, y: i64, noise: f64) -> Vec<f64> {
    window().map(|(i, j)| weight(difference(pixel(x, y), pixel(x + i, y + j)), noise, i, j)).collect()
}

/// By the differences of all pixels around from those around the middle of the thread block.
fn weights_of_surroundings(pixel: Pixels<'_>, x: i64, y: i64, noise: f64) -> Vec<f64> {
    let middle = |at: i64| at / BLOCK * BLOCK + BLOCK / 2;
    let (x, y) = (middle(x), middle(y));
    let of_place = |(i, j)| {
        let differences = window().map(|(m, n)| difference(pixel(x + m, y + n), pixel(x + m + i, y + n + j)));
        weight(differences.sum::<f64>() / pixels(), noise, i, j)
    };
    window().map(of_place).collect()
}

fn mean(pixel: Pixels<'_>, x: i64, y: i64, weights: &[f64], blend: f64) -> [f64; 4] {
    let alike = weights.iter().filter(|&&weight| weight > DIFFERS).count() as f64 / pixels();
    let own = if alike > EDGE { blend } else { 1.0 - blend };
    let all: f64 = weights.iter().sum();
    let channel = |n: usize| {
        let sum: f64 = window().zip(weights).map(|((i, j), weight)| pixel(x + i, y + j)[n] * weight).sum();
        sum / all * (1.0 - own) + pixel(x, y)[n] * own
    };
    [channel(0), channel(1), channel(2), 0.0]
}
