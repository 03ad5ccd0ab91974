//! Control flow of finished code, and dataflow analyses of registers.

use gpurf_isa::{Instruction, Op, Reg};

/// A set of general registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Registers([u64; 4]);

impl Registers {
    /// No register.
    pub const NONE: Self = Self([0; 4]);

    /// Whether the set contains a register.
    pub fn contains(self, register: Reg) -> bool {
        self.0[register.index() / 64] >> (register.index() % 64) & 1 == 1
    }

    /// The set with a register added.
    pub fn with(mut self, register: Reg) -> Self {
        self.0[register.index() / 64] |= 1 << (register.index() % 64);
        self
    }

    /// The set with a register removed.
    pub fn without(mut self, register: Reg) -> Self {
        self.0[register.index() / 64] &= !(1 << (register.index() % 64));
        self
    }

    /// The set without the registers of another set.
    pub fn minus(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a &= !b);
        self
    }

    /// The registers that are in both sets.
    pub fn intersection(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a &= b);
        self
    }

    /// The registers that are in either set.
    pub fn union(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
        self
    }
}

impl FromIterator<Reg> for Registers {
    fn from_iter<I: IntoIterator<Item = Reg>>(registers: I) -> Self {
        registers.into_iter().fold(Self::NONE, Self::with)
    }
}

/// The registers that an instruction reads.
pub fn sources(instruction: &Instruction) -> Registers {
    instruction.sources().map(|(_, register)| register).collect()
}

/// The instructions that a lane may execute after an instruction: none, the next one, a branch's target. Lanes in which the guard is false continue
/// with the next one.
pub fn successors(code: &[Instruction], pc: usize) -> impl Iterator<Item = usize> + use<> {
    let instruction = &code[pc];
    let ends = matches!(instruction.op, Op::Bra {} | Op::Exit {} | Op::Trap {}) && !instruction.is_guarded();
    let next = (!ends).then_some(pc + 1);
    let target = instruction.target().map(|target| target.index());
    let length = code.len();
    next.into_iter().chain(target).filter(move |&to| to < length)
}

/// For each instruction, the instructions from which a lane may come to it.
pub fn predecessors(code: &[Instruction]) -> Vec<Vec<usize>> {
    let mut from = vec![Vec::new(); code.len()];
    for pc in 0..code.len() {
        for to in successors(code, pc) {
            // A branch to the next instruction counts as one predecessor.
            if from[to].last() != Some(&pc) {
                from[to].push(pc);
            }
        }
    }
    from
}

/// The instructions of one side of a branch: those that its lanes reach from `first` before they reach `meet`.
pub fn side(code: &[Instruction], first: usize, meet: Option<usize>) -> Vec<bool> {
    let mut inside = vec![false; code.len()];
    let mut open = vec![first];
    while let Some(pc) = open.pop() {
        if pc < code.len() && Some(pc) != meet && !std::mem::replace(&mut inside[pc], true) {
            open.extend(successors(code, pc));
        }
    }
    inside
}

/// The successors of every instruction.
pub fn graph(code: &[Instruction]) -> Vec<Vec<usize>> {
    (0..code.len()).map(|pc| successors(code, pc).collect()).collect()
}

/// Backward dataflow analysis. `front` returns the registers that have the property before an instruction, given those that have it after the
/// instruction on any path. Returns those after each instruction. `front` must be monotone.
pub fn backward(code: &[Instruction], front: impl Fn(usize, Registers) -> Registers) -> Vec<Registers> {
    backward_over(&graph(code), front)
}

/// The same analysis over the nodes of a graph, given by the successors of each node.
pub fn backward_over(successors: &[Vec<usize>], front: impl Fn(usize, Registers) -> Registers) -> Vec<Registers> {
    let mut fronts = vec![Registers::NONE; successors.len()];
    let behind = |fronts: &[Registers], node: usize| {
        successors[node].iter().map(|&to| fronts[to]).fold(Registers::NONE, Registers::union)
    };
    let mut changed = true;
    while changed {
        changed = false;
        for node in (0..successors.len()).rev() {
            let new = front(node, behind(&fronts, node));
            changed |= fronts[node] != new;
            fronts[node] = new;
        }
    }
    (0..successors.len()).map(|node| behind(&fronts, node)).collect()
}

/// Forward dataflow analysis. `behind` returns the registers that have the property after an instruction, given those that have it before the
/// instruction on any path. Returns those before each instruction.
///
/// `behind` need not be monotone: it may return fewer registers than before, as passes do that act on what they see. Registers that were already
/// passed on to a successor stay in its set.
pub fn forward(code: &[Instruction], mut behind: impl FnMut(usize, Registers) -> Registers) -> Vec<Registers> {
    let ways = graph(code);
    let mut fronts = vec![Registers::NONE; code.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for pc in 0..code.len() {
            let set = behind(pc, fronts[pc]);
            for &to in &ways[pc] {
                let new = fronts[to].union(set);
                changed |= fronts[to] != new;
                fronts[to] = new;
            }
        }
    }
    fronts
}
