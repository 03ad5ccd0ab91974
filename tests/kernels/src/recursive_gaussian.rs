//! A recursive filter over the columns of RGBA pictures, then over their rows. Results are cut to integers, so it computes in single
//! precision and fuses what the kernel fuses.

use crate::{Case, Output};

/// The filter's factors.
struct Filter {
    /// Of the inputs, on the way down and on the way up.
    input: [[f32; 2]; 2],
    /// Of the last two results.
    last: [f32; 2],
    /// The result for a colour that continues without end, in each direction.
    edge: [f32; 2],
}

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (width, height) = (case.size(0, 2), case.size(0, 3));
    let factor = |n: usize| case.f32(0, 4 + n);
    let filter = Filter {
        input: [[factor(0), factor(1)], [factor(2), factor(3)]],
        last: [factor(4), factor(5)],
        edge: [factor(6), factor(7)],
    };
    let mut pixels = case.u32s("in");
    for picture in pixels.chunks_mut(width * height) {
        let mut bytes: Vec<[u8; 4]> = picture.iter().map(|pixel| pixel.to_le_bytes()).collect();
        for colour in 0..4 {
            for x in 0..width {
                filter.line(&mut bytes, colour, (0..height).map(|y| y * width + x));
            }
            for y in 0..height {
                filter.line(&mut bytes, colour, (0..width).map(|x| y * width + x));
            }
        }
        picture.iter_mut().zip(bytes).for_each(|(pixel, bytes)| *pixel = u32::from_le_bytes(bytes));
    }
    vec![Output::u32("out", &pixels)]
}

impl Filter {
    /// Filters one colour of the pixels at these places.
    fn line(&self, pixels: &mut [[u8; 4]], colour: usize, places: impl DoubleEndedIterator<Item = usize> + Clone) {
        let inputs: Vec<f32> = places.clone().map(|at| f32::from(pixels[at][colour])).collect();
        let (first, last) = (inputs[0], inputs[inputs.len() - 1]);

        let mut down = Vec::new();
        let mut before = [self.edge[0] * first; 2];
        for (i, &input) in inputs.iter().enumerate() {
            let inputs = [input, if i > 0 { inputs[i - 1] } else { first }];
            down.push(self.step(self.input[0], inputs, &mut before) as u8);
        }

        let mut before = [self.edge[1] * last; 2];
        for (i, at) in places.enumerate().collect::<Vec<_>>().into_iter().rev() {
            let input = |i: usize| inputs.get(i).copied().unwrap_or(last);
            let up = self.step(self.input[1], [input(i + 1), input(i + 2)], &mut before);
            // `as` saturates at the ends of a byte's range.
            pixels[at][colour] = (f32::from(down[i]) + up) as u8;
        }
    }

    fn step(&self, [p, q]: [f32; 2], [newer, older]: [f32; 2], before: &mut [f32; 2]) -> f32 {
        let [r, s] = self.last;
        let result = (-s).mul_add(before[1], (-r).mul_add(before[0], q.mul_add(older, p * newer)));
        *before = [result, before[0]];
        result
    }
}
