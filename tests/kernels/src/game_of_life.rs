//! Generations of Conway's game of life on a torus.

use gpurf_launch::Repetition;

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (width, height) = (case.size(0, 3), case.size(0, 4));
    let mut boards = [case.u8s("even"), case.u8s("odd")];
    let mut population = Vec::new();
    for launch in 0..case.launches() {
        let Repetition::Times(generations) = case.manifest().repetition_of(launch) else {
            panic!("a launch has a fixed number of generations");
        };
        for _ in 0..generations {
            let older = population.len() % 2;
            let next = generation(&boards[older], width, height);
            population.push(next.iter().map(|&cell| i32::from(cell)).sum());
            boards[1 - older] = next;
        }
    }
    let [even, odd] = boards;
    vec![Output::u8("even", even), Output::u8("odd", odd), Output::s32("population", &population)]
}

fn generation(board: &[u8], width: usize, height: usize) -> Vec<u8> {
    let next = (0..width * height).map(|cell| {
        let (x, y) = (cell % width, cell / width);
        let around = |size: usize, at: usize| [(at + size - 1) % size, at, (at + 1) % size];
        let living: u8 = around(height, y).iter().flat_map(|y| around(width, x).map(|x| board[y * width + x])).sum();
        // The cell itself is among those that were counted.
        u8::from(living == 3 || living == 4 && board[cell] == 1)
    });
    next.collect()
}
