//! Sources of inputs.

use crate::Records;

/// A source of inputs for a block. Inputs do not depend on the block's outputs (its protocols allow an offer to be
/// withdrawn), so the two sides can run one after the other, and a run can be cut and shrunk.
pub trait Stimulus {
    /// Writes all inputs of the next cycle, also payloads that are not valid, to `inputs`, the input part of a record. Its old contents do not matter, so
    /// that a run can be repeated with any buffer. Returns false if there are no more inputs; `inputs` is then unchanged.
    fn next(&mut self, inputs: &mut [u8]) -> bool;
}

/// Recorded inputs, cycle by cycle.
#[derive(Clone)]
pub struct Sequence {
    /// One input part for each cycle.
    pub inputs: Records,
    at: usize,
}

impl Sequence {
    /// Replays these inputs from the start.
    pub fn new(inputs: Records) -> Self {
        Self { inputs, at: 0 }
    }
}

impl Stimulus for Sequence {
    fn next(&mut self, inputs: &mut [u8]) -> bool {
        if self.at == self.inputs.len() {
            return false;
        }
        inputs.copy_from_slice(self.inputs.get(self.at));
        self.at += 1;
        true
    }
}
