//! Explicit time steps of the heat equation; at the chip's edge the neighbour is the cell itself.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (columns, rows) = (case.size(0, 3), case.size(0, 4));
    let power = case.f64s("power");
    let (mut temperature, mut next) = (case.f64s("temperature"), case.f64s("next"));
    for launch in 0..case.launches() {
        let forth = case.buffer_argument(launch, 0) == "next";
        let mut cells = if forth { temperature.clone() } else { next.clone() };
        for _ in 0..case.size(launch, 5) {
            let rates = std::array::from_fn(|i| case.f64(launch, 6 + i));
            cells = step(&cells, &power, columns, rows, rates);
        }
        *(if forth { &mut next } else { &mut temperature }) = cells;
    }
    case.declared(vec![Output::f64("temperature", &temperature), Output::f64("next", &next)])
}

fn step(cells: &[f64], power: &[f64], columns: usize, rows: usize, [cap, rx, ry, rz]: [f64; 4]) -> Vec<f64> {
    let at = |x: usize, y: usize| cells[y.min(rows - 1) * columns + x.min(columns - 1)];
    let mut next = Vec::with_capacity(cells.len());
    for y in 0..rows {
        for x in 0..columns {
            let t = at(x, y);
            let vertical = at(x, y + 1) + at(x, y.saturating_sub(1)) - 2.0 * t;
            let horizontal = at(x + 1, y) + at(x.saturating_sub(1), y) - 2.0 * t;
            let heat = power[y * columns + x] + vertical * ry + horizontal * rx + (80.0 - t) * rz;
            next.push(t + cap * heat);
        }
    }
    next
}
