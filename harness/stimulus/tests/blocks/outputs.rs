//! Runs a twin without RTL on a directed sequence.

use gpurf_blocks::config::Config;
use gpurf_blocks::{Block, Ports, Shape, view};
use gpurf_lockstep::Records;

/// The outputs of a twin in each cycle.
pub fn outputs<T: Block<Out: Copy>>(config: &Config, inputs: &Records) -> Vec<T::Out> {
    let mut twin = T::new(&Shape::of(config));
    let mut out = T::Out::zeroed();
    let cycle = |n: usize| {
        let inputs: &T::In = view(inputs.get(n));
        twin.early(&mut out);
        twin.late(inputs, &mut out);
        twin.clock(inputs, &out);
        out
    };
    (0..inputs.len()).map(cycle).collect()
}
