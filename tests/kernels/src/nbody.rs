//! One time step of all pairs of bodies of each system.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let bodies = case.size(0, 3);
    let (dt, damping, softening) = (case.f64(0, 4), case.f64(0, 5), case.f64(0, 6));
    let position = case.f64s("position");
    let (mut new_position, mut velocity) = (position.clone(), case.f64s("velocity"));
    for (body, own) in position.chunks(4).enumerate() {
        let system = body / bodies * bodies;
        let mut acceleration = [0.0; 3];
        for other in position[4 * system..4 * (system + bodies)].chunks(4) {
            let r: [f64; 3] = std::array::from_fn(|axis| other[axis] - own[axis]);
            let squared = r.iter().map(|r| r * r).sum::<f64>() + softening;
            let strength = other[3] / (squared * squared.sqrt());
            for (acceleration, r) in acceleration.iter_mut().zip(r) {
                *acceleration += r * strength;
            }
        }
        for axis in 0..3 {
            let v = (velocity[4 * body + axis] + acceleration[axis] * dt) * damping;
            velocity[4 * body + axis] = v;
            new_position[4 * body + axis] += v * dt;
        }
    }
    vec![Output::f64("newPosition", &new_position), Output::f64("velocity", &velocity)]
}
