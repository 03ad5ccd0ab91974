//! References of the kernels in `launch/`, which test how manifests describe launches.

pub mod atomics;
pub mod calls;
pub mod grid;
pub mod halves;
pub mod pictures;
pub mod ranking;

use std::collections::HashMap;

use gpurf_launch::{Address, Argument, BufferId, Init};

use crate::case::{Case, Output};

/// `particles`: three steps.
pub fn particles(case: &Case) -> Vec<Output> {
    const BOUNCES: [bool; 3] = [true, false, true];
    const GRAVITY: f32 = 9.5;
    let [floor, ceiling, fastest, time] = [0.25f32, 3.5, 6.0, 0.125];
    let (mut heights, mut speeds, kinds) = (case.f32s("height"), case.f32s("speed"), case.u8s("kinds"));
    let mut hits = 0;
    for _ in 0..3 {
        for i in 0..heights.len() {
            let mut speed = GRAVITY.mul_add(-time, speeds[i]).min(fastest).max(-fastest);
            let mut height = speed.mul_add(time, heights[i]).min(ceiling);
            if height < floor {
                height = floor;
                if BOUNCES[usize::from(kinds[i + 5]) % 3] {
                    speed = -speed;
                }
                hits += 1;
            }
            (heights[i], speeds[i]) = (height, speed);
        }
    }
    vec![Output::f32("height", &heights), Output::f32("speed", &speeds), Output::u32("hits", &[hits])]
}

/// The contents of a buffer with addresses, by byte offset.
fn parts(case: &Case, buffer: &str) -> HashMap<u64, Argument> {
    let found = case.manifest().buffers.iter().find(|other| other.name == buffer);
    match &found.expect("it has this buffer").init {
        Init::Layout(layout) => layout.parts().iter().cloned().collect(),
        other => panic!("{buffer} has no addresses: {other:?}"),
    }
}

/// `chains`: the values that are found, and the sums.
pub fn chains(case: &Case) -> Vec<Output> {
    let (buckets, nodes) = (parts(case, "buckets"), parts(case, "nodes"));
    let id = BufferId(case.manifest().buffers.iter().position(|buffer| buffer.name == "nodes").expect("it is there"));
    let node_at = |argument: &Argument| match argument {
        Argument::Address(Address { buffer, offset }) if *buffer == id => Some(*offset),
        Argument::Scalar(scalar) if scalar.bits == 0 => None,
        other => panic!("{other:?} is no pointer to a node"),
    };
    let word = |offset: u64| match &nodes[&offset] {
        Argument::Scalar(scalar) => scalar.bits as u32,
        other => panic!("{other:?} is no number"),
    };
    let look_up = |key: u32| {
        let mut node = node_at(&buckets[&(8 * u64::from((key ^ key >> 3) & 15))]);
        while let Some(at) = node {
            if word(at) == key {
                return word(at + 4);
            }
            node = node_at(&nodes[&(at + 8)]);
        }
        u32::MAX
    };
    let found: Vec<u32> = case.u32s("keys").into_iter().map(look_up).collect();
    let matrix = case.u32s("matrix");
    let row = |row: usize| &matrix[5 + 21 * row..][..20];
    let sum = |row: &[u32]| row.iter().fold(0u32, |sum, x| sum.wrapping_mul(31).wrapping_add(*x));
    let sums: Vec<u32> = (0..32).map(|number| sum(row(number))).collect();
    vec![Output::u32("found", &found), Output::u32("sums", &sums)]
}

/// `clocks`: the numbers that the timed instructions compute, and that every check passes.
pub fn clocks(case: &Case) -> Vec<Output> {
    const TILE: usize = 64;
    let step = |x: u32| x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    let scalar = |launch: usize, argument: usize| match &case.manifest().launches[launch].args[argument] {
        Argument::Scalar(scalar) => scalar.bits as usize,
        other => panic!("{other:?} is no number"),
    };
    let (links, rounds) = (scalar(0, 4), scalar(1, 4));
    let mut numbers: Vec<u32> =
        (0..case.u32s("number").len() as u32).map(|i| (0..links).fold(i, |x, _| step(x))).collect();
    for cells in numbers.chunks_mut(TILE) {
        for round in 0..rounds {
            let sum = |at: usize| cells[(at + round) % TILE].wrapping_add(cells[(at + 33) % TILE]);
            let next: Vec<u32> = (0..TILE).map(|at| step(sum(at))).collect();
            cells.copy_from_slice(&next);
        }
    }
    vec![Output::u32("number", &numbers), Output::u32("passed", &vec![7; numbers.len()])]
}

/// `variables`: counts, their sum, the ticket.
pub fn variables(case: &Case) -> Vec<Output> {
    const WEIGHTS: [u32; 8] = [1, 2, 3, 5, 7, 11, 13, 17];
    let mut counts = [100, 0, 0, 0, 0, 0, 0, 1];
    let bounds = case.symbol_u32s("bounds");
    for x in case.u32s("data") {
        let class = bounds[..7].iter().position(|bound| x < *bound).unwrap_or(7);
        counts[class] += WEIGHTS[class];
    }
    let total = counts.iter().map(|&count| u64::from(count)).sum();
    vec![Output::u32("counts", &counts), Output::u64("total", &[total]), Output::u32("ticket", &[4])]
}

/// `templates`: six kernels, one after the other.
pub fn templates(case: &Case) -> Vec<Output> {
    let (mut words, salts) = (case.u32s("words"), case.u32s("salts"));
    for (by, count) in [(3, 100), (5, 120)] {
        words[..count].iter_mut().for_each(|word| *word = word.wrapping_mul(by).wrapping_add(1));
    }
    words.iter_mut().for_each(|word| *word = (*word ^ 0x00c0_ffee).wrapping_mul(2_654_435_761));
    for (word, salt) in words[32..96].iter_mut().zip(&salts[64..]) {
        *word = word.wrapping_add(*salt) ^ *word >> 7;
    }
    words[..127].reverse();
    let shorts: Vec<i16> = case.s16s("shorts").into_iter().map(|x| x.wrapping_mul(3).wrapping_add(1)).collect();
    vec![Output::u32("words", &words), Output::s16("shorts", &shorts)]
}

/// `loops`: elimination, sums, labels.
pub fn loops(case: &Case) -> Vec<Output> {
    const PRIME: u64 = 65521;
    const SIZE: usize = 20;
    let inverse = |x: u64| (0..PRIME - 2).fold(1, |power, _| power * x % PRIME);
    let mut matrix: Vec<u64> = case.u32s("matrix").into_iter().map(u64::from).collect();
    let mut factor = vec![0; SIZE];
    for step in 0..SIZE - 1 {
        let of_pivot = inverse(matrix[step * SIZE + step]);
        for row in step + 1..SIZE {
            factor[row] = matrix[row * SIZE + step] * of_pivot % PRIME;
            for column in step..SIZE {
                let less = factor[row] * matrix[step * SIZE + column] % PRIME;
                matrix[row * SIZE + column] = (matrix[row * SIZE + column] + PRIME - less) % PRIME;
            }
        }
    }
    let words = |numbers: &[u64]| numbers.iter().map(|&number| number as u32).collect::<Vec<_>>();

    let mut sum = 0u32;
    let sums = case.u32s("even").into_iter().map(|x| {
        sum += x;
        sum
    });
    let sums: Vec<u32> = sums.collect();

    let (width, mut label) = (32, case.u32s("label"));
    let height = label.len() / width;
    loop {
        let best = |at: usize| {
            let (x, y) = (at % width, at / width);
            let mut around = vec![at];
            around.extend((x > 0).then(|| at - 1));
            around.extend((x + 1 < width).then(|| at + 1));
            around.extend((y > 0).then(|| at - width));
            around.extend((y + 1 < height).then(|| at + width));
            around.into_iter().map(|at| label[at]).max().expect("it is there itself")
        };
        let next: Vec<u32> = (0..label.len()).map(|at| if label[at] == 0 { 0 } else { best(at) }).collect();
        if next == label {
            break;
        }
        label = next;
    }
    vec![
        Output::u32("matrix", &words(&matrix)),
        Output::u32("factor", &words(&factor)),
        Output::u32("odd", &sums),
        Output::u32("label", &label),
    ]
}

/// `report`: the numbers of arguments that `printf` returns. What it prints is `report.txt`.
pub fn report(case: &Case) -> Vec<Output> {
    let (x, n) = (case.f32s("x"), case.size(0, 1));
    let returned = |(i, x): (usize, &f32)| match (i < n, *x < 0.0) {
        (false, _) => 0,
        (true, true) => 2,
        (true, false) => 8,
    };
    vec![Output::s32("returned", &x.iter().enumerate().map(returned).collect::<Vec<_>>())]
}
