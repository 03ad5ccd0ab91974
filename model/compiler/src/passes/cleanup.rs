//! Cleans up the control-flow graph that lowering leaves.

use crate::mir::{Block, BlockId, Function, Pred, Term, cfg};

/// Removes unreachable blocks, threads jumps through empty blocks, merges blocks, and gives each branch to the end of the program an exit of its own,
/// which becomes a guarded `EXIT`.
pub fn run(f: &mut Function) {
    for block in &mut f.blocks {
        if let Term::Branch { when, then, otherwise } = block.term {
            match when {
                Pred::Const(true) => block.term = Term::Jump(then),
                Pred::Const(false) => block.term = Term::Jump(otherwise),
                Pred::Reg(..) if then == otherwise => block.term = Term::Jump(then),
                Pred::Reg(..) => {}
            }
        }
    }
    thread(f);
    // Unreachable blocks must not take part in merging.
    compact(f);
    merge(f);
    private_exits(f);
    compact(f);
}

/// The block where control ends up after it enters `b` and passes blocks without instructions.
fn destination(f: &Function, mut b: BlockId) -> BlockId {
    // The number of steps is bounded, since a loop of empty blocks has no end.
    for _ in 0..f.blocks.len() {
        match f.blocks[b.index()] {
            Block { ref insts, term: Term::Jump(to), .. } if insts.is_empty() && to != b => b = to,
            _ => break,
        }
    }
    b
}

fn is_bare_exit(f: &Function, b: BlockId) -> bool {
    let block = &f.blocks[b.index()];
    block.insts.is_empty() && block.term == Term::Exit
}

fn thread(f: &mut Function) {
    for b in f.block_ids() {
        let mut term = f.blocks[b.index()].term;
        term.map(|to| destination(f, to));
        if let Term::Jump(to) = term
            && is_bare_exit(f, to)
        {
            term = Term::Exit;
            f.blocks[b.index()].term_line = f.blocks[to.index()].term_line;
        }
        if let Term::Branch { then, otherwise, .. } = term
            && (then == otherwise || is_bare_exit(f, then) && is_bare_exit(f, otherwise))
        {
            term = if is_bare_exit(f, then) { Term::Exit } else { Term::Jump(then) };
        }
        f.blocks[b.index()].term = term;
    }
}

fn merge(f: &mut Function) {
    let mut count = vec![0u32; f.blocks.len()];
    count[0] = 1;
    for b in cfg::reverse_postorder(f) {
        for s in f.blocks[b.index()].term.successors() {
            count[s.index()] += 1;
        }
    }
    for b in f.block_ids() {
        while let Term::Jump(next) = f.blocks[b.index()].term {
            if next == b || count[next.index()] != 1 {
                break;
            }
            let taken = std::mem::take(&mut f.blocks[next.index()].insts);
            let (term, line) = (f.blocks[next.index()].term, f.blocks[next.index()].term_line);
            f.blocks[next.index()].term = Term::Exit;
            let block = &mut f.blocks[b.index()];
            block.insts.extend(taken);
            (block.term, block.term_line) = (term, line);
        }
    }
}

fn private_exits(f: &mut Function) {
    let count = {
        let mut count = vec![0u32; f.blocks.len()];
        for block in &f.blocks {
            block.term.successors().for_each(|s| count[s.index()] += 1);
        }
        count
    };
    for b in f.block_ids() {
        let mut term = f.blocks[b.index()].term;
        if !matches!(term, Term::Branch { .. }) {
            continue;
        }
        term.map(|to| {
            if is_bare_exit(f, to) && count[to.index()] > 1 {
                let line = f.blocks[b.index()].term_line;
                f.blocks.push(Block { insts: Vec::new(), term: Term::Exit, term_line: line });
                return BlockId(f.blocks.len() as u32 - 1);
            }
            to
        });
        f.blocks[b.index()].term = term;
    }
}

/// Removes unreachable blocks; the others keep their order.
fn compact(f: &mut Function) {
    let mut reached = vec![false; f.blocks.len()];
    cfg::reverse_postorder(f).into_iter().for_each(|b| reached[b.index()] = true);
    let mut number = vec![BlockId(0); f.blocks.len()];
    for (new, b) in f.block_ids().filter(|b| reached[b.index()]).enumerate() {
        number[b.index()] = BlockId(new as u32);
    }
    let mut at = 0;
    f.blocks.retain(|_| {
        at += 1;
        reached[at - 1]
    });
    for block in &mut f.blocks {
        block.term.map(|b| number[b.index()]);
    }
}
