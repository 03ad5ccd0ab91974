//! Kernels of a few operations: what the two warps of a block do, one after the other.

use std::fmt;

/// Warps of a block.
pub const WARPS: usize = 2;

/// What a warp does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Operation {
    /// An instruction that accesses nothing shared.
    Private,
    /// An access to a register of the part that the pair's warps of one position share.
    Register,
    /// An access to the part of the scratchpad that the pair's blocks share.
    Scratchpad,
    /// A barrier of the block.
    Barrier,
    /// Takes a mutex in global memory, and spins until it has it.
    Lock,
    /// Gives the mutex back.
    Unlock,
}

/// What one warp does.
pub type Program = Vec<Operation>;

/// A kernel: the programs of the warps of every block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel(pub [Program; WARPS]);

impl Kernel {
    /// Number of its operations.
    pub fn operations(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// Operations of its longest warp.
    pub fn longest(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or_default()
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.0.each_ref().map(|program| {
            let words: Vec<&str> = program.iter().map(|&operation| word(operation)).collect();
            words.join(", ")
        });
        write!(f, "warp 0: {first}; warp 1: {second}")
    }
}

fn word(operation: Operation) -> &'static str {
    match operation {
        Operation::Private => "private",
        Operation::Register => "register",
        Operation::Scratchpad => "scratchpad",
        Operation::Barrier => "barrier",
        Operation::Lock => "lock",
        Operation::Unlock => "unlock",
    }
}

/// Programs of one to `longest` of these operations that are correct CUDA: the mutex is given back by the warp that took it,
/// before it takes it again or ends, and is not held at a barrier.
fn programs(alphabet: &[Operation], longest: usize) -> Vec<Program> {
    let mut all = Vec::new();
    let mut last = vec![Program::new()];
    for _ in 0..longest {
        let longer = |program: &Program| {
            let append = |&operation| [program.as_slice(), &[operation]].concat();
            alphabet.iter().map(append).collect::<Vec<_>>()
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.iter().filter(|program| keeps_mutex_short(program)).cloned());
    }
    all
}

fn keeps_mutex_short(program: &[Operation]) -> bool {
    let held = program.iter().try_fold(false, |held, operation| match operation {
        Operation::Lock => (!held).then_some(true),
        Operation::Unlock => held.then_some(false),
        Operation::Barrier => (!held).then_some(false),
        Operation::Private | Operation::Register | Operation::Scratchpad => Some(held),
    });
    held == Some(false)
}

/// Kernels of these programs whose warps meet at as many barriers. Of two that differ in the numbers of the warps only, one.
pub fn kernels(alphabet: &[Operation], longest: usize) -> Vec<Kernel> {
    let barriers = |program: &Program| program.iter().filter(|&&operation| operation == Operation::Barrier).count();
    let programs = programs(alphabet, longest);
    let mut kernels = Vec::new();
    for first in &programs {
        let meet = |second: &&Program| first <= second && barriers(first) == barriers(second);
        kernels.extend(programs.iter().filter(meet).map(|second| Kernel([first.clone(), second.clone()])));
    }
    kernels
}
