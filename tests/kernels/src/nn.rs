//! The layers of the network one after the other, each on the output of the previous one, in double precision.

use crate::{Case, Output};

const PICTURE: usize = 29;
const FIRST: usize = 13;
const SECOND: usize = 5;
const WINDOW: usize = 5;
const STEP: usize = 2;

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    // One map to each block in x, one picture to each in y.
    let [maps1, pictures, _] = case.launch(0).grid.map(|n| n as usize);
    let maps2 = case.launch(1).grid[0] as usize;
    let (inputs, neurons, digits) = (case.size(2, 3), case.size(2, 4), case.size(3, 4));
    assert_eq!((case.size(1, 3), inputs, case.size(3, 3)), (maps1, maps2 * SECOND * SECOND, neurons), "layers fit");

    let [weights1, weights2, weights3, weights4] =
        ["firstWeight", "secondWeight", "thirdWeight", "fourthWeight"].map(|name| case.f64s(name));
    let (mut first, mut second, mut third, mut fourth) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for picture in case.f64s("picture").chunks(PICTURE * PICTURE).take(pictures) {
        let maps = windows(picture, PICTURE, &weights1, maps1);
        let small_maps = windows(&maps, FIRST, &weights2, maps2);
        let hidden = connected(&small_maps, &weights3, neurons);
        fourth.extend(connected(&hidden, &weights4, digits));
        third.extend(hidden);
        second.extend(small_maps);
        first.extend(maps);
    }
    vec![
        Output::f64("first", &first),
        Output::f64("second", &second),
        Output::f64("third", &third),
        Output::f64("fourth", &fourth),
    ]
}

/// Maps of neurons that see a window of each square map of the previous layer.
fn windows(before: &[f64], edge: usize, weights: &[f64], maps: usize) -> Vec<f64> {
    let neurons = (edge - WINDOW) / STEP + 1;
    let mut after = Vec::new();
    for weights in weights.chunks(weights.len() / maps) {
        let (bias, weights) = weights.split_first().expect("the bias");
        for y in 0..neurons {
            for x in 0..neurons {
                let taps = before.chunks(edge * edge).flat_map(|map| {
                    let row = move |dy: usize| &map[(y * STEP + dy) * edge + x * STEP..][..WINDOW];
                    (0..WINDOW).flat_map(row)
                });
                after.push(squash(bias + taps.zip(weights).map(|(value, weight)| value * weight).sum::<f64>()));
            }
        }
    }
    after
}

/// Neurons that see all values of the previous layer. The first row of weights has the biases.
fn connected(before: &[f64], weights: &[f64], neurons: usize) -> Vec<f64> {
    let values = std::iter::once(&1.0).chain(before);
    let mut sums = vec![0.0; neurons];
    for (value, weights) in values.zip(weights.chunks(neurons)) {
        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += value * weight);
    }
    sums.into_iter().map(squash).collect()
}

fn squash(sum: f64) -> f64 {
    1.7159 * (0.66666667 * sum).tanh()
}
