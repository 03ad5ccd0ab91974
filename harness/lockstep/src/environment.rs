//! Surroundings of a block whose inputs depend on its outputs, such as memory and host.

/// The surroundings of one side of the lockstep. Each side has its own environment, which never sees the other side: so a wrong output
/// affects its own side only.
///
/// Two environments that see the same outputs must behave alike: an environment reads a payload only while it is valid. An RTL may output anything. If its
/// outputs make no sense, the environment ends the run; it does not panic.
pub trait Environment {
    /// Writes all inputs of the next cycle (`rst_ni` and straps too) into `inputs`, the input part of a record. At the call it holds the inputs of the
    /// previous cycle, or zeros. `previous` are the outputs of the previous cycle; `None` in the first cycle
    /// after the lockstep's reset. Returns false if the run or its stretch is over: finished, or given up. Then this cycle is not run; if a
    /// further stretch begins ([`Lockstep::go_on`](crate::Lockstep::go_on)), its inputs are requested again with the same `previous`.
    fn drive(&mut self, previous: Option<&[u8]>, inputs: &mut [u8]) -> bool;

    /// Memory words that lose their values after the edge of a cycle. `compared` is the compared part of the cycle's record. It was found equal
    /// on both sides, so both sides lose the same words.
    fn lost(&mut self, _compared: &[u8]) -> &[LostWord] {
        &[]
    }
}

/// A memory word that loses its value and gets a random one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostWord {
    /// Index of the memory in the twin's list ([`Block::memories`](gpurf_blocks::Block::memories)).
    pub memory: usize,
    /// Index of the word in this memory.
    pub word: usize,
    /// Seed of the random value.
    pub seed: u64,
}
