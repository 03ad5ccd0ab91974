//! Partial sums of a layer's inputs, 16 at a time, and the change of its weights, if the manifest launches them.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    // Weights are adjusted last.
    let last = case.launches() - 1;
    let adjusts = case.launch(last).kernel == "adjustWeights";
    let hidden = if adjusts { case.size(last, 1) } else { case.size(last, 3) };
    let input = case.f64s("input");
    let mut weight = case.f64s("weight");

    let mut outputs = Vec::new();
    if last > 0 || !adjusts {
        let mut partial = vec![0.0; case.len("partial")];
        for row in 1..input.len() {
            for unit in 0..hidden {
                partial[(row - 1) / 16 * hidden + unit] += weight[row * (hidden + 1) + unit + 1] * input[row];
            }
        }
        outputs.push(Output::f64("partial", &partial));
    }
    if !adjusts {
        return outputs;
    }

    let (eta, momentum) = (case.f64(last, 5), case.f64(last, 6));
    let (delta, mut old_change) = (case.f64s("delta"), case.f64s("oldChange"));
    for (row, value) in input.iter().enumerate() {
        // Row 0 is the bias, whose input is 1.
        let value = if row == 0 { 1.0 } else { *value };
        for (column, delta) in delta.iter().enumerate().skip(1) {
            let i = row * (hidden + 1) + column;
            let change = eta * delta * value + momentum * old_change[i];
            weight[i] += change;
            old_change[i] = change;
        }
    }
    outputs.extend([Output::f64("weight", &weight), Output::f64("oldChange", &old_change)]);
    outputs
}
