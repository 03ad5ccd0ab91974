//! Small Mersenne twisters, and the Box-Muller transform of their numbers.

use crate::{Case, Output};

const WORDS: usize = 19;
const MIDDLE: usize = 9;

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let each = case.size(0, 2);
    let twisters = case.u32s("twisters");
    let threads = twisters.len() / 4;
    let mut numbers = vec![0.0; threads * each];
    for (thread, twister) in twisters.chunks(4).enumerate() {
        for (n, word) in twist(twister, each).into_iter().enumerate() {
            // Rounded as in the kernel, because the logarithm of a number just below 1 would show a difference.
            numbers[thread + n * threads] = (word as f32 + 1.0) / 4294967296.0;
        }
    }

    let (first, second) = numbers.split_at_mut(threads * each / 2);
    for (a, b) in first.iter_mut().zip(second) {
        let r = (-2.0 * f64::from(*a).ln()).sqrt();
        let phi = std::f64::consts::TAU * f64::from(*b);
        (*a, *b) = ((r * phi.cos()) as f32, (r * phi.sin()) as f32);
    }
    vec![Output::f32("numbers", &numbers)]
}

/// The first `each` numbers of a twister: its state as one long sequence.
fn twist(twister: &[u32], each: usize) -> Vec<u32> {
    let mut state = vec![twister[3]];
    for i in 1..WORDS as u32 {
        let last = state[i as usize - 1];
        state.push(1812433253u32.wrapping_mul(last ^ (last >> 30)).wrapping_add(i));
    }
    for n in 0..each {
        let x = (state[n] & !1) | (state[n + 1] & 1);
        let matrix = if x & 1 == 1 { twister[0] } else { 0 };
        state.push(state[n + MIDDLE] ^ (x >> 1) ^ matrix);
    }
    let temper = |mut x: u32| {
        x ^= x >> 12;
        x ^= (x << 7) & twister[1];
        x ^= (x << 15) & twister[2];
        x ^ (x >> 18)
    };
    state[WORDS..].iter().map(|&x| temper(x)).collect()
}
