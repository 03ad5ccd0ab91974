//! How often each value of the upper six bits occurs, the greatest word, and the final values of counters that wrap around.

use crate::{Case, Output};

/// Number of values of a wheel: it counts from 0 to 6, and then from 0 again.
const TEETH: u32 = 7;

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (mut histogram, mut wheel, mut greatest) = ([0; 64], [0; 4], 0);
    for launch in 0..case.launches() {
        for bytes in case.u8s(case.buffer_argument(launch, 5)).chunks(4) {
            bytes.iter().for_each(|byte| histogram[usize::from(byte >> 2)] += 1);
            let word = u32::from_le_bytes(bytes.try_into().expect("whole words"));
            greatest = greatest.max(word);
            if word % 2 == 1 {
                let wheel = &mut wheel[word as usize / 2 % 4];
                *wheel = (*wheel + 1) % TEETH;
            }
        }
    }
    // Among equally full bins, the highest one.
    let fullest = (0..64).map(|bin| histogram[bin] * 64 + bin as u32).max().expect("there are bins");
    vec![
        Output::u32("histogram", &histogram),
        Output::u32("greatest", &[greatest]),
        Output::u32("wheel", &wheel),
        Output::u32("fullest", &[fullest]),
        Output::u32("ticket", &[0]),
    ]
}
