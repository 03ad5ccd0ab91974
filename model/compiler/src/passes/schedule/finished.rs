//! Reorders finished code; used for random programs, which are generated as machine code.

use super::{BlockId, Class, Function, Limits, Liveness, Schedule, list};
use crate::mir::{Block, Inst, Pred, Term, V, Val};
use gpurf_isa::{Instruction, Op, Operand, Predicate, PredicateSource, Reg, Slot};

/// No limits on live values: the code's registers are already chosen.
const NO_LIMITS: Limits = Limits { general: usize::MAX, predicates: usize::MAX };

/// Schedules finished code by latency if `schedule` asks for it; marks must be made afterwards. Instructions stay between branches, exits, branch
/// targets and reconvergence points, and `first` stays the first of its block. Memory accesses keep their order, since it is not known which values
/// the threads of the program exchange.
///
/// Expression-tree order is an order of values, which finished code no longer has; it changes nothing.
pub fn reorder(code: &mut [Instruction], first: usize, schedule: Schedule) {
    if schedule != Schedule::Latency {
        return;
    }
    let mut begins = vec![false; code.len() + 1];
    (begins[first.min(code.len())], begins[code.len()]) = (true, true);
    for (pc, instruction) in code.iter().enumerate() {
        let meets = instruction.reconvergence.map(|pc| pc.index());
        for to in instruction.target().map(|pc| pc.index()).into_iter().chain(meets).filter(|&to| to < code.len()) {
            begins[to] = true;
        }
        if ends_block(instruction) {
            // The instruction is a block by itself.
            (begins[pc], begins[pc + 1]) = (true, true);
        }
    }
    let mut from = 0;
    for to in (1..=code.len()).filter(|&pc| begins[pc]) {
        block(&mut code[from..to]);
        from = to;
    }
}

fn ends_block(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Bra {} | Op::Exit {} | Op::Trap {})
}

fn block(code: &mut [Instruction]) {
    if code.len() < 2 {
        return;
    }
    let mut classes = vec![Class::General; usize::from(u8::MAX) + 1];
    classes.resize(classes.len() + Predicate::COUNT, Class::Predicate);
    let insts = code.iter().map(inst).collect();
    let f = Function { blocks: vec![Block { insts, term: Term::Exit, term_line: 0 }], classes, addresses: Vec::new() };
    let live = [Class::General, Class::Predicate].map(|class| Liveness::new(&f, class));
    let order = list::order(&f, BlockId(0), &live, NO_LIMITS);
    let old = code.to_vec();
    code.iter_mut().zip(order).for_each(|(to, from)| *to = old[from]);
}

fn general(register: Reg) -> V {
    V(register.index() as u32)
}

fn predicate(predicate: Predicate) -> V {
    V(u32::from(u8::MAX) + 1 + u32::from(predicate.number()))
}

/// Converts an instruction, with the registers that it reads and writes as values.
fn inst(instruction: &Instruction) -> Inst {
    let source = |slot| match instruction.source(slot) {
        Some(register) => Val::Reg(general(register)),
        None => Val::ZERO,
    };
    let truth = |source: PredicateSource| match source.predicate.is_true() {
        true => Pred::Const(!source.negated),
        false => Pred::Reg(predicate(source.predicate), source.negated),
    };
    let mut read = instruction.predicate_sources().map(|p| Pred::Reg(predicate(p), false));
    let guard = truth(instruction.guard);
    if guard.register().is_some() {
        read.next();
    }
    let mut src = Slot::ALL.map(source);
    if let Operand::Imm(bits) = instruction.b {
        src[1] = Val::Imm(bits);
    }
    Inst {
        guard,
        d: instruction.destination().map(general),
        p: instruction.predicate_destination().map(predicate),
        src,
        s: read.next().unwrap_or(Pred::TRUE),
        t: read.next().unwrap_or(Pred::TRUE),
        ordered: true,
        ..Inst::new(instruction.op, 0)
    }
}
