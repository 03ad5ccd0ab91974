//! Where inputs come from.

use crate::Records;

/// A source of inputs for a block. Inputs do not depend on what the block answers (its protocols allow an offer to be
/// withdrawn), so the two sides can run one after the other, and a run can be cut and shrunk.
pub trait Stimulus {
    /// Writes the inputs of the next cycle into `inputs`, the input part of a record, whatever that holds: all of it, payloads that are not valid too, so
    /// that a run can be repeated from any buffer. Returns false when there are no more; `inputs` is then left alone.
    fn next(&mut self, inputs: &mut [u8]) -> bool;
}

/// Recorded inputs, cycle by cycle.
#[derive(Clone)]
pub struct Sequence {
    /// Input parts.
    pub inputs: Records,
    at: usize,
}

impl Sequence {
    /// Plays these inputs from the start.
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
