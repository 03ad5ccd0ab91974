//! Sets to zero the values that a thread may read before it writes them.
//!
//! CUDA leaves such values undefined, and programs that store only correct results have them: a lane computes with a register that only other lanes
//! have written, and its result is discarded. Without an initial value, the register would hold what it held before the thread began, and the lane's
//! computations would differ from machine to machine. So each value that is live at the entry is written there, and all machines compute the same.

use super::liveness::Liveness;
use crate::mir::{Block, BlockId, Class, Function, Inst, Origin, Pred, Term};
use gpurf_isa::Op;
use gpurf_isa::modifiers::Combine;

/// Writes zero, or false, to the values that are live at the entry.
pub fn run(f: &mut Function) {
    let line = f.blocks[0].insts.first().map_or(f.blocks[0].term_line, |inst| inst.line);
    let mut zeros = Vec::new();
    for class in [Class::General, Class::Predicate] {
        let live = Liveness::exact(f, class).walk(f, BlockId(0), |_, _, _| {});
        zeros.extend(live.iter().map(|v| match class {
            Class::General => Inst { d: Some(v), origin: Origin::Zero(v), ..Inst::new(Op::Mov {}, line) },
            Class::Predicate => {
                let op = Op::Plop { combine: Combine::And };
                Inst { p: Some(v), s: Pred::FALSE, origin: Origin::Zero(v), ..Inst::new(op, line) }
            }
        }));
    }
    if zeros.is_empty() {
        return;
    }
    if f.blocks.iter().any(|block| block.term.successors().any(|to| to == BlockId(0))) {
        // The entry is in a loop, so the zeros go into a new block before it.
        for block in &mut f.blocks {
            block.term.map(|b| BlockId(b.0 + 1));
        }
        f.blocks.insert(0, Block { insts: zeros, term: Term::Jump(BlockId(1)), term_line: line });
    } else {
        f.blocks[0].insts.splice(0..0, zeros);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mir::{V, Val};

    fn st(value: V, guard: Pred) -> Inst {
        let op = Op::St {
            space: gpurf_isa::modifiers::Space::Local,
            kind: gpurf_isa::modifiers::StoreType::B32,
            align: gpurf_isa::modifiers::Alignment::Natural,
        };
        Inst { src: [Val::ZERO, Val::ZERO, Val::Reg(value)], guard, ..Inst::new(op, 7) }
    }

    fn mov(to: V, guard: Pred) -> Inst {
        Inst { d: Some(to), src: [Val::ZERO, Val::Imm(5), Val::ZERO], guard, ..Inst::new(Op::Mov {}, 7) }
    }

    /// A function of one general value, V0, and one predicate, V1.
    fn function(blocks: Vec<(Vec<Inst>, Term)>) -> Function {
        let blocks = blocks.into_iter().map(|(insts, term)| Block { insts, term, term_line: 7 }).collect();
        Function { blocks, classes: vec![Class::General, Class::Predicate], addresses: Vec::new() }
    }

    fn zeros(f: &Function) -> Vec<Origin> {
        f.blocks.iter().flat_map(|b| &b.insts).map(|i| i.origin).filter(|o| *o != Origin::Program).collect()
    }

    const X: V = V(0);
    const P: Pred = Pred::Reg(V(1), false);

    #[test]
    fn what_is_written_on_all_ways_stays_as_it_is() {
        let branch = Term::Branch { when: Pred::Reg(V(1), false), then: BlockId(1), otherwise: BlockId(2) };
        let plop = Inst { p: Some(V(1)), s: Pred::TRUE, ..Inst::new(Op::Plop { combine: Combine::And }, 7) };
        let mut f = function(vec![
            (vec![plop], branch),
            (vec![mov(X, Pred::TRUE)], Term::Jump(BlockId(3))),
            (vec![mov(X, Pred::TRUE)], Term::Jump(BlockId(3))),
            (vec![st(X, Pred::TRUE)], Term::Exit),
        ]);
        let before = format!("{f:?}");
        run(&mut f);
        assert_eq!(format!("{f:?}"), before);
        // The same function without one of the two writes.
        f.blocks[2].insts.clear();
        run(&mut f);
        assert_eq!(zeros(&f), [Origin::Zero(X)]);
    }

    #[test]
    fn a_guarded_write_does_not_end_the_old_value() {
        let mut f = function(vec![(vec![mov(X, P), st(X, Pred::TRUE)], Term::Exit)]);
        run(&mut f);
        // The guard is read before it is written, too.
        assert_eq!(zeros(&f), [Origin::Zero(X), Origin::Zero(V(1))]);
        assert_eq!(f.blocks[0].insts.len(), 4);
    }

    #[test]
    fn zeros_stand_in_front_of_a_loop_that_begins_at_the_entry() {
        let again = Term::Branch { when: P, then: BlockId(0), otherwise: BlockId(1) };
        let mut f = function(vec![(vec![st(X, Pred::TRUE), mov(X, Pred::TRUE)], again), (vec![], Term::Exit)]);
        run(&mut f);
        assert_eq!(f.blocks.len(), 3);
        assert_eq!(f.blocks[0].insts.len(), 2);
        assert_eq!(f.blocks[0].term, Term::Jump(BlockId(1)));
        let again = Term::Branch { when: P, then: BlockId(1), otherwise: BlockId(2) };
        assert_eq!(f.blocks[1].term, again);
    }
}
