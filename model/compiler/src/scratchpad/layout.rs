//! Chooses the variables in the private part of shared memory (sharing thesis 3.2.1), such that the fewest instructions access the shared part.

use super::loops::Region;
use super::ranges::{Accesses, Ranges};
use super::{SharedVariable, Variables, in_shared_part, place};
use crate::lower::Lowered;
use crate::mir::{Function, Inst, Pred, Term, V, Val};
use crate::passes::{cleanup, holds, simplify};
use gpurf_isa::Op;
use gpurf_isa::modifiers::{Addition, IntegerCombine};
use std::cmp::Reverse;

/// Maximum number of variables for which all subsets are tried.
const ALL_SUBSETS: usize = 10;
/// Assumed number of iterations of a loop whose bounds are not known.
const UNKNOWN_TRIPS: u64 = 1024;
/// Maximum number of iterations that are counted.
const MOST_TRIPS: u64 = 1 << 20;

/// The best order of a kernel's variables, if it is better than the declared one.
pub fn better(kernel: &Lowered, private_bytes: u32) -> Option<Vec<usize>> {
    let sized: Vec<usize> = (0..kernel.shared.len()).filter(|&v| kernel.shared[v].bytes.is_some()).collect();
    if sized.len() < 2 || private_bytes == 0 {
        return None;
    }
    let mut f = kernel.function.clone();
    cleanup::run(&mut f);
    simplify::run(&mut f);
    let accesses = accesses(&f);
    let ranges = Ranges::new(&accesses);
    let region = Region::new(&accesses.next, &|nodes| trips(&f, nodes));
    let cost = |set: Variables| region.longest(&|node| ranges.count(set, node) as u128);
    choose(&kernel.shared, kernel.static_shared, private_bytes, &cost)
}

/// The best order of these variables, which are placed in the order of declaration and end at `end`, where dynamic memory begins. `None` if the
/// declared order is the best. `cost` is the cost of having a set of variables in the shared part.
pub fn choose(
    variables: &[SharedVariable],
    end: u32,
    private_bytes: u32,
    cost: &dyn Fn(Variables) -> u128,
) -> Option<Vec<usize>> {
    let sized: Vec<usize> = (0..variables.len()).filter(|&v| variables[v].bytes.is_some()).collect();
    // The rating of a set of private variables: its cost, and its size and order to break ties.
    let rate = |private: &[usize]| {
        let rest = sized.iter().copied().filter(|v| !private.contains(v));
        let order: Vec<usize> = private.iter().copied().chain(rest).collect();
        let mut placed = variables.to_vec();
        let fits = place(&mut placed, &order) <= end && private.iter().all(|&v| placed[v].is_private(private_bytes));
        let bytes: u32 = private.iter().filter_map(|&v| variables[v].bytes).sum();
        fits.then(|| (cost(in_shared_part(&placed, private_bytes)), Reverse(bytes), order))
    };
    let declared = cost(in_shared_part(variables, private_bytes));
    let best = if sized.len() <= ALL_SUBSETS {
        let subset = |bits: u32| -> Vec<usize> {
            sized.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, &v)| v).collect()
        };
        (0..1u32 << sized.len()).filter_map(|bits| rate(&subset(bits))).min()
    } else {
        let (mut private, mut best) = (Vec::new(), None);
        loop {
            let more = sized.iter().filter(|v| !private.contains(*v)).filter_map(|&v| {
                let mut with: Vec<usize> = private.iter().copied().chain([v]).collect();
                with.sort_unstable();
                Some((rate(&with)?, with))
            });
            let Some((rating, with)) = more.min() else { break };
            private = with;
            best = best.into_iter().chain([rating]).min();
        }
        best
    };
    best.filter(|(cost, ..)| *cost < declared).map(|(.., order)| order)
}

/// The control-flow graph of a function, and the variables that each instruction accesses.
fn accesses(f: &Function) -> Accesses {
    let next = f.blocks.iter().map(|b| b.term.successors().map(|s| s.index()).collect()).collect();
    let steps = f.blocks.iter().map(|b| b.insts.iter().map(|i| i.variables).chain([Variables::NONE]).collect());
    Accesses { next, steps: steps.collect() }
}

/// The number of iterations of a loop of these blocks.
fn trips(f: &Function, nodes: &[usize]) -> u64 {
    let known = nodes.iter().filter_map(|&b| counted(f, nodes, b)).min();
    known.unwrap_or(UNKNOWN_TRIPS)
}

/// The number of iterations of a loop that is left at the end of this block, if a counter determines it: the counter starts as a constant, one
/// instruction of the loop adds a constant to it, and it is compared with a constant.
fn counted(f: &Function, nodes: &[usize], block: usize) -> Option<u64> {
    let inside = |b: usize| nodes.contains(&b);
    let Term::Branch { when: Pred::Reg(p, negated), then, otherwise } = f.blocks[block].term else { return None };
    let stays = match (inside(then.index()), inside(otherwise.index())) {
        (true, false) => !negated,
        (false, true) => negated,
        _ => return None,
    };
    let (compare, at) = only(f, |i| i.p == Some(p))?;
    let (Op::Isetp { comparison, signed, combine: IntegerCombine::And }, Pred::TRUE) = (compare.op, compare.s) else {
        return None;
    };
    let (compared, bound) = (compare.src[0].register()?, compare.src[1].constant()?);
    // If a register is the sum of a counter and a constant: the counter, the constant, and where they are added.
    let sum = |v: V| {
        let (add, at) = only(f, |i| i.d == Some(v))?;
        sum_of(add).map(|(counter, constant)| (counter, constant, at))
    };
    // The compared register is the counter, or its sum with a constant. Where the counter is read.
    let (counter, more, read_at) = sum(compared).unwrap_or((compared, 0, at));
    let (start, _) = written(f, counter, |b| !inside(b))?;
    let (step, step_at) = written(f, counter, inside)?;
    let (Op::Mov {}, Some(first)) = (start.op, start.src[1].constant()) else { return None };
    let stepped = match (step.op, step.src[1].register()) {
        (Op::Mov {}, Some(v)) => sum(v).map(|(from, by, _)| (from, by)),
        _ => sum_of(step),
    };
    let by = stepped.filter(|(from, _)| *from == counter)?.1;
    if !inside(at.0) {
        return None;
    }
    // Whether the counter has been stepped where it is read. If that is in another block, a counter that is compared itself is taken as stepped, and one
    // whose sum is compared is not: then the count may be off by one.
    let ahead = if read_at.0 == step_at.0 { step_at.1 < read_at.1 } else { compared == counter };
    let mut value = first.wrapping_add(more);
    if ahead {
        value = value.wrapping_add(by);
    }
    let mut count = 1;
    while holds(comparison, signed, value, bound) == stays && count < MOST_TRIPS {
        value = value.wrapping_add(by);
        count += 1;
    }
    Some(count)
}

/// An instruction, with its block and its index there.
type Found<'a> = (&'a Inst, (usize, usize));

/// The instruction for which `is` holds, if it is the only one and has no guard.
fn only(f: &Function, is: impl Fn(&Inst) -> bool) -> Option<Found<'_>> {
    let mut found = find(f, is);
    let first = found.next()?;
    (found.next().is_none() && !first.0.is_partial()).then_some(first)
}

/// The register and the constant whose sum an instruction computes.
fn sum_of(inst: &Inst) -> Option<(V, u32)> {
    match (inst.op, inst.s, inst.src[0], inst.src[1]) {
        (Op::Iadd { mode: Addition::Add }, Pred::FALSE, Val::Reg(v), Val::Imm(by)) if !inst.is_partial() => {
            Some((v, by))
        }
        _ => None,
    }
}

/// The instruction that writes a register in some of the blocks, if it is the only one there and has no guard.
fn written(f: &Function, v: V, block: impl Fn(usize) -> bool) -> Option<Found<'_>> {
    let mut found = find(f, move |i| i.d == Some(v)).filter(|(_, (b, _))| block(*b));
    let first = found.next()?;
    (found.next().is_none() && !first.0.is_partial()).then_some(first)
}

fn find(f: &Function, is: impl Fn(&Inst) -> bool) -> impl Iterator<Item = Found<'_>> {
    let all = f.blocks.iter().enumerate();
    let all = all.flat_map(|(b, block)| block.insts.iter().enumerate().map(move |(i, inst)| (inst, (b, i))));
    all.filter(move |(inst, _)| is(inst))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mir::{Block, BlockId, Class};
    use gpurf_isa::modifiers::IntegerComparison;

    const COUNTER: V = V(0);
    const SUM: V = V(1);
    const AGAIN: V = V(2);

    fn add(d: V, by: u32) -> Inst {
        let op = Op::Iadd { mode: Addition::Add };
        Inst { d: Some(d), src: [Val::Reg(COUNTER), Val::Imm(by), Val::ZERO], s: Pred::FALSE, ..Inst::new(op, 1) }
    }

    /// The trips of a loop with this body, which is repeated while the compared register is below 10. The counter starts at 0.
    fn trips_of(mut body: Vec<Inst>, compared: V) -> u64 {
        let compare = Op::Isetp { comparison: IntegerComparison::Lt, signed: false, combine: IntegerCombine::And };
        let src = [Val::Reg(compared), Val::Imm(10), Val::ZERO];
        body.push(Inst { p: Some(AGAIN), src, ..Inst::new(compare, 1) });
        let start = Inst { d: Some(COUNTER), ..Inst::new(Op::Mov {}, 1) };
        let back = Term::Branch { when: Pred::Reg(AGAIN, false), then: BlockId(1), otherwise: BlockId(2) };
        let block = |insts, term| Block { insts, term, term_line: 1 };
        let blocks = vec![block(vec![start], Term::Jump(BlockId(1))), block(body, back), block(Vec::new(), Term::Exit)];
        let f =
            Function { blocks, classes: vec![Class::General, Class::General, Class::Predicate], addresses: Vec::new() };
        trips(&f, &[1])
    }

    #[test]
    fn the_compared_sum_need_not_be_the_step() {
        // The counter is 0, 4, 8, 12; the sum is 1 more than the counter before or after its step.
        assert_eq!(trips_of(vec![add(SUM, 1), add(COUNTER, 4)], SUM), 4);
        assert_eq!(trips_of(vec![add(COUNTER, 4), add(SUM, 1)], SUM), 3);
        assert_eq!(trips_of(vec![add(COUNTER, 4)], COUNTER), 3);
        let copy = Inst { d: Some(COUNTER), src: [Val::ZERO, Val::Reg(SUM), Val::ZERO], ..Inst::new(Op::Mov {}, 1) };
        assert_eq!(trips_of(vec![add(SUM, 4), copy], SUM), 3);
    }
}
