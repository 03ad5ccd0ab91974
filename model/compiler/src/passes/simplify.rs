//! Propagates copies and constants, and removes common subexpressions and dead code.
//!
//! One walk of the dominator tree does the first three: operands are replaced by values known to equal them, the instruction is folded
//! ([`super::fold`]), and the result of an equal earlier computation that dominates it is reused. Only values that are written once, without a guard,
//! by an instruction that dominates their uses take part.

use super::fold::{self, Folded};
use super::known::Definitions;
use super::liveness::Liveness;
use crate::mir::{Block, Class, Function, Inst, Pred, Term, V, Val, cfg::Dominators};
use gpurf_isa::Op;
use std::collections::HashMap;

/// Maximum number of rounds. Each can only shorten the program, and few kernels need more than three.
const ROUNDS: usize = 8;

/// Simplifies until nothing changes.
pub fn run(f: &mut Function) {
    for _ in 0..ROUNDS {
        let changed = walk(f) | remove_dead(f);
        super::cleanup::run(f);
        if !changed {
            break;
        }
    }
    only_dead(f);
}

/// Removes instructions whose results are never read, blocks that this leaves empty, and what only their branches have read.
pub fn only_dead(f: &mut Function) {
    for _ in 0..ROUNDS {
        if !(remove_dead(f) | remove_overwritten(f)) {
            return;
        }
        super::cleanup::run(f);
    }
}

/// Two instructions with the same key compute the same results.
type Key = (Op, [Val; 3], Pred, Pred, i32, [bool; 2]);

struct Walk<'f> {
    f: &'f mut Function,
    definitions: Definitions,
    general: HashMap<V, Val>,
    predicate: HashMap<V, Pred>,
    known: HashMap<Key, (Option<V>, Option<V>)>,
    changed: bool,
}

fn walk(f: &mut Function) -> bool {
    let dominators = Dominators::new(f);
    let definitions = Definitions::new(f, &dominators);
    let mut walk = Walk {
        f,
        definitions,
        general: HashMap::new(),
        predicate: HashMap::new(),
        known: HashMap::new(),
        changed: false,
    };
    // Depth first. When the walk leaves a block, the computations that the block made known are forgotten.
    let mut stack = vec![(0, 0, Vec::new())];
    stack[0].2 = walk.block(0);
    while let Some((block, at, keys)) = stack.last_mut() {
        match dominators.children[*block].get(*at) {
            Some(child) => {
                *at += 1;
                let child = child.index();
                let keys = walk.block(child);
                stack.push((child, 0, keys));
            }
            None => {
                for key in std::mem::take(keys) {
                    walk.known.remove(&key);
                }
                stack.pop();
            }
        }
    }
    walk.changed
}

impl Walk<'_> {
    fn value(&self, v: Val) -> Val {
        v.register().and_then(|r| self.general.get(&r).copied()).unwrap_or(v)
    }

    fn pred(&self, p: Pred) -> Pred {
        let Pred::Reg(v, negated) = p else { return p };
        match self.predicate.get(&v) {
            Some(&new) if negated => new.not(),
            Some(&new) => new,
            None => p,
        }
    }

    /// Walks a block. Returns the keys that it made known.
    fn block(&mut self, b: usize) -> Vec<Key> {
        let mut keys = Vec::new();
        let mut insts = std::mem::take(&mut self.f.blocks[b].insts);
        insts.retain_mut(|inst| self.inst(inst, &mut keys));
        self.f.blocks[b].insts = insts;
        if let Term::Branch { when, then, otherwise } = self.f.blocks[b].term {
            let new = self.pred(when);
            self.changed |= new != when;
            self.f.blocks[b].term = Term::Branch { when: new, then, otherwise };
        }
        keys
    }

    /// Simplifies an instruction. Returns whether it stays.
    fn inst(&mut self, inst: &mut Inst, keys: &mut Vec<Key>) -> bool {
        let before = (inst.src, inst.s, inst.t, inst.guard);
        inst.src = inst.src.map(|v| self.value(v));
        (inst.s, inst.t, inst.guard) = (self.pred(inst.s), self.pred(inst.t), self.pred(inst.guard));
        self.changed |= before != (inst.src, inst.s, inst.t, inst.guard);
        if inst.guard == Pred::FALSE {
            self.changed = true;
            return false;
        }
        match fold::fold(inst, &self.definitions) {
            Folded::Same => {}
            Folded::To(new) => {
                *inst = Inst { origin: inst.origin, ..new };
                self.changed = true;
            }
            Folded::Known(value, pred) => return !self.replace(inst, value, pred),
        }
        if !inst.is_pure() || inst.is_partial() || !self.is_stable(inst) {
            self.definitions.note(inst);
            return true;
        }
        // Copies do not reach this point: folding has replaced them, if that was possible.
        let key = (inst.op, inst.src, inst.s, inst.t, inst.offset, [inst.d.is_some(), inst.p.is_some()]);
        if let Some(&(d, p)) = self.known.get(&key) {
            return !self.replace(inst, d.map(Val::Reg), p.map(|p| Pred::Reg(p, false)));
        }
        if inst.defs().all(|v| self.definitions.is_single(v)) {
            self.known.insert(key, (inst.d, inst.p));
            keys.push(key);
        }
        self.definitions.note(inst);
        true
    }

    /// Whether all values that it reads never change.
    fn is_stable(&self, inst: &Inst) -> bool {
        inst.uses().all(|v| self.definitions.is_single(v))
    }

    /// Replaces a result by a known value. Returns whether the instruction can be removed; otherwise it becomes a copy if it has one result.
    fn replace(&mut self, inst: &mut Inst, value: Option<Val>, pred: Option<Pred>) -> bool {
        let stable_value = value.is_none_or(|v| v.register().is_none_or(|r| self.definitions.is_single(r)))
            && !matches!(value, Some(Val::Address(_)));
        let stable_pred = pred.is_none_or(|p| p.register().is_none_or(|r| self.definitions.is_single(r)));
        let replaceable = !inst.is_partial() && inst.defs().all(|v| self.definitions.is_single(v));
        if replaceable && stable_value && stable_pred {
            if let (Some(d), Some(value)) = (inst.d, value) {
                self.general.insert(d, value);
            }
            if let (Some(p), Some(pred)) = (inst.p, pred) {
                self.predicate.insert(p, pred);
            }
            self.changed = true;
            return true;
        }
        // An instruction with one result becomes a copy.
        let copy = match (inst.d, inst.p, value, pred) {
            (Some(d), None, Some(value), _) => Inst {
                d: Some(d),
                src: [Val::ZERO, value, Val::ZERO],
                guard: inst.guard,
                origin: inst.origin,
                ..Inst::new(Op::Mov {}, inst.line)
            },
            (None, Some(p), _, Some(pred)) => Inst {
                p: Some(p),
                s: pred,
                guard: inst.guard,
                origin: inst.origin,
                ..Inst::new(Op::Plop { combine: gpurf_isa::modifiers::Combine::And }, inst.line)
            },
            _ => {
                self.definitions.note(inst);
                return false;
            }
        };
        self.changed |= *inst != copy;
        *inst = copy;
        false
    }
}

/// Removes instructions whose results are not read, and results that are not read.
fn remove_dead(f: &mut Function) -> bool {
    let mut writers: Vec<Vec<(u32, u32)>> = vec![Vec::new(); f.classes.len()];
    let mut work = Vec::new();
    let mut live = vec![false; f.classes.len()];
    let mut mark = |v: V, work: &mut Vec<V>| {
        if !std::mem::replace(&mut live[v.index()], true) {
            work.push(v);
        }
    };
    for (b, block) in f.blocks.iter().enumerate() {
        for (i, inst) in block.insts.iter().enumerate() {
            inst.defs().for_each(|v| writers[v.index()].push((b as u32, i as u32)));
            if inst.has_effect() {
                inst.uses().for_each(|v| mark(v, &mut work));
            }
        }
        if let Some(p) = block.term.predicate() {
            mark(p, &mut work);
        }
    }
    while let Some(v) = work.pop() {
        for &(b, i) in &writers[v.index()] {
            f.blocks[b as usize].insts[i as usize].uses().for_each(|v| mark(v, &mut work));
        }
    }
    let mut changed = false;
    for Block { insts, .. } in &mut f.blocks {
        insts.retain_mut(|inst| {
            let dead = |v: &V| !live[v.index()];
            changed |= inst.defs().any(|v| dead(&v));
            inst.d = inst.d.filter(|v| !dead(v));
            inst.p = inst.p.filter(|v| !dead(v));
            inst.has_effect() || inst.d.is_some() || inst.p.is_some()
        });
    }
    changed
}

/// Removes writes of variables that are overwritten before they are read. [`remove_dead`] cannot detect these: it checks only whether a variable is
/// read anywhere. Returns whether there were any.
fn remove_overwritten(f: &mut Function) -> bool {
    let mut changed = false;
    for _ in 0..ROUNDS {
        let liveness = [Class::General, Class::Predicate].map(|class| Liveness::new(f, class));
        let mut dead = vec![Vec::new(); f.blocks.len()];
        for b in f.block_ids() {
            let count = f.blocks[b.index()].insts.len();
            let mut read = vec![false; count];
            for live in &liveness {
                live.walk(f, b, |i, inst, after| read[i] |= inst.defs().any(|v| after.contains(v)));
            }
            let unread = |&i: &usize| !read[i] && !f.blocks[b.index()].insts[i].has_effect();
            dead[b.index()] = (0..count).filter(unread).collect();
        }
        if dead.iter().all(Vec::is_empty) {
            break;
        }
        changed = true;
        for (block, dead) in f.blocks.iter_mut().zip(dead) {
            let mut at = 0;
            block.insts.retain(|_| {
                at += 1;
                dead.binary_search(&(at - 1)).is_err()
            });
        }
    }
    changed
}
