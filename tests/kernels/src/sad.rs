//! Sums of absolute differences at all places of a search window, and the best place.

use crate::{Case, Output};

const BLOCK: usize = 4;
const RANGE: usize = 8;

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (width, height) = (case.size(0, 3), case.size(0, 4));
    let (picture, reference) = (case.u8s("picture"), case.u8s("reference"));
    let clamp = |at: usize, offset: usize, n: usize| (at + offset).saturating_sub(RANGE / 2).min(n - 1);
    let (mut sums, mut best) = (Vec::new(), Vec::new());
    for block in 0..width * height / (BLOCK * BLOCK) {
        let (left, top) = (block % (width / BLOCK) * BLOCK, block / (width / BLOCK) * BLOCK);
        let first = sums.len();
        for place in 0..RANGE * RANGE {
            let pixels = (0..BLOCK * BLOCK).map(|i| (left + i % BLOCK, top + i / BLOCK));
            let difference = |(x, y): (usize, usize)| {
                let (rx, ry) = (clamp(x, place % RANGE, width), clamp(y, place / RANGE, height));
                u16::from(picture[y * width + x].abs_diff(reference[ry * width + rx]))
            };
            sums.push(pixels.map(difference).sum::<u16>());
        }
        let least = sums[first..].iter().enumerate().min_by_key(|(_, sum)| **sum);
        let (place, sum) = least.expect("a window has places");
        best.extend([u32::from(*sum), place as u32]);
    }
    vec![Output::u16("sums", &sums), Output::u32("best", &best)]
}
