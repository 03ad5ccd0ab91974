//! Order, dominance and reconvergence of basic blocks.

use super::{BlockId, Function, Term};
use gpurf_isa::Op;

/// The predecessors of each block; a block whose two branch targets are the same occurs twice.
pub fn predecessors(f: &Function) -> Vec<Vec<BlockId>> {
    let mut out = vec![Vec::new(); f.blocks.len()];
    for b in f.block_ids() {
        for s in f.blocks[b.index()].term.successors() {
            out[s.index()].push(b);
        }
    }
    out
}

/// The blocks that can be reached, each after its predecessors except along loops.
pub fn reverse_postorder(f: &Function) -> Vec<BlockId> {
    let successors: Vec<Vec<BlockId>> = f.blocks.iter().map(|b| b.term.successors().collect()).collect();
    let mut order = postorder(BlockId(0), &successors);
    order.reverse();
    order
}

pub fn postorder(root: BlockId, next: &[Vec<BlockId>]) -> Vec<BlockId> {
    let mut seen = vec![false; next.len()];
    let mut out = Vec::new();
    let mut stack = vec![(root, 0)];
    seen[root.index()] = true;
    while let Some((block, at)) = stack.last_mut() {
        match next[block.index()].get(*at) {
            Some(&to) => {
                *at += 1;
                if !std::mem::replace(&mut seen[to.index()], true) {
                    stack.push((to, 0));
                }
            }
            None => {
                out.push(*block);
                stack.pop();
            }
        }
    }
    out
}

/// Immediate dominators of the nodes that `root` reaches along `next`; `previous` are the reverse edges. The algorithm of Cooper, Harvey and Kennedy.
/// The root's immediate dominator is itself.
pub fn immediate_dominators(root: BlockId, next: &[Vec<BlockId>], previous: &[Vec<BlockId>]) -> Vec<Option<BlockId>> {
    let order = postorder(root, next);
    let mut number = vec![0; next.len()];
    for (i, b) in order.iter().enumerate() {
        number[b.index()] = i;
    }
    let mut idom = vec![None; next.len()];
    idom[root.index()] = Some(root);
    let mut changed = true;
    while changed {
        changed = false;
        for &b in order.iter().rev().skip(1) {
            let mut new: Option<BlockId> = None;
            for &p in previous[b.index()].iter().filter(|p| idom[p.index()].is_some()) {
                let Some(mut x) = new else {
                    new = Some(p);
                    continue;
                };
                let mut y = p;
                while x != y {
                    while number[x.index()] < number[y.index()] {
                        x = idom[x.index()].expect("on the way to the root");
                    }
                    while number[y.index()] < number[x.index()] {
                        y = idom[y.index()].expect("on the way to the root");
                    }
                }
                new = Some(x);
            }
            if idom[b.index()] != new {
                idom[b.index()] = new;
                changed = true;
            }
        }
    }
    idom
}

/// The dominator tree.
#[derive(Debug)]
pub struct Dominators {
    /// The blocks that each block dominates immediately.
    pub children: Vec<Vec<BlockId>>,
    /// The times at which a walk of the tree enters and leaves each block.
    span: Vec<(u32, u32)>,
}

impl Dominators {
    /// Builds the tree of the blocks that can be reached.
    pub fn new(f: &Function) -> Self {
        let successors: Vec<Vec<BlockId>> = f.blocks.iter().map(|b| b.term.successors().collect()).collect();
        let idom = immediate_dominators(BlockId(0), &successors, &predecessors(f));
        let mut children = vec![Vec::new(); f.blocks.len()];
        for b in f.block_ids().skip(1) {
            if let Some(parent) = idom[b.index()] {
                children[parent.index()].push(b);
            }
        }
        let mut span = vec![(0, 0); f.blocks.len()];
        let mut clock = 1;
        let mut stack = vec![(BlockId(0), 0)];
        span[0].0 = clock;
        while let Some((block, at)) = stack.last_mut() {
            clock += 1;
            match children[block.index()].get(*at) {
                Some(&child) => {
                    *at += 1;
                    span[child.index()].0 = clock;
                    stack.push((child, 0));
                }
                None => {
                    span[block.index()].1 = clock;
                    stack.pop();
                }
            }
        }
        Self { children, span }
    }

    /// Whether every path to `b` leads through `a`, or they are the same block.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let (a, b) = (self.span[a.index()], self.span[b.index()]);
        a.0 <= b.0 && b.1 <= a.1
    }
}

/// For each block, the block where its lanes reconverge after a branch at its end: the immediate post-dominator.
///
/// An exit needs no reconvergence point: lanes that end there are gone. So a branch with a side that only exits does not reconverge at the end of the
/// program, but where the remaining lanes meet. To get this, post-dominance is computed with respect to one exit, over the blocks that can reach it;
/// then, for the remaining blocks, with respect to the next exit, and so on. The last exit in the layout comes first, blocks that contain nothing but
/// an exit come late, traps last. For loops without an exit, their last block serves as the exit. The result is `None` if no later block is common to
/// all paths.
pub fn reconvergence(f: &Function) -> Vec<Option<BlockId>> {
    let successors: Vec<Vec<BlockId>> = f.blocks.iter().map(|b| b.term.successors().collect()).collect();
    let previous = predecessors(f);
    let mut roots: Vec<BlockId> = f.block_ids().rev().filter(|b| f.blocks[b.index()].term == Term::Exit).collect();
    roots.sort_by_key(|b| {
        let insts = &f.blocks[b.index()].insts;
        let traps = insts.iter().any(|i| matches!(i.op, Op::Trap {}) && !i.is_partial());
        if traps { 2 } else { u8::from(insts.is_empty()) }
    });
    roots.extend(f.block_ids().rev());
    let mut out = vec![None; f.blocks.len()];
    let mut done = vec![false; f.blocks.len()];
    for root in roots {
        if done[root.index()] {
            continue;
        }
        // No remaining block leads here: the usual case of an early exit.
        if previous[root.index()].iter().all(|p| *p == root || done[p.index()]) {
            done[root.index()] = true;
            continue;
        }
        let mut inside = vec![false; f.blocks.len()];
        inside[root.index()] = true;
        let mut stack = vec![root];
        while let Some(b) = stack.pop() {
            for &p in &previous[b.index()] {
                if !done[p.index()] && !inside[p.index()] {
                    inside[p.index()] = true;
                    stack.push(p);
                }
            }
        }
        let keep = |edges: &[Vec<BlockId>]| -> Vec<Vec<BlockId>> {
            let mut out = vec![Vec::new(); edges.len()];
            for (b, to) in edges.iter().enumerate().filter(|&(b, _)| inside[b]) {
                out[b] = to.iter().copied().filter(|t| inside[t.index()]).collect();
            }
            out
        };
        let mut forward = keep(&successors);
        // Edges that leave the root do not count.
        forward[root.index()].clear();
        let mut backward = keep(&previous);
        for b in &mut backward {
            b.retain(|p| *p != root);
        }
        let ipdom = immediate_dominators(root, &backward, &forward);
        for b in f.block_ids().filter(|b| inside[b.index()]) {
            done[b.index()] = true;
            if b != root {
                out[b.index()] = ipdom[b.index()];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mir::{Block, Pred, V};

    /// A function of blocks with these successors. Each block has a no-op, so that an exit is not an empty block.
    fn graph(edges: &[&[u32]]) -> Function {
        let blocks = edges
            .iter()
            .map(|to| {
                let term = match *to {
                    [] => Term::Exit,
                    [a] => Term::Jump(BlockId(*a)),
                    [a, b, ..] => {
                        Term::Branch { when: Pred::Reg(V(0), false), then: BlockId(*a), otherwise: BlockId(*b) }
                    }
                };
                Block { insts: vec![crate::mir::Inst::new(Op::Nop {}, 1)], term, term_line: 1 }
            })
            .collect();
        Function { blocks, classes: vec![crate::mir::Class::Predicate], addresses: Vec::new() }
    }

    fn meets(edges: &[&[u32]]) -> Vec<Option<u32>> {
        reconvergence(&graph(edges)).into_iter().map(|b| b.map(|b| b.0)).collect()
    }

    #[test]
    fn a_diamond_meets_at_its_end() {
        assert_eq!(meets(&[&[1, 2], &[3], &[3], &[]]), [Some(3), Some(3), Some(3), None]);
    }

    #[test]
    fn a_loop_meets_behind_it() {
        // Blocks 1 to 3 are the loop's body, with a branch inside.
        assert_eq!(meets(&[&[1], &[2, 3], &[3], &[1, 4], &[]])[1..4], [Some(3), Some(3), Some(4)]);
    }

    #[test]
    fn an_early_exit_does_not_spoil_the_meeting_point() {
        // if (a) { if (b) return; x } y
        assert_eq!(meets(&[&[1, 4], &[2, 3], &[], &[4], &[]]), [Some(4), Some(3), None, Some(4), None]);
    }

    #[test]
    fn a_loop_without_exit() {
        assert_eq!(meets(&[&[1, 4], &[2, 3], &[3], &[1], &[]]), [Some(4), Some(3), Some(3), None, None]);
    }

    #[test]
    fn dominance() {
        let f = graph(&[&[1, 2], &[3], &[3], &[1, 4], &[]]);
        let d = Dominators::new(&f);
        assert!(d.dominates(BlockId(0), BlockId(4)) && d.dominates(BlockId(3), BlockId(4)));
        assert!(!d.dominates(BlockId(1), BlockId(3)) && d.dominates(BlockId(2), BlockId(2)));
    }
}
