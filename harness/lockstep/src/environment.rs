//! What surrounds a block whose inputs follow from its outputs: memory, host.

/// The surroundings of one side of the lockstep. Each side has its own and is never fed from the other's, so that a wrong output
/// has its consequences on that side only.
///
/// Two environments that see the same outputs must do the same: they may look at a payload only where it is valid. What an RTL answers may be anything; an
/// environment gives up where it makes no sense and does not panic.
pub trait Environment {
    /// Writes the inputs of the next cycle, all of them (`rst_ni` and straps too), into `inputs`, the input part of a record, which holds those of the
    /// cycle before, or zeros. `previous` are the outputs of the cycle before; `None` in the first cycle
    /// after the lockstep's reset. Returns false when the run, or its stretch, is over: finished, or given up. The cycle does not take place then; where a
    /// further stretch begins ([`Lockstep::go_on`](crate::Lockstep::go_on)), it is asked for again, with the same `previous`.
    fn drive(&mut self, previous: Option<&[u8]>, inputs: &mut [u8]) -> bool;

    /// Words of memories that lose their values after the edge of a cycle. `compared` is the compared part of its record, which was found equal
    /// on both sides, so that both lose the same.
    fn lost(&mut self, _compared: &[u8]) -> &[LostWord] {
        &[]
    }
}

/// A word of a memory that gets a random value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostWord {
    /// The memory's place among the twin's ([`Block::memories`](gpurf_blocks::Block::memories)).
    pub memory: usize,
    /// The word.
    pub word: usize,
    /// What the value follows from.
    pub seed: u64,
}
