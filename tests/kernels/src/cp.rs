//! The potential of all atoms at each point of a plane.

use crate::case::widen;
use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (atoms, spacing) = (case.size(0, 0), case.f64(0, 1));
    let width = case.launch(0).grid[0] as usize * 64;
    let atom = widen(&case.symbol_f32s("atom"));
    let mut energy = case.f64s("energy");
    for (i, energy) in energy.iter_mut().enumerate() {
        let (x, y) = (spacing * (i % width) as f64, spacing * (i / width) as f64);
        for atom in atom.chunks(4).take(atoms) {
            *energy += atom[3] / ((x - atom[0]).powi(2) + (y - atom[1]).powi(2) + atom[2]).sqrt();
        }
    }
    vec![Output::f64("energy", &energy)]
}
