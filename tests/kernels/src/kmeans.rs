//! One pass of k-means. Distances are in single precision, fused where the kernel fuses, because two centres may be equally near.

use crate::{Case, Output};

const FEATURES: usize = 6;

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (points, clusters) = (case.size(0, 5), case.size(0, 6));
    let (features, mut membership) = (case.f32s("features"), case.s32s("membership"));
    let centre = case.symbol_f32s("centre");
    let mut sums = vec![0.0; case.len("sums")];
    let mut members = vec![0; case.len("members")];
    let mut changed = 0;
    for point in 0..points {
        let own: [f32; FEATURES] = std::array::from_fn(|f| features[f * points + point]);
        let distances = centre.chunks(FEATURES).take(clusters).map(|centre| squared_distance(&own, centre));
        let (nearest, _) = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).expect("there is a cluster");

        changed += u32::from(membership[point] != nearest as i32);
        membership[point] = nearest as i32;
        members[nearest] += 1;
        for (sum, own) in sums[nearest * FEATURES..].iter_mut().zip(own) {
            *sum += f64::from(own);
        }
    }
    vec![
        Output::s32("membership", &membership),
        Output::f64("sums", &sums),
        Output::s32("members", &members),
        Output::u32("changed", &[changed]),
    ]
}

fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| (a - b).mul_add(a - b, sum))
}
