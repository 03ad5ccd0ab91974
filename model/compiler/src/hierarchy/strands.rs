//! Strands: pieces of code with a single entry point, without backward branches, in which no warp is descheduled (thesis 6.3).
//!
//! A strand ends after an instruction that carries the mark. A new mark can turn a merge into one of different strands, or a divergent branch into
//! one with a strand end on a side; both require more marks. The rules are applied until nothing changes.

use gpurf_isa::{Instruction, Op};

use super::HierarchyOptions;
use crate::marks::flow::{predecessors, side};

/// Why a strand ends after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The code had the mark before this pass.
    Asked,
    /// The warp is descheduled after it: a result of long latency is needed.
    LongLatency,
    /// It is a backward branch.
    BackwardBranch,
    /// A successor is the head of a loop.
    LoopHead,
    /// It is a barrier.
    Barrier,
    /// Paths of different strands merge after it.
    Merge,
    /// It is a branch that may diverge, and a strand ends on one of its sides (hazard 3).
    Divergence,
}

/// The strands of a kernel.
#[derive(Debug)]
pub struct Strands {
    /// For each instruction, the first one of its strand.
    pub of: Vec<usize>,
    /// The instructions after which a strand ends, and why.
    pub ends: Vec<Option<Cause>>,
}

/// Finds the strands.
pub fn form(code: &[Instruction], options: &HierarchyOptions) -> Strands {
    let from = predecessors(code);
    let mut ends: Vec<Option<Cause>> =
        code.iter().map(|instruction| instruction.control.strand_end.then_some(Cause::Asked)).collect();
    let leaves = |instruction: &Instruction| !options.keep_when_descheduled && instruction.control.deschedule;
    let waits = |instruction: &Instruction| !options.keep_when_descheduled && matches!(instruction.op, Op::Bar { .. });
    for (pc, instruction) in code.iter().enumerate() {
        if leaves(instruction) {
            begin(&mut ends, &from[pc], Cause::LongLatency);
        }
        if waits(instruction) {
            ends[pc].get_or_insert(Cause::Barrier);
        }
        if let Some(target) = instruction.target().map(|target| target.index()).filter(|target| *target <= pc) {
            ends[pc].get_or_insert(Cause::BackwardBranch);
            begin(&mut ends, &from[target], Cause::LoopHead);
        }
    }
    loop {
        let of = number(&from, &ends);
        let mut changed = false;
        for pc in (1..code.len()).filter(|pc| of[*pc] == *pc) {
            changed |= begin(&mut ends, &from[pc], Cause::Merge);
        }
        let voids = |pc: usize| ends[pc].is_some() || leaves(&code[pc]);
        let dangerous: Vec<usize> =
            (0..code.len()).filter(|&pc| ends[pc].is_none() && diverges_into(code, pc, voids)).collect();
        for pc in dangerous {
            ends[pc] = Some(Cause::Divergence);
            changed = true;
        }
        if !changed {
            return Strands { of, ends };
        }
    }
}

/// Ends strands after all of these instructions. Returns whether any of them was not an end before.
fn begin(ends: &mut [Option<Cause>], behind: &[usize], cause: Cause) -> bool {
    let mut changed = false;
    for &pc in behind {
        changed |= ends[pc].is_none();
        ends[pc].get_or_insert(cause);
    }
    changed
}

/// For each instruction, the first one of its strand: the instruction itself, unless all its predecessors belong to one strand that does not end
/// there.
fn number(from: &[Vec<usize>], ends: &[Option<Cause>]) -> Vec<usize> {
    let mut of: Vec<usize> = Vec::with_capacity(from.len());
    for (pc, from) in from.iter().enumerate() {
        // A backward branch ends its strand, so a predecessor that continues the strand comes earlier in the code.
        let comes = |from: &usize| if ends[*from].is_some() { None } else { of.get(*from).copied() };
        let first = from.first().and_then(comes).filter(|_| pc > 0);
        let same = from.iter().all(|from| comes(from) == first);
        of.push(first.filter(|_| same).unwrap_or(pc));
    }
    of
}

/// Whether an instruction is a branch that may diverge and has an instruction for which `voids` holds on one of its sides.
fn diverges_into(code: &[Instruction], pc: usize, voids: impl Fn(usize) -> bool) -> bool {
    let branch = &code[pc];
    let Some(target) = branch.target().filter(|_| branch.may_diverge()) else { return false };
    let meet = branch.reconvergence.map(|meet| meet.index());
    [pc + 1, target.index()].into_iter().any(|first| {
        let inside = side(code, first, meet);
        (0..code.len()).any(|pc| inside[pc] && voids(pc))
    })
}
