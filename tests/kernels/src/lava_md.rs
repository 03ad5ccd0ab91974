//! Forces between the particles of neighbouring boxes.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let [gx, gy, gz] = case.launch(0).grid.map(|n| n as usize);
    let (per_box, alpha) = (case.size(0, 2), case.f64(0, 3));
    let particles = case.f64s("particles");
    let near = |a: usize, n: usize| a.saturating_sub(1)..n.min(a + 2);
    let of_box = |b: usize| particles[4 * per_box * b..4 * per_box * (b + 1)].chunks(4);

    let mut force = Vec::with_capacity(particles.len());
    for home in 0..gx * gy * gz {
        let (hx, hy, hz) = (home % gx, home / gx % gy, home / gx / gy);
        for own in of_box(home) {
            let mut sum = [0.0; 4];
            for (z, y) in near(hz, gz).flat_map(|z| near(hy, gy).map(move |y| (z, y))) {
                for other in near(hx, gx).flat_map(|x| of_box((z * gy + y) * gx + x)) {
                    let r: [f64; 3] = std::array::from_fn(|axis| own[axis] - other[axis]);
                    let squared: f64 = r.iter().map(|r| r * r).sum();
                    let potential = (-2.0 * alpha * alpha * squared).exp() * other[3];
                    for (sum, r) in sum.iter_mut().zip(r) {
                        *sum += 2.0 * potential * r;
                    }
                    sum[3] += potential;
                }
            }
            force.extend(sum);
        }
    }
    vec![Output::f64("force", &force)]
}
