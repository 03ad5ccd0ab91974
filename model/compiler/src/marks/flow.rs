//! Ways through finished code, and facts about registers along them.

use gpurf_isa::{Instruction, Op, Reg};

/// A set of general registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Registers([u64; 4]);

impl Registers {
    /// No register.
    pub const NONE: Self = Self([0; 4]);

    /// Whether it is in.
    pub fn contains(self, register: Reg) -> bool {
        self.0[register.index() / 64] >> (register.index() % 64) & 1 == 1
    }

    /// With a register.
    pub fn with(mut self, register: Reg) -> Self {
        self.0[register.index() / 64] |= 1 << (register.index() % 64);
        self
    }

    /// Without a register.
    pub fn without(mut self, register: Reg) -> Self {
        self.0[register.index() / 64] &= !(1 << (register.index() % 64));
        self
    }

    /// Without those of another set.
    pub fn minus(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a &= !b);
        self
    }

    /// Those that are in both.
    pub fn intersection(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a &= b);
        self
    }

    /// All of both.
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

/// Where a lane may go on after an instruction: nowhere, at the next one, at a branch's target. Lanes in which the guard
/// is false go on at the next one.
pub fn successors(code: &[Instruction], pc: usize) -> impl Iterator<Item = usize> + use<> {
    let instruction = &code[pc];
    let ends = matches!(instruction.op, Op::Bra {} | Op::Exit {} | Op::Trap {}) && !instruction.is_guarded();
    let next = (!ends).then_some(pc + 1);
    let target = instruction.target().map(|target| target.index());
    let length = code.len();
    next.into_iter().chain(target).filter(move |&to| to < length)
}

/// From where a lane may come to each instruction.
pub fn predecessors(code: &[Instruction]) -> Vec<Vec<usize>> {
    let mut from = vec![Vec::new(); code.len()];
    for pc in 0..code.len() {
        for to in successors(code, pc) {
            // A branch to the next instruction is one way.
            if from[to].last() != Some(&pc) {
                from[to].push(pc);
            }
        }
    }
    from
}

/// The instructions of one side of a branch: those that its lanes reach from `first` before they come to `meet`.
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

/// Follows facts against the flow: `front` says which registers have the property in front of an instruction, given those
/// that have it behind, on any way. Gives those behind each instruction. `front` has to be monotone.
pub fn backward(code: &[Instruction], front: impl Fn(usize, Registers) -> Registers) -> Vec<Registers> {
    backward_over(&graph(code), front)
}

/// The same over the nodes of a graph, given the successors of each.
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

/// Follows facts along the flow: `behind` says which registers have the property behind an instruction, given those that
/// have it in front, on any way. Gives those in front of each instruction.
///
/// `behind` may take something back that it has said before, as passes do that act on what they see: what has been passed
/// on stays.
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
